package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
)

func TestRead(t *testing.T) {
	cases := map[string]struct {
		text string
		want Tree   // nil: refused
		says string // by this message
	}{
		"empty.toml":      {"", Tree{}, ""},
		"empty.json":      {"\n", Tree{}, ""},
		"empty.json5":     {" ", Tree{}, ""},
		"empty.yaml":      {"# nothing\n", Tree{}, ""},
		"bom.toml":        {"\xef\xbb\xbfa = 1", Tree{"a": int64(1)}, ""},
		"UPPER.TOML":      {"a = 1", Tree{"a": int64(1)}, ""},
		"list.json":       {"[1]", nil, "list.json:1:1: the file must hold a table of keys, not a list"},
		"list.json5":      {"[1]", nil, "must hold a table of keys"},
		"text.yaml":       {"just text", nil, `not the text "just text"`},
		"two.json":        {`{"a":1} {"b":2}`, nil, "something follows the value"},
		"cut.json":        {`{"a":`, nil, "the JSON is not complete"},
		"key.json":        {`{1:2}`, nil, "key.json:1:"},
		"twice.toml":      {"a = 1\na = 2", nil, "twice.toml:2:"},
		"twice.json":      {`{"x":[{"a":1,"a":2}]}`, nil, `the key "a" stands twice`},
		"anchors.yaml":    {"base: &b {x: 1}\nother: *b", Tree{"base": Tree{"x": int64(1)}, "other": Tree{"x": int64(1)}}, ""},
		"keys.yaml":       {"a:\n  2: two\n  true: yes\n  null: n", Tree{"a": Tree{"2": "two", "true": "yes", "null": "n"}}, ""},
		"numbers.yaml":    {"a: -7\nb: 18446744073709551615\nc: 1.50\nd: .inf\ne: [1, 2.0]", Tree{"a": int64(-7), "b": 18446744073709551615.0, "c": 1.5, "d": "+Inf", "e": []any{int64(1), int64(2)}}, ""},
		"numbers.json":    {`{"a":1.0,"b":-0.5,"c":1e3,"d":9223372036854775807,"e":1e400}`, Tree{"a": int64(1), "b": -0.5, "c": int64(1000), "d": int64(9223372036854775807), "e": "+Inf"}, ""},
		"numbers.json5":   {`{a: 0x10, b: +1, c: .5, d: 2., e: [-0x1, 1e2], f: Infinity}`, Tree{"a": int64(16), "b": int64(1), "c": 0.5, "d": int64(2), "e": []any{int64(-1), int64(100)}, "f": "+Inf"}, ""},
		"dates.toml":      {"a = 07:32:00\nb = 1979-05-27T07:32:00", Tree{"a": "07:32:00", "b": "1979-05-27T07:32:00"}, ""},
		"quoted.toml":     {`models."gpt-4.1".id = 1` + "\n" + `models.gpt-4."1".id = 2`, Tree{"models": Tree{"gpt-4.1": Tree{"id": int64(1)}, "gpt-4": Tree{"1": Tree{"id": int64(2)}}}}, ""},
		"unknown.ini":     {"", nil, "a configuration file ends in .toml"},
		"nowhere/x.toml":  {"", nil, "x.toml: no such file"},
		"no-extension-at": {"", nil, "a configuration file ends in"},
	}
	dir := t.TempDir()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if !strings.Contains(name, "/") {
				if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			doc, err := read(path, name)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), c.says) || fault.CodeOf(err) == fault.Internal {
					t.Errorf("%s: %v, want %q", fault.CodeOf(err), err, c.says)
				}
				return
			}
			if diff := cmp.Diff(c.want, doc.tree); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	tree := Tree{Reserved: Tree{"name": "A", "tools": Tree{"t": Tree{"run": "ask"}}}}
	for key, want := range map[string]any{"assistant.name": "A", "conversation.tools.t.run": "ask", "assistant.nothing": nil} {
		got, ok, err := Lookup(tree, key)
		if err != nil || !equal(got, want) || ok != (want != nil) {
			t.Errorf("%s is %v, %v, %v", key, got, ok, err)
		}
	}
	if _, _, err := Lookup(tree, "a..b"); fault.CodeOf(err) != fault.Usage {
		t.Error(err)
	}
	for key, want := range map[string]string{
		"assistant.model.parameters.anything": "", "assistants.dev.name": "", `providers.llm.aliases."gpt-4.1"`: "", "editor.cmd.program": "",
		"assistant.nmae": "unknown key assistant.nmae", "assistants.assistant": "is not captured", "a..b": "a name is missing",
	} {
		err := CheckKey(key)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
}

func TestKeepParticipants(t *testing.T) {
	own := Tree{"conversation": Tree{"participants": []any{"dev"}}, "assistants": Tree{"dev": Tree{}}}
	if kept, had := KeepParticipants(own, own); had || !equal(kept, own) {
		t.Errorf("%v %v", kept, had)
	}
	other := Tree{"conversation": Tree{"participants": []any{"x"}, "start_local": true}, "assistants": Tree{"x": Tree{}}}
	want := with(own, true, "conversation", "start_local")
	if kept, had := KeepParticipants(other, own); !had || !equal(kept, want) {
		t.Errorf("%v %v", kept, had)
	}
	if kept, had := KeepParticipants(other, Tree{}); !had || at(kept, "assistants") != nil || at(kept, "conversation", "participants") != nil {
		t.Errorf("%v %v", kept, had)
	}
}

// Every default satisfies its own schema, and every key of the reference has a
// place in it.
func TestDefaults(t *testing.T) {
	if err := (Layer{Origin: Origin{Kind: FromDefault}, Tree: Defaults()}).check(); err != nil {
		t.Error(err)
	}
	f, err := Finalize(Tree{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Layer{Tree: f}).check(); err != nil {
		t.Error(err)
	}
	if err := (Layer{Tree: Snapshot(f)}).check(); err != nil {
		t.Error(err)
	}
	a, err := ParticipantConfig(Tree{}, Reserved)
	if err != nil || a.SystemPrompt != "You are a helpful assistant." || len(a.Instructions) != 1 || len(a.Instructions[0].Items) != 5 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A schema that says nonsense is refused with its line.
func TestParseSchema(t *testing.T) {
	for text, want := range map[string]string{
		"  a string":                     "line 1: a field outside a shape",
		"root:\n  a strnig":              "line 2: unknown kind",
		"root:\n  a list":                "line 2: list needs",
		"root:\n  a string\n  a string":  "line 3: a stands twice",
		"root:\n  a {nowhere}":           `shape "nowhere" has no fields`,
		"root:\n  a int x":               "line 2:",
		"root:\n  a string @nothing":     `line 2: no default "@nothing"`,
		"root:\n  a map(list(x))\n\n# y": "line 2: unknown kind",
	} {
		if _, err := parseSchema(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
