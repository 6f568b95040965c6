package scene

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"jp/internal/lib/fault"
)

// unnamed is what a member is called that has neither a name nor a card.
const unnamed = "Narrator"

// keyLength is how long a speaker key may be, in bytes.
const keyLength = 24

// MostMembers is how many a group may have, those of a file who left included.
const MostMembers = 10_000

// MemberSpec is one member as a whole roster names it. ID is that of an active
// member which stays; anybody else is new. Key is asked for, and only for a new
// member. An empty Name takes the card's. The overrides are always written:
// nil clears them. A Model that is not set stays.
type MemberSpec struct {
	ID, Key              string
	CardID               *string
	Name                 string
	PublicProfile, Sheet *string
	Kind                 MemberKind // empty is Character
	Muted                bool
	Model                Change[*string]
}

// Members returns a group's active members, or all of them, in the roster's
// order, and the roster's revision. Errors: Conflict for a solo chat.
func (s *Service) Members(ctx context.Context, id string, all bool) (members []Member, revision int64, err error) {
	err = s.Store.View(ctx, func(tx Tx) error {
		c, err := group(tx, id)
		if err != nil {
			return err
		}
		revision = c.RosterRevision
		if all {
			members, err = tx.Members.Roster(id)
		} else {
			members, err = activeRoster(tx, id)
		}
		return err
	})
	return members, revision, err
}

// SetMembers replaces a group's roster by the members that are named, in their
// order. Who is not named leaves: the name stays with old messages, and open
// proposals for it are rejected. ifMatch is the revision the roster was made
// from. Errors: Invalid for a roster that is empty, larger than MostMembers or
// names a card or a member twice; NotFound for an unknown card or model;
// Conflict for a solo chat and for a newer revision.
func (s *Service) SetMembers(ctx context.Context, id string, specs []MemberSpec, ifMatch *int64) (members []Member, revision int64, err error) {
	err = s.Store.Update(ctx, func(tx Tx) error {
		c, err := group(tx, id)
		if err != nil {
			return err
		}
		if err := match(ifMatch, c.RosterRevision, "the members"); err != nil {
			return err
		}
		old, err := tx.Members.Roster(id)
		if err != nil {
			return err
		}
		if members, err = s.cast(tx, id, specs, old); err != nil {
			return err
		}
		if err := recast(tx, old, members); err != nil {
			return err
		}
		if err := s.dismiss(tx, id, members); err != nil {
			return err
		}
		c.RosterRevision++
		c.UpdatedAt = s.now()
		revision = c.RosterRevision
		return tx.Conversations.Save(c)
	})
	return members, revision, err
}

// cast makes the members that specs name out of the old ones, whose keys stay
// taken. It writes nothing.
func (s *Service) cast(tx Tx, conversation string, specs []MemberSpec, old []Member) ([]Member, error) {
	if len(specs) == 0 {
		return nil, fault.New(fault.Invalid, "a group needs at least one member")
	}
	if len(specs) > MostMembers {
		return nil, tooMany(len(specs))
	}
	keys := keysOf(old)
	stay := map[string]Member{}
	for _, m := range old {
		if m.Active {
			stay[m.ID] = m
		}
	}
	cards := map[string]bool{}
	var members []Member
	for i, spec := range specs {
		m, stays := stay[spec.ID]
		if stays && slices.ContainsFunc(members, func(o Member) bool { return o.ID == m.ID }) {
			return nil, fault.New(fault.Invalid, "the member %q is listed twice", m.Name)
		}
		if err := s.dress(tx, &m, spec); err != nil {
			return nil, err
		}
		m.ConversationID, m.Order, m.Active = conversation, i, true
		if m.CardID != nil {
			if cards[*m.CardID] {
				return nil, fault.New(fault.Invalid, "the card of %q is in the cast twice", m.Name).
					WithHint("take one of the two out")
			}
			cards[*m.CardID] = true
		}
		if !stays {
			id, err := s.newID()
			if err != nil {
				return nil, err
			}
			m.ID, m.Key = id, keys.cut(firstName(spec.Key, m.Name))
		}
		members = append(members, m)
	}
	return members, nil
}

func tooMany(members int) error {
	return fault.New(fault.Invalid, "a group of %d is too large", members).WithHint("take %d at most", MostMembers)
}

// dress writes what a spec says into a member. A member may keep a card or model
// that is gone; nobody may take one.
func (s *Service) dress(tx Tx, m *Member, spec MemberSpec) error {
	kind := spec.Kind
	if kind == "" {
		kind = Character
	}
	if kind != Character && kind != Narrator {
		return fault.New(fault.Invalid, "%q is no kind of member", kind).WithHint("use character or narrator")
	}
	var card Card
	if id := given(spec.CardID); id != nil {
		c, known, err := lookup(tx.Cards.Get(*id))
		if err != nil {
			return err
		}
		if !known && (m.CardID == nil || *m.CardID != *id) {
			return fault.New(fault.NotFound, "there is no card %q", *id)
		}
		if card = c; !known {
			card.Name = m.Name
		}
	}
	if err := s.knownModel(tx, spec.Model, m.Model); err != nil {
		return err
	}
	m.CardID, m.Kind, m.Muted = given(spec.CardID), kind, spec.Muted
	m.Name = firstName(spec.Name, card.Name, unnamed)
	m.PublicProfile, m.Sheet = spec.PublicProfile, spec.Sheet
	spec.Model.apply(&m.Model)
	return nil
}

// knownModel refuses a model that nobody configured: it is a config's id, or
// "ENDPOINT/NAME" of a model of a standing endpoint. A member keeps its own.
func (s *Service) knownModel(tx Tx, change Change[*string], own *string) error {
	if !change.Set || change.To == nil || same(change.To, own) {
		return nil
	}
	for _, e := range s.Standing {
		if name, ok := strings.CutPrefix(*change.To, e.ID+"/"); ok && strings.TrimSpace(name) != "" {
			return nil
		}
	}
	_, known, err := lookup(tx.Models.Get(*change.To))
	if err == nil && !known {
		return fault.New(fault.NotFound, "there is no model config %q", *change.To).
			WithHint("take one of an endpoint's, or leave it out for the scene's")
	}
	return err
}

// given is an id, or nil when it is empty.
func given(id *string) *string {
	if id != nil && *id == "" {
		return nil
	}
	return id
}

// firstName is the first of names that is not blank.
func firstName(names ...string) string {
	for _, n := range names {
		if strings.TrimSpace(n) != "" {
			return n
		}
	}
	return ""
}

// recast writes a roster. All leave first, so that two members can swap cards
// though a card is there once.
func recast(tx Tx, old, members []Member) error {
	known := map[string]bool{}
	for _, m := range old {
		known[m.ID] = true
		if !m.Active {
			continue
		}
		m.Active = false
		if err := tx.Members.Save(m); err != nil {
			return err
		}
	}
	for _, m := range members {
		put := tx.Members.Insert
		if known[m.ID] {
			put = tx.Members.Save
		}
		if err := put(m); err != nil {
			return err
		}
	}
	return nil
}

// activeRoster returns a conversation's active members.
func activeRoster(tx Tx, conversation string) ([]Member, error) {
	all, err := tx.Members.Roster(conversation)
	return slices.DeleteFunc(all, func(m Member) bool { return !m.Active }), err
}

// keyring has the handles of a conversation's members.
type keyring struct {
	taken map[string]bool
	next  map[string]int // the number to try, by what was asked for: a thousand may have one name
}

func keysOf(members []Member) keyring {
	k := keyring{taken: map[string]bool{}, next: map[string]int{}}
	for _, m := range members {
		k.taken[m.Key] = true
	}
	return k
}

// cut makes a short handle of what is asked for that nobody has yet.
func (k keyring) cut(asked string) string {
	base := slug(asked)
	key, n := base, max(2, k.next[base])
	for ; k.taken[key]; n++ {
		suffix := "-" + strconv.Itoa(n)
		key = strings.TrimRight(base[:min(len(base), keyLength-len(suffix))], "-") + suffix
	}
	k.taken[key], k.next[base] = true, n
	return key
}

// slug writes a name in letters a to z, digits and single hyphens.
func slug(name string) string {
	var b strings.Builder
	for _, r := range folds.Replace(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	key := b.String()
	key = strings.TrimRight(key[:min(len(key), keyLength)], "-")
	if key == "" {
		return "speaker"
	}
	return key
}

// folds are the letters that case folding, unlike lower case, turns into a to
// z.
var folds = strings.NewReplacer("ß", "ss", "ſ", "s", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")
