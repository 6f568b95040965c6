package config

import "maps"

// Stored reads a stored configuration or delta of any generation: what a JSON
// decoder made of base_config.json, of a config_delta's delta or of the
// flattened first event. It never fails and keeps unknown keys. Legacy
// conversation.tools become assistant.tools; where both stand, as in our own
// snapshots, only tools that assistant.tools does not name are taken, and never
// the "*" that stands there for other readers, no more than a stand-in model.
func Stored(m map[string]any) Tree {
	t := normalise(m).(Tree)
	if at(t, Reserved, "model", standIn) == true {
		t = without(without(t, Reserved, "model", "id"), Reserved, "model", standIn)
	}
	legacy, ok := at(t, "conversation", "tools").(Tree)
	if !ok {
		return t
	}
	if _, both := at(t, Reserved, "tools").(Tree); both {
		legacy = maps.Clone(legacy)
		delete(legacy, "*")
		t = with(t, legacy, "conversation", "tools")
	}
	return moveTools(t, nil)
}

// moveTools maps conversation.tools to assistant.tools. A tool that stands in
// both is taken from assistant.tools, and doubled hears its name.
func moveTools(t Tree, doubled func(tool string)) Tree {
	v, ok := table(t, "conversation")["tools"]
	if !ok {
		return t
	}
	t = without(t, "conversation", "tools")
	if len(table(t, "conversation")) == 0 {
		t = without(t, "conversation")
	}
	legacy, ok := v.(Tree)
	if !ok || len(legacy) == 0 {
		return t
	}
	tools := maps.Clone(legacy)
	for name, own := range table(t, Reserved, "tools") {
		if _, both := tools[name]; both && doubled != nil {
			doubled(name)
		}
		tools[name] = own
	}
	return with(t, tools, Reserved, "tools")
}
