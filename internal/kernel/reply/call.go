package reply

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/speaker"
)

// call is one model call: it shows what streams and collects it.
type call struct {
	prompt Prompt
	limits Limits
	emit   sink
	echo   *speaker.Echo

	began   bool // a text, reasoning or tool delta came
	spoke   bool // a text delta came
	bytes   int
	parts   []*part
	tools   []*toolCall // in order of appearance
	byIndex map[int]*toolCall
	usage   llm.Usage
	ended   llm.Finish
}

// part is a Part that grows.
type part struct {
	kind   PartKind
	text   strings.Builder
	replay map[string]any
}

// toolCall is a tool call that grows.
type toolCall struct {
	id, name  string
	arguments strings.Builder
}

func newCall(prompt Prompt, limits Limits, emit sink) *call {
	return &call{prompt: prompt, limits: limits, emit: emit,
		echo: speaker.NewEcho(prompt.Label), byIndex: map[int]*toolCall{}}
}

// firstChunk is how many times longer than later ones the first text, reasoning
// or call may take.
const firstChunk = 10

// stream runs the call to its finish reason, or returns why there is none.
func (c *call) stream(ctx context.Context, model llm.Model) error {
	patience := firstChunk * c.limits.Idle
	silence := &llm.Error{Kind: llm.TimedOut}
	streaming, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var idle *time.Timer
	if c.limits.Idle > 0 {
		idle = time.AfterFunc(patience, func() { cancel(silence) })
		defer idle.Stop()
	}
	var failed error
	for chunk, err := range model.Stream(streaming, c.prompt.Request) {
		if failed = err; err != nil {
			break
		}
		if idle != nil {
			idle.Stop() // whoever is shown the chunk may take time
		}
		if err := c.take(chunk); err != nil {
			return err
		}
		if c.began { // a bare role, or a sign of life, is no beginning
			patience = c.limits.Idle
		}
		if idle != nil {
			idle.Reset(patience)
		}
	}
	switch {
	case c.ended != "":
		return nil // what fails after the end does not matter
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case context.Cause(streaming) == silence:
		silence.Message = fmt.Sprintf("nothing came for %s", patience)
		return silence
	case failed != nil:
		return failed
	}
	return &llm.Error{Kind: llm.Broken, Message: "the stream ended without a finish reason"}
}

// take shows and keeps one chunk. It fails with errLeft or when the answer
// passes the byte ceiling; what still fits is kept.
func (c *call) take(chunk llm.Chunk) error {
	if chunk.Usage != nil {
		c.usage = *chunk.Usage
	}
	if chunk.Finish != "" {
		c.ended = chunk.Finish
	}
	if chunk.Tool != nil {
		c.bytes += len(chunk.Tool.ID) + len(chunk.Tool.Name)
	}
	ok := c.takeReasoning(c.fit(chunk.Reasoning))
	if chunk.Replay != nil {
		c.keep(chunk.Replay)
	}
	ok = ok && c.takeText(c.fit(chunk.Text))
	if chunk.Tool != nil {
		ok = ok && c.takeTool(*chunk.Tool, c.fit(chunk.Tool.Arguments))
	}
	if !ok {
		return errLeft
	}
	if c.limits.MaxBytes > 0 && c.bytes+chunk.Untold > c.limits.MaxBytes {
		c.ended = ""
		return &llm.Error{Kind: llm.TooLong, Message: fmt.Sprintf("the answer is longer than %d bytes", c.limits.MaxBytes)}
	}
	return nil
}

// fit counts s and returns what of it fits under the byte ceiling, in whole
// characters.
func (c *call) fit(s string) string {
	room := c.limits.MaxBytes - c.bytes
	c.bytes += len(s)
	if c.limits.MaxBytes <= 0 || len(s) <= room {
		return s
	}
	room = max(room, 0)
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return s[:room]
}

func (c *call) takeText(s string) bool {
	if s == "" {
		return true
	}
	c.began, c.spoke = true, true
	return c.show(c.echo.Write(s))
}

// release shows what the label filter holds back: something else begins, or
// the answer ends.
func (c *call) release() bool {
	return !c.spoke || c.show(c.echo.Flush())
}

func (c *call) show(text string) bool {
	if text == "" {
		return true
	}
	if n := len(c.parts); n == 0 || c.parts[n-1].kind != Text {
		c.parts = append(c.parts, &part{kind: Text})
	}
	c.parts[len(c.parts)-1].text.WriteString(text)
	return c.emit(Event{Delta: Delta{Text: text}})
}

func (c *call) takeReasoning(s string) bool {
	if s == "" {
		return true
	}
	c.began = true
	if !c.release() {
		return false
	}
	// Opaque data vouches for the reasoning before it: more begins a new part.
	if n := len(c.parts); n == 0 || c.parts[n-1].kind != Reasoning || c.parts[n-1].replay != nil {
		c.parts = append(c.parts, &part{kind: Reasoning})
	}
	c.parts[len(c.parts)-1].text.WriteString(s)
	return c.emit(Event{Delta: Delta{Reasoning: s}})
}

// keep adds opaque data to the last reasoning, or as reasoning of its own when
// that has such data already, or there is none.
func (c *call) keep(replay map[string]any) {
	for i := len(c.parts) - 1; i >= 0; i-- {
		p := c.parts[i]
		if p.kind != Reasoning {
			continue
		}
		for k := range replay {
			if _, taken := p.replay[k]; taken {
				c.parts = append(c.parts, &part{kind: Reasoning, replay: maps.Clone(replay)})
				return
			}
		}
		if p.replay == nil {
			p.replay = map[string]any{}
		}
		maps.Copy(p.replay, replay)
		return
	}
	c.parts = append(c.parts, &part{kind: Reasoning, replay: maps.Clone(replay)})
}

func (c *call) takeTool(d llm.ToolDelta, arguments string) bool {
	c.began = true
	if !c.release() {
		return false
	}
	t := c.byIndex[d.Index]
	// Some servers give every call the same index: another id is another call.
	if t == nil || d.ID != "" && t.id != "" && d.ID != t.id {
		t = &toolCall{}
		c.byIndex[d.Index] = t
		c.tools = append(c.tools, t)
	}
	if t.id == "" {
		t.id = d.ID
	}
	t.arguments.WriteString(arguments)
	if t.name == "" && d.Name != "" {
		t.name = d.Name
		return c.emit(Event{Delta: Delta{Tool: d.Name}})
	}
	return true
}
