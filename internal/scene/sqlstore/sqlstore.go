// Package sqlstore is the scene.Store in one SQLite file.
//
// One connection writes, in transactions that take the lock when they begin;
// several read, each transaction on its snapshot (WAL), and no reader waits for
// the writer. What Update has returned from is on the disk (synchronous FULL).
// An Update inside an Update, or inside a View that it waits for, never ends.
//
// Text is kept byte by byte, zero bytes included, except that bytes that are no
// UTF-8 become U+FFFD. Lists that are nil come back empty. The store trusts
// its caller with rules: it refuses only taken keys (fault.Conflict),
// references to nothing and values that no version of the program knows
// (fault.Invalid). A file that SQLite cannot read is fault.Damaged.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// Store is an open database. It is safe for use by many goroutines.
type Store struct {
	writer  *sql.DB
	readers *sql.DB
	fresh   bool
}

var _ scene.Store = (*Store)(nil)

// Fresh tells whether Open made the database.
func (s *Store) Fresh() bool { return s.fresh }

// Close closes the file, when all transactions have ended. The writer goes
// last: it brings all into the one file.
func (s *Store) Close() error {
	if err := errors.Join(s.readers.Close(), s.writer.Close()); err != nil {
		return fault.New(fault.Storage, "the database was not closed well: %w", err)
	}
	return nil
}

// View implements scene.Store.
func (s *Store) View(ctx context.Context, fn func(scene.Tx) error) error {
	return run(ctx, s.readers, func(c conn) error { return fn(bind(ctx, c)) })
}

// Update implements scene.Store.
func (s *Store) Update(ctx context.Context, fn func(scene.Tx) error) error {
	return run(ctx, s.writer, func(c conn) error { return fn(bind(ctx, c)) })
}

// run runs fn in a transaction. Whatever way fn ends but by returning nil, a
// panic too, the transaction is rolled back.
func run(ctx context.Context, db *sql.DB, fn func(conn) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return classify(ctx, "database", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := fn(tx); err != nil {
		return err
	}
	return classify(ctx, "database", tx.Commit())
}

// bind offers a transaction as the port.
func bind(ctx context.Context, c conn) scene.Tx {
	s := &session{ctx: ctx, conn: c, prepared: map[string]*sql.Stmt{}}
	return scene.Tx{
		Conversations: conversations{table[scene.Conversation]{s, conversationShape()}},
		Members:       members{table[scene.Member]{s, memberShape()}},
		Messages:      messages{s},
		Uploads:       uploads{s},
		Proposals:     proposals{s},
		Cards:         cards{table[scene.Card]{s, cardShape()}},
		Worlds:        worlds{table[scene.World]{s, worldShape()}},
		Entries:       entries{table[scene.Entry]{s, entryShape()}},
		Choices:       choices{s},
		Directors:     directors{s},
		Logs:          logs{s},
		Calls:         calls{s},
		Onces:         onces{s},
		Moods:         table[scene.Mood]{s, moodShape()},
		Fragments:     table[scene.Fragment]{s, fragmentShape()},
		Phrases:       table[scene.Phrase]{s, phraseShape()},
		Personas:      table[scene.Persona]{s, personaShape()},
		Endpoints:     table[scene.Endpoint]{s, endpointShape()},
		Models:        models{table[scene.ModelConfig]{s, modelShape()}},
		Settings:      settings{s},
	}
}
