package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// parquetMark begins and ends a Parquet file.
const parquetMark = "PAR1"

const (
	// mostFooter bounds the metadata of a Parquet file, in bytes.
	mostFooter = 64 << 20
	// batch is how many rows are asked for at once.
	batch = 16
)

// parquet reads a Parquet file by its row groups.
func (r *reader) parquet(head []byte) (err error) {
	if err := notOtherwise(head); err != nil {
		return err
	}
	f, err := disk.OpenIn(r.ctx, r.root, r.name, r.bounds.FileBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := soundEnds(f); err != nil {
		return err
	}
	var file *parquet.File
	var root *node
	err = callLibrary(func() (err error) {
		// Indexes are for those who look for something, and more to be hostile in.
		if file, err = parquet.OpenFile(f, f.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10)); err != nil {
			return toFileError(err)
		}
		root, err = newTree(file.Metadata().Schema)
		return err
	})
	if err != nil {
		return err
	}
	for i, group := range file.RowGroups() {
		pages := pageCheck{left: &r.left, file: f, size: f.Size(), meta: &file.Metadata().RowGroups[i], leaves: root.leaves(nil), ctx: r.ctx}
		if err := callLibrary(pages.run); err != nil {
			return r.ofRow(err)
		}
		if err := r.group(root, group); err != nil {
			return r.ofRow(err)
		}
	}
	return nil
}

// group yields the rows of a row group.
func (r *reader) group(root *node, group parquet.RowGroup) (err error) {
	var rows parquet.Rows
	if err := callLibrary(func() error { rows = group.Rows(); return nil }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, callLibrary(rows.Close)) }()
	buf := make([]parquet.Row, batch)
	fields := make([]map[string]any, batch)
	for left := group.NumRows(); left > 0; {
		n := 0
		err := callLibrary(func() (err error) {
			n, err = rows.ReadRows(buf[:min(batch, left)])
			for i := range n { // they are gone with the next call
				var e error
				if fields[i], e = r.assemble(root, buf[i]); e != nil {
					n = i
					return e
				}
			}
			return toFileError(err)
		})
		for i := range n {
			if err := r.take(Row{Fields: fields[i]}); err != nil {
				return err
			}
			fields[i] = nil
		}
		left -= int64(n)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case n == 0, err != nil && left > 0:
			return &Error{Err: ErrBroken, Msg: fmt.Sprintf("%d rows fewer are in it than it says", left)}
		}
	}
	return nil
}

// assemble makes a row of its values.
func (r *reader) assemble(root *node, row parquet.Row) (map[string]any, error) {
	columns := make([][]parquet.Value, root.last)
	bytes := 0
	for from := 0; from < len(row); {
		at := row[from].Column()
		to := from + 1
		for to < len(row) && row[to].Column() == at {
			to++
		}
		if at < 0 || at >= len(columns) || columns[at] != nil {
			return nil, errMixed
		}
		columns[at] = row[from:to]
		for _, v := range row[from:to] {
			bytes += 16
			if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				bytes += len(v.ByteArray())
			}
		}
		from = to
	}
	r.left.add(bytes)
	if bytes > r.bounds.RowBytes {
		return nil, &Error{Err: ErrBound, Msg: fmt.Sprintf("the row has more than %d bytes", r.bounds.RowBytes)}
	}
	return root.fields(columns)
}

// garbage counts bytes that were taken and are not needed any more.
type garbage int

// mostGarbage is how many of those there may be.
const mostGarbage = 32 << 20

// add has them collected where there are many. Pages of pictures have a hundred megabytes, and
// the collector by itself waits until there is as much garbage as there is in use.
func (g *garbage) add(n int) {
	if *g += garbage(n); *g > mostGarbage {
		*g = 0
		runtime.GC()
	}
}

var errMixed = &Error{Err: ErrBroken, Msg: "values of its columns do not fit each other"}

// soundEnds looks at the marks and at the metadata of a Parquet file.
func soundEnds(f *disk.File) error {
	const tail = 8 // the length of the metadata, and the mark
	size := f.Size()
	ends := make([]byte, 4+tail)
	if size < int64(len(ends)) {
		return &Error{Err: ErrBroken, Msg: fmt.Sprintf("it is no Parquet file: it has %d bytes", size)}
	}
	if _, err := f.ReadAt(ends[:4], 0); err != nil {
		return err
	}
	if _, err := f.ReadAt(ends[4:], size-tail); err != nil {
		return err
	}
	head, foot, n := string(ends[:4]), string(ends[8:]), int64(binary.LittleEndian.Uint32(ends[4:]))
	switch {
	case head == "PARE" || foot == "PARE":
		return &Error{Err: ErrUnsupported, Msg: "it is encrypted, which is not read"}
	case head != parquetMark:
		return &Error{Err: ErrBroken, Msg: fmt.Sprintf("it is no Parquet file: it begins with %q, not with %s", head, parquetMark)}
	case foot != parquetMark:
		return &Error{Err: ErrBroken, Msg: "its end is missing: was it cut? Fetch it again"}
	case n > size-int64(len(ends)):
		return &Error{Err: ErrBroken, Msg: fmt.Sprintf("it says that it has %d bytes of metadata, and has %d in all", n, size)}
	case n > mostFooter:
		return &Error{Err: ErrBound, Msg: fmt.Sprintf("it has %d bytes of metadata, at most %d are read", n, mostFooter)}
	}
	data := make([]byte, n)
	if _, err := f.ReadAt(data, size-tail-n); err != nil {
		return err
	}
	if _, err := thriftEnd(data); err != nil {
		if errors.Is(err, errThriftMuch) {
			return &Error{Err: ErrBound, Msg: fmt.Sprintf("its metadata has lists of more than %d entries", mostEntries)}
		}
		return &Error{Err: ErrBroken, Msg: err.Error()}
	}
	return nil
}

// callLibrary calls the library. It panics for some files that are broken, and reads memory that is
// not its own for others; both is an error of the file here, whose name the caller adds, and not
// the end of the program. The call runs nothing but the library, so that no other panic is taken
// for one of a file.
func callLibrary(call func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Err: ErrBroken, Msg: fmt.Sprintf("it cannot be read: %v", p)}
		}
	}()
	return call()
}

// toFileError turns an error of the library into one of the file.
func toFileError(err error) error {
	var own *Error
	var file *disk.Error
	if err == nil || errors.As(err, &own) || errors.As(err, &file) {
		return err
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, parquet.ErrCorrupted) && err.Error() == io.EOF.Error() {
		return io.EOF
	}
	return &Error{Err: errors.Join(ErrBroken, err), Msg: err.Error()}
}

// mostValues bounds the values of one page: levels and offsets take memory for each.
const mostValues = 16 << 20

// mostPage bounds a page in bytes, unpacked. Writers make pages of a megabyte, DuckDB of up to
// a hundred.
const mostPage = 256 << 20
