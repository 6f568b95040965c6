-- What exchanges go on from and leave behind.

-- +goose Up

-- Empty is told from the URL.
ALTER TABLE endpoints ADD COLUMN provider TEXT NOT NULL DEFAULT ''
    CHECK (provider IN ('', 'openai', 'openrouter', 'llamacpp', 'ollama'));

-- NULL is what the server says, or unknown.
ALTER TABLE model_configs ADD COLUMN context_size INTEGER;

CREATE TABLE director_state (
    conversation_id TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    active_moods    TEXT NOT NULL,
    macro_choices   TEXT,
    cooldowns       TEXT
) STRICT;

CREATE TABLE conversation_logs (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id    TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id         INTEGER REFERENCES messages (id) ON DELETE SET NULL,
    exchange_id        TEXT NOT NULL,
    turn_index         INTEGER NOT NULL,
    tool_calls         TEXT,
    active_moods_after TEXT NOT NULL,
    cooldowns          TEXT,
    injection_block    TEXT NOT NULL,
    agent_latency      INTEGER NOT NULL, -- nanoseconds
    reasoning_director TEXT NOT NULL,
    reasoning_writer   TEXT NOT NULL,
    reasoning_editor   TEXT NOT NULL,
    feedback           TEXT,
    plan               TEXT,
    lore               TEXT,
    created_at         TEXT NOT NULL
) STRICT;
CREATE INDEX conversation_logs_conversation ON conversation_logs (conversation_id);
CREATE INDEX conversation_logs_message ON conversation_logs (message_id);

-- The texts of prompts, each once in a conversation.
CREATE TABLE prompt_texts (
    id              INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    hash            BLOB NOT NULL,
    content         TEXT NOT NULL,
    UNIQUE (conversation_id, hash)
) STRICT;

-- Messages of prompts as a tree: what two calls have in common from the
-- beginning, which is most of it, is there once. hash is that of a message and
-- all before it. As in messages, nothing goes down the chain by recursion.
CREATE TABLE prompt_messages (
    id              INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    hash            BLOB NOT NULL,
    parent_id       INTEGER REFERENCES prompt_messages (id) ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED,
    role            TEXT NOT NULL,
    images          INTEGER NOT NULL,
    text_id         INTEGER NOT NULL REFERENCES prompt_texts (id) ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED,
    UNIQUE (conversation_id, hash)
) STRICT;
CREATE INDEX prompt_messages_parent ON prompt_messages (parent_id);
CREATE INDEX prompt_messages_text ON prompt_messages (text_id);

CREATE TABLE prompt_calls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    exchange_id     TEXT NOT NULL,
    pass            TEXT NOT NULL,
    model           TEXT NOT NULL,
    last_id         INTEGER REFERENCES prompt_messages (id) ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED,
    sections        TEXT,
    usage           TEXT,
    timing          TEXT
) STRICT;
CREATE INDEX prompt_calls_message ON prompt_calls (message_id);
CREATE INDEX prompt_calls_conversation ON prompt_calls (conversation_id, exchange_id);
CREATE INDEX prompt_calls_last ON prompt_calls (last_id);

CREATE TABLE once_keys (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    key             TEXT NOT NULL,
    body            TEXT NOT NULL,
    exchange_id     TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    PRIMARY KEY (conversation_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX once_keys_created ON once_keys (created_at);
