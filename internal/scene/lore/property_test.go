package lore_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// TestOrder: but for the order of blocks, and who is named as the reason, the
// order of the entries does not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worlds, entries := anyLore(t)
		for i := range entries {
			entries[i].Priority = i // else the order decides who has room
		}
		texts, budget := anyTexts(t), anyBudget(t)
		outcome := func(entries []scene.Entry) []string {
			lines := strings.Split(told(lore.Compile(worlds, entries).Select(texts, budget)), "\n")
			for i := range lines {
				lines[i], _, _ = strings.Cut(lines[i], ":")
			}
			slices.Sort(lines)
			return lines
		}
		if diff := cmp.Diff(outcome(entries), outcome(rapid.Permutation(entries).Draw(t, "other order"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestBudget: it is never exceeded, nothing is dropped that has room, what is
// dropped makes no difference, and no entry is there twice.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worlds, entries := anyLore(t)
		texts, budget := anyTexts(t), rapid.IntRange(0, 20).Draw(t, "budget")
		s := lore.Compile(worlds, entries).Select(texts, &budget)
		left, seen := budget, map[string]bool{}
		for _, h := range slices.Concat(s.Constant, s.Keyword, s.AtDepth, s.Dropped) {
			if seen[h.Entry.ID] {
				t.Fatalf("entry %s is there twice", h.Entry.ID)
			}
			seen[h.Entry.ID] = true
		}
		for _, h := range slices.Concat(s.Constant, s.Keyword, s.AtDepth) {
			left -= scene.Tokens(h.Entry.Content)
		}
		if left < 0 {
			t.Fatalf("%d tokens too many", -left)
		}
		gone := map[string]bool{}
		for _, h := range s.Dropped {
			if gone[h.Entry.ID] = true; scene.Tokens(h.Entry.Content) <= left {
				t.Fatalf("entry %s had room", h.Entry.ID)
			}
		}
		rest := slices.DeleteFunc(entries, func(e scene.Entry) bool { return gone[e.ID] })
		without := lore.Compile(worlds, rest).Select(texts, &budget)
		s.Dropped = nil
		if diff := cmp.Diff(told(s), told(without)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// anyExpression draws expressions whose literals are hard to see.
func anyExpression() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		leaf := rapid.SampledFrom([]string{"a", "B", "ab", "é", "ß", "k", "s", `\b`, "^", "$", ".", "[ab]", "[^a]", "(?i:AB)", `\d`, " ", "İ"})
		var draw func(depth int) string
		draw = func(depth int) string {
			if depth == 0 {
				return leaf.Draw(t, "leaf")
			}
			a, b := draw(depth-1), draw(depth-1)
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				return "(" + a + "|" + b + ")"
			case 1:
				return "(?:" + a + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{0,2}", "+?"}).Draw(t, "times")
			case 2:
				return "(?i)" + a + b
			}
			return a + b
		}
		return draw(rapid.IntRange(0, 3).Draw(t, "depth"))
	})
}

// TestExpressions: an expression fires where it matches; looking for literals
// first loses nothing.
func TestExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := scene.NewEntry()
		e.ID, e.WorldID, e.Regex = "1", "w", true
		e.CaseInsensitive = rapid.Bool().Draw(t, "ignore case")
		e.Keys = []string{anyExpression().Draw(t, "expression")}
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbBéÉßẞsSſkKİiIı1 \u0307\u0301")), 0, 6, -1).Draw(t, "text")
		expr := e.Keys[0]
		if e.CaseInsensitive {
			expr = "(?i)" + expr
		}
		re, err := regexp.Compile(expr)
		if err != nil || strings.TrimSpace(e.Keys[0]) == "" {
			t.Skip("no key")
		}
		got := len(lore.Compile([]scene.World{{ID: "w"}}, []scene.Entry{e}).Select([]string{text}, nil).Keyword) == 1
		if got != re.MatchString(text) {
			t.Fatalf("%q in %q: fires %v", expr, text, got)
		}
	})
}

// FuzzSelect: any key is found where nothing else stands, as a word is found
// only where a part is, and an expression is what package regexp says.
func FuzzSelect(f *testing.F) {
	for _, seed := range []struct{ key, text string }{
		{"café", "at the Cafe\u0301."}, {"/(a+)+$/", "aaaa!"}, {"/x/gz", "x"}, {"/etc/passwd", "cat /etc/passwd"},
		{"\u200d", "a\u200db"}, {" ß ", "STRASSE"}, {"İ", "i\u0307"}, {"\xff", "a\xffb"}, {"(", "("}, {"앨리스", "앨리스가"}, {"\u0301", "e\u0301"},
	} {
		f.Add(seed.key, seed.text, true, true)
		f.Add(seed.key, seed.text, false, false)
	}
	f.Fuzz(func(t *testing.T, key, text string, ignoreCase, asPattern bool) {
		e := scene.NewEntry()
		e.ID, e.WorldID, e.Keys, e.CaseInsensitive, e.Regex = "1", "w", []string{key}, ignoreCase, asPattern
		fires := func(text string, whole bool) bool {
			e.WholeWords = whole
			return len(lore.Compile([]scene.World{{ID: "w"}}, []scene.Entry{e}).Select([]string{text}, nil).Keyword) == 1
		}
		word, part := fires(text, true), fires(text, false)
		says := strings.ContainsFunc(key, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) })
		expr, pattern := lore.Pattern(key)
		if !pattern && asPattern {
			if expr, pattern = key, true; ignoreCase {
				expr = "(?i)" + key
			}
		}
		if pattern {
			re, err := regexp.Compile(expr)
			if ok := err == nil && len(lore.Warnings(e)) == 0; ok && says && word != re.MatchString(text) || !ok && word {
				t.Errorf("%q in %q: fires %v", expr, text, word)
			}
			return
		}
		if word && !part {
			t.Errorf("%q is a word in %q and no part of it", key, text)
		}
		if says && !(fires(key, false) && fires(key, true)) {
			t.Errorf("%q does not fire itself", key)
		}
	})
}
