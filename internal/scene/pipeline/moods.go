package pipeline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"jp/internal/scene"
	"jp/internal/scene/macro"
)

// resting tells whether a mood or fragment may not be used yet.
func resting(s scene.Snapshot, id string) bool { return s.Director.Cooldowns[id] > 0 }

// awake returns the moods that may be on now.
func awake(s scene.Snapshot) []scene.Mood {
	return slices.DeleteFunc(slices.Clone(s.Moods), func(m scene.Mood) bool { return resting(s, m.ID) })
}

// kept returns the moods that were on and stay on unless somebody says
// otherwise.
func kept(s scene.Snapshot) []string {
	return known(s.Director.ActiveMoods, awake(s))
}

// known returns the ids of the moods that are named, by their ids or labels.
// What is no mood that may be on is dropped.
func known(names []string, moods []scene.Mood) []string {
	ids := []string{}
	parted := func(r rune) bool { return strings.ContainsRune(",;\n", r) }
	for name := range strings.FieldsFuncSeq(strings.Join(names, "\n"), parted) {
		name = strings.Trim(name, " \t\r*_`\"'[]")
		i := slices.IndexFunc(moods, func(m scene.Mood) bool { return m.ID == name })
		if i < 0 {
			i = slices.IndexFunc(moods, func(m scene.Mood) bool { return strings.EqualFold(m.ID, name) || strings.EqualFold(m.Label, name) })
		}
		if i >= 0 && !slices.Contains(ids, moods[i].ID) {
			ids = append(ids, moods[i].ID)
		}
	}
	return ids
}

// cool returns what rests after an exchange: what rested before, by one less,
// and what was used now, for as long as it is told to. A mood is used while it
// is on, a fragment when it was filled in.
func cool(s scene.Snapshot, moods []string, fields map[string]any) map[string]int {
	rest := map[string]int{}
	for id, n := range s.Director.Cooldowns {
		if n > 1 {
			rest[id] = n - 1
		}
	}
	for _, m := range s.Moods {
		if m.Cooldown > 0 && slices.Contains(moods, m.ID) {
			rest[m.ID] = m.Cooldown
		}
	}
	for _, f := range s.Fragments {
		if _, used := fields[f.ID]; used && f.Cooldown > 0 {
			rest[f.ID] = f.Cooldown
		}
	}
	return rest
}

// guidance is the block that the Writer reads: the moods that are on, what
// those that just went off leave behind, and the fields, by the fragments'
// order. A mood that only rests leaves nothing behind. Random picks of moods
// are those of choices, and new ones are put there.
func guidance(s scene.Snapshot, scope macro.Scope, moods []string, fields map[string]any, choices map[string]string) string {
	var data struct {
		Moods  []string
		Fields []guide
	}
	mood := scope
	mood.Dice = pinned(scope.Dice, choices)
	for _, id := range moods {
		i := slices.IndexFunc(s.Moods, func(m scene.Mood) bool { return m.ID == id })
		data.Moods = append(data.Moods, macro.Resolve(s.Moods[i].Prompt, mood))
	}
	for _, id := range kept(s) {
		i := slices.IndexFunc(s.Moods, func(m scene.Mood) bool { return m.ID == id })
		if !slices.Contains(moods, id) {
			data.Moods = append(data.Moods, macro.Resolve(s.Moods[i].NegativePrompt, mood))
		}
	}
	data.Moods = slices.DeleteFunc(data.Moods, func(text string) bool { return strings.TrimSpace(text) == "" })
	for _, f := range fragmentsOf(s, "string", "array") {
		if v, ok := fields[f.ID]; ok {
			data.Fields = append(data.Fields, guideOf(f, v, scope))
		}
	}
	if len(data.Moods)+len(data.Fields) == 0 {
		return ""
	}
	return phrase("injection.txt", data)
}

// guide is a field under its heading: a text or a list.
type guide struct {
	Heading, Text string
	Items         []string
}

func guideOf(f scene.Fragment, v any, scope macro.Scope) guide {
	g := guide{Heading: f.Heading}
	if strings.TrimSpace(g.Heading) == "" {
		g.Heading = f.Label
	}
	g.Heading = macro.Resolve(g.Heading, scope)
	switch v := v.(type) {
	case string:
		g.Text = macro.Resolve(v, scope)
	case []string:
		for _, item := range v {
			g.Items = append(g.Items, macro.Resolve(item, scope))
		}
	}
	return g
}

// pinned are dice that show what they showed before: choices holds the numbers
// of a macro's throws, by its text, those of its nth occurrence by the text and
// "#n". New throws are put there.
func pinned(dice func(text string, nth int) func(n int) int, choices map[string]string) func(string, int) func(int) int {
	if dice == nil {
		return nil
	}
	return func(text string, nth int) func(int) int {
		if nth > 0 {
			text += "#" + strconv.Itoa(nth)
		}
		shown := strings.Fields(choices[text])
		fresh, throw := dice(text, nth), -1
		return func(n int) int {
			throw++
			if throw < len(shown) {
				if pick, err := strconv.Atoi(shown[throw]); err == nil && pick >= 0 && pick < n {
					return pick
				}
			}
			pick := fresh(n)
			shown = append(shown[:throw:throw], strconv.Itoa(pick))
			choices[text] = strings.Join(shown, " ")
			return pick
		}
	}
}

// choicesOf are the picks so far, to go on from.
func choicesOf(s scene.Snapshot) map[string]string {
	if s.Director.MacroChoices == nil {
		return map[string]string{}
	}
	return maps.Clone(s.Director.MacroChoices)
}
