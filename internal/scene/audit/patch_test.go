package audit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene/audit"
)

// finding is a finding of the first place of text in draft.
func finding(id int, draft, text string) audit.Finding {
	at := strings.Index(draft, text)
	return audit.Finding{ID: id, Kind: audit.BannedPhrases, Text: text, Start: at, End: at + len(text), Why: "x"}
}

func TestPatch(t *testing.T) {
	draft := "One é. Two. Three."
	findings := []audit.Finding{
		finding(1, draft, "One é."), finding(2, draft, "Two."), finding(3, draft, "Two. Three."), finding(4, draft, "Three."),
		{ID: 5, Kind: audit.StructuralRepeat}, {ID: 6, Text: "Ten.", Start: 0, End: 4}, {ID: 7, Text: "x", Start: 90, End: 91}, finding(8, draft, draft),
	}
	for _, c := range []struct {
		patches []audit.Replacement
		want    string
		why     []audit.Rejected
	}{
		{nil, draft, nil},
		{[]audit.Replacement{{2, "2."}}, "One é. 2. Three.", nil},
		{[]audit.Replacement{{4, "3."}, {1, "Eins."}, {2, ""}}, "Eins.  3.", nil},
		{[]audit.Replacement{{3, "Rest."}, {2, "2."}, {4, "3."}, {1, "1."}}, "1. Rest.", []audit.Rejected{{1, "it overlaps another patch"}, {2, "it overlaps another patch"}}},
		{[]audit.Replacement{{2, "2."}, {2, "3."}}, "One é. 2. Three.", []audit.Rejected{{1, "it overlaps another patch"}}},
		{[]audit.Replacement{{2, "2."}, {4, "3."}, {3, "x"}}, "One é. 2. 3.", []audit.Rejected{{2, "it overlaps another patch"}}},
		{[]audit.Replacement{{9, "x"}, {5, "x"}, {6, "x"}, {7, "x"}}, draft, []audit.Rejected{
			{0, "there is no such finding"}, {1, "the finding is about the whole text and needs a rewrite"},
			{2, "the text has changed since it was found"}, {3, "the text has changed since it was found"},
		}},
		{[]audit.Replacement{{2, "Two."}, {4, "\xff"}}, draft, []audit.Rejected{{0, "the replacement changes nothing"}, {1, "the replacement holds broken characters"}}},
		{[]audit.Replacement{{8, " \n"}}, draft, []audit.Rejected{{0, "nothing would be left of the text"}}},
	} {
		got, why := audit.Patch(draft, findings, c.patches)
		if got != c.want {
			t.Errorf("%v gives %q, want %q", c.patches, got, c.want)
		}
		if d := cmp.Diff(c.why, why); d != "" {
			t.Errorf("%v is rejected (-want +got):\n%s", c.patches, d)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		draft string
		edits []audit.Edit
		want  string
		why   []audit.Rejected
	}{
		{"a b c", []audit.Edit{{"b", "B"}, {"a", "A"}}, "A B c", nil},
		{"彼女は笑った。", []audit.Edit{{"笑った", "泣いた"}}, "彼女は泣いた。", nil},
		{"a b c", []audit.Edit{{"a b", "x"}, {"b c", "y"}}, "x c", []audit.Rejected{{1, "it overlaps another patch"}}},
		{"a b c", []audit.Edit{{"a", "b b"}, {"b", "z"}}, "b b z c", nil}, // searched as it was
		{"a b a", []audit.Edit{{"a", "x"}, {"", "x"}, {"q", "x"}, {"A", "x"}}, "a b a", []audit.Rejected{
			{0, "the search text is in the draft more than once"}, {1, "the search text is empty"},
			{2, "the search text is not in the draft"}, {3, "the search text is not in the draft"},
		}},
		{"aaa", []audit.Edit{{"aa", "b"}}, "aaa", []audit.Rejected{{0, "the search text is in the draft more than once"}}},
		{"é", []audit.Edit{{"\xa9", "x"}}, "é", []audit.Rejected{{0, "the search text holds broken characters"}}},
		{"ab", []audit.Edit{{"ab", "ab"}}, "ab", []audit.Rejected{{0, "the replacement changes nothing"}}},
		{"ab", []audit.Edit{{"a", ""}, {"b", " "}}, "ab", []audit.Rejected{{0, "nothing would be left of the text"}, {1, "nothing would be left of the text"}}},
		{"", nil, "", nil},
	} {
		got, why := audit.Replace(c.draft, c.edits)
		if got != c.want {
			t.Errorf("%q with %v gives %q, want %q", c.draft, c.edits, got, c.want)
		}
		if d := cmp.Diff(c.why, why); d != "" {
			t.Errorf("%q with %v is rejected (-want +got):\n%s", c.draft, c.edits, d)
		}
	}
}

// What no patch touches stays, and each patch is applied or rejected.
func TestReplaceAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draft := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "笑", " ", "ab"}), 0, 12).Draw(t, "draft"), "")
		edits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) audit.Edit {
			word := rapid.SampledFrom([]string{"a", "b", "ab", "é", "笑", "笑é", "zz", ""})
			return audit.Edit{Search: word.Draw(t, "search"), Replace: word.Draw(t, "replace")}
		}), 0, 5).Draw(t, "edits")
		got, rejected := audit.Replace(draft, edits)
		refused := map[int]bool{}
		for _, r := range rejected {
			refused[r.Index] = true
		}
		// A plain model: mark what is taken, then write.
		taken := make([]int, len(draft))
		for i, e := range edits {
			if refused[i] {
				continue
			}
			at := strings.Index(draft, e.Search)
			for j := range len(e.Search) {
				if taken[at+j] != 0 {
					t.Fatalf("edits %d and %d overlap", i, taken[at+j]-1)
				}
				taken[at+j] = i + 1
			}
		}
		want, last := "", 0
		for i := range draft {
			switch n := taken[i]; {
			case n == 0:
				_, size := utf8.DecodeRuneInString(draft[i:])
				want += draft[i : i+size]
				last = 0
			case n != last:
				want += edits[n-1].Replace
				last = n
			}
		}
		if got != want || len(refused) != len(rejected) {
			t.Fatalf("%q with %v gives %q, want %q", draft, edits, got, want)
		}
	})
}

func FuzzReplace(f *testing.F) {
	f.Add("One two one.", "two", "2", "one", "1")
	f.Add("é笑", "\xa9", "x", "笑", "")
	f.Fuzz(func(t *testing.T, draft, search1, replace1, search2, replace2 string) {
		got, rejected := audit.Replace(draft, []audit.Edit{{search1, replace1}, {search2, replace2}})
		if len(rejected) == 2 && got != draft {
			t.Fatalf("%q became %q though all is rejected", draft, got)
		}
		if utf8.ValidString(draft) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q", draft, got)
		}
	})
}
