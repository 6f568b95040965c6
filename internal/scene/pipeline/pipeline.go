// Package pipeline makes the cast speak: it runs one exchange from what a
// person asked for to the last step after the last reply, and the calls beside
// exchanges – summaries, drafts, completions.
//
// An exchange is claimed, set up once, planned, and then run by the kernel's
// exchange runner: for each speaker the Writer, its filters, the Editor and
// feedback, then the reply is committed and only then announced. What was
// asked with wrong ids or at the wrong time is refused before anything is
// stored or announced. From then on every end is one `done`, and the claim is
// given back before it.
//
// Within one lane all calls of an exchange begin with the same bytes: the
// system body and the history that is older than the request. No pass builds
// messages by hand; scene/prompt owns them.
package pipeline

import (
	"context"
	"log/slog"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
)

// Runner runs exchanges. It is safe for use by many goroutines; its fields are
// only read.
type Runner struct {
	Scenes *scene.Service
	Models Models
	Hooks  []Hook // of workflows, for every reply
	Now    func() time.Time
	Log    *slog.Logger
}

// Models opens the model behind an endpoint.
type Models interface {
	// Open returns the lane of a model config. Nothing is sent. Errors:
	// fault.Config for an endpoint without a key or with a URL that cannot be.
	Open(e scene.Endpoint, m scene.ModelConfig) (Lane, error)
	// Rehearsal is the embedded model, for a speaker's name.
	Rehearsal(name string) Lane
}

// Lane is an opened model with all that shapes its calls.
type Lane struct {
	Model        llm.Model
	Name         string // of the model, as the server knows it
	SystemPrompt string // the model config's own
	Params       llm.Params
	Forcing      Forcing
	Window       int // tokens; 0 is what Asked says
	// Asked asks the server how many tokens it holds, where it tells; 0 is
	// unknown. nil for a server that does not tell.
	Asked func(context.Context) int

	own bool // the agent's lane is one of its own
}

// Forcing is how a structured answer is forced. It never changes what stands
// before the trailing message.
type Forcing int

// The ways. ByTool names a tool of the set that every call of the lane ships,
// the Writer's with the choice none; BySchema asks for JSON of the tool's
// schema, and no call ships tools.
const (
	ByTool Forcing = iota
	BySchema
)
