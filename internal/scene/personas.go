package scene

import (
	"context"
	"strings"
)

// PersonaChange is a partial update of a persona.
type PersonaChange struct {
	Name, Description, Color Change[string]
}

// Personas returns all personas in the order they were made in.
func (s *Service) Personas(ctx context.Context) ([]Persona, error) {
	return read(ctx, s, func(tx Tx) ([]Persona, error) { return tx.Personas.All() })
}

// CreatePersona adds a persona under a new id. Errors: Invalid for one without
// a name.
func (s *Service) CreatePersona(ctx context.Context, p Persona) (Persona, error) {
	return write(ctx, s, func(tx Tx) (_ Persona, err error) {
		if err := checkPersona(p); err != nil {
			return Persona{}, err
		}
		if p.ID, err = s.newID(); err != nil {
			return Persona{}, err
		}
		p.CreatedAt = s.now()
		p.UpdatedAt = p.CreatedAt
		return p, tx.Personas.Insert(p)
	})
}

// ChangePersona updates a persona. Errors: NotFound, Invalid.
func (s *Service) ChangePersona(ctx context.Context, id string, change PersonaChange) (Persona, error) {
	return write(ctx, s, func(tx Tx) (Persona, error) {
		p, err := tx.Personas.Get(id)
		if err != nil {
			return Persona{}, err
		}
		change.Name.apply(&p.Name)
		change.Description.apply(&p.Description)
		change.Color.apply(&p.Color)
		if err := checkPersona(p); err != nil {
			return Persona{}, err
		}
		p.UpdatedAt = s.now()
		return p, tx.Personas.Save(p)
	})
}

// DeletePersona removes a persona. Whatever was locked to it, and the settings
// if it was the active one, do without. Errors: NotFound.
func (s *Service) DeletePersona(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		if err := tx.Personas.Delete(id); err != nil {
			return err
		}
		return forget(tx, id, func(set *Settings) []**string { return []**string{&set.ActivePersonaID} })
	})
}

// forget clears those of the settings that name what was deleted.
func forget(tx Tx, id string, names func(*Settings) []**string) error {
	set, err := tx.Settings.Get()
	if err != nil {
		return err
	}
	found := false
	for _, name := range names(&set) {
		if same(*name, &id) {
			*name, found = nil, true
		}
	}
	if !found {
		return nil
	}
	return tx.Settings.Save(set)
}

// checkPersona refuses a persona that does not fit. A colour goes into style
// sheets, so it is a name, a hexadecimal number or a function of numbers.
func checkPersona(p Persona) error {
	if err := needText("name", p.Name); err != nil {
		return err
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(p.Color) > 64 || strings.Trim(p.Color, letters+"#(),.%/ -") != "" {
		return misfit("avatar_color", "%q is no colour", p.Color).hint("take one like #4a90d9")
	}
	return nil
}
