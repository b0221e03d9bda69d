package dataset_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// forged is a Parquet file of one column of texts with one page, as a forger would write it.
type forged struct {
	page     format.PageHeader
	body     string
	codec    format.CompressionCodec
	optional bool
	rows     int64
	change   func(*format.FileMetaData)
	footer   string // in place of the metadata
}

func (f forged) write(t *testing.T) string {
	t.Helper()
	marshal := func(v any) string {
		data, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	f.page.CompressedPageSize = int32(len(f.body))
	if f.page.UncompressedPageSize == 0 {
		f.page.UncompressedPageSize = int32(len(f.body))
	}
	pages := marshal(&f.page) + f.body
	column := format.SchemaElement{Name: "a", ConvertedType: thrift.New(deprecated.UTF8)}
	column.Type = thrift.New(format.ByteArray)
	column.RepetitionType = thrift.New(format.Required)
	if f.optional {
		column.RepetitionType = thrift.New(format.Optional)
	}
	meta := format.FileMetaData{
		Version: 1, NumRows: f.rows,
		Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(1))}, column},
		RowGroups: []format.RowGroup{{
			NumRows: f.rows,
			Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
				Type: format.ByteArray, PathInSchema: []string{"a"}, Codec: f.codec, NumValues: f.rows, DataPageOffset: 4,
				TotalCompressedSize: int64(len(pages)), TotalUncompressedSize: int64(len(pages)), Encoding: []format.Encoding{format.Plain},
			}}},
		}},
	}
	if f.change != nil {
		f.change(&meta)
	}
	footer := marshal(&meta)
	if f.footer != "" {
		footer = f.footer
	}
	return "PAR1" + pages + footer + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
}

func dataPage(values int32, as format.Encoding) format.PageHeader {
	return format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: as, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}
}

// run is n equal values of a run-length encoding.
func run(n uint64, value string) string { return string(binary.AppendUvarint(nil, n<<1)) + value }

// TestForgedParquet: what a file says of itself costs no memory, and none of it ends the
// program.
func TestForgedParquet(t *testing.T) {
	one := "\x01\x00\x00\x00x"
	levels := func(runs string) string {
		return string(binary.LittleEndian.AppendUint32(nil, uint32(len(runs)))) + runs
	}
	dictionary := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1 << 30})}
	sized := dataPage(1, format.Plain)
	sized.UncompressedPageSize = 1<<31 - 1
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	meta := func(change func(*format.ColumnMetaData)) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[0].MetaData) }
	}
	for name, c := range map[string]struct {
		forged
		kind error
		want string
	}{
		"as it should be":           {forged{page: dataPage(1, format.Plain), body: one, rows: 1}, nil, ""},
		"size of a page":            {forged{page: sized, body: one, rows: 1}, dataset.ErrBound, `row 1: column "a": a page of 2147483647 bytes, at most 268435456 are read`},
		"values of a page":          {forged{page: dataPage(1<<31-1, format.Plain), body: one, rows: 1}, dataset.ErrBound, `a page of 2147483647 values`},
		"values of a dictionary":    {forged{page: dictionary, body: one, rows: 1}, dataset.ErrBound, "a page of 1073741824 values"},
		"runs of levels":            {forged{page: dataPage(1, format.Plain), body: levels(run(1<<30, "\x01")) + one, rows: 1, optional: true}, dataset.ErrBroken, "a page has more in it than it says"},
		"many runs":                 {forged{page: dataPage(1000, format.Plain), body: levels(strings.Repeat(run(1000, "\x01"), 1000)) + one, rows: 1, optional: true}, dataset.ErrBroken, "a page has more in it"},
		"runs of indexes":           {forged{page: dataPage(1, format.RLEDictionary), body: "\x08" + run(1<<30, "\x00"), rows: 1}, dataset.ErrBroken, "a page has more in it"},
		"no dictionary":             {forged{page: dataPage(1, format.RLEDictionary), body: "\x01" + run(1, "\x00"), rows: 1}, dataset.ErrBroken, "missing page header"},
		"deltas":                    {forged{page: dataPage(1, format.DeltaLengthByteArray), body: "\x80\x01\x04\xff\xff\xff\xff\x07\x00", rows: 1}, dataset.ErrBroken, "a page has more in it"},
		"a bomb of snappy":          {forged{page: dataPage(1, format.Plain), body: "\xff\xff\xff\xff\x0f" + one, codec: format.Snappy, rows: 1}, dataset.ErrBroken, "a page has more in it"},
		"a bomb of zstd":            {forged{page: dataPage(1, format.Plain), body: string(encoder.EncodeAll(make([]byte, 300<<20), nil)), codec: format.Zstd, rows: 1}, dataset.ErrBroken, "a page has more in it"},
		"a bomb of gzip":            {forged{page: dataPage(1, format.Plain), body: gzipped(t, strings.Repeat("\x00", 50<<20)), codec: format.Gzip, rows: 1}, dataset.ErrBroken, "a page has more in it"},
		"not compressed":            {forged{page: dataPage(1, format.Plain), body: one, codec: format.Gzip, rows: 1}, dataset.ErrBroken, "a page cannot be unpacked: "},
		"a text longer than a page": {forged{page: dataPage(1, format.Plain), body: "\xff\xff\xff\x7fx", rows: 1}, dataset.ErrBroken, `row 1`},
		"no UTF-8":                  {forged{page: dataPage(1, format.Plain), body: "\x01\x00\x00\x00\xff", rows: 1}, dataset.ErrBroken, `row 1: column "a": a text is not valid UTF-8`},
		"rows that are not there":   {forged{page: dataPage(1, format.Plain), body: one, rows: 1 << 40}, dataset.ErrBroken, "row 2: 1099511627775 rows fewer are in it than it says"},
		"fewer rows than none":      {forged{page: dataPage(1, format.Plain), body: one, rows: -1}, dataset.ErrBroken, "num_rows=-1 is negative"},
		"values elsewhere":          {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: meta(func(m *format.ColumnMetaData) { m.DataPageOffset = 1 << 40 })}, dataset.ErrBroken, "outside of the file"},
		"values before it":          {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: meta(func(m *format.ColumnMetaData) { m.DataPageOffset = -1 })}, dataset.ErrBroken, "outside of the file"},
		"as large as can be":        {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: meta(func(m *format.ColumnMetaData) { m.TotalCompressedSize = 1<<63 - 1 })}, dataset.ErrBroken, "outside of the file"},
		"lz4":                       {forged{page: dataPage(1, format.Plain), body: one, codec: format.Lz4Raw, rows: 1}, dataset.ErrUnsupported, "LZ4_RAW"},
		"old lz4":                   {forged{page: dataPage(1, format.Plain), body: one, codec: 5, rows: 1}, dataset.ErrUnsupported, "which is not read"},
		"another file":              {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "../x" }}, dataset.ErrUnsupported, "in another file"},
		"columns that are missing":  {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil }}, dataset.ErrBroken, "file.parquet: "},
		"children without end":      {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: func(m *format.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(1 << 30)) }}, dataset.ErrBroken, "file.parquet: "},
		"fewer children than none":  {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: func(m *format.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(-1)) }}, dataset.ErrBroken, "file.parquet: "},
		"one name for two": {forged{page: dataPage(1, format.Plain), body: one, rows: 1, change: func(m *format.FileMetaData) {
			m.Schema = append(m.Schema, m.Schema[1])
			m.Schema[0].NumChildren = thrift.New(int32(2))
			m.RowGroups[0].Columns = append(m.RowGroups[0].Columns, m.RowGroups[0].Columns[0])
		}}, dataset.ErrBroken, `column "a": two columns have this name`},
		"a list of two billion":   {forged{page: dataPage(1, format.Plain), body: one, rows: 1, footer: "\x15\x02\x29\xfc\xff\xff\xff\xff\x07"}, dataset.ErrBound, "its metadata has lists of more than 1048576 entries"},
		"a text of two gigabytes": {forged{page: dataPage(1, format.Plain), body: one, rows: 1, footer: "\x15\x02\x68\xff\xff\xff\xff\x07"}, dataset.ErrBroken, "the metadata is cut"},
		"metadata without end":    {forged{page: dataPage(1, format.Plain), body: one, rows: 1, footer: strings.Repeat("\x1c", 100_000)}, dataset.ErrBroken, "the metadata is none"},
	} {
		root := folder(t, map[string]string{"file.parquet": c.write(t)})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := collect(t, root, "file.parquet", dataset.Bounds{})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.kind) || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "file.parquet: ")) {
			t.Errorf("%s: got %v\nwant %v: %s", name, err, c.kind, c.want)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
			t.Errorf("%s: %d MiB of memory", name, took)
		}
	}
}
