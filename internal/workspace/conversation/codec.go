package conversation

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"jp/internal/workspace/config"
)

// wire is an event as it is stored; it decodes all kinds at once.
type wire struct {
	// Read by Entry.header, which takes any shape.
	Participant string `json:"participant"`
	Request     string `json:"request_id"`

	Metadata   json.RawMessage `json:"metadata"`
	Content    *string         `json:"content"`
	Author     string          `json:"author"`
	Schema     json.RawMessage `json:"schema"`
	Message    *string         `json:"message"`
	Reasoning  json.RawMessage `json:"reasoning"` // of a compaction, a policy
	Data       json.RawMessage `json:"data"`
	Incomplete string          `json:"incomplete"`
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	IsError    bool            `json:"is_error"`
	Source     json.RawMessage `json:"source"`
	Question   json.RawMessage `json:"question"`
	Answer     json.RawMessage `json:"answer"`
	Delta      json.RawMessage `json:"delta"`
	FromTurn   int             `json:"from_turn"`
	ToTurn     int             `json:"to_turn"`
	Summary    *struct {
		Summary string `json:"summary"`
	} `json:"summary"`
	ToolCalls *struct {
		Policy   string `json:"policy"`
		Request  bool   `json:"request"`
		Response bool   `json:"response"`
	} `json:"tool_calls"`
	Recipients struct {
		Responders []string `json:"responders"`
		Visibility struct {
			Only []string `json:"only"`
		} `json:"visibility"`
	} `json:"recipients"`
}

// decode reads an entry's own fields. A kind that is not known has none.
func decode(e *Entry) (*Event, error) {
	ev := &Event{ID: e.ID, Kind: e.Kind, Time: e.Time, Participant: e.Participant, Request: e.Request}
	var w wire
	switch e.Kind {
	case "":
		return nil, errors.New("`type` is missing or no text")
	case TurnStart, ChatRequest, ChatResponse, ToolCallRequest, ToolCallResponse,
		InquiryRequest, InquiryResponse, ConfigDelta, Compaction:
	default:
		return ev, nil
	}
	if err := json.Unmarshal(e.Raw, &w); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Kind, misfit("", err))
	}
	if len(w.Metadata) > 0 {
		if err := unmarshal(mapStrings(w.Metadata, fromBase64), &ev.Metadata); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Kind, misfit("metadata", err))
		}
	}
	ev.Only = w.Recipients.Visibility.Only
	if err := w.fill(ev); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Kind, err)
	}
	return ev, nil
}

func (w *wire) fill(ev *Event) error {
	ev.CallID, ev.Incomplete = w.ID, w.Incomplete
	switch ev.Kind {
	case ChatRequest:
		if w.Content == nil {
			return fmt.Errorf("`content` is missing")
		}
		ev.Content, ev.Author, ev.Schema = *w.Content, w.Author, compact(w.Schema)
		ev.Responders = w.Recipients.Responders
	case ChatResponse:
		return w.response(ev)
	case ToolCallRequest:
		ev.Name, ev.Arguments = w.Name, arguments(mapStrings(w.Arguments, fromBase64))
	case ToolCallResponse:
		if w.Content != nil {
			ev.Content = fromBase64(*w.Content)
		}
		ev.IsError = w.IsError
	case InquiryRequest:
		ev.Source, ev.Question = compact(w.Source), compact(w.Question)
	case InquiryResponse:
		ev.Answer = compact(w.Answer)
	case ConfigDelta:
		var m map[string]any
		if err := unmarshal(w.Delta, &m); err != nil {
			return misfit("delta", err)
		}
		ev.Delta = config.Stored(m)
	case Compaction:
		ev.FromTurn, ev.ToTurn = w.FromTurn, w.ToTurn
		ev.StripReasoning = len(w.Reasoning) > 0 && !isNull(w.Reasoning)
		if w.Summary != nil {
			ev.Summary = &w.Summary.Summary
		}
		if t := w.ToolCalls; t != nil {
			ev.StripTools = &ToolPolicy{Omit: t.Policy == "omit", Request: t.Request, Response: t.Response}
		}
	}
	return nil
}

func (w *wire) response(ev *Event) error {
	switch {
	case w.Message != nil:
		ev.Form, ev.Content = Message, *w.Message
	case len(w.Reasoning) > 0 && !isNull(w.Reasoning):
		text, ok := unquote(w.Reasoning)
		if !ok {
			return fmt.Errorf("`reasoning` is not a text")
		}
		ev.Form, ev.Content = Reasoning, text
	case len(w.Data) > 0:
		ev.Form, ev.Data = Data, compact(w.Data)
	default:
		return fmt.Errorf("`message`, `reasoning` or `data` is missing")
	}
	return nil
}

// misfit says in plain words which value has the wrong type: key is the one
// that was decoded, empty for the whole entry.
func misfit(key string, err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	if key == "" {
		key = e.Field
	}
	have, _, _ := strings.Cut(e.Value, " ") // a number brings its digits
	names := map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}
	kinds := map[reflect.Kind]string{reflect.String: names["string"], reflect.Int: "a whole number", reflect.Bool: names["bool"], reflect.Slice: names["array"]}
	return fmt.Errorf("`%s`: %s is expected, not %s", key, cmp.Or(kinds[e.Type.Kind()], names["object"]), cmp.Or(names[have], have))
}

// compact drops the white space of a value inside a file.
func compact(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// arguments makes sure of an object: a provider refuses anything else.
func arguments(raw []byte) json.RawMessage {
	if args := compact(raw); len(args) > 0 && args[0] == '{' {
		return args
	}
	return json.RawMessage("{}")
}

// unmarshal decodes an object into a map whose numbers are json.Number.
func unmarshal(raw []byte, into *map[string]any) error {
	if len(raw) == 0 || isNull(raw) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}

// fromBase64 undoes the encoding of tool content. What is not base64 of text
// is taken as it is: older files held plain text.
func fromBase64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(b) {
		return s
	}
	return string(b)
}

func toBase64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// fields builds an object whose members keep the order of the calls.
type fields struct {
	b   bytes.Buffer
	err error
}

func (f *fields) raw(key string, value []byte) {
	if f.b.Len() == 0 {
		f.b.WriteByte('{')
	} else {
		f.b.WriteByte(',')
	}
	f.b.Write(quote(key))
	f.b.WriteByte(':')
	f.b.Write(value)
}

func (f *fields) text(key, value string) { f.raw(key, quote(value)) }

func (f *fields) some(key, value string) {
	if value != "" {
		f.text(key, value)
	}
}

func (f *fields) json(key string, value any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: %w", key, err)
	}
	f.raw(key, bytes.TrimSpace(b.Bytes()))
}

func (f *fields) object() ([]byte, error) {
	if f.b.Len() == 0 {
		f.b.WriteByte('{')
	}
	f.b.WriteByte('}')
	return f.b.Bytes(), f.err
}

// encode writes an event as compact JSON, with the keys in the existing tool's
// order and ours beside the id.
func encode(ev *Event) ([]byte, error) {
	f := &fields{}
	f.text("event_id", ev.ID)
	f.some("request_id", ev.Request)
	f.some("participant", ev.Participant)
	stamp := FormatTime(ev.Time)
	if ev.Kind == ConfigDelta || ev.Kind == Compaction {
		f.text("type", string(ev.Kind))
		f.text("timestamp", stamp)
	} else {
		f.text("timestamp", stamp)
		f.text("type", string(ev.Kind))
	}
	switch ev.Kind {
	case TurnStart:
	case ChatRequest:
		f.text("content", ev.Content)
		if len(ev.Schema) > 0 {
			f.json("schema", ev.Schema)
		}
		f.some("author", ev.Author)
	case ChatResponse:
		if ev.Form == Data {
			f.json("data", ev.Data)
		} else {
			f.text(string(ev.Form), ev.Content)
		}
		f.some("incomplete", ev.Incomplete)
	case ToolCallRequest:
		f.text("id", ev.CallID)
		f.text("name", ev.Name)
		f.raw("arguments", mapStrings(arguments(ev.Arguments), toBase64))
	case ToolCallResponse:
		f.text("id", ev.CallID)
		f.text("content", toBase64(ev.Content))
		f.json("is_error", ev.IsError)
	case InquiryRequest:
		f.text("id", ev.CallID)
		f.json("source", ev.Source)
		f.json("question", ev.Question)
	case InquiryResponse:
		f.text("id", ev.CallID)
		f.json("answer", ev.Answer)
	case ConfigDelta:
		f.json("delta", ev.Delta)
	case Compaction:
		f.compaction(ev)
	default:
		return nil, fmt.Errorf("events of kind %q are read only", ev.Kind)
	}
	f.recipients(ev)
	if len(ev.Metadata) > 0 {
		meta := &fields{}
		meta.json("m", ev.Metadata)
		raw := meta.b.Bytes()[len(`{"m":`):]
		f.err = cmp.Or(f.err, meta.err)
		f.raw("metadata", mapStrings(raw, toBase64))
	}
	return f.object()
}

func (f *fields) compaction(ev *Event) {
	f.json("from_turn", ev.FromTurn)
	f.json("to_turn", ev.ToTurn)
	if ev.Summary != nil {
		f.json("summary", map[string]string{"summary": *ev.Summary})
	}
	if ev.StripReasoning {
		f.text("reasoning", "strip")
	}
	if p := ev.StripTools; p != nil {
		if p.Omit {
			f.raw("tool_calls", []byte(`{"policy":"omit"}`))
		} else {
			f.raw("tool_calls", fmt.Appendf(nil, `{"policy":"strip","request":%t,"response":%t}`, p.Request, p.Response))
		}
	}
}

func (f *fields) recipients(ev *Event) {
	if ev.Responders == nil && ev.Only == nil {
		return
	}
	r := &fields{}
	if ev.Responders != nil {
		r.json("responders", ev.Responders)
	}
	if ev.Only != nil {
		r.json("visibility", map[string][]string{"only": ev.Only})
	}
	raw, err := r.object()
	f.err = cmp.Or(f.err, err)
	f.raw("recipients", raw)
}

// pretty lays a value out as the existing tool does, for a place that is
// indented already. Nothing but white space changes.
func pretty(raw []byte, prefix string) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, prefix, "  "); err != nil {
		return raw
	}
	return b.Bytes()
}
