-- Group chats: conversations with their casts and message trees, and the
-- library that they draw on.
--
-- seq is the order in which rows were made. Flags are 0 or 1, times are UTC
-- text of one width so that their order is that of the text, lists and objects
-- are JSON text.

-- +goose Up

-- "jpsc": a file that says otherwise belongs to another program.
PRAGMA application_id = 0x6a707363;

CREATE TABLE user_personas (
    seq          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    avatar_color TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
) STRICT;

CREATE TABLE worlds (
    seq              INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    name             TEXT NOT NULL,
    is_global        INTEGER NOT NULL CHECK (is_global IN (0, 1)),
    dynamic_enabled  INTEGER NOT NULL CHECK (dynamic_enabled IN (0, 1)),
    recursive        INTEGER NOT NULL CHECK (recursive IN (0, 1)),
    content_revision INTEGER NOT NULL,
    content_hash     TEXT NOT NULL,
    extras           TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL
) STRICT;
CREATE INDEX worlds_content_hash ON worlds (content_hash) WHERE content_hash <> '';

CREATE TABLE lorebook_entries (
    seq               INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    world_id          TEXT NOT NULL REFERENCES worlds (id) ON DELETE CASCADE,
    name              TEXT NOT NULL,
    content           TEXT NOT NULL,
    keywords          TEXT NOT NULL,
    secondary_keys    TEXT NOT NULL,
    selective         INTEGER NOT NULL CHECK (selective IN (0, 1)),
    case_insensitive  INTEGER NOT NULL CHECK (case_insensitive IN (0, 1)),
    match_whole_words INTEGER NOT NULL CHECK (match_whole_words IN (0, 1)),
    use_regex         INTEGER NOT NULL CHECK (use_regex IN (0, 1)),
    constant          INTEGER NOT NULL CHECK (constant IN (0, 1)),
    at_depth          INTEGER NOT NULL CHECK (at_depth IN (0, 1)),
    priority          INTEGER NOT NULL,
    enabled           INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    sort_order        INTEGER NOT NULL,
    entry_revision    INTEGER NOT NULL,
    extras            TEXT,
    created_at        TEXT NOT NULL,
    updated_at        TEXT NOT NULL
) STRICT;
CREATE INDEX lorebook_entries_world ON lorebook_entries (world_id, sort_order);

CREATE TABLE character_cards (
    seq                       INTEGER PRIMARY KEY,
    id                        TEXT NOT NULL UNIQUE,
    name                      TEXT NOT NULL,
    description               TEXT NOT NULL,
    personality               TEXT NOT NULL,
    scenario                  TEXT NOT NULL,
    first_mes                 TEXT NOT NULL,
    mes_example               TEXT NOT NULL,
    creator_notes             TEXT NOT NULL,
    system_prompt             TEXT NOT NULL,
    post_history_instructions TEXT NOT NULL,
    tags                      TEXT NOT NULL,
    creator                   TEXT NOT NULL,
    character_version         TEXT NOT NULL,
    alternate_greetings       TEXT NOT NULL,
    source_format             TEXT NOT NULL,
    world_id                  TEXT REFERENCES worlds (id) ON DELETE SET NULL,
    persona_lock_id           TEXT REFERENCES user_personas (id) ON DELETE SET NULL,
    extensions                TEXT,
    workflow_state            TEXT,
    created_at                TEXT NOT NULL,
    updated_at                TEXT NOT NULL
) STRICT;
CREATE INDEX character_cards_world ON character_cards (world_id);
CREATE INDEX character_cards_persona ON character_cards (persona_lock_id);

-- Pictures and attached files stand apart so that no list reads them.
CREATE TABLE character_avatars (
    card_id TEXT PRIMARY KEY REFERENCES character_cards (id) ON DELETE CASCADE,
    mime    TEXT NOT NULL,
    data    BLOB NOT NULL
) STRICT;

CREATE TABLE conversations (
    seq                       INTEGER PRIMARY KEY,
    id                        TEXT NOT NULL UNIQUE,
    kind                      TEXT NOT NULL CHECK (kind IN ('solo', 'group')),
    title                     TEXT NOT NULL,
    group_root_id             TEXT REFERENCES conversations (id) ON DELETE SET NULL,
    character_card_id         TEXT, -- no reference: a card that comes back is linked again
    character_name            TEXT NOT NULL,
    character_scenario        TEXT NOT NULL,
    post_history_instructions TEXT NOT NULL,
    persona_lock_id           TEXT REFERENCES user_personas (id) ON DELETE SET NULL,
    macro_seed                TEXT NOT NULL,
    group_turn_mode           TEXT NOT NULL CHECK (group_turn_mode IN ('manual', 'round_robin', 'director')),
    group_max_speakers        INTEGER NOT NULL CHECK (group_max_speakers BETWEEN 1 AND 8),
    group_context_mode        TEXT NOT NULL CHECK (group_context_mode IN ('private', 'shared', 'swap')),
    group_sheet_updates       INTEGER NOT NULL CHECK (group_sheet_updates IN (0, 1)),
    cut_impersonation         INTEGER NOT NULL CHECK (cut_impersonation IN (0, 1)),
    lore_budget               INTEGER,
    active_leaf_id            INTEGER REFERENCES messages (id) ON DELETE SET NULL,
    workflow_state            TEXT,
    created_at                TEXT NOT NULL,
    updated_at                TEXT NOT NULL,
    last_accessed_at          TEXT NOT NULL,
    revision                  INTEGER NOT NULL,
    members_revision          INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_root ON conversations (group_root_id);
CREATE INDEX conversations_card ON conversations (character_card_id);
CREATE INDEX conversations_persona ON conversations (persona_lock_id);
CREATE INDEX conversations_leaf ON conversations (active_leaf_id);

CREATE TABLE group_members (
    seq                     INTEGER PRIMARY KEY,
    id                      TEXT NOT NULL UNIQUE,
    conversation_id         TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    speaker_key             TEXT NOT NULL,
    character_card_id       TEXT, -- no reference, as above
    display_name            TEXT NOT NULL,
    public_profile_override TEXT,
    card_sheet_override     TEXT,
    member_kind             TEXT NOT NULL CHECK (member_kind IN ('character', 'narrator')),
    sort_order              INTEGER NOT NULL,
    muted                   INTEGER NOT NULL CHECK (muted IN (0, 1)),
    active                  INTEGER NOT NULL CHECK (active IN (0, 1)),
    model                   TEXT, -- no reference: a model may stand in a configuration file
    workflow_state          TEXT,
    UNIQUE (conversation_id, speaker_key)
) STRICT;
CREATE UNIQUE INDEX group_members_active_card ON group_members (conversation_id, character_card_id)
    WHERE active = 1 AND character_card_id IS NOT NULL;
CREATE INDEX group_members_card ON group_members (character_card_id);

-- parent_id has no cascade: SQLite would go down a chain by recursion, and
-- chains are as long as conversations. Subtrees are deleted by one statement,
-- and what is left is looked at when the transaction ends.
-- AUTOINCREMENT: a number is never given to a second message.
CREATE TABLE messages (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id   TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent_id         INTEGER REFERENCES messages (id) ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED,
    depth             INTEGER NOT NULL,
    role              TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    turn_index        INTEGER NOT NULL,
    speaker_member_id TEXT REFERENCES group_members (id) ON DELETE SET NULL,
    exchange_id       TEXT,
    author            TEXT NOT NULL,
    incomplete        TEXT NOT NULL CHECK (incomplete IN ('', 'error', 'interrupted')),
    direction         TEXT NOT NULL,
    cut               TEXT,
    created_at        TEXT NOT NULL,
    workflow_state    TEXT,
    writer_draft      TEXT,
    content           TEXT NOT NULL
) STRICT;
CREATE INDEX messages_parent ON messages (parent_id, conversation_id);
CREATE INDEX messages_conversation ON messages (conversation_id);
CREATE INDEX messages_speaker ON messages (speaker_member_id);

CREATE TABLE user_attachments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    mime_type  TEXT NOT NULL,
    filename   TEXT NOT NULL,
    size       INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX user_attachments_message ON user_attachments (message_id);

CREATE TABLE user_attachment_contents (
    attachment_id INTEGER PRIMARY KEY REFERENCES user_attachments (id) ON DELETE CASCADE,
    data          BLOB NOT NULL
) STRICT;

CREATE TABLE member_sheet_proposals (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    member_id       TEXT NOT NULL REFERENCES group_members (id) ON DELETE CASCADE,
    exchange_id     TEXT NOT NULL,
    base_sheet      TEXT NOT NULL,
    proposed_sheet  TEXT NOT NULL,
    summary         TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'applied', 'rejected', 'stale')),
    created_at      TEXT NOT NULL,
    decided_at      TEXT
) STRICT;
CREATE INDEX member_sheet_proposals_status ON member_sheet_proposals (conversation_id, status);
CREATE INDEX member_sheet_proposals_member ON member_sheet_proposals (member_id);
CREATE UNIQUE INDEX member_sheet_proposals_pending ON member_sheet_proposals (member_id) WHERE status = 'pending';

CREATE TABLE conversation_worlds (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    world_id        TEXT NOT NULL REFERENCES worlds (id) ON DELETE CASCADE,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    PRIMARY KEY (conversation_id, world_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_worlds_world ON conversation_worlds (world_id);

CREATE TABLE mood_fragments (
    seq             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    label           TEXT NOT NULL,
    description     TEXT NOT NULL,
    prompt_text     TEXT NOT NULL,
    negative_prompt TEXT NOT NULL,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    cooldown_turns  INTEGER NOT NULL CHECK (cooldown_turns BETWEEN 0 AND 50)
) STRICT;

CREATE TABLE interactive_fragments (
    seq             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    label           TEXT NOT NULL,
    description     TEXT NOT NULL,
    field_type      TEXT NOT NULL
        CHECK (field_type IN ('string', 'array', 'feedback', 'post_processing', 'state', 'decision')),
    required        INTEGER NOT NULL CHECK (required IN (0, 1)),
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    injection_label TEXT NOT NULL,
    sort_order      INTEGER NOT NULL,
    cooldown_turns  INTEGER NOT NULL CHECK (cooldown_turns BETWEEN 0 AND 50),
    options         TEXT
) STRICT;

CREATE TABLE phrase_bank (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    kind     TEXT NOT NULL CHECK (kind IN ('literal', 'regex')),
    variants TEXT NOT NULL,
    pattern  TEXT NOT NULL
) STRICT;

CREATE TABLE endpoints (
    seq                          INTEGER PRIMARY KEY,
    id                           TEXT NOT NULL UNIQUE,
    url                          TEXT NOT NULL,
    api_key                      TEXT NOT NULL,
    completion_mode              TEXT NOT NULL,
    proxy                        TEXT NOT NULL,
    active_model_config_id       TEXT REFERENCES model_configs (id) ON DELETE SET NULL,
    agent_active_model_config_id TEXT REFERENCES model_configs (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX endpoints_writer ON endpoints (active_model_config_id);
CREATE INDEX endpoints_agent ON endpoints (agent_active_model_config_id);

CREATE TABLE model_configs (
    seq                INTEGER PRIMARY KEY,
    id                 TEXT NOT NULL UNIQUE,
    endpoint_id        TEXT NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
    role               TEXT NOT NULL CHECK (role IN ('writer', 'agent')),
    model_name         TEXT NOT NULL,
    system_prompt      TEXT NOT NULL,
    temperature        REAL,
    min_p              REAL,
    top_k              INTEGER,
    top_p              REAL,
    repetition_penalty REAL,
    max_tokens         INTEGER,
    reasoning_effort   TEXT NOT NULL,
    reasoning_param    TEXT NOT NULL,
    reasoning_value    TEXT NOT NULL,
    extra_headers      TEXT NOT NULL,
    extra_body         TEXT NOT NULL
) STRICT;
CREATE INDEX model_configs_endpoint ON model_configs (endpoint_id);

CREATE TABLE settings (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL
) STRICT;
