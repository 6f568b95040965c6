package scene

import "context"

// WorldChange is a partial update of a world. It does not touch what its
// entries say, so ContentRevision stays.
type WorldChange struct {
	Name                       Change[string]
	Global, Dynamic, Recursive Change[bool]
}

// Worlds returns all worlds in the order they were made in.
func (s *Service) Worlds(ctx context.Context) ([]World, error) {
	return read(ctx, s, func(tx Tx) ([]World, error) { return tx.Worlds.All() })
}

// World returns a world. Errors: NotFound.
func (s *Service) World(ctx context.Context, id string) (World, error) {
	return read(ctx, s, func(tx Tx) (World, error) { return tx.Worlds.Get(id) })
}

// CreateWorld adds an empty world. Errors: Invalid for one without a name.
func (s *Service) CreateWorld(ctx context.Context, name string) (World, error) {
	return write(ctx, s, func(tx Tx) (World, error) {
		if err := needText("name", name); err != nil {
			return World{}, err
		}
		return s.addWorld(tx, World{Name: name})
	})
}

// addWorld inserts a world under a new id.
func (s *Service) addWorld(tx Tx, w World) (World, error) {
	id, err := s.newID()
	if err != nil {
		return World{}, err
	}
	if w.Extras, err = asObject("extras", w.Extras); err != nil {
		return World{}, err
	}
	w.ID, w.CreatedAt = id, s.now()
	w.UpdatedAt = w.CreatedAt
	return w, tx.Worlds.Insert(w)
}

// ChangeWorld updates a world. Errors: NotFound, Invalid.
func (s *Service) ChangeWorld(ctx context.Context, id string, change WorldChange) (World, error) {
	return write(ctx, s, func(tx Tx) (World, error) {
		w, err := tx.Worlds.Get(id)
		if err != nil {
			return World{}, err
		}
		change.Name.apply(&w.Name)
		change.Global.apply(&w.Global)
		change.Dynamic.apply(&w.Dynamic)
		change.Recursive.apply(&w.Recursive)
		if err := needText("name", w.Name); err != nil {
			return World{}, err
		}
		w.UpdatedAt = s.now()
		return w, tx.Worlds.Save(w)
	})
}

// DeleteWorld removes a world with its entries; cards and conversations that
// named it do without. Errors: NotFound.
func (s *Service) DeleteWorld(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error { return tx.Worlds.Delete(id) })
}
