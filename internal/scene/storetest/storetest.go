// Package storetest is the suite that every scene.Store passes. It looks at a
// store through the port alone, and holds it to what the port's comments say
// and to this:
//
//   - Every field comes back as it was: times to the microsecond, numbers with
//     64 bits, text with zero bytes and any length. Bytes that are no UTF-8
//     come back as U+FFFD. A list that is nil comes back empty.
//   - Numbers of messages, attachments, proposals and logs are never given twice.
//   - A View sees one state from its first read on, whatever is changed
//     meanwhile; nothing that it reads waits for a writer.
//   - When a context ends, so does the transaction, with fault.Interrupted, and
//     nothing of it is there.
package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// Run runs the suite. open makes an empty store; it closes it by t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) scene.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, scene.Store)
	}{
		{"tables", tables},
		{"libraries", libraries},
		{"settings", settings},
		{"text", text},
		{"commit", commit},
		{"rollback", rollback},
		{"snapshot", snapshot},
		{"serial", serial},
		{"cancelled", cancelled},
		{"overviews", overviews},
		{"families", families},
		{"rosters", rosters},
		{"keys", keys},
		{"messages", messages},
		{"places", places},
		{"trees", trees},
		{"deep", deep},
		{"uploads", uploads},
		{"proposals", proposals},
		{"cards", cards},
		{"worlds", worlds},
		{"choices", choices},
		{"directors", directors},
		{"logs", logs},
		{"calls", calls},
		{"pruned calls", pruned},
		{"onces", onces},
		{"models", models},
		{"missing references", missing},
		{"belongings", belongings},
		{"loose references", loose},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// reporter is what a *testing.T and a *rapid.T have in common.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// update and view run fn and want no error.
func update(t reporter, s scene.Store, fn func(scene.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func view(t reporter, s scene.Store, fn func(scene.Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

// refuse wants fn to fail in a transaction of its own.
func refuse(t reporter, s scene.Store, want fault.Code, fn func(scene.Tx) error) {
	t.Helper()
	err := s.Update(context.Background(), fn)
	if err == nil || fault.CodeOf(err) != want {
		t.Errorf("got the error %v, want one of %s", err, want)
	}
}

// read returns what fn finds.
func read[T any](t reporter, s scene.Store, fn func(scene.Tx) (T, error)) (out T) {
	t.Helper()
	view(t, s, func(tx scene.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	return out
}

// same compares; a nil list is as good as an empty one.
func same(t reporter, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// all runs steps until one fails.
func all(errs ...func() error) error {
	for _, fn := range errs {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

// insert adds rows to a table.
func insert[T any](table scene.Table[T], rows ...T) error {
	for _, row := range rows {
		if err := table.Insert(row); err != nil {
			return err
		}
	}
	return nil
}

// pluck is what a function says of each row.
func pluck[T, F any](rows []T, of func(T) F) []F {
	out := make([]F, len(rows))
	for i, row := range rows {
		out[i] = of(row)
	}
	return out
}
