package lore_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// signs are few, so that keys meet: letters of three kinds of scripts, marks,
// signs and spaces.
var signs = []rune("abABéÉ가나北_. \n\u03327")

// anyLore draws Worlds and entries that fire each other.
func anyLore(t *rapid.T) ([]scene.World, []scene.Entry) {
	worlds := []scene.World{{ID: "a", Recursive: true}, {ID: "b"}, {ID: "c", Recursive: rapid.Bool().Draw(t, "recursive")}}
	text := func(most int) *rapid.Generator[string] { return rapid.StringOfN(rapid.SampledFrom(signs), 0, most, -1) }
	var entries []scene.Entry
	for i := range rapid.IntRange(0, 12).Draw(t, "entries") {
		flag := func(name string, of int) bool { return rapid.IntRange(1, of).Draw(t, name) == 1 }
		entries = append(entries, scene.Entry{
			ID: fmt.Sprint(i), Name: fmt.Sprint("entry ", i), WorldID: rapid.SampledFrom([]string{"a", "b", "c", "off"}).Draw(t, "world"),
			Keys:          rapid.SliceOfN(text(3), 0, 3).Draw(t, "keys"),
			SecondaryKeys: rapid.SliceOfN(text(2), 0, 2).Draw(t, "secondary"),
			Content:       text(20).Draw(t, "content"),
			Selective:     flag("selective", 3), CaseInsensitive: flag("ignore case", 2), WholeWords: flag("words", 2),
			Constant: flag("constant", 6), AtDepth: flag("at depth", 2), Enabled: !flag("disabled", 8),
			Priority: rapid.IntRange(0, 3).Draw(t, "priority"),
		})
	}
	return worlds, entries
}

func anyTexts(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom(signs), 0, 12, -1), 0, 3).Draw(t, "texts")
}

func anyBudget(t *rapid.T) *int {
	if rapid.Bool().Draw(t, "no limit") {
		return nil
	}
	n := rapid.IntRange(0, 20).Draw(t, "budget")
	return &n
}

// TestNaive: the index selects what looking for every key in every text does.
func TestNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worlds, entries := anyLore(t)
		texts, budget := anyTexts(t), anyBudget(t)
		got := lore.Compile(worlds, entries).Select(texts, budget)
		if diff := gocmp.Diff(naive(worlds, entries, texts, budget), told(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// place is where a key was found.
type place struct{ key, in string }

// naive tells a selection as told does.
func naive(worlds []scene.World, entries []scene.Entry, texts []string, budget *int) string {
	recursive := map[string]bool{}
	for _, w := range worlds {
		recursive[w.ID] = w.Recursive
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e scene.Entry) bool {
		_, on := recursive[e.WorldID]
		return !on || !e.Enabled
	})
	left := 1 << 30
	if budget != nil {
		left = *budget
	}
	line := map[string]string{} // by entry
	round := func(depth int, why func(scene.Entry) string) []scene.Entry {
		byPriority := slices.Clone(entries)
		slices.SortStableFunc(byPriority, func(a, b scene.Entry) int { return cmp.Compare(b.Priority, a.Priority) })
		keptIDs := map[string]bool{}
		for _, e := range byPriority {
			reason := why(e)
			if line[e.ID] != "" || reason == "" {
				continue
			}
			list := "keyword"
			if e.Constant && e.AtDepth {
				list = "at depth"
			} else if e.Constant {
				list = "constant"
			}
			if n := scene.Tokens(e.Content); n > left {
				list = "dropped"
			} else {
				left -= n
				keptIDs[e.ID] = true
			}
			line[e.ID] = fmt.Sprintf("%s %s, %d: %s\n", list, e.Name, depth, reason)
		}
		return slices.DeleteFunc(slices.Clone(entries), func(e scene.Entry) bool { return !keptIDs[e.ID] })
	}
	seeds := round(0, func(e scene.Entry) string {
		if e.Constant {
			return "constant"
		}
		return ""
	})
	known := map[string]place{} // by entry and kind of key
	for depth := range 4 {
		var looked []place // texts, and whose they are
		if depth == 0 {
			for _, text := range texts {
				looked = append(looked, place{text, ""})
			}
		}
		for _, e := range seeds {
			if recursive[e.WorldID] && depth > 0 {
				looked = append(looked, place{e.Content, " in entry “" + e.Name + "”"})
			}
		}
		fired := round(depth, func(e scene.Entry) string { return naiveWhy(e, looked, known) })
		if depth == 0 {
			fired = append(fired, seeds...)
			slices.SortFunc(fired, func(a, b scene.Entry) int {
				return slices.IndexFunc(entries, is(a)) - slices.IndexFunc(entries, is(b))
			})
		}
		seeds = fired
	}
	var b strings.Builder
	for _, list := range []string{"constant ", "keyword ", "at depth ", "dropped "} {
		for _, e := range entries {
			if strings.HasPrefix(line[e.ID], list) {
				b.WriteString(line[e.ID])
			}
		}
	}
	return b.String()
}

func is(e scene.Entry) func(scene.Entry) bool {
	return func(o scene.Entry) bool { return o.ID == e.ID }
}

func naiveWhy(e scene.Entry, looked []place, known map[string]place) string {
	if e.Constant {
		return ""
	}
	see := func(kind string, keys []string) (place, bool) {
		if p, ok := known[e.ID+kind]; ok {
			return p, true
		}
		for _, key := range keys {
			for _, l := range looked {
				if naiveMatch(e, key, l.key) {
					known[e.ID+kind] = place{key, l.in}
					return known[e.ID+kind], true
				}
			}
		}
		return place{}, false
	}
	key, ok := see(" ", e.Keys)
	second, both := see("+", e.SecondaryKeys)
	why := "key “" + strings.TrimSpace(key.key) + "”" + key.in
	if e.Selective && strings.TrimSpace(strings.Join(e.SecondaryKeys, "")) != "" {
		ok = ok && both
		why += " and “" + strings.TrimSpace(second.key) + "”" + second.in
	}
	if !ok {
		return ""
	}
	return why
}

var spaces = regexp.MustCompile(`\s+`)

func naiveMatch(e scene.Entry, key, text string) bool {
	k, t := []rune(spaces.ReplaceAllString(strings.TrimSpace(key), " ")), []rune(spaces.ReplaceAllString(text, " "))
	same := func(a, b rune) bool { return a == b || e.CaseInsensitive && unicode.ToLower(a) == unicode.ToLower(b) }
	for i := 0; len(k) > 0 && i+len(k) <= len(t); i++ {
		if slices.EqualFunc(k, t[i:i+len(k)], same) && (!e.WholeWords || naiveEdge(t, i) && naiveEdge(t, i+len(k))) {
			return true
		}
	}
	return false
}

func naiveEdge(t []rune, at int) bool {
	return at == 0 || at == len(t) || !strings.ContainsRune("abABéÉ\u03327", t[at-1]) || !strings.ContainsRune("abABéÉ\u03327", t[at])
}
