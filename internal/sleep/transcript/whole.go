package transcript

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

// maxDocument is the size, in bytes, above which a file that has to be read whole is left out.
const maxDocument = 32 << 20

// whole reads a file of a store that is one JSON object. What is none, or is too large, is
// named and left out: ok is false.
func (r *Reading) whole(ctx context.Context, s Store, name string) (doc gjson.Result, ok bool, err error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return doc, false, fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	path := filepath.Join(s.Root, filepath.FromSlash(name))
	info, err := root.Stat(name)
	if err != nil {
		return doc, false, fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Size() > maxDocument {
		r.problem(Problem{Path: path, What: fmt.Sprintf("larger than %s, which is the most that is read of a file that is one document", userfile.Size(maxDocument))})
		return doc, false, nil
	}
	data, err := userfile.ReadIn(ctx, root, name, maxDocument)
	if err != nil {
		return doc, false, fmt.Errorf("read %s: %w", path, err)
	}
	r.Bytes += int64(len(data))
	text := strings.TrimPrefix(string(data), "\ufeff")
	if strings.TrimSpace(text) == "" {
		return doc, false, nil
	}
	if tooDeep(text) {
		r.problem(Problem{Path: path, What: fmt.Sprintf("nested deeper than %d, which is the most that is read", maxDepth)})
		return doc, false, nil
	}
	if !utf8.ValidString(text) || !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		r.problem(Problem{Path: path, What: "not a JSON object"})
		return doc, false, nil
	}
	return gjson.Parse(text), true, nil
}

// document reads a store that is one JSON object, and makes its mark.
func (r *Reading) document(ctx context.Context, s Store) (doc gjson.Result, ok bool, err error) {
	if err := r.mark(ctx, s); err != nil {
		return doc, false, err
	}
	return r.whole(ctx, s, s.Name)
}

// mark makes the mark of a store that is not read by lines or as a database.
func (r *Reading) mark(ctx context.Context, s Store) error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if r.Mark, err = peek(ctx, root, s); err != nil {
		return fmt.Errorf("look at %s: %w", s.Path(), err)
	}
	return nil
}

// small reads a small JSON file of settings below a root; without one, or where it is none,
// the result does not exist.
func small(ctx context.Context, root *os.Root, name string) gjson.Result {
	data, err := userfile.ReadIn(ctx, root, name, maxDocument)
	if err != nil || !validJSON(string(data)) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(data)
}

// SchemaError says that a database lacks what is read of it.
type SchemaError struct {
	Path, Table, Column string // Column empty: the table
	Known               string // the versions of the program whose databases are known
}

func (e *SchemaError) Error() string {
	what := "the table " + e.Table
	if e.Column != "" {
		what = "the column " + e.Column + " of the table " + e.Table
	}
	return fmt.Sprintf("%s: %s is missing: databases of %s are read. A newer version of skillopt may know this one; other stores are read", e.Path, what, e.Known)
}

// hasColumns reports whether a table is there with all columns; which is missing is named.
func hasColumns(ctx context.Context, db *sql.DB, table string, columns ...string) (ok, there bool, missing string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return false, false, "", err
	}
	defer func() { _ = rows.Close() }() // Err is asked
	have := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, false, "", err
		}
		have[name] = true
	}
	if err := rows.Err(); err != nil {
		return false, false, "", err
	}
	for _, c := range columns {
		if !have[c] {
			return false, len(have) > 0, c, nil
		}
	}
	return true, true, "", nil
}

// needColumns is a SchemaError where a table or a column of it is missing.
func needColumns(ctx context.Context, s Store, db *sql.DB, known, table string, columns ...string) error {
	ok, there, missing, err := hasColumns(ctx, db, table, columns...)
	switch {
	case err != nil:
		return fmt.Errorf("look at the tables of %s: %w", s.Path(), err)
	case ok:
		return nil
	case !there:
		missing = ""
	}
	return &SchemaError{Path: s.Path(), Table: table, Column: missing, Known: known}
}

// unnamed makes the id of a message of a store that gives messages none: equal words of a
// session are told apart by how often they were said before, so that the id stays when older
// messages are taken out of the store or a time is written in another way.
func (b *Builder) unnamed(text string, said map[string]int) string {
	text, _, _ = b.text(strings.TrimSpace(text), MaxUser)
	id := digest(b.t.ID, text)
	if said[id]++; said[id] > 1 {
		return fmt.Sprintf("%s-%d", id, said[id])
	}
	return id
}

// Rewind takes the turn of an id back, and all after it. An id that is not known does nothing.
func (b *Builder) Rewind(id string) {
	if b.turn != nil && b.turn.ID == id {
		b.turn = nil
		return
	}
	for i := len(b.t.Turns) - 1; i >= 0; i-- {
		if b.t.Turns[i].ID == id {
			b.t.Turns, b.turn = b.t.Turns[:i], nil
			return
		}
	}
}
