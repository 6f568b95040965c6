package pipeline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/scene/pipeline"
)

func toolCall(name, args string) []llm.ToolCall {
	return []llm.ToolCall{{ID: "1", Name: name, Arguments: json.RawMessage(args)}}
}

func TestAnswer(t *testing.T) {
	const direct, patch = "direct_scene", "editor_apply_patch"
	for name, c := range map[string]struct {
		tool  string // direct when empty
		calls []llm.ToolCall
		text  string
		want  string // empty: no answer
	}{
		"a call":                     {calls: toolCall(direct, `{"moods":["calm"]}`), want: `{"moods":["calm"]}`},
		"a call beside text":         {calls: toolCall(direct, `{"moods":[]}`), text: `{"moods":["tense"]}`, want: `{"moods":[]}`},
		"no fields":                  {calls: toolCall(direct, `{}`), want: `{}`},
		"the order stays":            {calls: toolCall(direct, `{"z":1,"a":[null,true,1.50]}`), want: `{"z":1,"a":[null,true,1.50]}`},
		"a call without a name":      {calls: toolCall("", `{"moods":[]}`), want: `{"moods":[]}`},
		"a name in front":            {calls: toolCall("functions.direct_scene", `{"moods":[]}`), want: `{"moods":[]}`},
		"another spelling":           {calls: toolCall("Direct-Scene", `{"moods":[]}`), want: `{"moods":[]}`},
		"another tool":               {calls: toolCall("give_feedback", `{"moods":[]}`)},
		"another tool, then this":    {calls: append(toolCall("give_feedback", `{"x":"y"}`), toolCall(direct, `{"moods":["a"]}`)...), want: `{"moods":["a"]}`},
		"another tool beside text":   {calls: toolCall("give_feedback", `{"x":"y"}`), text: `{"moods":["a"]}`, want: `{"moods":["a"]}`},
		"no arguments":               {calls: toolCall(direct, ``)},
		"null":                       {calls: toolCall(direct, `null`)},
		"arguments in a string":      {calls: toolCall(direct, `"{\"moods\":[\"a\"]}"`), want: `{"moods":["a"]}`},
		"arguments in two strings":   {calls: toolCall(direct, `"\"{\\\"moods\\\":[]}\""`), want: ``},
		"arguments in arguments":     {calls: toolCall(direct, `{"arguments":{"moods":["a"]}}`), want: `{"moods":["a"]}`},
		"arguments in a call":        {calls: toolCall(direct, `{"name":"direct_scene","arguments":"{\"moods\":[\"a\"]}"}`), want: `{"moods":["a"]}`},
		"commas at the end":          {calls: toolCall(direct, `{"moods":["a","b",],}`), want: `{"moods":["a","b"]}`},
		"cut off":                    {calls: toolCall(direct, `{"moods":["a","b`)},
		"cut off before the brace":   {calls: toolCall(direct, `{"moods":["a"]`)},
		"more than an object":        {calls: toolCall(direct, `{"moods":[]} and so on`)},
		"cut off, then in the text":  {calls: toolCall(direct, `{"moods":["a`), text: `{"moods":["b"]}`, want: `{"moods":["b"]}`},
		"nothing":                    {},
		"prose":                      {text: "She looks at the sea and says nothing."},
		"tags":                       {text: "<tool_call>\n{\"name\": \"direct_scene\", \"arguments\": {\"moods\": [\"a\"]}}\n</tool_call>", want: `{"moods":["a"]}`},
		"a tag without an end":       {text: `Sure. <tool_call>{"name":"direct_scene","arguments":{"moods":["a"]}}`, want: `{"moods":["a"]}`},
		"tags around arguments only": {text: `<tool_call>{"moods":["a"]}</tool_call>`, want: `{"moods":["a"]}`},
		"tags before an example":     {text: `{"moods":["x"]} <tool_call>{"name":"direct_scene","parameters":{"moods":["a"]}}</tool_call> {"moods":["y"]}`, want: `{"moods":["a"]}`},
		"tags of another tool":       {text: `<tool_call>{"name":"give_feedback","arguments":{"moods":["a"]}}</tool_call>`},
		"several tags":               {text: `<tool_call>{"name":"give_feedback","arguments":{}}</tool_call><tool_call>{"name":"direct_scene","arguments":{"moods":["a"]}}</tool_call>`, want: `{"moods":["a"]}`},
		"a tag that breaks off":      {text: `<tool_call>{"name":"direct_scene","arguments":{"moods":["a"`},
		"a tag in a thought":         {text: `<think><tool_call>{"name":"direct_scene","arguments":{"moods":["a"]}}</tool_call></think>I will not.`},
		"a written function":         {text: "<tool_call>\n<function=direct_scene>\n<parameter=pacing>\nslow\n</parameter>\n<parameter=moods>\n[\"a\"]\n</parameter>\n</function>\n</tool_call>", want: `{"pacing":"slow","moods":["a"]}`},
		"a function of JSON":         {text: `<function=direct_scene>{"moods":["a"]}</function>`, want: `{"moods":["a"]}`},
		"a function that breaks off": {text: "<function=direct_scene><parameter=moods>[\"a\"]</parameter><parameter=x>y"},
		"a native token":             {text: `[TOOL_CALLS]direct_scene{"moods":["a"]}`, want: `{"moods":["a"]}`},
		"a native list":              {text: `[TOOL_CALLS][{"name":"direct_scene","arguments":{"moods":["a"]}}]`, want: `{"moods":["a"]}`},
		"a fence":                    {text: "Here you are:\n```json\n{\"moods\": [\"a\"]}\n```\nGood luck!", want: `{"moods":["a"]}`},
		"a fence with a list":        {text: "```\n[{\"name\": \"direct_scene\", \"arguments\": {\"moods\": []}}]\n```", want: `{"moods":[]}`},
		"an object in prose":         {text: `I choose {"moods": ["a"]} since {she} is calm.`, want: `{"moods":["a"]}`},
		"the last object":            {text: `Perhaps {"moods":["a"]}? No: {"moods":["b"]}`, want: `{"moods":["b"]}`},
		"a call before an object":    {text: `{"tool":"direct_scene","args":{"moods":["a"]}} {"moods":["b"]}`, want: `{"moods":["a"]}`},
		"an object that breaks off":  {text: `{"moods":["a"]} or rather {"moods":["b"`},
		"the tool's name around":     {text: `{"direct_scene": {"moods": ["a"]}}`, want: `{"moods":["a"]}`},
		"OpenAI's shape":             {text: `{"tool_calls":[{"id":"1","type":"function","function":{"name":"direct_scene","arguments":"{\"moods\":[\"a\"]}"}}]}`, want: `{"moods":["a"]}`},
		"a thought before":           {text: `<thinking>maybe {"moods":["a"]}</thinking>{"moods":["b"]}`, want: `{"moods":["b"]}`},
		"a thought behind":           {text: `{"moods":["b"]}<reasoning>or {"moods":["a"]}</reasoning>`, want: `{"moods":["b"]}`},
		"a thought without an end":   {text: `<think>maybe {"moods":["a"]}`},
		"a thought without a start":  {text: `maybe {"moods":["a"]}</think>{"moods":["b"]}`, want: `{"moods":["b"]}`},
		"only a thought":             {text: `maybe {"moods":["a"]}</think>`},
		"a tag within a value":       {text: `{"note":"she wrote </think> on it","moods":["<think>"]}`, want: `{"note":"she wrote </think> on it","moods":["<think>"]}`},
		"single quotes":              {text: `{'note': 'it's fine', 'on': True, 'off': None,}`, want: `{"note":"it's fine","on":true,"off":null}`},
		"names without quotes":       {text: `{moods: ["a"], pace: 1}`, want: `{"moods":["a"],"pace":1}`},
		"line ends in a string":      {text: "{\"note\":\"one\n\ttwo\"}", want: `{"note":"one\n\ttwo"}`},
		"odd escapes":                {text: `{"note":"\*a\* \u00e9 \ud83d\ude00 \ud83d \u12"}`, want: `{"note":"*a* é 😀 ` + "\uFFFD \uFFFD" + `12"}`},
		"a plan instead of all":      {text: `["mary — laughs"]`, want: `{"speaking_plan":["mary — laughs"]}`},
		"a list in prose is none":    {text: `- [ ] think of a plan`},
		"a comma is missing":         {calls: toolCall(patch, `{"patches":[{"id":1,"replace":"x"} {"id":2,"replace":"y"}]}`), tool: patch},
		"in the text, too":           {text: `{"patches":[{"id":1,"replace":"x"} {"id":2,"replace":"y"}]}`, tool: patch},
		"patches instead of all":     {text: "```json\n[{\"id\":1,\"replace\":\"x\"}]\n```", tool: patch, want: `{"patches":[{"id":1,"replace":"x"}]}`},
		"the chief field is missing": {calls: toolCall(patch, `{"edits":[]}`), tool: patch},
		"edits instead of all":       {calls: toolCall("apply_find_replace", `[{"search":"a","replace":"b"}]`), tool: "apply_find_replace", want: `{"edits":[{"search":"a","replace":"b"}]}`},
		"a list for a text":          {text: `["new text"]`, tool: "editor_rewrite"},
		"a text for all":             {text: `The new text.`, tool: "editor_rewrite"},
		"a macro in prose":           {text: `{{char}} nods. {"rewritten_text":"{{char}} nods <slowly> & leaves."}`, tool: "editor_rewrite", want: `{"rewritten_text":"{{char}} nods <slowly> & leaves."}`},
		"a sheet":                    {calls: toolCall("update_character_sheet", `{"changed":false,"sheet":null,"summary":null}`), tool: "update_character_sheet", want: `{"changed":false,"sheet":null,"summary":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.tool == "" {
				c.tool = direct
			}
			args, ok := pipeline.Answer(c.tool, c.calls, c.text)
			if ok != (c.want != "") {
				t.Errorf("ok is %t", ok)
			}
			if diff := cmp.Diff(c.want, string(args)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Broken answers of any size are read in a time that grows with them: the test
// would not end if they were not.
func TestOddAnswers(t *testing.T) {
	const n = 20_000
	for name, text := range map[string]string{
		"braces":         strings.Repeat("{", n),
		"brackets":       strings.Repeat("[", n),
		"objects":        strings.Repeat(`{"a":[`, n),
		"names":          strings.Repeat(`{a`, n),
		"apostrophe":     strings.Repeat(`{'`, n),
		"quotes":         strings.Repeat(`{"`, n),
		"thoughts":       strings.Repeat("<think>", n),
		"ends":           strings.Repeat("</think>", n),
		"tags":           strings.Repeat("<tool_call>", n) + strings.Repeat("</tool_call>", n),
		"functions":      strings.Repeat("<function=x><parameter=a>", n),
		"slashes":        strings.Repeat("<think></", n),
		"stars":          strings.Repeat("*", n) + "mary",
		"names in a row": strings.Repeat("mary, bob, ", n),
		"bullets":        strings.Repeat("- ", n),
		"escapes":        `{"a":"` + strings.Repeat(`\ud83d`, n),
	} {
		for _, s := range []string{text, "[" + text, "[\"" + text} {
			if args, ok := pipeline.Answer("direct_scene", toolCall("direct_scene", s), s); ok {
				t.Errorf("%s are read as %.40s", name, args)
			}
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			plan, ok := pipeline.ParsePlan(quoted, troupe(), 8)
			checkPlan(t, plan, ok, troupe(), 8)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"patches":[{"id":1,"replace":"\ud800\u0041 \n"}]}`, `{"moods":["a",],}`, `"{\"moods\":[]}"`, `<tool_call>{"name":"direct_scene","arguments":{}}</tool_call>`,
		`<think>{"a":1}</think>{"b":2}`, "```json\n[{\"id\":1}]\n```", `{'a': 'it's', b: None}`, `{"a":"\ud83d\ude0`,
		`<function=x><parameter=a>1</parameter></function>`, `{"direct_scene":{"arguments":"{}"}}`, `{"tool_calls":[{"function":{"name":"x"}}]}`,
		strings.Repeat(`{"a":[`, 40), strings.Repeat(`{'`, 40),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, tool := range []string{"direct_scene", "editor_apply_patch", "update_character_sheet"} {
			for _, args := range answers(tool, s) {
				var object map[string]any
				if err := json.Unmarshal(args, &object); err != nil || object == nil {
					t.Fatalf("%q gives %q: %v", s, args, err)
				}
			}
		}
		// JSON is read as what it is.
		var object map[string]any
		shallow := strings.Count(s, "[")+strings.Count(s, "{") < 60
		if json.Unmarshal([]byte(s), &object) == nil && object["patches"] != nil && len(object) == 1 && shallow {
			args, ok := pipeline.Answer("editor_apply_patch", toolCall("editor_apply_patch", s), "")
			var got map[string]any
			if !ok || json.Unmarshal(args, &got) != nil || cmp.Diff(object, got) != "" {
				t.Fatalf("%q is read as %q", s, args)
			}
		}
	})
}

// answers are what s gives as a call's arguments and as a text.
func answers(tool, s string) (all []json.RawMessage) {
	if args, ok := pipeline.Answer(tool, toolCall(tool, s), ""); ok {
		all = append(all, args)
	}
	if args, ok := pipeline.Answer(tool, nil, s); ok {
		all = append(all, args)
	}
	return all
}
