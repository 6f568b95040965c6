package conversation

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"jp/internal/workspace/config"
)

func TestEncodeKeepsTheOrderOfKeys(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	summary := "s"
	for want, ev := range map[string]Event{
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"turn_start"}`: {Kind: TurnStart},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"chat_request","content":"<a&b>","author":"jean","recipients":{"responders":["dev"],"visibility":{"only":["dev"]}}}`: {
			Kind: ChatRequest, Content: "<a&b>", Author: "jean", Responders: []string{"dev"}, Only: []string{"dev"}},
		`{"event_id":"i","request_id":"r","participant":"dev","timestamp":"2026-05-01 12:00:00.0","type":"chat_response","message":"m","incomplete":"error"}`: {
			Kind: ChatResponse, Request: "r", Participant: "dev", Form: Message, Content: "m", Incomplete: "error"},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"chat_response","reasoning":"","metadata":{"deep":["Yg=="],"n":1,"sig":"YQ=="}}`: {
			Kind: ChatResponse, Form: Reasoning, Metadata: map[string]any{"sig": "a", "n": 1, "deep": []any{"b"}}},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"chat_response","data":{"b":1,"a":2}}`: {
			Kind: ChatResponse, Form: Data, Data: json.RawMessage(`{"b": 1, "a": 2}`)},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"tool_call_request","id":"c","name":"n","arguments":{"z":"YQ==","a":{"k":["Yg==",1.50,null]}}}`: {
			Kind: ToolCallRequest, CallID: "c", Name: "n", Arguments: json.RawMessage(`{"z": "a", "a": {"k": ["b", 1.50, null]}}`)},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"tool_call_response","id":"c","content":"b2s=","is_error":true}`: {
			Kind: ToolCallResponse, CallID: "c", Content: "ok", IsError: true},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"inquiry_request","id":"q","source":{"source":"tool"},"question":{"text":"?"}}`: {
			Kind: InquiryRequest, CallID: "q", Source: json.RawMessage(`{"source":"tool"}`), Question: json.RawMessage(`{"text":"?"}`)},
		`{"event_id":"i","timestamp":"2026-05-01 12:00:00.0","type":"inquiry_response","id":"q","answer":true}`: {
			Kind: InquiryResponse, CallID: "q", Answer: json.RawMessage(`true`)},
		`{"event_id":"i","type":"config_delta","timestamp":"2026-05-01 12:00:00.0","delta":{"user":{"name":"jean"}}}`: {
			Kind: ConfigDelta, Delta: config.Tree{"user": config.Tree{"name": "jean"}}},
		`{"event_id":"i","type":"compaction","timestamp":"2026-05-01 12:00:00.0","from_turn":0,"to_turn":3,"summary":{"summary":"s"},"reasoning":"strip","tool_calls":{"policy":"strip","request":true,"response":false}}`: {
			Kind: Compaction, ToTurn: 3, Summary: &summary, StripReasoning: true, StripTools: &ToolPolicy{Request: true}},
	} {
		ev.ID, ev.Time = "i", at
		got, err := encode(&ev)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBase64IsLenient(t *testing.T) {
	for stored, want := range map[string]string{
		"c3Jj": "src", "": "", "not base64!": "not base64!", "/w==": "/w==", "c3Jj ": "c3Jj ", "c3J": "c3J",
	} {
		if got := fromBase64(stored); got != want {
			t.Errorf("%q → %q, want %q", stored, got, want)
		}
	}
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\u2028<&>", "\x00\x1b[0m", "[dev]: x", `"\\`}))
}

func anEvent() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		ev := Event{
			ID:   rapid.StringMatching(`[0-9a-z]{7}`).Draw(t, "id"),
			Kind: rapid.SampledFrom([]Kind{TurnStart, ChatRequest, ChatResponse, ToolCallRequest, ToolCallResponse, InquiryResponse, ConfigDelta}).Draw(t, "kind"),
			Time: time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "time")).UTC(),
		}
		if ev.Kind.Answers() {
			ev.Participant, ev.Request = rapid.StringMatching(`[a-z_]{0,4}`).Draw(t, "participant"), rapid.StringMatching(`[0-9a-z]{0,7}`).Draw(t, "request")
			ev.Metadata = rapid.MapOfN(text(), rapid.Just[any]("secret"), -1, 2).Draw(t, "metadata")
		}
		if n := rapid.IntRange(-1, 2).Draw(t, "recipients"); n >= 0 && ev.Kind == ChatRequest {
			ev.Responders = make([]string, n)
		}
		switch ev.Kind {
		case ChatRequest:
			ev.Content, ev.Author = text().Draw(t, "content"), text().Draw(t, "author")
		case ChatResponse:
			ev.Form = rapid.SampledFrom([]Form{Message, Reasoning, Data}).Draw(t, "form")
			ev.Incomplete = rapid.SampledFrom([]string{"", IncompleteError, IncompleteLength}).Draw(t, "incomplete")
			if ev.Form == Data {
				ev.Data = json.RawMessage(`{"a":[1.0,null]}`)
			} else {
				ev.Content = text().Draw(t, "content")
			}
		case ToolCallRequest:
			ev.CallID, ev.Name = text().Draw(t, "call"), text().Draw(t, "name")
			ev.Arguments = json.RawMessage(`{` + string(quote(text().Draw(t, "key"))) + `:` + string(quote(text().Draw(t, "value"))) + `}`)
		case ToolCallResponse:
			ev.CallID, ev.Content, ev.IsError = text().Draw(t, "call"), text().Draw(t, "content"), rapid.Bool().Draw(t, "error")
		case InquiryResponse:
			ev.CallID, ev.Answer = text().Draw(t, "call"), json.RawMessage(`false`)
		case ConfigDelta:
			ev.Delta = config.Tree{"user": config.Tree{"name": text().Draw(t, "name"), "n": rapid.Int64().Draw(t, "n")}}
		}
		return ev
	})
}

// What is appended reads back as it was, however the log grew.
func TestAppendedEventsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfNDistinct(anEvent(), 0, 8, func(e Event) string { return e.ID }).Draw(t, "events")
		s, err := New(17000000000, config.Tree{}, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			if _, err := s.Append(ev); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "reload") {
				if s, err = Parse(EventsFile, render(s), s.baseRaw, s.id, testEnv()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if s, err = Parse(EventsFile, render(s), s.baseRaw, s.id, testEnv()); err != nil {
			t.Fatal(err)
		}
		if errs := s.Check(); s.Len() != len(events) || len(errs) > 0 {
			t.Fatalf("%d of %d events, %v", s.Len(), len(events), errs)
		}
		for i, want := range events {
			got, err := s.Event(i)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// FuzzLog feeds whole files: the scanner accepts what encoding/json accepts,
// nothing panics, and a save keeps every entry, apart from its id, byte for
// byte and in place.
func FuzzLog(f *testing.F) {
	paths, _ := filepath.Glob("testdata/stream/*.txtar")
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		_, log, _ := strings.Cut(string(data), "-- events.json --\n")
		log, _, _ = strings.Cut(log, "\n-- ")
		f.Add([]byte(log))
	}
	f.Add([]byte(`[{"event_id":"a","event_id":"b","\u0065vent_id":"c"}, {"type":"config_delta"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(EventsFile, data, nil, 17000000000, testEnv())
		trimmed := bytes.TrimPrefix(data, byteOrderMark)
		var list []json.RawMessage
		plain := utf8.Valid(data) && json.Unmarshal(trimmed, &list) == nil && list != nil
		for _, raw := range list {
			plain = plain && raw[0] == '{'
		}
		if (err == nil) != plain {
			t.Fatalf("we say %v, encoding/json says %v", err, plain)
		}
		if err != nil {
			return
		}
		s.Check()
		lines := s.Lines()
		for _, i := range s.Requests() {
			s.Waiting(s.At(i).ID)
		}
		s.Turns()
		var before []Entry
		for i := range s.Len() {
			before = append(before, s.At(i))
		}
		if _, err := s.Append(Event{Kind: TurnStart}); err != nil {
			t.Fatal(err)
		}
		saved := render(s)
		again, err := Parse(EventsFile, saved, s.baseRaw, s.id, testEnv())
		if err != nil {
			t.Fatalf("%v in what we saved:\n%s", err, saved)
		}
		if again.Len() != len(before)+1 || len(again.repairs) > 0 {
			t.Fatalf("%d entries became %d, %d without ids", len(before), again.Len(), len(again.repairs))
		}
		for i, e := range before {
			got := again.At(i)
			if got.ID != e.ID || !bytes.Equal(withoutID(got.Raw), withoutID(e.Raw)) {
				t.Fatalf("entry %d changed:\n%s\n%s", i, e.Raw, got.Raw)
			}
		}
		if len(s.doubled) == 0 {
			if diff := cmp.Diff(lines, again.Lines()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// withoutID joins the members of an object that are no ids, as they stand.
func withoutID(raw []byte) []byte {
	var b []byte
	for key, value := range members(raw) {
		if !keyIs(key, "event_id") {
			b = append(append(append(b, key...), ':'), value...)
		}
	}
	return b
}

func FuzzMapStrings(f *testing.F) {
	f.Add([]byte(`{"a":"b","c":["d",{"e" : "f\n"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := mapStrings(data, func(s string) string { return s + "!" })
		if !json.Valid(data) {
			return
		}
		back := mapStrings(got, func(s string) string { return strings.TrimSuffix(s, "!") })
		if want, have := exact(t, data), exact(t, back); !cmp.Equal(want, have) {
			t.Fatalf("%s became %s", data, got)
		}
	})
}

func exact(t *testing.T, raw []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
