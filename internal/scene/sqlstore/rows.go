package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	"jp/internal/lib/fault"
)

// conn is what of a *sql.Tx the store uses.
type conn interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// session is a transaction with its prepared statements, which end with it.
type session struct {
	ctx      context.Context
	conn     conn
	prepared map[string]*sql.Stmt
}

func (s *session) prepare(text string) (*sql.Stmt, error) {
	if stmt, ok := s.prepared[text]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(s.ctx, text)
	if err == nil {
		s.prepared[text] = stmt
	}
	return stmt, err
}

// exec runs a statement and returns how many rows it met.
func (s *session) exec(noun, text string, args ...any) (int64, error) {
	stmt, err := s.prepare(text)
	if err != nil {
		return 0, classify(s.ctx, noun, err)
	}
	values, err := valuesOf(args)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(s.ctx, values...)
	if err != nil {
		return 0, classify(s.ctx, noun, err)
	}
	n, err := result.RowsAffected()
	return n, classify(s.ctx, noun, err)
}

// query runs a statement and calls each on every row.
func (s *session) query(noun, text string, args []any, each func(scan func(...any) error) error) error {
	stmt, err := s.prepare(text)
	if err != nil {
		return classify(s.ctx, noun, err)
	}
	values, err := valuesOf(args)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(s.ctx, values...)
	if err != nil {
		return classify(s.ctx, noun, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return classify(s.ctx, noun, err)
		}
	}
	return classify(s.ctx, noun, rows.Err())
}

// number runs a statement that returns one number, or no row.
func (s *session) number(noun, text string, args ...any) (n int64, found bool, err error) {
	err = s.query(noun, text, args, func(scan func(...any) error) error {
		found = true
		return scan(&n)
	})
	return n, found, err
}

// valuesOf turns pointers to fields into what the driver takes.
func valuesOf(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, fault.New(fault.Internal, "a value that no column takes: %w", err)
		}
		if text, ok := v.(string); ok {
			v = strings.ToValidUTF8(text, "\uFFFD")
		}
		out[i] = v
	}
	return out, nil
}

// column is a column and the field that it fills and is filled from: a pointer
// to the field, or one of the wrappers of values.go around it.
type column struct {
	name  string
	field any
	fixed bool // set when the row is made, and never again
}

// shape is how rows of a table and values of a type belong together. One list
// of columns serves for reading, adding and changing; the key comes first.
type shape[T any] struct {
	table   string
	noun    string // what people call it
	columns func(*T) []column
	// read puts right, after reading, what no column says. It may be nil.
	read func(*T)
}

func (sh shape[T]) names() []string {
	var zero T
	var names []string
	for _, c := range sh.columns(&zero) {
		names = append(names, c.name)
	}
	return names
}

// list selects rows; from begins with the FROM clause.
func (sh shape[T]) list(s *session, from string, args ...any) ([]T, error) {
	return sh.listWith(s, "", from, args...)
}

// listWith is list with a WITH clause.
func (sh shape[T]) listWith(s *session, with, from string, args ...any) ([]T, error) {
	text := with + " SELECT " + sh.table + "." + strings.Join(sh.names(), ", "+sh.table+".") + " " + from
	var out []T
	err := s.query(sh.noun, text, args, func(scan func(...any) error) error {
		var row T
		var fields []any
		for _, c := range sh.columns(&row) {
			fields = append(fields, c.field)
		}
		if err := scan(fields...); err != nil {
			return err
		}
		if sh.read != nil {
			sh.read(&row)
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

// one selects the one row that where names, or is fault.NotFound about key.
func (sh shape[T]) one(s *session, key any, where string, args ...any) (T, error) {
	rows, err := sh.list(s, "FROM "+sh.table+" WHERE "+where, args...)
	if err != nil || len(rows) == 0 {
		var none T
		if err == nil {
			err = sh.missing(key)
		}
		return none, err
	}
	return rows[0], nil
}

func (sh shape[T]) missing(key any) error {
	return fault.New(fault.NotFound, "there is no %s %v", sh.noun, quoted(key))
}

func quoted(key any) string {
	if text, ok := key.(string); ok {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprint(key)
}

// statement adds a row with the columns from first on.
func (sh shape[T]) statement(first int) string {
	names := sh.names()[first:]
	return "INSERT INTO " + sh.table + " (" + strings.Join(names, ", ") + ") VALUES (" + placeholders(1, len(names)) + ")"
}

func (sh shape[T]) fields(row *T, first int) []any {
	var fields []any
	for _, c := range sh.columns(row)[first:] {
		fields = append(fields, c.field)
	}
	return fields
}

// insert adds a row with its own key.
func (sh shape[T]) insert(s *session, row T) error {
	_, err := s.exec(sh.noun, sh.statement(0), sh.fields(&row, 0)...)
	return err
}

// number adds a row and returns the number that became its key.
func (sh shape[T]) number(s *session, row T) (int64, error) {
	id, _, err := s.number(sh.noun, sh.statement(1)+" RETURNING id", sh.fields(&row, 1)...)
	return id, err
}

// save replaces the columns that are not fixed.
func (sh shape[T]) save(s *session, row T, key any) error {
	columns := sh.columns(&row)
	args := []any{columns[0].field}
	var sets []string
	for _, c := range columns[1:] {
		if !c.fixed {
			args = append(args, c.field)
			sets = append(sets, fmt.Sprintf("%s = $%d", c.name, len(args)))
		}
	}
	n, err := s.exec(sh.noun, "UPDATE "+sh.table+" SET "+strings.Join(sets, ", ")+" WHERE "+columns[0].name+" = $1", args...)
	if err == nil && n == 0 {
		err = sh.missing(key)
	}
	return err
}

// placeholders is "$n, $n+1, …".
func placeholders(first, count int) string {
	marks := make([]string, count)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(marks, ", ")
}
