package lore

import (
	"encoding/json"

	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// Hit is an entry that fired.
type Hit struct {
	Entry scene.Entry
	// Why is for people: `constant`, `key “x”`, `key “x” and “y”`, with
	// ` in entry “z”` behind a key that stood in another entry.
	Why   string
	Depth int // how many entries led to it; 0 for what the texts or nothing fired
}

// Selection is the lore of one exchange, each list in the order of lore blocks.
type Selection struct {
	Constant []Hit // stand in the system body
	Keyword  []Hit // stand before the injection
	AtDepth  []Hit // constants that stand behind the history
	Dropped  []Hit // fired, and had no room in the budget
}

// JSON is what an exchange's log keeps: an object with the lists constant,
// keyword, at_depth and dropped, nil when nothing fired. An item names its
// entry and says why it fired; the texts are in the prompt.
func (s Selection) JSON() json.RawMessage {
	if len(s.Constant)+len(s.Keyword)+len(s.AtDepth)+len(s.Dropped) == 0 {
		return nil
	}
	return literal.Must(struct {
		Constant []item `json:"constant"`
		Keyword  []item `json:"keyword"`
		AtDepth  []item `json:"at_depth"`
		Dropped  []item `json:"dropped"`
	}{items(s.Constant), items(s.Keyword), items(s.AtDepth), items(s.Dropped)})
}

type item struct {
	ID      string `json:"id"`
	WorldID string `json:"world_id"`
	Name    string `json:"name"`
	Why     string `json:"why"`
	Depth   int    `json:"depth"`
	Tokens  int    `json:"tokens_est"`
}

func items(hits []Hit) []item {
	list := []item{}
	for _, h := range hits {
		e := h.Entry
		list = append(list, item{ID: e.ID, WorldID: e.WorldID, Name: e.Name, Why: h.Why, Depth: h.Depth, Tokens: scene.Tokens(e.Content)})
	}
	return list
}
