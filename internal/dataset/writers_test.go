package dataset_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// same is a row of those that several programs have written.
type same struct {
	ID      string       `parquet:"id,dict,optional"`
	N       int64        `parquet:"n"`
	Small   int32        `parquet:"small"`
	F       float64      `parquet:"f"`
	G       float32      `parquet:"g"`
	Yes     bool         `parquet:"yes"`
	Maybe   *string      `parquet:"maybe,optional"`
	Answers []string     `parquet:"answers,list"`
	Image   picture      `parquet:"image"`
	Choices []sameChoice `parquet:"choices,list"`
}

type sameChoice struct {
	Label string  `parquet:"label"`
	Text  *string `parquet:"text,optional"`
}

// theRows are those of testdata/writers/write.mjs.
func theRows() (rows []same) {
	for i := range 40 {
		r := same{ID: fmt.Sprintf("id-%d", i%7), N: int64(i)<<33 + int64(i), Small: int32(i), F: float64(i) / 8, G: float32(i) / 4, Yes: i%3 == 0, Image: picture{Bytes: []byte{byte(i), 255, 0}}}
		if i%4 != 0 {
			r.Maybe = text("é" + strconv.Itoa(i))
		}
		if i%2 == 0 {
			r.Image.Path = text(fmt.Sprintf("q%d.png", i))
		}
		for k := range i % 3 {
			r.Answers = append(r.Answers, fmt.Sprintf("a%d-%d", i, k))
			c := sameChoice{Label: string(rune('A' + k))}
			if k != 1 {
				c.Text = text(fmt.Sprintf("t%d", i))
			}
			r.Choices = append(r.Choices, c)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestOtherWriters: what DuckDB and hyparquet-writer have written reads the same as what the
// library has that also reads.
func TestOtherWriters(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/writers/*.parquet")
	if err != nil || len(files) != 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	compareWriters(t, "testdata/writers")
}

func compareWriters(t *testing.T, dir string) {
	t.Helper()
	own, err := collect(t, folder(t, map[string]string{"own.parquet": write(t, theRows(), parquet.MaxRowsPerRowGroup(13), parquet.Compression(&parquet.Zstd))}), "own.parquet", dataset.Bounds{})
	if err != nil || len(own) != 40 {
		t.Fatalf("%d rows, %v", len(own), err)
	}
	if want := (fields{
		"id": "id-5", "n": json.Number("42949672965"), "small": json.Number("5"), "f": json.Number("0.625"), "g": json.Number("1.25"), "yes": false, "maybe": "é5",
		"answers": []any{"a5-0", "a5-1"}, "image": fields{"bytes": []byte{5, 255, 0}, "path": nil}, "choices": []any{fields{"label": "A", "text": "t5"}, fields{"label": "B", "text": nil}},
	}); !cmp.Equal(want, own[5].Fields) {
		t.Errorf("the library itself (-want +got):\n%s", cmp.Diff(want, own[5].Fields))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"duckdb-snappy", "duckdb-gzip", "duckdb-zstd-v2", "duckdb-plain", "hyparquet-snappy", "hyparquet-gzip", "hyparquet-uncompressed"} {
		rows, err := collect(t, root, name+".parquet", dataset.Bounds{})
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range rows {
			rows[i].File = "own.parquet"
		}
		if diff := cmp.Diff(own, rows); diff != "" {
			t.Errorf("%s (-own +other):\n%s", name, diff)
		}
	}
	compareGroups(t, root)
	compareTypes(t, root)
}

func compareGroups(t *testing.T, root *os.Root) {
	t.Helper()
	rows, err := collect(t, root, "duckdb-groups.parquet", dataset.Bounds{})
	if err != nil || len(rows) != 4200 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows {
		if want := (fields{"n": json.Number(strconv.Itoa(i)), "m": json.Number(strconv.Itoa(i % 5))}); !cmp.Equal(want, row.Fields) || row.Number != i+1 {
			t.Fatalf("row %d: %v", i, row)
		}
	}
}

func compareTypes(t *testing.T, root *os.Root) {
	t.Helper()
	rows, err := collect(t, root, "duckdb-types.parquet", dataset.Bounds{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	want := fields{
		"day": "2026-02-03", "at": "2026-02-03T04:05:06.789", "atz": "2026-02-03T04:05:06Z", "clock": "04:05:06.5", "price": "-12.345", "large": "123456789012345678901234.5",
		"uuid": "01234567-89ab-cdef-0123-456789abcdef", "scores": fields{"a": json.Number("1"), "b": json.Number("2")}, "u8": json.Number("200"), "i8": json.Number("-3"), "u64": json.Number("18446744073709551615"),
		"nested": []any{[]any{json.Number("1"), json.Number("2")}, []any{}, nil}, "nan": nil, "inf": "-Infinity", "empty": []any{}, "none": nil, "json": `{"a": 1}`,
	}
	if diff := cmp.Diff(want, rows[0].Fields); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

// TestOtherWritersAnew has the programs write the files once more. It needs Node, npm and its
// registry; where they are out of reach it says so.
func TestOtherWritersAnew(t *testing.T) {
	t.Parallel()
	if os.Getenv("SKILLOPT_LONG") != "1" {
		t.Skip("the other programs are asked with SKILLOPT_LONG=1")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s: %v", program, err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "write.mjs"} {
		data, err := os.ReadFile(filepath.Join("testdata", "writers", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		t.Skipf("npm does not bring the programs (%v): %s", err, lines[len(lines)-1])
	}
	if out, err := run("node", "write.mjs", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compareWriters(t, dir)
}
