package config

// standIn marks a model that is there for other readers only.
const standIn = "stand_in"

// Snapshot is what a new conversation stores of a finalized tree: everything,
// the roster too, in the encodings that the existing tool reads. For it alone
// it adds conversation.tools = {"*": {run}} and, when the top-level assistant
// has no model, the first participant's, marked as a stand-in; Stored undoes
// both.
func Snapshot(t Tree) Tree {
	t = rewrite(schema(), settle(clean(t).(Tree)), func(n *node, v any) any {
		if n.wrap {
			return Tree{"value": v, "strategy": stReplace, "discard_when_merged": false}
		}
		return v
	}).(Tree)
	t = WithRoster(t, Roster(t))
	own := table(t, Reserved)
	if at(own, "tools") == nil {
		t = with(t, Tree{}, Reserved, "tools")
	}
	run, ok := at(own, "tools", "*", "run").(string)
	if !ok {
		run = "ask"
	}
	t = with(t, Tree{"*": Tree{"run": run}}, "conversation", "tools")
	if at(own, "model", "id") != nil {
		return t
	}
	for _, name := range Roster(t) {
		sub, _ := AssistantTree(t, name)
		if id, ok := at(sub, "model", "id").(Tree); ok { // a text would be an alias that nothing resolves
			return with(with(t, id, Reserved, "model", "id"), true, Reserved, "model", standIn)
		}
	}
	return t
}
