package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"jp/internal/lib/fault"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID is the mark that the first migration puts into the file.
const applicationID = 0x6a707363

// readers is how many transactions read at once; more wait for their turn.
const readers = 8

// Open opens the database at path, which it makes when there is none, and
// brings its schema up to date. The folder is there already. The file can be
// read by its owner alone, it holds keys. Errors: fault.Damaged for a file that
// is no database, fault.Conflict for one of another program or of a newer
// version of this one, fault.Storage.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	fresh, err := probe(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Store{fresh: fresh}
	// Temporary tables hold texts of conversations too: they stay in memory.
	s.writer, err = connect(path, 1, "_txlock=immediate", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)",
		"_pragma=foreign_keys(1)", "_pragma=temp_store(MEMORY)", "_pragma=journal_size_limit(67108864)")
	if err != nil {
		return nil, err
	}
	s.readers, err = connect(path, readers, "_pragma=query_only(1)", "_pragma=temp_store(MEMORY)")
	if err != nil {
		_ = s.writer.Close()
		return nil, err
	}
	if err := migrate(ctx, s.writer, embedded); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// magic is what every database of SQLite begins with.
const magic = "SQLite format 3\x00"

// private makes the file, or takes it away from everybody but the owner.
// SQLite gives the files beside it the same mode, and opens what is there.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return refused(path, err)
	}
	begin := make([]byte, len(magic))
	n, err := io.ReadFull(f, begin)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err := cmp.Or(err, f.Close()); err != nil {
		return refused(path, err)
	}
	if n > 0 && string(begin) != magic { // SQLite would take a short file for an empty one
		return fault.New(fault.Damaged, "%q is no database", path).WithHint("name another folder, or move that file away")
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(p, 0o600)
		}
		if err != nil {
			return refused(p, err)
		}
	}
	return nil
}

func refused(path string, err error) error {
	return fault.New(fault.Storage, "the database %q cannot be opened: %w", path, fault.Reason(err))
}

// probe tells whether the database is yet to be made, and refuses one of
// another program before anything about it is changed.
func probe(ctx context.Context, path string) (fresh bool, err error) {
	db, err := connect(path, 1, "_pragma=query_only(1)")
	if err != nil {
		return false, err
	}
	defer func() { _ = db.Close() }()
	var mark, tables int64
	// goose makes its table before the first migration: a crash may leave it alone.
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> $1)`,
		goose.DefaultTablename).Scan(&mark, &tables)
	if err != nil {
		return false, classify(ctx, "database", err)
	}
	fresh = mark == 0 && tables == 0
	if !fresh && mark != applicationID {
		return false, fault.New(fault.Conflict, "%q is the database of another program", path).
			WithHint("name another folder, or move that file away")
	}
	return fresh, nil
}

// connect prepares a pool. Settings are those of every connection that it will
// open, so they stand in its name; how long to wait for a lock comes first,
// since the others may need one.
func connect(path string, most int, params ...string) (*sql.DB, error) {
	name := (&url.URL{Path: filepath.ToSlash(filepath.Clean(path))}).EscapedPath()
	if !filepath.IsAbs(path) {
		name = "./" + name // or ":memory:" would be none
	}
	db, err := sql.Open("sqlite", "file:"+name+"?_pragma=busy_timeout(5000)&"+strings.Join(params, "&"))
	if err != nil {
		return nil, refused(path, err)
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// migrate brings the schema up to the newest of the migrations.
func migrate(ctx context.Context, db *sql.DB, files fs.FS) error {
	p, err := migrations(db, files)
	if err != nil {
		return err
	}
	stored, err := p.GetDBVersion(ctx)
	if err != nil {
		return classify(ctx, "database", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; stored > newest {
		return fault.New(fault.Conflict, "the database was made by a newer version of jp (schema %d, this one knows %d)", stored, newest).
			WithHint("use that version, or a copy of the database from before")
	}
	_, err = p.Up(ctx)
	return classify(ctx, "database", err)
}

func migrations(db *sql.DB, files fs.FS) (*goose.Provider, error) {
	dir, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, fault.New(fault.Internal, "no migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fault.New(fault.Internal, "the migrations cannot be read: %w", err)
	}
	return p, nil
}
