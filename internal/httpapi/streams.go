package httpapi

import (
	"context"
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// exchanges registers what makes a cast speak. Each answers with the events of
// its exchange, which runs to its end whoever follows it.
func (a *api) exchanges() {
	const one = "/conversations/{cid}/messages/{mid}"
	stream := []option{produces("text/event-stream")}
	large := append(stream, limit(chatLimit))
	route(a, http.MethodPost, "/conversations/{cid}/send", "send", "Say something and let the cast answer", a.send, large...)
	route(a, http.MethodPost, "/conversations/{cid}/continue", "continue", "Let the cast answer the last message", a.goOn, stream...)
	route(a, http.MethodPost, "/conversations/{cid}/speak", "speak", "Let one member speak", a.speak, stream...)
	route(a, http.MethodPost, one+"/fork-edit", "fork-edit", "Ask anew beside an older message", a.forkEdit, large...)
	route(a, http.MethodPost, one+"/regenerate", "regenerate", "Write a reply again", a.again(pipeline.Regenerate), stream...)
	route(a, http.MethodPost, one+"/super_regenerate", "super-regenerate", "Write a reply again, very differently", a.again(pipeline.SuperRegenerate), stream...)
	route(a, http.MethodPost, one+"/magic_rewrite", "magic-rewrite", "Write a reply again, as directed", a.rewrite, stream...)
}

// IdempotencyKey is embedded in the inputs of requests that run once however
// often they are sent.
type IdempotencyKey struct {
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"Asking again with the same key follows the exchange that the first request began; another body is a 422"`
}

// Agent is embedded in the bodies of requests that may do without the agent.
type Agent struct {
	Agent Opt[Flag] `json:"enable_agent,omitzero" doc:"false leaves Director and Editor out of this exchange"`
}

func (a Agent) off() bool { return a.Agent.Set && !a.Agent.Null && !bool(a.Agent.V) }

// NewAttachment is a file that comes with a message.
type NewAttachment struct {
	Data     string `json:"b64" doc:"Base64; 10 MiB at most when decoded"`
	MIME     string `json:"mime,omitempty"`
	Filename string `json:"filename,omitempty"`
}

// Saying is a person's message and who is to answer it.
type Saying struct {
	Agent
	Content     string          `json:"content,omitempty"`
	Attachments []NewAttachment `json:"attachments,omitempty"`
	Speaker     Opt[string]     `json:"speaker_member_id,omitzero" doc:"The member who answers; without one the scene's turn mode decides"`
}

// Answering is who is to answer.
type Answering struct {
	Agent
	Speaker Opt[string] `json:"speaker_member_id,omitzero"`
}

// Speaking is who is to speak.
type Speaking struct {
	Agent
	Speaker string `json:"speaker_member_id"`
}

// Rewriting is how a reply is to be different.
type Rewriting struct {
	Agent
	Direction string `json:"direction"`
}

type streamOut struct{ Body func(huma.Context) }

func (a *api) send(ctx context.Context, in *struct {
	ConversationPath
	IdempotencyKey
	Body Saying
}) (*streamOut, error) {
	return a.say(ctx, in.Key, in.Body, pipeline.Ask{Kind: pipeline.Send, Conversation: in.ID})
}

// say runs an exchange that begins with somebody's words.
func (a *api) say(ctx context.Context, key string, said Saying, ask pipeline.Ask) (*streamOut, error) {
	files, err := attachments(said.Attachments)
	if err != nil {
		return nil, err
	}
	ask.Content, ask.Uploads, ask.Pin, ask.NoAgent = said.Content, files, clearable(said.Speaker).To, said.off()
	return a.exchange(ctx, key, said, ask)
}

func (a *api) goOn(ctx context.Context, in *struct {
	ConversationPath
	IdempotencyKey
	Body *Answering
}) (*streamOut, error) {
	b := orZero(in.Body)
	return a.exchange(ctx, in.Key, b, pipeline.Ask{
		Kind: pipeline.Continue, Conversation: in.ID, Pin: clearable(b.Speaker).To, NoAgent: b.off(),
	})
}

func (a *api) speak(ctx context.Context, in *struct {
	ConversationPath
	IdempotencyKey
	Body Speaking
}) (*streamOut, error) {
	return a.exchange(ctx, in.Key, in.Body, pipeline.Ask{
		Kind: pipeline.Speak, Conversation: in.ID, Pin: &in.Body.Speaker, NoAgent: in.Body.off(),
	})
}

func (a *api) forkEdit(ctx context.Context, in *struct {
	MessagePath
	IdempotencyKey
	Body Saying
}) (*streamOut, error) {
	return a.say(ctx, in.Key, in.Body, pipeline.Ask{Kind: pipeline.ForkEdit, Conversation: in.ID, Message: in.Message})
}

// anew is the input of requests that say nothing but what to write again. A
// speaker that they name is not read: it is the recorded one.
type anew struct {
	MessagePath
	IdempotencyKey
	Body *Agent
}

func (a *api) again(kind pipeline.Kind) func(context.Context, *anew) (*streamOut, error) {
	return func(ctx context.Context, in *anew) (*streamOut, error) {
		b := orZero(in.Body)
		return a.exchange(ctx, in.Key, b, pipeline.Ask{
			Kind: kind, Conversation: in.ID, Message: in.Message, NoAgent: b.off(),
		})
	}
}

func (a *api) rewrite(ctx context.Context, in *struct {
	MessagePath
	IdempotencyKey
	Body Rewriting
}) (*streamOut, error) {
	return a.exchange(ctx, in.Key, in.Body, pipeline.Ask{
		Kind: pipeline.MagicRewrite, Conversation: in.ID, Message: in.Message, Direction: in.Body.Direction, NoAgent: in.Body.off(),
	})
}

// orZero is what a body says that may be missing.
func orZero[T any](b *T) T {
	if b == nil {
		return *new(T)
	}
	return *b
}

// mostAttached is how large a file may be, in bytes.
const mostAttached = 10 << 20

// attachments are files as they are stored. What is a picture is told by the
// bytes, and nothing else is called one.
func attachments(list []NewAttachment) ([]scene.NewUpload, error) {
	var out []scene.NewUpload
	for i, f := range list {
		data, err := base64.StdEncoding.DecodeString(f.Data)
		if err != nil {
			return nil, misfit("this is no base64", "body", "attachments", i, "b64")
		}
		if len(data) == 0 {
			return nil, misfit("the file is empty", "body", "attachments", i, "b64")
		}
		if len(data) > mostAttached {
			return nil, misfit("the file is larger than 10 MiB", "body", "attachments", i, "b64")
		}
		kind, ok := scene.PictureType(data)
		if !ok {
			kind, _, err = mime.ParseMediaType(f.MIME)
			if err != nil || strings.HasPrefix(kind, "image/") {
				kind = octets
			}
		}
		out = append(out, scene.NewUpload{MIME: kind, Filename: f.Filename, Data: data})
	}
	return out, nil
}

// exchange begins what was asked for, unless the key says that it has begun
// already, and lets the client follow it from its start.
func (a *api) exchange(ctx context.Context, key string, said any, ask pipeline.Ask) (*streamOut, error) {
	log, err := a.once(ctx, key, said, ask)
	if err != nil {
		return nil, err
	}
	return &streamOut{Body: func(c huma.Context) { a.follow(c, ask.Conversation, log, 0) }}, nil
}

// begin claims the conversation and lets the exchange run. The client's going
// away does not end it. ended is told whether anything was stored.
func (a *api) begin(ctx context.Context, ask pipeline.Ask, ended func(stored bool)) (*fanout.Log[sse.Event], error) {
	x, err := a.Runner.Begin(ctx, ask)
	if err != nil {
		return nil, err
	}
	log := a.streams.Start(ask.Conversation, a.logName(x.ID()))
	go func() {
		stored := false
		defer log.Close()
		x.Run(func(e pipeline.Event) {
			stored = stored || e.Name == pipeline.UserMessageCreated || e.Name == pipeline.SpeakerDone
			if e.Name == pipeline.Done {
				ended(stored)
			}
			log.Append(a.wire(ask.Conversation, x.ID(), e))
		})
	}()
	return log, nil
}

// wire is an event as it is sent: text as one line, all else as JSON that says
// where it belongs.
func (a *api) wire(conversation, exchange string, e pipeline.Event) sse.Event {
	out := sse.Event{Type: e.Name}
	switch data := e.Data.(type) {
	case nil:
	case string:
		out.Data = sse.Escape(data)
	default:
		text, err := sse.JSON(data)
		if err != nil {
			a.Log.Error("an event cannot be written", "event", e.Name, "error", err)
		}
		out.Data = placed(conversation, exchange, text)
	}
	return out
}

// place is where an event belongs.
type place struct {
	Conversation string `json:"conversation_id"`
	Exchange     string `json:"exchange_id"`
}

// placed adds to a JSON object where it belongs.
func placed(conversation, exchange, object string) string {
	text, _ := sse.JSON(place{conversation, exchange})
	rest := strings.TrimPrefix(object, "{")
	if rest == "" || rest == "}" {
		return text
	}
	return strings.TrimSuffix(text, "}") + "," + rest
}
