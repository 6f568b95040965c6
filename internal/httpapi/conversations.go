package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

// Conversation is a chat as every route gives it out.
type Conversation struct {
	ID              string            `json:"id"`
	Kind            scene.Kind        `json:"kind" enum:"solo,group"`
	Title           string            `json:"title"`
	GroupRootID     *string           `json:"group_root_id" doc:"The root of the family; null for the root itself and for solo chats"`
	CardID          *string           `json:"character_card_id"`
	CharacterName   string            `json:"character_name" doc:"The card's name; of a group the title when it was made"`
	Scenario        string            `json:"character_scenario" doc:"The premise: of a group the only one"`
	PostHistory     string            `json:"post_history_instructions" doc:"The scene's own instructions, shared by every speaker"`
	PersonaLockID   *string           `json:"persona_lock_id" doc:"The persona that counts here, whatever the settings say"`
	MacroSeed       string            `json:"macro_seed" doc:"What seeded dice are drawn from; empty is the id"`
	TurnMode        scene.TurnMode    `json:"group_turn_mode" enum:"manual,round_robin,director" doc:"Who answers: nobody but who is picked, the next in turn, or whom a Director plans"`
	MaxSpeakers     int               `json:"group_max_speakers" doc:"The most speakers that a Director may plan"`
	ContextMode     scene.ContextMode `json:"group_context_mode" enum:"private,shared,swap" doc:"What a speaker sees of the cards: its own behind the history, all of them, or its own before the history"`
	SheetUpdates    Flag              `json:"group_sheet_updates" doc:"Propose new private sheets after an exchange; runs in the context private alone"`
	CutPersonas     Flag              `json:"cut_impersonation" doc:"Cut a reply where it goes on as somebody else"`
	LoreBudget      *int              `json:"lore_budget" doc:"Tokens; null is no limit"`
	ActiveLeafID    *int64            `json:"active_leaf_id" doc:"The last message of the visible branch"`
	WorkflowState   json.RawMessage   `json:"workflow_state"`
	Revision        int64             `json:"revision" doc:"Counts changes of these settings; sent back as If-Match"`
	MembersRevision int64             `json:"members_revision" doc:"Counts changes of the members"`
	CreatedAt       string            `json:"created_at"`
	UpdatedAt       string            `json:"updated_at"`
	LastAccessedAt  string            `json:"last_accessed_at"`
}

func conversation(c scene.Conversation) Conversation {
	return Conversation{
		ID: c.ID, Kind: c.Kind, Title: c.Title, GroupRootID: c.RootID,
		CardID: c.CardID, CharacterName: c.CharacterName,
		Scenario: c.Scenario, PostHistory: c.PostHistory,
		PersonaLockID: c.PersonaLock, MacroSeed: c.MacroSeed,
		TurnMode: c.TurnMode, MaxSpeakers: c.MaxSpeakers, ContextMode: c.ContextMode,
		SheetUpdates: Flag(c.SheetUpdates), CutPersonas: Flag(c.CutImpersonation), LoreBudget: c.LoreBudget,
		ActiveLeafID: c.ActiveLeaf, WorkflowState: c.Slots,
		Revision: c.Revision, MembersRevision: c.RosterRevision,
		CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt), LastAccessedAt: stamp(c.AccessedAt),
	}
}

// Overview is a conversation in the list of all.
type Overview struct {
	Conversation
	Preview      string   `json:"last_message_preview"`
	MessageCount int      `json:"message_count" doc:"Of the visible branch"`
	CardIDs      []string `json:"group_card_ids"`
	MemberNames  []string `json:"group_member_names"`
}

// ConversationDraft is a conversation to be made.
type ConversationDraft struct {
	Title       string                  `json:"title,omitempty"`
	Kind        Enum[scene.Kind]        `json:"kind,omitzero" enum:"solo,group"`
	CardID      *string                 `json:"character_card_id,omitempty"`
	Name        string                  `json:"character_name,omitempty" doc:"The card's name; of a group the title when it was made"`
	Scenario    string                  `json:"character_scenario,omitempty" doc:"The premise: of a group the only one"`
	First       string                  `json:"first_mes,omitempty"`
	PostHistory string                  `json:"post_history_instructions,omitempty" doc:"The scene's own instructions, shared by every speaker"`
	TurnMode    Enum[scene.TurnMode]    `json:"group_turn_mode,omitzero" enum:"manual,round_robin,director" doc:"Who answers: nobody but who is picked, the next in turn, or whom a Director plans"`
	MaxSpeakers int                     `json:"group_max_speakers,omitempty" minimum:"1" maximum:"8" doc:"The most speakers that a Director may plan"`
	ContextMode Enum[scene.ContextMode] `json:"group_context_mode,omitzero" enum:"private,shared,swap" doc:"What a speaker sees of the cards: its own behind the history, all of them, or its own before the history"`
	Members     []MemberSpec            `json:"members,omitempty"`
	OpeningKey  string                  `json:"opening_speaker_key,omitempty" doc:"Who of the members says first_mes"`
}

// ConversationPatch is what of a conversation's settings is to change.
type ConversationPatch struct {
	Title         Opt[string]             `json:"title,omitzero"`
	PersonaLockID Opt[string]             `json:"persona_lock_id,omitzero" doc:"The persona that counts here, whatever the settings say"`
	Scenario      Opt[string]             `json:"character_scenario,omitzero" doc:"The premise: of a group the only one"`
	PostHistory   Opt[string]             `json:"post_history_instructions,omitzero" doc:"The scene's own instructions, shared by every speaker"`
	TurnMode      Enum[scene.TurnMode]    `json:"group_turn_mode,omitzero" enum:"manual,round_robin,director" doc:"Who answers: nobody but who is picked, the next in turn, or whom a Director plans"`
	MaxSpeakers   Opt[int]                `json:"group_max_speakers,omitzero" minimum:"1" maximum:"8" doc:"The most speakers that a Director may plan"`
	ContextMode   Enum[scene.ContextMode] `json:"group_context_mode,omitzero" enum:"private,shared,swap" doc:"What a speaker sees of the cards: its own behind the history, all of them, or its own before the history"`
	SheetUpdates  Opt[Flag]               `json:"group_sheet_updates,omitzero" doc:"Propose new private sheets after an exchange; runs in the context private alone"`
	CutPersonas   Opt[Flag]               `json:"cut_impersonation,omitzero" doc:"Cut a reply where it goes on as somebody else"`
	LoreBudget    Opt[int]                `json:"lore_budget,omitzero" minimum:"0"`
}

// ConversationPath is the path of everything below one conversation.
type ConversationPath struct {
	ID string `path:"cid"`
}

// body is an answer that is nothing but its body.
type body[T any] struct{ Body T }

// Done is the answer of what has nothing else to say.
type Done struct {
	OK bool `json:"ok"`
}

func done() *body[Done] { return &body[Done]{Done{OK: true}} }

// revised is a conversation with its revision as the ETag.
type revised struct {
	ETag string `header:"ETag"`
	Body Conversation
}

func revisedRow(c scene.Conversation) *revised {
	return &revised{ETag: etag(c.Revision), Body: conversation(c)}
}

// conversations registers the routes below /api/conversations.
func (a *api) conversations() {
	route(a, http.MethodGet, "/conversations", "list-conversations", "List conversations, the one last active first", a.listConversations)
	route(a, http.MethodPost, "/conversations", "create-conversation", "Start a chat with a card, or a group", a.createConversation, limit(chatLimit))
	route(a, http.MethodGet, "/conversations/{cid}", "get-conversation", "Get a conversation", func(ctx context.Context, in *ConversationPath) (*revised, error) {
		c, err := a.Scenes.Conversation(ctx, in.ID)
		return revisedRow(c), err
	})
	route(a, http.MethodPut, "/conversations/{cid}", "change-conversation", "Change the settings that are sent", a.changeConversation, limit(chatLimit))
	route(a, http.MethodDelete, "/conversations/{cid}", "delete-conversation", "Delete one conversation of a family", func(ctx context.Context, in *ConversationPath) (*body[Done], error) {
		return done(), a.Scenes.DeleteConversation(ctx, in.ID)
	})
	route(a, http.MethodPost, "/conversations/{cid}/touch", "touch-conversation", "Say that the conversation was opened", func(ctx context.Context, in *ConversationPath) (*body[Done], error) {
		return done(), a.Scenes.Touch(ctx, in.ID)
	})
	a.members()
	a.families()
	a.messages()
	a.uploads()
	a.sheets()
	a.loreChoices()
	a.chats()
}

func (a *api) listConversations(ctx context.Context, _ *struct{}) (*body[[]Overview], error) {
	all, err := a.Scenes.Conversations(ctx)
	return results(all, err, func(o scene.Overview) Overview {
		return Overview{conversation(o.Conversation), o.LastMessage, o.MessageCount, o.CardIDs, o.MemberNames}
	})
}

func (a *api) createConversation(ctx context.Context, in *body[ConversationDraft]) (*revised, error) {
	d := in.Body
	c, err := a.Scenes.CreateConversation(ctx, scene.NewConversation{
		Title: d.Title, Kind: d.Kind.V, CardID: d.CardID, CharacterName: d.Name,
		Scenario: d.Scenario, FirstMessage: d.First, PostHistory: d.PostHistory,
		TurnMode: d.TurnMode.V, MaxSpeakers: d.MaxSpeakers, ContextMode: d.ContextMode.V,
		Members: specs(d.Members), OpeningKey: d.OpeningKey,
	})
	return revisedRow(c), err
}

type changeConversation struct {
	ConversationPath
	IfMatch
	Body ConversationPatch
}

func (a *api) changeConversation(ctx context.Context, in *changeConversation) (*revised, error) {
	seen, err := in.revision()
	if err != nil {
		return nil, err
	}
	p := in.Body
	c, err := a.Scenes.ChangeConversation(ctx, in.ID, scene.ConversationChange{
		Title:            value(p.Title),
		PersonaLock:      clearable(p.PersonaLockID),
		Scenario:         value(p.Scenario),
		PostHistory:      value(p.PostHistory),
		TurnMode:         value(p.TurnMode.Opt),
		MaxSpeakers:      value(p.MaxSpeakers),
		ContextMode:      value(p.ContextMode.Opt),
		SheetUpdates:     truth(p.SheetUpdates),
		CutImpersonation: truth(p.CutPersonas),
		LoreBudget:       clearable(p.LoreBudget),
	}, seen)
	return revisedRow(c), err
}

// truth is a change of a flag.
func truth(o Opt[Flag]) scene.Change[bool] {
	c := value(o)
	return scene.Change[bool]{Set: c.Set, To: bool(c.To)}
}
