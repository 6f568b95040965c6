package scene

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"jp/internal/lib/fault"
)

// The kinds of phrases.
const (
	LiteralPhrase = "literal"
	RegexPhrase   = "regex"
)

// PhraseChange is a partial update of a phrase.
type PhraseChange struct {
	Kind, Pattern Change[string]
	Variants      Change[[]string]
}

// Phrases returns the phrase bank in the order it was made in.
func (s *Service) Phrases(ctx context.Context) ([]Phrase, error) {
	return read(ctx, s, func(tx Tx) ([]Phrase, error) { return tx.Phrases.All() })
}

// CreatePhrase adds a phrase under a new id. Errors: Invalid for one that says
// nothing or that is no expression.
func (s *Service) CreatePhrase(ctx context.Context, p Phrase) (Phrase, error) {
	return write(ctx, s, func(tx Tx) (_ Phrase, err error) {
		if err := settlePhrase(&p); err != nil {
			return Phrase{}, err
		}
		if p.ID, err = s.newID(); err != nil {
			return Phrase{}, err
		}
		return p, tx.Phrases.Insert(p)
	})
}

// ChangePhrase updates a phrase. Errors: NotFound, Invalid.
func (s *Service) ChangePhrase(ctx context.Context, id string, change PhraseChange) (Phrase, error) {
	return write(ctx, s, func(tx Tx) (Phrase, error) {
		p, err := tx.Phrases.Get(id)
		if err != nil {
			return Phrase{}, err
		}
		change.Kind.apply(&p.Kind)
		change.Variants.apply(&p.Variants)
		change.Pattern.apply(&p.Pattern)
		if err := settlePhrase(&p); err != nil {
			return Phrase{}, err
		}
		return p, tx.Phrases.Save(p)
	})
}

// DeletePhrase removes a phrase. Errors: NotFound.
func (s *Service) DeletePhrase(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error { return tx.Phrases.Delete(id) })
}

// settlePhrase refuses a phrase that finds nothing, and drops what its kind has
// no use for.
func settlePhrase(p *Phrase) error {
	switch p.Kind {
	case LiteralPhrase, "":
		p.Kind, p.Pattern = LiteralPhrase, ""
		p.Variants = slices.DeleteFunc(slices.Clone(p.Variants), func(v string) bool { return strings.TrimSpace(v) == "" })
		if len(p.Variants) == 0 {
			return fault.New(fault.Invalid, "the phrase is empty").WithHint("give it at least one variant")
		}
	case RegexPhrase:
		p.Variants = nil
		if strings.TrimSpace(p.Pattern) == "" {
			return fault.New(fault.Invalid, "the phrase is empty").WithHint("give it a pattern")
		}
		if _, err := regexp.Compile(p.Pattern); err != nil {
			return fault.New(fault.Invalid, "the pattern is no regular expression: %w", err).
				WithHint("the syntax is RE2: there is no look-around and there are no back-references")
		}
	default:
		return misfit("kind", "%q is no kind of phrase", p.Kind).hint("use literal or regex")
	}
	return nil
}
