package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// Director is what a conversation's Director goes on from.
type Director struct {
	ConversationID string            `json:"conversation_id"`
	Moods          []string          `json:"active_moods"`
	MacroChoices   map[string]string `json:"macro_choices" doc:"What random macros of mood texts came out as here"`
	Cooldowns      map[string]int    `json:"fragment_cooldowns" doc:"Exchanges that a mood or fragment still rests"`
}

// Log is what happened behind a reply.
type Log struct {
	ID                int64           `json:"id"`
	ConversationID    string          `json:"conversation_id"`
	MessageID         *int64          `json:"message_id" doc:"Null once the message is deleted"`
	ExchangeID        string          `json:"exchange_id"`
	TurnIndex         int             `json:"turn_index"`
	ToolCalls         json.RawMessage `json:"tool_calls" doc:"A list of {name, arguments}; null for none"`
	Moods             []string        `json:"active_moods_after"`
	Cooldowns         map[string]int  `json:"fragment_cooldowns"`
	Injection         string          `json:"injection_block"`
	AgentLatency      int64           `json:"agent_latency_ms"`
	ReasoningDirector string          `json:"reasoning_director"`
	ReasoningWriter   string          `json:"reasoning_writer"`
	ReasoningEditor   string          `json:"reasoning_editor"`
	Feedback          json.RawMessage `json:"feedback" doc:"By fragment; null for none"`
	Plan              json.RawMessage `json:"speaking_plan" doc:"Null outside of groups"`
	Lore              json.RawMessage `json:"lore" doc:"What fired, and why; null for none"`
	CreatedAt         string          `json:"created_at"`
}

func logOf(l scene.Log) Log {
	return Log{
		ID: l.ID, ConversationID: l.ConversationID, MessageID: l.MessageID, ExchangeID: l.ExchangeID, TurnIndex: l.TurnIndex,
		ToolCalls: l.ToolCalls, Moods: l.ActiveMoods, Cooldowns: someOf(l.Cooldowns), Injection: l.Injection,
		AgentLatency: l.AgentLatency.Milliseconds(), ReasoningDirector: l.ReasoningDirector, ReasoningWriter: l.ReasoningWriter,
		ReasoningEditor: l.ReasoningEditor, Feedback: l.Feedback, Plan: l.Plan, Lore: l.Lore, CreatedAt: stamp(l.CreatedAt),
	}
}

// someOf is a map that goes out as an object, also an empty one.
func someOf[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func (a *api) logs() {
	const one = "/conversations/{cid}"
	route(a, http.MethodGet, one+"/director", "get-director", "Read what the Director goes on from", a.director)
	route(a, http.MethodGet, one+"/logs", "list-logs", "Read what happened behind the replies, oldest first", func(ctx context.Context, in *ConversationPath) (*body[[]Log], error) {
		logs, err := a.Scenes.Logs(ctx, in.ID)
		return results(logs, err, logOf)
	})
	route(a, http.MethodGet, one+"/messages/{mid}/director-log", "get-log", "Read what happened behind a reply", a.log)
	route(a, http.MethodGet, one+"/director-logs", "get-logs", "Read what happened behind some replies, oldest first", a.logsOf)
}

func (a *api) director(ctx context.Context, in *ConversationPath) (*body[Director], error) {
	d, err := a.Scenes.DirectorState(ctx, in.ID)
	return resulting(d, err, func(d scene.DirectorState) Director {
		return Director{ConversationID: in.ID, Moods: d.ActiveMoods, MacroChoices: someOf(d.MacroChoices), Cooldowns: someOf(d.Cooldowns)}
	})
}

func (a *api) log(ctx context.Context, in *MessagePath) (*body[Log], error) {
	logs, err := a.Scenes.LogsOf(ctx, in.ID, []int64{in.Message})
	if err == nil && len(logs) == 0 {
		err = fault.New(fault.NotFound, "nothing is known of how message %d came about", in.Message)
	}
	if err != nil {
		return nil, err
	}
	return &body[Log]{logOf(logs[len(logs)-1])}, nil
}

// mostIDs is how many messages one request may name.
const mostIDs = 100

type logsOf struct {
	ConversationPath
	IDs string `query:"ids" required:"true" doc:"Message ids with commas between, 100 at most"`
}

func (a *api) logsOf(ctx context.Context, in *logsOf) (*body[[]Log], error) {
	if _, err := a.Scenes.Conversation(ctx, in.ID); err != nil {
		return nil, err
	}
	var ids []int64
	for text := range strings.SplitSeq(in.IDs, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || id <= 0 {
			return nil, misfit("these are no message ids", "query", "ids")
		}
		ids = append(ids, id)
	}
	if len(ids) > mostIDs {
		return nil, misfit("these are more than 100 ids", "query", "ids")
	}
	logs, err := a.Scenes.LogsOf(ctx, in.ID, ids)
	return results(logs, err, logOf)
}
