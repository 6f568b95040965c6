package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
)

// printAs prints the messages of a participant's next request, or of one that
// it was sent, as its provider gets them.
func (a *app) printAs(ws *workspace.Workspace, c *workspace.Conversation, f printFlags) error {
	run, err := a.run(ws)
	if err != nil {
		return err
	}
	req, as, err := run.Seen(c.Stream, f.as, f.request)
	if err != nil {
		return err
	}
	messages, err := onWire(as.Model.Provider, req)
	if err != nil {
		return err
	}
	if a.json() {
		return a.printJSON(map[string]any{"participant": f.as, "model": req.Model, "messages": messages})
	}
	out, l := a.out(), look(c.Stream.Config())
	for i, raw := range messages {
		m, err := readMessage(raw)
		if err != nil {
			return err
		}
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s\n", strings.TrimRight(term.Heading{Label: m.Role}.Draw(out, l, false), "\n"))
		a.printf("%s\n", strings.TrimRight(term.Clean(m.text()), "\n"))
	}
	return nil
}

// onWire is the messages of a request as a provider is sent them. A provider
// to which there is no wire counts as openai.
func onWire(provider string, req llm.Request) ([]json.RawMessage, error) {
	dialect, ok := chat.DialectOf(provider)
	if !ok {
		dialect, _ = chat.DialectOf("openai")
	}
	// Nothing else of a request bears on its messages, or may keep them from being seen.
	req = llm.Request{Model: req.Model, System: req.System, Documents: req.Documents, Messages: req.Messages}
	raw, err := chat.Config{Provider: provider, Dialect: dialect}.Body(req)
	if err != nil {
		return nil, err
	}
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fault.New(fault.Internal, "the request cannot be read: %w", err)
	}
	return body.Messages, nil
}

// message is a message of the chat-completions protocol.
type message struct {
	Role             string          `json:"role"`
	CallID           string          `json:"tool_call_id"`
	Thought          string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Content          content         `json:"content"`
	Calls            []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is what a message says, pictures as a line each.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct {
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var lines []string
	for _, p := range parts {
		if p.Image.URL == "" {
			lines = append(lines, p.Text)
			continue
		}
		kind, data, _ := strings.Cut(strings.TrimPrefix(p.Image.URL, "data:"), ";base64,")
		picture, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("[picture %s, %d bytes]", kind, len(picture)))
	}
	*c = content(strings.Join(lines, "\n"))
	return nil
}

func readMessage(raw json.RawMessage) (message, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fault.New(fault.Internal, "a message cannot be read: %w", err)
	}
	return m, nil
}

// text is the message for people: what is no text of it stands in brackets.
func (m message) text() string {
	var lines []string
	add := func(format, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf(format, value))
		}
	}
	add("[answers %s]", m.CallID)
	add("[reasoning_content: %s]", m.Thought)
	add("[reasoning: %s]", m.Reasoning)
	add("[reasoning_details: %s]", string(m.ReasoningDetails))
	add("%s", string(m.Content))
	for _, c := range m.Calls {
		add("[calls %s]", c.Function.Name+" "+c.Function.Arguments+", "+c.ID)
	}
	return strings.Join(lines, "\n")
}
