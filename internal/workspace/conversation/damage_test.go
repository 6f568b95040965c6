package conversation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
)

const goodLog = `[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}]`

func TestDamage(t *testing.T) {
	cases := []struct {
		name, file, data string
		want             string // part of the message
		line             int
		offset           int64
	}{
		{"empty", EventsFile, "", "unexpected end of file", 1, 0},
		{"blank", EventsFile, "\n\n", "unexpected end of file", 3, 2},
		{"object", EventsFile, "{}", "a list of events is expected", 1, 0},
		{"half a record", EventsFile, "[\n{\"type\":\"chat_response\",\"message\":\"abc{\"type\":\"turn_start\"}]", "a comma or a closing brace is missing", 2, 42},
		{"cut in a string", EventsFile, `[{"type":"chat`, "unexpected end of file", 1, 14},
		{"cut in a character", EventsFile, "[{\"type\":\"\xc3", "not UTF-8", 1, 10},
		{"cut after a comma", EventsFile, "[\n{},", "unexpected end of file", 2, 5},
		{"comma at the end", EventsFile, "[\n{},\n]", "an event is expected", 3, 6},
		{"raw line break", EventsFile, "[{\"a\":\"x\ny\"}]", "line break", 1, 8},
		{"number", EventsFile, "[\n1]", "an event is expected", 2, 2},
		{"more behind", EventsFile, "[]\n[]", "something follows", 2, 3},
		{"deep", EventsFile, "[{\"a\":" + strings.Repeat("[", 20000), "nested too deeply", 1, 10005},
		{"bad escape", EventsFile, `[{"a":"\x"}]`, "bad escape", 1, 7},
		{"conflict", EventsFile, "[\n<<<<<<< HEAD\n{},\n=======\n{}\n>>>>>>> x\n]", "conflict markers", 2, 2},
		{"conflict, only the end left", EventsFile, "[\n{}\n>>>>>>> x\n]", "conflict markers", 3, 5},
		{"conflict in the base", BaseFile, "{\n\"a\": 1,\n=======\n}", "conflict markers", 3, 10},
		{"base is a list", BaseFile, "[]", "an object is expected", 1, 0},
		{"base is cut", BaseFile, `{"a":`, "unexpected end of file", 1, 5},
		{"conflict in the metadata", MetadataFile, "{\n<<<<<<< HEAD\n}", "conflict markers", 2, 2},
		{"metadata is cut", MetadataFile, "{", "unexpected end of file", 1, 1},
		{"metadata of another type", MetadataFile, `{"title":5}`, "`title`", 0, 0},
		{"metadata with a bad time", MetadataFile, `{"last_activated_at":"yesterday"}`, "`last_activated_at`", 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{EventsFile: goodLog, BaseFile: "{}", MetadataFile: "{}"}
			files[c.file] = c.data
			for name, data := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Load(dir, 1, testEnv())
			if c.file == MetadataFile {
				if err != nil {
					t.Fatalf("metadata keeps the log from loading: %v", err)
				}
				_, err = LoadMeta(dir)
			}
			var d *Damage
			if !errors.As(err, &d) {
				t.Fatalf("got %v, want a Damage", err)
			}
			if d.Path != filepath.Join(dir, c.file) || d.Line != c.line || d.Offset != c.offset || !strings.Contains(d.Error(), c.want) {
				t.Errorf("got line %d, byte %d: %v", d.Line, d.Offset, d)
			}
			if fault.CodeOf(err) != fault.Damaged || d.FaultHint() == "" {
				t.Errorf("code %s, hint %q", fault.CodeOf(err), d.FaultHint())
			}
			if err := Check(d.Path, []byte(c.data)); err == nil {
				t.Error("Check lets it pass")
			}
			if got, _ := os.ReadFile(d.Path); string(got) != c.data {
				t.Error("the file was changed")
			}
		})
	}
}

func TestMissingLogIsDamage(t *testing.T) {
	_, err := Load(t.TempDir(), 1, testEnv())
	if fault.CodeOf(err) != fault.Damaged {
		t.Errorf("got %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "gone"), 1, testEnv()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}

func TestByteOrderMark(t *testing.T) {
	s, err := Parse(EventsFile, []byte("\xef\xbb\xbf"+goodLog), []byte("\xef\xbb\xbf{}"), 1, testEnv())
	if err != nil || s.Len() != 1 {
		t.Fatal(err)
	}
	if errs := s.Check(); len(s.ConfigAt(0)) != 0 || len(errs) > 0 {
		t.Error(errs)
	}
}

// A marker inside a text is no conflict.
func TestMarkerInText(t *testing.T) {
	log := `[{"type":"chat_request","timestamp":"2026-01-01 00:00:00.0","content":"<<<<<<< HEAD\n=======\n>>>>>>> x"}]`
	if _, err := Parse(EventsFile, []byte(log), nil, 1, testEnv()); err != nil {
		t.Error(err)
	}
}

// A delta of the wrong shape counts as empty; the rest stays usable.
func TestUnreadableDelta(t *testing.T) {
	log := `[{"type":"turn_start","timestamp":"2026-01-01 00:00:00.0"},
	{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":[1]},
	{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":{"user":{"name":"jean"}}}]`
	s, err := Parse(EventsFile, []byte(log), []byte("{}"), 1, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if user, _ := s.Config()["user"].(map[string]any); user["name"] != "jean" {
		t.Errorf("config %v", s.Config())
	}
	if errs := s.Check(); len(errs) != 1 || fault.CodeOf(errs[0]) != fault.Damaged {
		t.Errorf("problems %v", errs)
	}
}

// What cannot be decoded is named with its place and in plain words, of several
// entries that look the same each with its own.
func TestMisfits(t *testing.T) {
	for entry, want := range map[string]string{
		`{"type":"chat_request","content":5}`:                                           "chat_request: `content`: a text is expected, not a number",
		`{"type":"chat_request","content":"x","recipients":{"responders":"dev"}}`:       "chat_request: `recipients.responders`: a list is expected, not a text",
		`{"type":"chat_request","content":"x","recipients":{"responders":[true]}}`:      "chat_request: `recipients.responders`: a text is expected, not true or false",
		`{"type":"chat_request","content":"x","recipients":[]}`:                         "chat_request: `recipients`: an object is expected, not a list",
		`{"type":"chat_request","content":"x","recipients":{"visibility":{"only":{}}}}`: "chat_request: `recipients.visibility.only`: a list is expected, not an object",
		`{"type":"chat_request"}`:                                                       "chat_request: `content` is missing",
		`{"type":"chat_response","message":"x","participant":7}`:                        "chat_response: `participant`: a text is expected, not a number",
		`{"type":"chat_response","message":"x","request_id":[]}`:                        "chat_response: `request_id`: a text is expected, not a list",
		`{"type":"chat_response","message":"x","metadata":"y"}`:                         "chat_response: `metadata`: an object is expected, not a text",
		`{"type":"tool_call_response","id":"a","is_error":"no"}`:                        "tool_call_response: `is_error`: true or false is expected, not a text",
		`{"type":"config_delta","delta":[1]}`:                                           "config_delta: `delta`: an object is expected, not a list",
		`{"type":"compaction","from_turn":1.5,"to_turn":2}`:                             "compaction: `from_turn`: a whole number is expected, not a number",
		`{"content":"x"}`:          "`type` is missing or no text",
		`{"type":5,"content":"x"}`: "`type` is missing or no text",
		`{"type":"from_the_future","content":5,"participant":5,"recipients":"everyone"}`: "",
	} {
		log := "[" + `{"type":"turn_start"}` + ",\n\n" + entry + ",\n" + entry + "]"
		s, err := Parse(EventsFile, []byte(log), []byte("{}"), 1, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		errs := s.Check()
		if want == "" {
			if len(errs) > 0 {
				t.Errorf("%s: %v", entry, errs)
			}
			continue
		}
		if len(errs) != 2 {
			t.Errorf("%s: %v", entry, errs)
			continue
		}
		first, second := strings.Index(log, entry), strings.LastIndex(log, entry)
		for i, at := range []int{first, second} {
			full := fmt.Sprintf("%s:%d: damaged at byte %d: entry %d: %s", EventsFile, 3+i, at, 2+i, want)
			if errs[i].Error() != full || fault.CodeOf(errs[i]) != fault.Damaged {
				t.Errorf("got  %v\nwant %s", errs[i], full)
			}
		}
		if _, err := s.Event(1); err == nil || err.Error() != errs[0].Error() {
			t.Errorf("looked at again: %v", err)
		}
	}
}

// The base may lie in the log only where no version that has a file for it
// wrote: anything else that has no such file has lost who takes part.
func TestMissingBase(t *testing.T) {
	request := `{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"x"}`
	for log, whole := range map[string]bool{
		`[]`:                   false,
		goodLog:                false,
		"[" + request + "]":    false,
		`[{"type":"unknown"}]`: false,
		`[{"type":"config_delta","delta":{"a":1}}]`:                                            true,
		`[{"type":"config_delta","delta":{"a":1}},` + request + `]`:                            true,
		`[{"type":"config_delta","assistant":{"name":"x"}},` + request + `]`:                   true,
		`[{"type":"config_delta"},` + request + `]`:                                            true,
		`[` + request + `,{"type":"config_delta","delta":{"a":1}}]`:                            false,
		`[{"event_id":"aaaaaaa","type":"config_delta","delta":{"a":1}},` + request + `]`:       false,
		`[{"type":"config_delta","delta":{"a":1}},{"event_id":"aaaaaaa","type":"turn_start"}]`: false,
		`[{"type":"config_delta","delta":5},{"type":"turn_start"}]`:                            false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir, 1, testEnv())
		if whole {
			if err != nil {
				t.Errorf("%s: %v", log, err)
			}
			continue
		}
		if want := filepath.Join(dir, BaseFile) + " is missing"; err == nil || err.Error() != want || fault.CodeOf(err) != fault.Damaged {
			t.Errorf("%s: got %v, want %s", log, err, want)
		}
	}
}

// A base that disappears while its conversation is open is written anew, with
// the log changed meanwhile or not.
func TestBaseIsWrittenAnew(t *testing.T) {
	for _, changed := range []bool{false, true} {
		dir := t.TempDir()
		s := newStream(t, config.Tree{"user": config.Tree{"name": "jean"}})
		if err := s.Save(dir); err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(dir, BaseFile)
		before, err := os.ReadFile(base)
		if err != nil || os.Remove(base) != nil {
			t.Fatal(err)
		}
		if changed {
			if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte(goodLog), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.Append(Event{Kind: ChatRequest, Content: "x"})
		if err := s.Save(dir); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(base); string(after) != string(before) {
			t.Errorf("changed %v: %q, %v", changed, after, err)
		}
		if _, err := Load(dir, 1, testEnv()); err != nil {
			t.Error(err)
		}
	}
}

// What the file system refuses while a save catches up is no defect of ours.
func TestSaveOverUnreadable(t *testing.T) {
	dir := t.TempDir()
	s := newStream(t, config.Tree{})
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, EventsFile)
	if err := os.WriteFile(log, []byte(goodLog), 0o600); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, BaseFile)
	if err := os.Remove(base); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	s.Append(Event{Kind: ChatRequest, Content: "x"})
	if err := s.Save(dir); fault.CodeOf(err) != fault.Storage {
		t.Errorf("got %v, want fault.Storage", err)
	}
	if after, err := os.ReadFile(log); string(after) != goodLog {
		t.Errorf("%q, %v", after, err)
	}
}

func TestHintIsCopied(t *testing.T) {
	d := &Damage{Path: "/my work/.jp/conversations/17000000000-it's/events.json", Missing: true}
	want := `git checkout -- '/my work/.jp/conversations/17000000000-it'\''s/events.json'`
	if got := d.FaultHint(); !strings.Contains(got, want) || !strings.Contains(got, "--events jp-c17000000000`") {
		t.Error(got)
	}
}
