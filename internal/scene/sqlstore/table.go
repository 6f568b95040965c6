package sqlstore

import "jp/internal/scene"

// table is a scene.Table of a shape whose table has an id and a seq.
type table[T any] struct {
	*session
	shape shape[T]
}

var _ scene.Table[scene.Mood] = table[scene.Mood]{}

// Get implements scene.Table.
func (t table[T]) Get(id string) (T, error) {
	return t.shape.one(t.session, id, "id = $1", id)
}

// All implements scene.Table.
func (t table[T]) All() ([]T, error) {
	return t.list("ORDER BY seq")
}

// list selects rows of the table; tail is what comes after FROM.
func (t table[T]) list(tail string, args ...any) ([]T, error) {
	return t.shape.list(t.session, "FROM "+t.shape.table+" "+tail, args...)
}

// Insert implements scene.Table.
func (t table[T]) Insert(row T) error { return t.shape.insert(t.session, row) }

// Save implements scene.Table.
func (t table[T]) Save(row T) error {
	key := t.shape.columns(&row)[0].field.(*string)
	return t.shape.save(t.session, row, *key)
}

// Delete implements scene.Table.
func (t table[T]) Delete(id string) error {
	n, err := t.exec(t.shape.noun, "DELETE FROM "+t.shape.table+" WHERE id = $1", id)
	if err == nil && n == 0 {
		err = t.shape.missing(id)
	}
	return err
}
