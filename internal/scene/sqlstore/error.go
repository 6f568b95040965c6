package sqlstore

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"jp/internal/lib/fault"
)

// classify puts an error of the driver into our codes. noun is what was read
// or written. Errors with a code stay as they are; nil stays nil.
func classify(ctx context.Context, noun string, err error) error {
	if err == nil {
		return nil
	}
	if _, coded := errors.AsType[fault.Coded](err); coded {
		return err
	}
	if ctx.Err() != nil {
		return fault.New(fault.Interrupted, "the database was left in the middle: %w", context.Cause(ctx))
	}
	full, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return fault.New(fault.Storage, "the database failed: %w", err)
	}
	switch full.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return plain(fault.Conflict, "there is such a "+noun+" already", err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return plain(fault.Invalid, "the "+noun+" refers to something that does not exist", err)
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return plain(fault.Invalid, "the "+noun+" has a value that is not allowed", err)
	}
	switch full.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE:
		return fault.New(fault.Internal, "the database was asked wrongly: %w", err)
	case sqlite3.SQLITE_FULL:
		return fault.New(fault.Storage, "the disk is full: %w", err).
			WithHint("make room where the database lies; nothing of this change was saved")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.New(fault.Damaged, "the database cannot be read: %w", err).
			WithHint("put a backup in its place; keep the file, most of it can usually be recovered")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fault.New(fault.Storage, "the database cannot be written: %w", err).
			WithHint("check who owns the folder and its files, and whether they can be written")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.New(fault.Busy, "another program holds the database: %w", err).
			WithHint("close it and try again")
	}
	return fault.New(fault.Storage, "the database failed: %w", err)
}

// plain is an error whose cause is kept, but not told: it names our tables.
func plain(code fault.Code, message string, err error) error {
	return &fault.Error{Code: code, Message: message, Err: err}
}
