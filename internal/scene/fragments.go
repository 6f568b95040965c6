package scene

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"jp/internal/lib/fault"
)

// mostCooldown bounds the turns that a mood or fragment rests after its use.
const mostCooldown = 50

// MoodChange is a partial update of a mood.
type MoodChange struct {
	Label, Description, Prompt, NegativePrompt Change[string]
	Enabled                                    Change[bool]
	Cooldown                                   Change[int]
}

// FragmentChange is a partial update of a fragment.
type FragmentChange struct {
	Label, Description, Type, Heading Change[string]
	Required, Enabled                 Change[bool]
	Order, Cooldown                   Change[int]
	Options                           Change[json.RawMessage]
}

// Moods returns all moods in the order they were made in.
func (s *Service) Moods(ctx context.Context) ([]Mood, error) {
	return read(ctx, s, func(tx Tx) ([]Mood, error) { return tx.Moods.All() })
}

// CreateMood adds a mood. Errors: Invalid for an id that is taken or reserved,
// and what does not fit.
func (s *Service) CreateMood(ctx context.Context, m Mood) (Mood, error) {
	return write(ctx, s, func(tx Tx) (Mood, error) {
		if err := freeID(tx.Moods, m.ID); err != nil {
			return Mood{}, err
		}
		if err := checkFragment(m.Label, m.Cooldown); err != nil {
			return Mood{}, err
		}
		return m, tx.Moods.Insert(m)
	})
}

// ChangeMood updates a mood. Errors: NotFound, Invalid.
func (s *Service) ChangeMood(ctx context.Context, id string, change MoodChange) (Mood, error) {
	return write(ctx, s, func(tx Tx) (Mood, error) {
		m, err := tx.Moods.Get(id)
		if err != nil {
			return Mood{}, err
		}
		change.Label.apply(&m.Label)
		change.Description.apply(&m.Description)
		change.Prompt.apply(&m.Prompt)
		change.NegativePrompt.apply(&m.NegativePrompt)
		change.Enabled.apply(&m.Enabled)
		change.Cooldown.apply(&m.Cooldown)
		if err := checkFragment(m.Label, m.Cooldown); err != nil {
			return Mood{}, err
		}
		return m, tx.Moods.Save(m)
	})
}

// DeleteMood removes a mood. Errors: NotFound.
func (s *Service) DeleteMood(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error { return tx.Moods.Delete(id) })
}

// Fragments returns all fragments by Order, then in the order they were made in.
func (s *Service) Fragments(ctx context.Context) ([]Fragment, error) {
	return read(ctx, s, func(tx Tx) ([]Fragment, error) {
		all, err := tx.Fragments.All()
		slices.SortStableFunc(all, func(a, b Fragment) int { return cmp.Compare(a.Order, b.Order) })
		return all, err
	})
}

// CreateFragment adds a fragment; one without a type is a string. Errors:
// Invalid for an id that is taken or reserved, and what does not fit.
func (s *Service) CreateFragment(ctx context.Context, f Fragment) (Fragment, error) {
	return write(ctx, s, func(tx Tx) (Fragment, error) {
		if err := freeID(tx.Fragments, f.ID); err != nil {
			return Fragment{}, err
		}
		if err := settleFragment(&f); err != nil {
			return Fragment{}, err
		}
		return f, tx.Fragments.Insert(f)
	})
}

// ChangeFragment updates a fragment. Errors: NotFound, Invalid.
func (s *Service) ChangeFragment(ctx context.Context, id string, change FragmentChange) (Fragment, error) {
	return write(ctx, s, func(tx Tx) (Fragment, error) {
		f, err := tx.Fragments.Get(id)
		if err != nil {
			return Fragment{}, err
		}
		change.Label.apply(&f.Label)
		change.Description.apply(&f.Description)
		change.Type.apply(&f.Type)
		change.Heading.apply(&f.Heading)
		change.Required.apply(&f.Required)
		change.Enabled.apply(&f.Enabled)
		change.Order.apply(&f.Order)
		change.Cooldown.apply(&f.Cooldown)
		change.Options.apply(&f.Options)
		if err := settleFragment(&f); err != nil {
			return Fragment{}, err
		}
		return f, tx.Fragments.Save(f)
	})
}

// DeleteFragment removes a fragment. Errors: NotFound.
func (s *Service) DeleteFragment(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error { return tx.Fragments.Delete(id) })
}

// settleFragment refuses a fragment that does not fit, and gives it the type
// that its own is called now.
func settleFragment(f *Fragment) (err error) {
	if err := checkFragment(f.Label, f.Cooldown); err != nil {
		return err
	}
	switch f.Type {
	case "string", "array", "feedback", "post_processing", "state", "decision":
	case "":
		f.Type = "string"
	case "progressive", "direction_note": // as older programs say
		f.Type = "state"
	default:
		return misfit("field_type", "%q is no type of fragment", f.Type)
	}
	f.Options, err = asObject("options", f.Options)
	return err
}

// checkFragment refuses what neither a mood nor a fragment may have.
func checkFragment(label string, cooldown int) error {
	if cooldown < 0 || cooldown > mostCooldown {
		return misfit("cooldown_turns", "a cooldown of %d turns", cooldown).hint("take 0 to %d", mostCooldown)
	}
	return needText("label", label)
}

// fragmentID is what people may call a mood or fragment.
var fragmentID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// reservedID tells whether the Director's tool has a field of that name itself.
func reservedID(id string) bool { return id == "moods" || id == "speaking_plan" }

// freeID refuses an id that is taken, that the Director's tool has itself, or
// that cannot be the name of a property there.
func freeID[T any](table Table[T], id string) error {
	switch {
	case !fragmentID.MatchString(id):
		return misfit("id", "%q cannot be an id", id).hint("take up to 64 letters, digits, - and _")
	case reservedID(id):
		return fault.New(fault.Invalid, "the id %q is reserved", id)
	}
	_, known, err := lookup(table.Get(id))
	if err == nil && known {
		return fault.New(fault.Invalid, "the id %q is taken", id)
	}
	return err
}
