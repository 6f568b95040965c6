package conversation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jp/internal/lib/fault"
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
	if len(s.Base()) != 0 || len(s.Problems()) > 0 {
		t.Error(s.Problems())
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
	if len(s.Problems()) != 1 || fault.CodeOf(s.Problems()[0]) != fault.Damaged {
		t.Errorf("problems %v", s.Problems())
	}
}
