package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

func parse(t testing.TB, text string) Tree {
	t.Helper()
	tree, err := decodeTOML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestParticipantConfig(t *testing.T) {
	tree := parse(t, `
[assistants.dev]
name = "Dev"
system_prompt = {value = "p", strategy = "append"}
tool_choice = "fs_read"
model.id = "fast"
[assistants.dev.model.parameters]
max_tokens = 100
temperature = 1.0
top_p = 0.5
top_k = 3
stop_words = ["x"]
reasoning = {effort = "high", exclude = true}
verbosity = "low"
other = {seed = 7, verbosity = "high"}
[assistants.dev.request]
max_retries = 1
base_backoff_ms = 20
stream_idle_timeout_secs = 0
[assistants.dev.at_mention]
invite = "allow"
rejoin = "nonsense"
[[assistants.dev.instructions]]
title = "late"
position = 2
[[assistants.dev.instructions]]
title = "early"
items = ["a", 3, "b"]
examples = ["e", {good = "g", bad = "b", reason = "r"}]
[assistants.dev.tools.t]
run = "ask"
[providers.llm.aliases]
fast = "openrouter/vendor/model:free"
`)
	got, err := ParticipantConfig(tree, "dev")
	if err != nil {
		t.Fatal(err)
	}
	want := Assistant{
		ID: "dev", Name: "Dev", SystemPrompt: "p",
		Instructions: []Instruction{
			{Title: "early", Items: []string{"a", "b"}, Examples: []Example{{Text: "e"}, {Good: "g", Bad: "b", Reason: "r"}}},
			{Title: "late", Position: 2},
		},
		Model: ModelID{"openrouter", "vendor/model:free"},
		Params: llm.Params{
			MaxTokens: new(100), Temperature: new(1.0), TopP: new(0.5), TopK: new(3), Stop: []string{"x"},
			Reasoning: llm.EffortHigh, HideThought: true, Extra: map[string]any{"seed": int64(7), "verbosity": "low"},
		},
		ToolChoice: llm.ToolChoice{Mode: llm.ToolNamed, Name: "fs_read"},
		Request: Request{
			MaxRetries: 1, BaseBackoff: 20 * time.Millisecond, MaxBackoff: time.Minute, MaxBytes: 1 << 20, MaxCycles: 50,
		},
		AtMention: AtMention{PolicyAllow, PolicyErrorIfKnown},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Assistant{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Ready(); err != nil {
		t.Error(err)
	}
}

func TestReasoning(t *testing.T) {
	cases := map[string]llm.Params{
		`x = 1`:                          {},
		`reasoning = "off"`:              {Reasoning: llm.EffortOff},
		`reasoning = "auto"`:             {Reasoning: llm.EffortAuto},
		`reasoning = {}`:                 {Reasoning: llm.EffortMedium},
		`reasoning = {effort = "none"}`:  {Reasoning: llm.EffortOff},
		`reasoning = {effort = "xhigh"}`: {Reasoning: llm.EffortXHigh},
		`reasoning = {effort = 2048}`:    {Budget: 2048},
		`reasoning = {effort = "1024"}`:  {Budget: 1024},
		`reasoning = {exclude = true}`:   {Reasoning: llm.EffortMedium, HideThought: true},
	}
	for in, want := range cases {
		got := params(parse(t, in))
		got.Extra = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

// An incomplete capture can be read; it says what is missing when it is asked.
func TestReady(t *testing.T) {
	cases := map[string]struct{ model, message, hint string }{
		"none":     {``, `participant "dev" has no model`, "`-m MODEL`"},
		"alias":    {`assistants.dev.model.id = "sonet"`, `no model or alias named "sonet"`, `did you mean "sonnet"`},
		"provider": {`assistants.dev.model.id = "opanai/x"`, `no model provider named "opanai"`, `did you mean "openai"`},
		"name":     {`assistants.dev.model.id = "openai/a b"`, `"a b" is no model name`, "holds letters"},
		"cycle":    {`assistants.dev.model.id = "a"`, `a → b → a`, "providers.llm.aliases"},
		"type":     {`assistants.dev.model.id = 7`, `a model must be`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := parse(t, "providers.llm.aliases = {sonnet = \"anthropic/s\", a = \"b\", b = \"a\"}\nassistants.dev.name = \"Dev\"\n"+c.model)
			a, err := ParticipantConfig(tree, "dev")
			if err != nil {
				t.Fatal(err)
			}
			err = a.Ready()
			if fault.CodeOf(err) != fault.Config || !strings.Contains(err.Error(), c.message) || !strings.Contains(fault.HintOf(err), c.hint) {
				t.Errorf("%v (hint: %s)", err, fault.HintOf(err))
			}
		})
	}
}

func TestResolveModel(t *testing.T) {
	tree := parse(t, `providers.llm.aliases = {opus = "big", big = {provider = "anthropic", name = "claude"}, "gpt-4.1" = "openai/gpt-4.1"}`)
	for in, want := range map[string]string{
		"opus": "anthropic/claude", "gpt-4.1": "openai/gpt-4.1", "offline/rehearsal": "offline/rehearsal",
		"llamacpp/~/models/x.gguf": "llamacpp/~/models/x.gguf", "nobody/x": "", "opus/": "", "/x": "", "": "", "openai": "",
	} {
		got, err := ResolveModel(tree, in)
		if got.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestAccessors(t *testing.T) {
	tree := Tree{}
	if got := Roster(tree); !slices.Equal(got, []string{Reserved}) {
		t.Errorf("absent roster: %q", got)
	}
	if got := Roster(WithRoster(tree, nil)); len(got) != 0 {
		t.Errorf("empty roster: %q", got)
	}
	if len(tree) != 0 {
		t.Error("WithRoster changed its tree")
	}
	if Key("dev") != "assistants.dev" || Key(Reserved) != Reserved {
		t.Error(Key("dev"), Key(Reserved))
	}
	tree = WithAssistant(tree, "dev", Tree{"name": nil, "model": Tree{"id": nil}})
	if sub, ok := AssistantTree(tree, "dev"); !ok || !equal(sub, Tree{"model": Tree{}}) {
		t.Errorf("%v %v", sub, ok)
	}
	if _, ok := AssistantTree(tree, "architect"); ok {
		t.Error("architect has a configuration")
	}
	if _, ok := AssistantTree(tree, Reserved); !ok {
		t.Error("the reserved participant has none")
	}
	err := CheckRoster(WithRoster(tree, []string{"dev", "architect"}))
	if err == nil || err.Error() != `participant "architect" has no assistant config` ||
		fault.HintOf(err) != "use `jp c invite architect` or `jp c uninvite architect`" {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	for in, want := range map[string]string{"personas/pr-reviewer": "pr-reviewer", "dev.toml": "dev", "a/b.c.yaml": "b.c", "gpt-4.1": "gpt-4.1"} {
		if got := SourceName(in); got != want {
			t.Errorf("SourceName(%q) = %q", in, got)
		}
	}
}

func TestViews(t *testing.T) {
	tree, err := Finalize(parse(t, `
user.name = "Jean"
editor.cmd = 'code --wait "a b" c\ d'
style.reasoning.display = 12
conversation.attachments = ["a.md", {type = "cmd", path = "date", params = {x = 1}}]
providers.llm.llamacpp.base_url = "http://10.0.0.1"
`))
	if err != nil {
		t.Fatal(err)
	}
	style := Style(tree)
	if style.Reasoning != "" || style.ReasoningLines != 12 ||
		style.WrapWidth != 80 || style.Waiting != (Progress{true, 3 * time.Second}) {
		t.Errorf("%+v", style)
	}
	editor := Editor(tree)
	if diff := cmp.Diff(EditorConfig{
		Cmd: &Command{Program: "code", Args: []string{"--wait", "a b", "c d"}}, Envs: []string{"JP_EDITOR", "VISUAL", "EDITOR"},
	}, editor); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Attachment{{URL: "a.md"}, {Type: "cmd", Path: "date", Params: Tree{"x": int64(1)}}}, Attachments(tree)); diff != "" {
		t.Error(diff)
	}
	if UserName(tree) != "Jean" || !TitleFromHeading(tree) || StartLocal(tree) || DefaultID(tree) != "" {
		t.Error("name, from_heading, start_local or default_id")
	}
	if got := Provider(tree, "llamacpp"); got.BaseURL != "http://10.0.0.1" || got.KeyEnv != "" {
		t.Errorf("%+v", got)
	}
	if got := Provider(Tree{}, "openai"); got.KeyEnv != "OPENAI_API_KEY" || got.BaseURLEnv != "OPENAI_BASE_URL" || got.ID != "openai" {
		t.Errorf("%+v", got)
	}
	for _, p := range Providers() {
		if schema().shape.fields["providers"].shape.fields["llm"].shape.fields[p] == nil {
			t.Errorf("the schema knows no provider %s", p)
		}
	}
}

func TestParseCommand(t *testing.T) {
	for in, want := range map[string]Command{
		`vi`: {Program: "vi", Args: []string{}}, `a 'b "c' "d 'e" ""`: {Program: "a", Args: []string{`b "c`, `d 'e`, ""}},
		"  a\tb\n": {Program: "a", Args: []string{"b"}}, "": {}, "  ": {},
	} {
		if got, ok := ParseCommand(in); !cmp.Equal(got, want) || ok != (want.Program != "") {
			t.Errorf("%q is %+v, %v", in, got, ok)
		}
	}
	if got, ok := ParseCommand(Tree{"program": "x | y", "shell": true}); !ok || got.Program != "x | y" || !got.Shell {
		t.Errorf("%+v", got)
	}
	if _, ok := ParseCommand(int64(1)); ok {
		t.Error("a number is a command")
	}
}

func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "path")
		got, err := SplitKey(JoinKey(path))
		if err != nil || !slices.Equal(got, path) {
			t.Fatalf("%q became %q, %v", path, got, err)
		}
	})
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", `"a`, `"a"b`, "'a"} {
		if path, err := SplitKey(bad); err == nil {
			t.Errorf("%q is %q", bad, path)
		}
	}
}

// Every key of a document is found on the line that ends in a comment naming it.
func TestLines(t *testing.T) {
	docs := map[string]string{
		"x.toml": `
[[a.list]] #  a.list.0
k = 1 # a.list.0.k
[[a.list]]
k = {x = 1, y = [ # a.list.1.k
  {z = 1}, # a.list.1.k.y.0.z
]}
[a.list.sub] # a.list.1.sub
deep.er = 1 # a.list.1.sub.deep.er
["q.d".x] # "q.d".x
`,
		"x.json": `{
"a": { # a
  "list": [
    {"k": 1}, # a.list.0.k
    {"k": {"x": 1}} # a.list.1.k.x
  ]},
"a.b": 2 # "a.b"
}`,
		"x.yaml": `
a: # a
  list:
    - k: 1 # a.list.0.k
    - k: # a.list.1.k
        x: 1 # a.list.1.k.x
a.b: 2 # "a.b"
`,
	}
	for name, text := range docs {
		f, _ := formatOf(name)
		plain := text
		if name == "x.json" {
			var lines []string
			for line := range strings.Lines(text) {
				line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "#")
				lines = append(lines, line)
			}
			plain = strings.Join(lines, "\n")
		}
		if _, err := f.decode([]byte(plain)); err != nil && name != "x.toml" {
			t.Fatalf("%s: %v", name, err)
		}
		for i, line := range strings.Split(text, "\n") {
			_, key, ok := strings.Cut(line, "#")
			if !ok {
				continue
			}
			path, err := SplitKey(strings.TrimSpace(key))
			if err != nil {
				t.Fatal(err)
			}
			if got := f.locate([]byte(plain), path); got != i+1 {
				t.Errorf("%s: %s is on line %d, not %d", name, key, i+1, got)
			}
		}
		if got := f.locate([]byte(plain), []string{"nowhere"}); got != 0 {
			t.Errorf("%s: nowhere is on line %d", name, got)
		}
	}
}

// BenchmarkBase loads a workspace of 50 tool files, a persona and an alias table.
func BenchmarkBase(b *testing.B) {
	root := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write(".jp/config.toml", "extends = [\"mcp/**/*.toml\"]\nconfig_load_paths = [\".jp/config\"]\n")
	for i := range 50 {
		write(fmt.Sprintf(".jp/mcp/tools/t%02d.toml", i), fmt.Sprintf(`[conversation.tools.tool_%d]
source = "local"
command = "serve {{tool}} {{context}}"
summary = "Does something."
enable = false
[conversation.tools.tool_%d.parameters.path]
type = "string"
required = true
summary = "Where."
`, i, i))
	}
	write(".jp/config/dev.toml", "assistant.name = \"Dev\"\nassistant.model.id = \"ollama/x\"\n")
	b.Run("Base", func(b *testing.B) {
		for b.Loop() {
			if _, err := (&Loader{Root: root, Cwd: root}).Base(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Capture", func(b *testing.B) {
		l := &Loader{Root: root, Cwd: root}
		base, err := l.Base()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, _, err := Capture(l, base, "dev", "dev"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Find", func(b *testing.B) {
		l := &Loader{Root: root, Cwd: root}
		base, err := l.Base()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := l.Find(base, "nobody"); err == nil {
				b.Fatal("found")
			}
		}
	})
}
