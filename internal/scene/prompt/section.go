package prompt

import (
	_ "embed"
	"strings"

	"jp/internal/scene"
)

// The keys of sections. Those of the system body, and those that a member has
// in the closing message.
const (
	keySystemPrompt  = "system_prompt"
	keyCharacter     = "char_persona" // solo
	keyCastPublic    = "cast_public"
	keyCastDossiers  = "cast_dossiers"
	keyActiveCard    = "active_card" // swap
	keyLoreConstant  = "lorebook_constant"
	keyScenario      = "scenario"
	keyExamples      = "mes_example" // solo
	keyPostHistory   = "post_history"
	keyUserPersona   = "user_persona"
	keyWorkflow      = "workflow"
	keySpeaker       = "speaker"
	keySpeakerSheet  = "speaker_sheet"
	keySpeakerSample = "speaker_examples"
	keySpeakerPost   = "speaker_post_history"
	keyLore          = "lorebook"
	keyInjection     = "director_injection"
	keyNoTools       = "no_tools"
	keyLength        = "length"
	keyCue           = "cue"
	keyMessage       = "message"
	keyLoreDepth     = "lorebook_depth"
	keySpeakerGuard  = "speaker_guard"
	keyNudge         = "nudge"
)

// Section is a named stretch of what a call is given, never blank.
type Section struct{ Key, Text string }

// Join is the text of sections: a blank line between them.
func Join(parts []Section) string {
	texts := make([]string, len(parts))
	for i, s := range parts {
		texts[i] = s.Text
	}
	return strings.Join(texts, blank)
}

const (
	blank     = "\n\n"
	separator = "___" + blank
)

// sections collects what says something.
type sections []Section

func (s *sections) add(key, text string) { s.under(key, "", text) }

// under adds a text below a heading, both or neither. The space that a text
// begins its first line with is its own.
func (s *sections) under(key, heading, text string) {
	if strings.TrimSpace(text) != "" {
		*s = append(*s, Section{key, heading + strings.Trim(text, "\r\n")})
	}
}

// apart adds a text below a separator, unless there is nothing to part it from:
// a plain message stays as it will stand in the history.
func (s *sections) apart(key, heading, text string) {
	if len(*s) > 0 {
		heading = separator + heading
	}
	s.under(key, heading, text)
}

// joined puts a blank line between the texts that are not blank.
func joined(texts ...string) string {
	var s sections
	for _, t := range texts {
		s.add("", t)
	}
	return Join(s)
}

// LanePrompt is a lane's whole system prompt: the one that its models share,
// then the model config's own.
func (p *Scene) LanePrompt(lane scene.Lane, own string) string {
	set := p.s.Settings
	shared := set.SharedSystemPrompt
	if lane == scene.LaneAgent && !set.AgentSameAsWriter {
		return joined(set.AgentSharedSystemPrompt, own)
	}
	return joined(shared, first(strings.TrimSpace(own), set.SystemPrompt))
}

// The texts that we say ourselves.
var (
	//go:embed texts/transcript.txt
	transcript string
	//go:embed texts/guard.txt
	guard string
	//go:embed texts/guard_narrator.txt
	guardNarrator string
	//go:embed texts/no_tools.txt
	noTools string
	//go:embed texts/nudge.txt
	nudge string
)
