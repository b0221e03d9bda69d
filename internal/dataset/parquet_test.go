package dataset_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// written is a row of every kind that data sets have.
type written struct {
	ID      string             `parquet:"id,dict"`
	N       int64              `parquet:"n"`
	Small   int32              `parquet:"small,optional"`
	U       uint32             `parquet:"u"`
	F       float64            `parquet:"f"`
	G       float32            `parquet:"g"`
	Yes     bool               `parquet:"yes"`
	Maybe   *string            `parquet:"maybe,optional,zstd"`
	Answers []string           `parquet:"answers,list"`
	Plain   []int32            `parquet:"plain"`
	Nested  [][]string         `parquet:"-"`
	Image   picture            `parquet:"image"`
	Choices []choice           `parquet:"choices,list"`
	Scores  map[string]float64 `parquet:"scores"`
	Raw     []byte             `parquet:"raw,gzip"`
	Price   int64              `parquet:"price,decimal(2:10)"`
	Day     int32              `parquet:"day,date"`
	At      int64              `parquet:"at,timestamp(millisecond)"`
	UUID    [16]byte           `parquet:"uuid,uuid"`
	Delta   int64              `parquet:"delta,delta"`
}

type picture struct {
	Bytes []byte  `parquet:"bytes"`
	Path  *string `parquet:"path,optional"`
}

type choice struct {
	Label string   `parquet:"label"`
	Text  *string  `parquet:"text,optional"`
	Tags  []string `parquet:"tags,list"`
}

func text(s string) *string { return &s }

func writtenRows() []written {
	return []written{
		{
			ID: "a", N: math.MaxInt64, Small: 7, U: math.MaxUint32, F: 0.1, G: 1.5e-10, Yes: true, Maybe: text("é"), Answers: []string{"x", ""}, Plain: []int32{1, 2},
			Image: picture{Bytes: []byte("\x89PNG\x00"), Path: text("a.png")}, Choices: []choice{{"A", text("one"), []string{"t"}}, {"B", nil, nil}}, Scores: map[string]float64{"k": 2},
			Raw: []byte{0xff}, Price: -12345, Day: 19000, At: 1700000000123, UUID: [16]byte{1, 2}, Delta: 5,
		},
		{F: math.NaN(), G: float32(math.Inf(-1)), Price: 5, At: -1, Day: -1, N: math.MinInt64},
	}
}

func wantRows() []fields {
	return []fields{
		{
			"id": "a", "n": json.Number("9223372036854775807"), "small": json.Number("7"), "u": json.Number("4294967295"), "f": json.Number("0.1"), "g": json.Number("1.5e-10"), "yes": true, "maybe": "é",
			"answers": []any{"x", ""}, "plain": []any{json.Number("1"), json.Number("2")}, "image": fields{"bytes": []byte("\x89PNG\x00"), "path": "a.png"},
			"choices": []any{fields{"label": "A", "text": "one", "tags": []any{"t"}}, fields{"label": "B", "text": nil, "tags": []any{}}}, "scores": fields{"k": json.Number("2")},
			"raw": []byte{0xff}, "price": "-123.45", "day": "2022-01-08", "at": "2023-11-14T22:13:20.123Z", "uuid": "01020000-0000-0000-0000-000000000000", "delta": json.Number("5"),
		},
		{
			"id": "", "n": json.Number("-9223372036854775808"), "small": nil, "u": json.Number("0"), "f": nil, "g": "-Infinity", "yes": false, "maybe": nil,
			"answers": []any{}, "plain": []any{}, "image": fields{"bytes": []byte{}, "path": nil}, "choices": []any{}, "scores": fields{},
			"raw": []byte{}, "price": "0.05", "day": "1969-12-31", "at": "1969-12-31T23:59:59.999Z", "uuid": "00000000-0000-0000-0000-000000000000", "delta": json.Number("0"),
		},
	}
}

// write makes a Parquet file.
func write[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestParquet reads what this library writes, in every layout that it knows.
func TestParquet(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]parquet.WriterOption{
		"plain":  nil,
		"snappy": {parquet.Compression(&parquet.Snappy)}, "gzip": {parquet.Compression(&parquet.Gzip)}, "zstd": {parquet.Compression(&parquet.Zstd)}, "brotli": {parquet.Compression(&parquet.Brotli)},
		"first version": {parquet.DataPageVersion(1)}, "first version, zstd": {parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd)},
		"a group a row": {parquet.MaxRowsPerRowGroup(1)}, "small pages": {parquet.PageBufferSize(16), parquet.Compression(&parquet.Snappy)},
	} {
		var many []written
		for range 40 {
			many = append(many, writtenRows()...)
		}
		root := folder(t, map[string]string{"x.parquet": write(t, many, options...)})
		rows, err := collect(t, root, "x.parquet", dataset.Bounds{})
		if err != nil || len(rows) != len(many) {
			t.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		for i, row := range rows {
			if diff := cmp.Diff(wantRows()[i%2], row.Fields); diff != "" || row.Number != i+1 || row.File != "x.parquet" {
				t.Fatalf("%s: row %d (-want +got):\n%s", name, i, diff)
			}
		}
	}
}

func TestBrokenParquetIsNamed(t *testing.T) {
	t.Parallel()
	good := write(t, writtenRows())
	for _, c := range []struct {
		name, data string
		kind       error
		want       string
	}{
		{"empty.parquet", "", dataset.ErrBroken, "empty.parquet: it is no Parquet file: it has 0 bytes"},
		{"json.parquet", `[{"a": 1}, {"a": 2}]`, dataset.ErrBroken, `json.parquet: it is no Parquet file: it begins with "[{\"a", not with PAR1`},
		{"cut.parquet", good[:len(good)-100], dataset.ErrBroken, "cut.parquet: its end is missing: was it cut? Fetch it again"},
		{"crypt.parquet", "PARE" + good[4:], dataset.ErrUnsupported, "crypt.parquet: it is encrypted"},
		{"lfs.parquet", "version https://git-lfs.github.com/spec/v1\n", dataset.ErrFormat, "lfs.parquet: it is the pointer of Git LFS"},
		{"footer.parquet", good[:len(good)-8] + "\xff\xff\xff\x7fPAR1", dataset.ErrBroken, "bytes of metadata, and has"},
		{"zeros.parquet", good[:len(good)-500] + strings.Repeat("\x00", 492) + good[len(good)-8:], dataset.ErrBroken, "zeros.parquet: "},
		{"lz4.parquet", write(t, writtenRows(), parquet.Compression(&parquet.Lz4Raw)), dataset.ErrUnsupported, `lz4.parquet: row 1: column "id": compressed with LZ4_RAW, which is not read`},
		{"deltas.parquet", write(t, []struct {
			A string `parquet:"a,delta"`
		}{{"x"}}), dataset.ErrUnsupported, `deltas.parquet: row 1: column "a": written as DELTA_BYTE_ARRAY`},
	} {
		_, err := collect(t, folder(t, map[string]string{c.name: c.data}), c.name, dataset.Bounds{})
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %v: %s", c.name, err, c.kind, c.want)
		}
	}
}
