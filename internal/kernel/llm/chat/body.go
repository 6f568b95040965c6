package chat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/internal/kernel/llm"
)

// field is a field of the request body; a body is written in order.
type field struct {
	name  string
	value any
}

// Fixed tells whether a field of the request body is the wire's own: laid over
// by Params.Extra it would make another request, or an answer that cannot be
// read. Body does not keep anybody from it.
func Fixed(name string) bool {
	switch name {
	case "messages", "model", "n", "stream", "tool_choice", "tools":
		return true
	}
	return false
}

// Body is the exact text that Stream posts for req. It needs no key. Errors
// are an *llm.Error of kind Rejected: req cannot be written.
func (c Config) Body(req llm.Request) ([]byte, error) {
	d, p := c.Dialect, req.Params
	tools, choice, err := c.tools(req)
	if err != nil {
		return nil, err
	}
	fields := []field{{"model", req.Model}, {"stream", true}}
	if d.counts {
		fields = append(fields, field{"stream_options", map[string]bool{"include_usage": true}})
	}
	fields = append(fields, d.think(p)...)
	fields = append(fields, field{"messages", d.messages(req)})
	if len(tools) > 0 {
		fields = append(fields, field{"tools", tools}, field{"tool_choice", choice})
	}
	if len(req.Schema) > 0 {
		fields = append(fields, field{"response_format", format{Type: "json_schema", Schema: schema{Name: "structured_output", Schema: req.Schema, Strict: true}}})
	}
	if p.MaxTokens != nil {
		name := "max_tokens"
		if c.capped() {
			name = "max_completion_tokens"
		}
		fields = append(fields, field{name, *p.MaxTokens})
	}
	if p.Temperature != nil {
		fields = append(fields, field{"temperature", *p.Temperature})
	}
	if p.TopP != nil {
		fields = append(fields, field{"top_p", *p.TopP})
	}
	if p.TopK != nil && (d.topK || !c.capped()) { // compatible servers know it, OpenAI refuses it
		fields = append(fields, field{"top_k", *p.TopK})
	}
	if sent, _ := d.split(p.Stop); len(sent) > 0 {
		fields = append(fields, field{"stop", sent})
	}
	text, err := encode(extend(fields, p.Extra))
	if err != nil {
		return nil, c.refuse("the request cannot be written as JSON: "+err.Error(), "check the tool schemas and the extra parameters")
	}
	return text, nil
}

// split parts the stop strings that are sent from those enforced here.
func (d Dialect) split(stops []string) (sent, rest []string) {
	for _, s := range stops {
		switch {
		case s == "":
		case d.stops > 0 && len(sent) == d.stops:
			rest = append(rest, s)
		default:
			sent = append(sent, s)
		}
	}
	return sent, rest
}

// extend lays extra over the fields: a known one keeps its place, a new one
// comes last by name, nil deletes. A field is replaced as a whole.
func extend(fields []field, extra map[string]any) []field {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch value := extra[name]; {
		case at >= 0 && value == nil:
			fields = slices.Delete(fields, at, at+1)
		case at >= 0:
			fields[at].value = value
		case value != nil:
			fields = append(fields, field{name, value})
		}
	}
	return fields
}

// encode writes an object of the fields without escaping <, > and &, so that
// what is sent can be read, and equals what a person writes by hand.
func encode(fields []field) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, f := range fields {
		out.WriteByte("{,"[min(i, 1)])
		for j, v := range []any{f.name, f.value} {
			if j == 1 {
				out.WriteByte(':')
			}
			if err := enc.Encode(v); err != nil {
				return nil, err
			}
			out.Truncate(out.Len() - 1) // the encoder's line break
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

type message struct {
	Role             string     `json:"role"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ReasoningDetails any        `json:"reasoning_details,omitempty"`
	Content          any        `json:"content,omitempty"` // string, []part, or nil beside tool calls
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type format struct {
	Type   string `json:"type"`
	Schema schema `json:"json_schema"`
}

type schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// messages is the system message, the documents and the conversation.
func (d Dialect) messages(req llm.Request) []message {
	system := slices.DeleteFunc(slices.Clone(req.System), func(s string) bool { return s == "" })
	texts, images := documents(req.Documents), documentImages(req.Documents)
	history := req.Messages
	first := llm.Message{Role: llm.RoleUser, Images: images}
	if d.inSystem && texts != "" {
		system = append(system, texts)
	} else {
		first.Text = texts
	}
	if first.Text != "" || len(images) > 0 {
		history = append([]llm.Message{first}, history...)
	}
	if d.strict {
		history = alternate(history)
	}
	out := []message{} // an empty conversation is [], not null
	if len(system) > 0 {
		out = append(out, message{Role: "system", Content: strings.Join(system, "\n\n")})
	}
	for _, t := range history {
		out = append(out, d.message(t))
	}
	return out
}

func (d Dialect) message(t llm.Message) message {
	m := message{Role: string(t.Role), Content: t.Text}
	switch t.Role {
	case llm.RoleUser:
		if len(t.Images) > 0 {
			m.Content = parts(t)
		}
	case llm.RoleTool:
		m.ToolCallID = t.ToolCall
	case llm.RoleAssistant:
		switch d.replay {
		case replayContent:
			m.ReasoningContent = t.Reasoning
		case replayDetails:
			m.Reasoning, m.ReasoningDetails = t.Reasoning, t.Replay[detailsKey]
		}
		if t.Text == "" && len(t.ToolCalls) > 0 {
			m.Content = nil // an empty text block is an error to some servers
		}
		for _, c := range t.ToolCalls {
			args := string(c.Arguments)
			if args == "" {
				args = "{}"
			}
			m.ToolCalls = append(m.ToolCalls, toolCall{c.ID, "function", function{c.Name, args}})
		}
	}
	return m
}

func parts(t llm.Message) []part {
	var out []part
	if t.Text != "" {
		out = append(out, part{Type: "text", Text: t.Text})
	}
	for _, i := range t.Images {
		if i.Source != "" {
			out = append(out, part{Type: "text", Text: "[Attached file: " + i.Source + "]"})
		}
		url := "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		out = append(out, part{Type: "image_url", Image: &imageURL{url}})
	}
	return out
}

// opener stands before a reply that nobody asked for, such as the opening of a
// scene.
const opener = "(The conversation begins here.)"

// alternate joins messages of one role that follow each other and lets a person
// have the first word, because chat templates refuse anything else. Labels are
// in the text, so nobody is mixed up. A tool call is never joined to what
// follows it.
func alternate(history []llm.Message) []llm.Message {
	var out []llm.Message
	if len(history) > 0 && history[0].Role == llm.RoleAssistant {
		out = append(out, llm.Message{Role: llm.RoleUser, Text: opener})
	}
	for _, t := range history {
		if n := len(out); n > 0 && out[n-1].Role == t.Role && t.Role != llm.RoleTool && len(out[n-1].ToolCalls) == 0 {
			last := &out[n-1]
			last.Text = paragraph(last.Text, t.Text)
			last.Reasoning = paragraph(last.Reasoning, t.Reasoning)
			last.Images = slices.Concat(last.Images, t.Images)
			last.ToolCalls = t.ToolCalls
			continue
		}
		out = append(out, t)
	}
	return out
}

// paragraph joins two texts by a blank line.
func paragraph(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
