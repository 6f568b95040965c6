package prompt

import (
	"strings"
	"unicode/utf8"

	"jp/internal/scene"
)

// Size is how much a call is given, by what makes it up.
type Size struct {
	// Maximum tells that the parts belong to no single call: of what differs
	// between speakers the largest counts, as for a group.
	Maximum  bool
	Messages int    // of the visible branch
	Parts    []Part // the keys of the mode, in order, empty ones too
	Chars    int    // of the parts together; blank lines between them do not count
	Tokens   int
}

// Part is one of a Size's parts.
type Part struct {
	Key           string
	Chars, Tokens int
}

// The keys of a Size that are no section's.
const (
	keyMessages    = "messages"
	keyLargestCard = "largest_active_card"
	keyLargestTail = "largest_speaker_tail"
)

// Size measures what the next call would be given: lanePrompt as for System,
// of t the lore and the injection. The history is the visible branch. What is
// no key's – the person's next message, a cue, our own notes – is not in it.
func (p *Scene) Size(lanePrompt string, t Turn) Size {
	chars := map[string]int{}
	measure(chars, p.System(lanePrompt, t.Lore, ""))
	for _, m := range p.History(p.s.Path, nil) {
		chars[keyMessages] += utf8.RuneCountInString(m.Text)
	}
	next := Turn{Lore: t.Lore, Injection: t.Injection}
	measure(chars, p.Trailing(next))
	if p.group() {
		for _, m := range p.s.Eligible() {
			next.Speaker = m.ID
			tail := measure(chars, p.Trailing(next))
			chars[keyLargestTail] = max(chars[keyLargestTail], tail)
			chars[keyLargestCard] = max(chars[keyLargestCard], utf8.RuneCountInString(p.activeCard(m)))
		}
	}
	size := Size{Maximum: p.group(), Messages: len(p.s.Path)}
	for _, key := range p.keys() {
		n := chars[key]
		size.Parts = append(size.Parts, Part{key, n, scene.TokensOf(n)})
		size.Chars += n
	}
	size.Tokens = scene.TokensOf(size.Chars)
	return size
}

// measure notes the sizes of one call's sections by their keys, and returns
// that of what is the speaker's.
func measure(chars map[string]int, parts []Section) (speaker int) {
	for _, s := range parts {
		n := utf8.RuneCountInString(s.Text)
		chars[s.Key] = n
		if strings.HasPrefix(s.Key, keySpeaker) {
			speaker += n
		}
	}
	return speaker
}

// keys are those of the mode, in the order of the wire.
func (p *Scene) keys() []string {
	keys := []string{keySystemPrompt, keyCharacter}
	if p.group() {
		switch p.s.Conversation.ContextMode {
		case scene.Shared:
			keys = append(keys, keyCastDossiers)
		case scene.Swap:
			keys = append(keys, keyCastPublic, keyLargestCard)
		default:
			keys = append(keys, keyCastPublic)
		}
		keys = append(keys, keyLargestTail)
	}
	return append(keys, keyScenario, keyExamples, keyUserPersona, keyMessages, keyPostHistory,
		keyInjection, keyLore, keyLoreConstant, keyLoreDepth)
}
