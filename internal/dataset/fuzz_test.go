package dataset_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// fuzzBounds are such that memory is told apart from what a bound would have let through.
var fuzzBounds = dataset.Bounds{RowBytes: 1 << 20, Rows: 10_000}

// readAll reads a file of any content, and holds the reader to what it promises: errors are
// named, nothing comes after one, rows are numbered, and memory is taken for what is there.
func readAll(t *testing.T, name string, data []byte) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, ended := 0, false
	for row, err := range dataset.Rows(t.Context(), root, name, fuzzBounds) {
		if ended {
			t.Error("something came after the error")
		}
		if err != nil {
			var own *dataset.Error
			if ended = true; !errors.As(err, &own) || own.File != name || own.Msg == "" || own.Err == nil {
				t.Errorf("%#v", err)
			}
			continue
		}
		if n++; row.Number != n || row.Fields == nil || row.File != name {
			t.Errorf("row %d: %+v", n, row)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<30 {
		t.Errorf("%d bytes of memory for a file of %d", took, len(data))
	}
}

func FuzzParquet(f *testing.F) {
	files, err := filepath.Glob("testdata/writers/*.parquet")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(write(f, writtenRows())))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "x.parquet", data) })
}

func FuzzTexts(f *testing.F) {
	for _, text := range []string{"", "a,b\n1,2\n", "sep=;\na;b\n", "\ufeff[{\"a\": [1, {\"b\": null}]}]", `{"data": [{}]}`, `{"k": {"a": 1e5}}`, "{\"a\": \"\\u00e9\"}\n{}", "{\"a\": 1, \"a\": 2}", "\xff\xfe", `[{"a":` + strings.Repeat("[", 600)} {
		for kind := range 5 {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, text string) {
		name := []string{"x.json", "x.jsonl", "x.csv", "x.tsv", "x"}[uint(kind)%5]
		readAll(t, name, []byte(text))
	})
}

// FuzzUnpackNames: whatever members are called, nothing is written elsewhere, and what is
// refused leaves nothing.
func FuzzUnpackNames(f *testing.F) {
	for _, pair := range [][2]string{{"a", "b"}, {"../a", "b"}, {"/a", "./b"}, {"a/b", "a"}, {"A", "a"}, {"a\x00", "C:b"}, {`..\a`, "a/../../b"}, {"con", "a."}, {"\xff", "\u202e"}, {"./a/", "a/b/"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		for _, name := range []string{one, two} {
			if m, err := w.Create(name); err == nil {
				_, _ = m.Write([]byte("x")) // of a folder it fails
			}
		}
		if err := w.Close(); err != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "x.zip"), buf.Bytes(), 0o600), os.Mkdir(filepath.Join(dir, "to"), 0o700)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		into, err := root.OpenRoot("to")
		if err != nil {
			t.Fatal(err)
		}
		defer into.Close()
		done, err := dataset.Unpack(t.Context(), root, "x.zip", into, "out", dataset.ArchiveBounds{})
		files := 0
		walkErr := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, path)
			switch {
			case err != nil:
				return err
			case rel == "x.zip" || rel == "." || rel == "to":
			case !strings.HasPrefix(filepath.ToSlash(rel), "to/out") || !d.IsDir() && !d.Type().IsRegular():
				t.Errorf("there is %q", rel)
			case !d.IsDir():
				files++
			}
			return nil
		})
		var own *dataset.Error
		if walkErr != nil || err == nil && files != done.Files || err != nil && (files > 0 || !errors.As(err, &own)) {
			t.Errorf("%d files, %+v, %v, %v", files, done, err, walkErr)
		}
	})
}
