package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/macro"
	"jp/internal/scene/prompt"
)

// ProfileDraft is for whom a public profile is drafted.
type ProfileDraft struct {
	CardID *string
	Name   string // as the member is called in the scene; empty is the card's
	// Cast are the names of the others; nil is the stored roster without the
	// card's own member.
	Cast []string
}

// Bounds of a drafted profile and of what it is drafted from.
const (
	profileTool   = "draft_public_profile"
	profileTokens = 512
	profileWords  = 30 // of each part
	mostNames     = 16 // of the cast
	longestName   = 64 // characters
)

// DraftSceneProfile drafts what the rest of a cast sees of a character, as two
// lines "Appearance: …" and "Role: …". The request holds this card and names
// only, and nothing is stored. Errors: Conflict for a solo chat, Invalid
// without a card, NotFound for an unknown one, Provider for an answer that
// cannot be used.
func (r *Runner) DraftSceneProfile(ctx context.Context, conversation string, d ProfileDraft) (string, error) {
	snap, err := r.Scenes.Snapshot(ctx, conversation)
	if err != nil {
		return "", err
	}
	if snap.Conversation.Kind != scene.Group {
		return "", fault.New(fault.Conflict, "this is no group: its card speaks alone")
	}
	if d.CardID == nil || *d.CardID == "" {
		return "", fault.New(fault.Invalid, "there is no card to draft a profile from").WithHint("write it by hand; a narrator has no card")
	}
	card, err := r.Scenes.Card(ctx, *d.CardID)
	if err != nil {
		return "", err
	}
	names, left := castNames(snap, card.ID, d.Cast)
	profile, err := r.draft(ctx, snap, card, profileAsk{
		Name: firstText(d.Name, card.Name), Premise: snap.Conversation.Scenario, Cast: names, Left: left,
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Appearance: %s\nRole: %s", profile.Appearance, profile.Role), nil
}

// DraftPublicProfile drafts a card's own public profile. Errors: NotFound,
// Provider for an answer that cannot be used.
func (r *Runner) DraftPublicProfile(ctx context.Context, id string) (scene.Profile, error) {
	card, err := r.Scenes.Card(ctx, id)
	if err != nil {
		return scene.Profile{}, err
	}
	snap, err := r.Scenes.Installation(ctx)
	if err != nil {
		return scene.Profile{}, err
	}
	return r.draft(ctx, snap, card, profileAsk{Name: card.Name})
}

// castNames are the names of the others, each cut, at most mostNames of them;
// left is how many are not there.
func castNames(s scene.Snapshot, card string, given []string) (names []string, left int) {
	if given == nil {
		for _, m := range s.Active() {
			if m.CardID == nil || *m.CardID != card {
				given = append(given, m.Name)
			}
		}
	}
	for _, n := range given {
		if n = oneLine(n); n != "" {
			names = append(names, clipped(n, longestName))
		}
	}
	return names[:min(len(names), mostNames)], max(0, len(names)-mostNames)
}

// clipped keeps the first most characters.
func clipped(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// profileAsk is what a draft is asked with.
type profileAsk struct {
	Name, Premise string
	Cast          []string
	Left          int

	Description, Personality string
	Now                      scene.Profile // the card's own, to adjust
	Demand                   string
}

// draft makes the one call of a draft. It stands alone: no history, no other
// card.
func (r *Runner) draft(ctx context.Context, snap scene.Snapshot, card scene.Card, ask profileAsk) (p scene.Profile, err error) {
	lane, err := r.agent(snap)
	if err != nil {
		return p, err
	}
	tool := written(phrase("draft_public_profile.json", nil))
	ask.about(card, prompt.New(snap, r.Now()).SceneScope())
	ask.Demand = Demand(lane, tool)
	req := llm.Request{
		Model: lane.Name, System: []string{phrase("profile_system.txt", nil)}, Params: lane.Params,
		Messages: []llm.Message{{Role: llm.RoleUser, Text: phrase("profile.txt", ask)}},
	}
	req.Params.MaxTokens, req.Params.Reasoning = new(profileTokens), llm.EffortOff
	call := pass{name: "profile", lane: lane, req: Force(lane, []llm.Tool{tool}, req, profileTool)}
	a, err := r.ask(ctx, call, unkept, nil)
	if err != nil {
		return p, err
	}
	args, ok := Answer(profileTool, a.calls, a.text)
	if !ok || json.Unmarshal(args, &p) != nil {
		return scene.Profile{}, unusable("it holds no profile")
	}
	if err := fitProfile("appearance", &p.Appearance); err != nil {
		return scene.Profile{}, err
	}
	return p, fitProfile("role", &p.Role)
}

// about fills in what the card says, in the words of a scene.
func (a *profileAsk) about(card scene.Card, scope macro.Scope) {
	a.Premise = macro.Resolve(a.Premise, scope)
	a.Name = oneLine(a.Name)
	scope.Char, scope.Description, scope.HasDescription = a.Name, "", true
	plain := func(text string) string { return strings.TrimSpace(macro.Resolve(text, scope)) }
	a.Description, a.Personality = plain(card.Description), plain(card.Personality)
	now := card.Profile()
	a.Now = scene.Profile{Appearance: plain(now.Appearance), Role: plain(now.Role)}
}

// fitProfile puts a part on one line and holds it to what a profile may be.
func fitProfile(part string, text *string) error {
	*text = oneLine(*text)
	switch {
	case *text == "":
		return unusable("the " + part + " is empty")
	case strings.ContainsAny(*text, "{}"):
		return unusable("the " + part + " holds curly braces")
	case len(strings.Fields(*text)) > profileWords:
		return unusable(fmt.Sprintf("the %s is longer than %d words", part, profileWords))
	}
	return nil
}

func unusable(why string) error {
	return fault.New(fault.Provider, "the model's answer cannot be used: %s", why).WithHint("try again, or write it by hand")
}
