// Package audit finds in a draft what an Editor should mend, and applies what
// the Editor answers.
//
// A detector is a pure function of the draft, the replies before it and the
// user's text; each can be switched off. Code, inline code and addresses are
// never looked at. A finding names an exact stretch of the draft, whole
// characters from byte to byte: a sentence or a run of sentences, except for
// repeated phrases, which name the phrase. Times grow with the length of the
// texts, not with their product; phrases of users run on RE2, one that does not
// compile or is too large never fires.
//
// Patches address findings or search texts that stand once in the draft; one
// that is not exact is rejected with the reason, and the others hold.
package audit

import (
	"cmp"
	"slices"

	"jp/internal/scene"
)

// The kinds of findings, and the names of their switches.
const (
	BannedPhrases       = "banned_phrases"
	RepetitiveOpeners   = "repetitive_openers"
	RepetitiveTemplates = "repetitive_templates"
	ContrastiveNegation = "contrastive_negation"
	PhraseRepetition    = "phrase_repetition"
	StructuralRepeat    = "structural_repetition"
	AntiEcho            = "anti_echo"
	NegatedNarration    = "negated_narration"
)

// Window is how many recent replies are compared with.
const Window = 20

// Input is what the detectors see.
type Input struct {
	Draft   string
	Recent  []string // replies before the draft, oldest first; the last Window count
	Quoted  string   // what the user said
	Phrases []scene.Phrase
	Toggles map[string]bool // by kind; what is missing is on
}

// Finding is one thing to mend. ID counts from 1 in the order of the draft.
// Text is Draft[Start:End]. What concerns the draft as a whole has an empty
// stretch: only a rewrite mends it.
type Finding struct {
	ID         int
	Kind       string
	Text       string
	Start, End int // bytes
	Why        string
}

// Run returns the findings of all detectors that are on.
func Run(in Input) []Finding {
	draft := read(in.Draft)
	recent := in.Recent[max(0, len(in.Recent)-Window):]
	var found []Finding
	for _, d := range []struct {
		kind   string
		detect func() []hit
	}{
		{BannedPhrases, func() []hit { return banned(draft, in.Phrases) }},
		{RepetitiveOpeners, func() []hit { return openers(draft) }},
		{RepetitiveTemplates, func() []hit { return templates(draft) }},
		{ContrastiveNegation, func() []hit { return contrasts(draft) }},
		{NegatedNarration, func() []hit { return negations(draft) }},
		{AntiEcho, func() []hit { return echoes(draft, in.Quoted) }},
		{PhraseRepetition, func() []hit { return phrases(draft, recent) }},
		{StructuralRepeat, func() []hit { return structure(draft, recent) }},
	} {
		if on, known := in.Toggles[d.kind]; known && !on {
			continue
		}
		for _, h := range d.detect() {
			found = append(found, Finding{Kind: d.kind, Text: in.Draft[h.start:h.end], Start: h.start, End: h.end, Why: h.why})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for i := range found {
		found[i].ID = i + 1
	}
	return found
}

// hit is a finding of one detector.
type hit struct {
	span
	why string
}

// span is a stretch of a text, in bytes.
type span struct{ start, end int }
