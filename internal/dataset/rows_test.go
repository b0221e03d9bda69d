package dataset_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// folder makes a folder of files.
func folder(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func collect(t testing.TB, root *os.Root, name string, b dataset.Bounds) (rows []dataset.Row, err error) {
	t.Helper()
	for row, e := range dataset.Rows(t.Context(), root, name, b) {
		if err != nil {
			t.Errorf("%s: something came after the error", name)
		}
		if err = e; err == nil {
			rows = append(rows, row)
		}
	}
	return rows, err
}

type (
	fields = map[string]any
	row    = dataset.Row
)

const num = json.Number("1")

func TestTexts(t *testing.T) {
	t.Parallel()
	ab := []row{{Number: 1, Fields: fields{"a": num}}, {Number: 2, Fields: fields{"a": "x"}}}
	for _, c := range []struct {
		name, text string
		want       []row
	}{
		{"list.json", "\ufeff [{\"a\": 1},\n {\"a\": \"x\"}] \n", ab},
		{"no rows.json", "[]", nil},
		{"data.json", `{"version": "1", "meta": {"data": [1]}, "data": [{"a": 1}, {"a": "x"}], "more": [[{"a": null}]]}`, ab},
		{"data first.json", `{"data": [{"a": 1}, {"a": "x"}], "null": null}`, ab},
		{"values.json", `{"k1": {"a": 1}, "k2": {"a": "x"}}`, []row{{Number: 1, Key: "k1", Fields: fields{"a": num}}, {Number: 2, Key: "k2", Fields: fields{"a": "x"}}}},
		{"many.json", "{\"a\": 1}\n{\"a\": \"x\"}\n", ab},
		{"none.jsonl", "", nil},
		{"lines.jsonl", "\ufeff{\"a\": 1}\r\n\n{\"a\": \"x\"}", []row{{Number: 1, Line: 1, Fields: fields{"a": num}}, {Number: 2, Line: 3, Fields: fields{"a": "x"}}}},
		{"list.ndjson", `[{"a": 1}, {"a": "x"}]`, ab},
		{"unnamed", `[{"a": 1}, {"a": "x"}]`, ab},
		{"kinds.json", `[{"null": null, "yes": true, "no": false, "list": [1, [], {}, null, "é\u0041\ud83d\ude00"], "big": 123456789012345678901234567890.5e3, "": {"b": {"c": 1}}}]`, []row{{Number: 1, Fields: fields{
			"null": nil, "yes": true, "no": false, "list": []any{num, []any{}, fields{}, nil, "éA😀"}, "big": json.Number("123456789012345678901234567890.5e3"), "": fields{"b": fields{"c": num}},
		}}}},
		{"table.csv", "\ufeffa,b\n1,\"x\n\"\"y\"\"\"\n,\n ,z\n", []row{{Number: 1, Line: 2, Fields: fields{"a": "1", "b": "x\n\"y\""}}, {Number: 2, Line: 5, Fields: fields{"a": " ", "b": "z"}}}},
		{"semicolon.csv", "sep=;\r\na; b \r\n1,5;2\r\n", []row{{Number: 1, Line: 3, Fields: fields{"a": "1,5", "b": "2"}}}},
		{"mac.csv", "a,b\r1,2\r", []row{{Number: 1, Line: 2, Fields: fields{"a": "1", "b": "2"}}}},
		{"index.csv", ",a\n0,x\n", []row{{Number: 1, Line: 2, Fields: fields{"": "0", "a": "x"}}}},
		{"tabs.tsv", "a\tb\n\"1\t\"\t2,3\n", []row{{Number: 1, Line: 2, Fields: fields{"a": "1\t", "b": "2,3"}}}},
		{"one.tsv", "a\nx,y\n", []row{{Number: 1, Line: 2, Fields: fields{"a": "x,y"}}}},
		{"header.csv", "a,b\n", nil},
	} {
		for i := range c.want {
			c.want[i].File = c.name
		}
		rows, err := collect(t, folder(t, map[string]string{c.name: c.text}), c.name, dataset.Bounds{})
		if diff := cmp.Diff(c.want, rows); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

func TestBrokenTextsAreNamed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5<<20)
	for _, c := range []struct {
		name, text string
		kind       error
		want       string // of the message
		rows       int    // before it
	}{
		{"empty.json", " ", dataset.ErrBroken, `empty.json:1: it is empty`, 0},
		{"scalar.json", "3", dataset.ErrBroken, `scalar.json:1: a list of objects or an object expected, found a number`, 0},
		{"cut.json", `[{"a": 1}, {"b": {"c": "x`, dataset.ErrBroken, `cut.json:1: row 2: column "b.c": it ends in the middle of a value: was it cut?`, 1},
		{"line.json", "[{\"a\": 1},\n{\"a\":\n 1},\n{\"b\": x}]", dataset.ErrBroken, `line.json:4: row 3: column "b": invalid character 'x'`, 2},
		{"nan.json", "[{\"a\": NaN}]", dataset.ErrBroken, `nan.json:1: row 1: column "a": invalid character 'N' looking for beginning of value (NaN and Infinity, which Python writes, are no JSON: write null)`, 0},
		{"twice.json", `[{"a": {"b": 1, "b": 2}}]`, dataset.ErrBroken, `twice.json:1: row 1: column "a.b": the key is there twice in one object`, 0},
		{"values.json", "{\"k\": {\"a\": 1},\n\"k\": {\"a\": 1}}", dataset.ErrBroken, `values.json:2: column "k": the key is there twice`, 0},
		{"row.json", `[{"a": 1}, 7]`, dataset.ErrBroken, `row.json:1: row 2: an object expected, found a number`, 1},
		{"mixed.json", `{"a": {"b": 1}, "c": 3}`, dataset.ErrFormat, `mixed.json: it is an object without a list named data whose values are not all objects ("c" is a number)`, 0},
		{"more.json", `[{"a": 1}] {}`, dataset.ErrBroken, `more.json:1: row 2: there is more after the end of the value`, 1},
		{"deep.json", `[{"a": ` + strings.Repeat("[", 10_000), dataset.ErrBroken, `nested deeper than 500 levels`, 0},
		{"long.json", `[{"a": "` + long + `"}]`, dataset.ErrBound, `row 1: column "a": the row has more than 1048576 bytes`, 0},
		{"latin.json", "[{\"a\": 1}, {\"a\": \"\xe9\"}]", dataset.ErrBroken, `latin.json: row 2: not valid UTF-8: save the file as UTF-8`, 1},
		{"cut.jsonl", "{\"a\": 1}\n{\"a\": \n", dataset.ErrBroken, `cut.jsonl:2: row 2: column "a": it ends in the middle`, 1},
		{"two.jsonl", "{\"a\": 1} {\"a\": 1}\n", dataset.ErrBroken, `two.jsonl:1: row 1: there is more after the end`, 0},
		{"twice.jsonl", "\n\n{\"a\": 1, \"a\": 1}\n", dataset.ErrBroken, `twice.jsonl:3: row 1: column "a": the key is there twice`, 0},
		{"long.jsonl", "{\"a\": \"" + long + "\"}\n", dataset.ErrBound, `long.jsonl:1: row 1: the row has more than 1048576 bytes`, 0},
		{"utf16.jsonl", "\xff\xfe{\x00", dataset.ErrBroken, `utf16.jsonl: row 1: not valid UTF-8`, 0},
		{"empty.csv", "", dataset.ErrBroken, `empty.csv: it is empty: the first row names the columns`, 0},
		{"cells.csv", "a,b\n1,2\n1,2,3\n", dataset.ErrBroken, `cells.csv:3: row 2: the row has 3 cells, the header has 2`, 1},
		{"quote.csv", "a,b\n1,\"2\n", dataset.ErrBroken, `quote.csv:2: row 1: extraneous or missing "`, 0},
		{"twice.csv", "a,b, a\n1,2,3\n", dataset.ErrBroken, `twice.csv:1: column "a": columns 1 and 3 have the same name`, 0},
		{"long.csv", "a,b\n1,\"" + long, dataset.ErrBound, `long.csv:2: row 1: the row has more than 1048576 bytes: is a quotation mark not closed?`, 0},
		{"latin.csv", "a\nx\n\xe9\n", dataset.ErrBroken, `latin.csv: row 2: not valid UTF-8`, 1},
		{"rows.csv", "a\n1\n2\n3\n4\n5\n", dataset.ErrBound, `rows.csv: more than 4 rows`, 4},
		{"text.txt", "what is it", dataset.ErrFormat, `text.txt: neither its name nor its first bytes show what it is; .parquet, .json`, 0},
		{"lfs.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", dataset.ErrFormat, `lfs.json: it is the pointer of Git LFS, not the file`, 0},
		{"page.csv", "<!DOCTYPE html>\n<html>", dataset.ErrFormat, `page.csv: it is a web page`, 0},
		{"zip.jsonl", "PK\x03\x04", dataset.ErrFormat, `zip.jsonl: it is compressed: unpack it first`, 0},
		{"large.csv", "a\n" + strings.Repeat("1\n", 4<<20), dataset.ErrBound, `large.csv: larger than 6 MB, which is the most that is read of it`, 0},
	} {
		rows, err := collect(t, folder(t, map[string]string{c.name: c.text}), c.name, dataset.Bounds{RowBytes: 1 << 20, FileBytes: 6 << 20, Rows: 4})
		var own *dataset.Error
		if !errors.As(err, &own) || own.File != c.name || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || len(rows) != c.rows {
			t.Errorf("%s: %d rows, want %d; got\n%v\nwant %v:\n%s", c.name, len(rows), c.rows, err, c.kind, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	root := folder(t, map[string]string{"b.json": "[]", "a.json": "[]", "d/c.json": "[]", "d/e/f.json": "[]", ".hidden.json": "[]", "d/.x/g.json": "[]", "d/h.csv": "a\n"})
	if err := os.Symlink("a.json", filepath.Join(root.Name(), "link.json")); err != nil {
		t.Skip(err)
	}
	for pattern, want := range map[string][]string{
		"a.json": {"a.json"}, "*.json": {"a.json", "b.json"}, "**/*.json": {"a.json", "b.json", "d/c.json", "d/e/f.json"},
		"d/*": {"d/c.json", "d/h.csv"}, "d/**": {"d/c.json", "d/e/f.json", "d/h.csv"}, "?.json": {"a.json", "b.json"}, "[ab].json": {"a.json", "b.json"}, ".*": {".hidden.json"}, "link.json": {"link.json"},
	} {
		got, err := dataset.Files(t.Context(), root, pattern, dataset.Bounds{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", pattern, err, diff)
		}
	}
	for _, pattern := range []string{"x.json", "x/*.json", "*.parquet", "../*", "/a.json", "[a.json", "", "d/./c.json"} {
		if got, err := dataset.Files(t.Context(), root, pattern, dataset.Bounds{}); !errors.Is(err, dataset.ErrNoFile) {
			t.Errorf("%q: %v, %v", pattern, got, err)
		}
	}
	if got, err := dataset.Files(t.Context(), root, "**", dataset.Bounds{Files: 2}); !errors.Is(err, dataset.ErrBound) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestAllRows goes over several files, stops where it is told to, and at the first error.
func TestAllRows(t *testing.T) {
	t.Parallel()
	root := folder(t, map[string]string{"1.jsonl": "{\"a\": 1}\n{\"a\": 2}\n", "2.csv": "a\n3\n", "3.json": "[{", "4.json": "[]"})
	var seen []string
	var last error
	for row, err := range dataset.AllRows(t.Context(), root, "*", dataset.Bounds{}) {
		if last = err; err == nil {
			seen = append(seen, row.File+":"+strings.Join(slices.Collect(maps.Keys(row.Fields)), ","))
		}
	}
	if diff := cmp.Diff([]string{"1.jsonl:a", "1.jsonl:a", "2.csv:a"}, seen); diff != "" || last == nil || !strings.HasPrefix(last.Error(), "3.json:1: row 1: ") {
		t.Errorf("%v (-want +got):\n%s", last, diff)
	}
	n := 0
	for range dataset.AllRows(t.Context(), root, "*", dataset.Bounds{}) {
		if n++; n == 2 {
			break
		}
	}
}
