package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"jp/internal/kernel/llm"
	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/macro"
	"jp/internal/scene/prompt"
)

// The names of the tools, and of what direct_scene always has.
const (
	directScene  = "direct_scene"
	applyPatch   = "editor_apply_patch"
	rewrite      = "editor_rewrite"
	findReplace  = "apply_find_replace"
	giveFeedback = "give_feedback"
	updateSheet  = "update_character_sheet"

	speakingPlan = "speaking_plan"
	moodsField   = "moods"
)

// Tools returns the tools of every lane of a scene, in one fixed order, for
// answers that are forced. The same fragments give the same bytes: who is in the
// cast, who is muted and how turns are taken does not count. resolve replaces
// the macros of what people wrote in fragments.
//
// give_feedback is there when a fragment asks for feedback, since some servers
// refuse a tool without parameters. The schemas fit strict modes: all fields
// are required, what may be left out may be null.
func Tools(s scene.Snapshot, resolve func(string) string) []llm.Tool {
	data := struct {
		Group              bool
		Directed, Feedback []parameter
	}{
		Group:    s.Conversation.Kind == scene.Group,
		Directed: asked(fragmentsOf(s, "string", "array"), resolve),
		Feedback: asked(fragmentsOf(s, "feedback"), resolve),
	}
	var tools []llm.Tool
	for _, name := range []string{directScene, applyPatch, rewrite, findReplace, giveFeedback, updateSheet} {
		if name == giveFeedback && len(data.Feedback) == 0 {
			continue
		}
		tools = append(tools, written(phrase(name+".json", data)))
	}
	return tools
}

// toolsOf are the tools of a scene's lanes. They stand before the history, so
// that the clock in them stands still.
func toolsOf(snap scene.Snapshot, frame *prompt.Scene) []llm.Tool {
	scope := frame.SceneScope()
	scope.Now = snap.Conversation.CreatedAt.In(scope.Now.Location())
	return Tools(snap, func(text string) string { return macro.Resolve(text, scope) })
}

// written reads a tool as its text describes it.
func written(text string) llm.Tool {
	var t struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var schema bytes.Buffer
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = json.Compact(&schema, t.Parameters)
	}
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	return llm.Tool{Name: t.Name, Description: t.Description, Schema: schema.Bytes()}
}

// fragmentsOf returns the fragments of some types, in their order.
func fragmentsOf(s scene.Snapshot, types ...string) []scene.Fragment {
	return slices.DeleteFunc(slices.Clone(s.Fragments), func(f scene.Fragment) bool {
		return !slices.Contains(types, f.Type)
	})
}

// parameter is one field of a tool.
type parameter struct {
	Name        string
	Description string
	Kind        string   // of the schema: string, array, boolean, integer
	Items       []string // fields of the objects that an array holds
	Optional    bool     // null is an answer
}

// asked are fragments as parameters.
func asked(fragments []scene.Fragment, resolve func(string) string) []parameter {
	var all []parameter
	for _, f := range fragments {
		kind := "string"
		if f.Type == "array" {
			kind = "array"
		}
		all = append(all, parameter{Name: f.ID, Description: resolve(cmp.Or(f.Description, f.Label)), Kind: kind, Optional: !f.Required})
	}
	return all
}

// parameters returns the fields of a tool, in the order of its schema.
func parameters(tool llm.Tool) []parameter {
	var all []parameter
	for _, f := range properties(tool.Schema) {
		var about struct {
			Type        any             `json:"type"`
			Description string          `json:"description"`
			Items       json.RawMessage `json:"items"`
		}
		if json.Unmarshal(literal.Must(f.value), &about) != nil {
			continue
		}
		p := parameter{Name: f.name, Description: about.Description}
		p.Kind, _ = about.Type.(string)
		if either, ok := about.Type.([]any); ok && len(either) == 2 {
			p.Kind, _ = either[0].(string)
			p.Optional = true
		}
		for _, item := range properties(about.Items) {
			p.Items = append(p.Items, item.name)
		}
		all = append(all, p)
	}
	return all
}

// properties returns the properties of a schema, in their order.
func properties(schema json.RawMessage) looseObject {
	v, _ := readLoose(string(schema))
	o, _ := v.(looseObject)
	found, _ := o.first("properties")
	all, _ := found.(looseObject)
	return all
}

// narrowed returns the tool with one of its fields alone.
func narrowed(tool llm.Tool, name string) llm.Tool {
	about, _ := properties(tool.Schema).first(name)
	tool.Schema = literal.Must(looseObject{
		{"type", "object"},
		{"properties", looseObject{{name, about}}},
		{"required", []any{name}},
		{"additionalProperties", false},
	})
	return tool
}

// toolNamed returns one of tools.
func toolNamed(tools []llm.Tool, name string) (llm.Tool, bool) {
	i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == name })
	if i < 0 {
		return llm.Tool{}, false
	}
	return tools[i], true
}
