package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	thriftlib "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageCheck goes over the pages of a row group before the library does, and takes no memory
// for what they say of themselves. The library does: for sizes in headers, for the output
// of decompression whatever the header said, and for runs of two billion equal values in five
// bytes.
type pageCheck struct {
	ctx    context.Context // of the reading, which the caller has begun
	file   io.ReaderAt
	size   int64
	meta   *format.RowGroup
	leaves []*node
	window []byte // what headers are read into
	left   *garbage
}

func (p *pageCheck) run() error {
	if len(p.meta.Columns) != len(p.leaves) {
		return &Error{Err: ErrBroken, Msg: fmt.Sprintf("a row group has %d columns, the schema %d", len(p.meta.Columns), len(p.leaves))}
	}
	if p.meta.NumRows < 0 {
		return &Error{Err: ErrBroken, Msg: "a row group says that it has fewer rows than none"}
	}
	for i := range p.meta.Columns {
		err := p.chunk(&p.meta.Columns[i], p.leaves[i])
		var own *Error
		if errors.As(err, &own) && own.Column == "" {
			own.Column = p.leaves[i].path
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunk goes over the pages of one column.
func (p *pageCheck) chunk(c *format.ColumnChunk, of *node) error {
	m := &c.MetaData
	from, length := m.DataPageOffset, m.TotalCompressedSize
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	switch {
	case c.FilePath != "":
		return &Error{Err: ErrUnsupported, Msg: "its values are in another file"}
	case from < 4 || length < 0 || from > p.size || length > p.size-from:
		return &Error{Err: ErrBroken, Msg: "its values begin or end outside of the file"}
	}
	for at := int64(0); at < length; {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		h, n, err := p.header(from+at, length-at)
		if err != nil {
			return err
		}
		at += n
		packed := int64(h.CompressedPageSize)
		if packed < 0 || packed > length-at {
			return &Error{Err: ErrBroken, Msg: "a page ends outside of its column"}
		}
		page := page{header: h, of: of, codec: m.Codec, body: io.NewSectionReader(p.file, from+at, packed)}
		if err := page.check(); err != nil {
			return err
		}
		if m.Codec == format.Snappy {
			p.left.add(int(packed) + int(h.UncompressedPageSize))
		}
		at += packed
	}
	return nil
}

// mostHeader bounds the header of a page, which may hold the least and the greatest value.
const mostHeader = 16 << 20

// header reads the header of the page at an offset, and returns its length.
func (p *pageCheck) header(at, left int64) (*format.PageHeader, int64, error) {
	for window := int64(4 << 10); ; window *= 16 {
		n := min(window, left)
		if int64(len(p.window)) < n {
			p.window = make([]byte, n)
		}
		data := p.window[:n]
		if _, err := p.file.ReadAt(data, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		end, err := thriftEnd(data)
		if errors.Is(err, errThriftShort) && window < left && window < mostHeader {
			continue
		}
		h := new(format.PageHeader)
		if err == nil {
			err = thriftlib.Unmarshal(new(thriftlib.CompactProtocol), data[:end], h)
		}
		if err != nil {
			return nil, 0, &Error{Err: ErrBroken, Msg: fmt.Sprintf("the header of a page: %v", err)}
		}
		return h, int64(end), nil
	}
}

// page is one page of a column.
type page struct {
	header *format.PageHeader
	of     *node
	codec  format.CompressionCodec
	body   *io.SectionReader
}

func (p *page) check() error {
	size := p.header.UncompressedPageSize
	if size < 0 || size > mostPage {
		return &Error{Err: ErrBound, Msg: fmt.Sprintf("a page of %d bytes, at most %d are read", size, mostPage)}
	}
	if p.codec == format.LZO || p.codec == format.Lz4Raw || p.codec == 5 {
		return &Error{Err: ErrUnsupported, Msg: fmt.Sprintf("compressed with %v, which is not read: write the file again with zstd, snappy or gzip", p.codec)}
	}
	h := p.header
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		if n := int64(h.DictionaryPageHeader.V.NumValues); n < 0 || n > min(mostValues, 8*int64(size)+8) {
			return tooManyValues(n)
		}
		return p.checkBody(p.body, nil)
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		if n := int64(h.DataPageHeader.V.NumValues); n < 0 || n > mostValues {
			return tooManyValues(n)
		}
		return p.checkBody(p.body, p.first)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return p.second()
	}
	return nil // the library refuses it
}

func tooManyValues(n int64) error {
	return &Error{Err: ErrBound, Msg: fmt.Sprintf("a page of %d values, at most %d are read", n, mostValues)}
}

var errGrown = &Error{Err: ErrBroken, Msg: "a page has more in it than it says"}

// first goes over the values of a page of the first version, whose levels are compressed
// with them.
func (p *page) first(in *bufio.Reader) error {
	h := &p.header.DataPageHeader.V
	n := int64(h.NumValues)
	for _, l := range []struct {
		most     int
		encoding format.Encoding
	}{{p.of.repetition, h.RepetitionLevelEncoding}, {p.of.definition, h.DefinitionLevelEncoding}} {
		if l.most == 0 {
			continue
		}
		if l.encoding != format.RLE {
			return &Error{Err: ErrUnsupported, Msg: fmt.Sprintf("levels written as %v, which are not read", l.encoding)}
		}
		if err := lengthRuns(in, bits.Len(uint(l.most)), n); err != nil {
			return err
		}
	}
	return checkValues(in, h.Encoding, n)
}

// second goes over a page of the second version, whose levels precede what is
// compressed.
func (p *page) second() error {
	h := &p.header.DataPageHeaderV2.V
	n, repetitions, definitions := int64(h.NumValues), int64(h.RepetitionLevelsByteLength), int64(h.DefinitionLevelsByteLength)
	switch {
	case n < 0 || n > mostValues:
		return tooManyValues(n)
	case repetitions < 0 || definitions < 0 || repetitions+definitions > p.body.Size() || h.NumNulls < 0 || int64(h.NumNulls) > n:
		return &Error{Err: ErrBroken, Msg: "a page whose levels do not fit in it"}
	}
	for _, l := range []struct{ from, size, most int64 }{{0, repetitions, int64(p.of.repetition)}, {repetitions, definitions, int64(p.of.definition)}} {
		if l.most == 0 {
			continue // the library passes over them
		}
		if err := runs(bufio.NewReader(io.NewSectionReader(p.body, l.from, l.size)), bits.Len64(uint64(l.most)), n); err != nil && !errors.Is(err, io.EOF) {
			return unpackError(err)
		}
	}
	body := io.NewSectionReader(p.body, repetitions+definitions, p.body.Size()-repetitions-definitions)
	values := func(in *bufio.Reader) error { return checkValues(in, h.Encoding, n) }
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		if err := values(bufio.NewReader(body)); err != nil && !errors.Is(err, io.EOF) {
			return unpackError(err)
		}
		return nil
	}
	return p.checkBody(body, values)
}

// checkBody has look read what body unpacks to, and checks that this is no more than the header
// says.
func (p *page) checkBody(body *io.SectionReader, look func(*bufio.Reader) error) error {
	in, done, err := p.unpack(body)
	if err != nil {
		return unpackError(err)
	}
	defer done()
	bounded := &io.LimitedReader{R: in, N: int64(p.header.UncompressedPageSize) + 1}
	buf := bufio.NewReader(bounded)
	if look != nil {
		if err := look(buf); err != nil && !errors.Is(err, io.EOF) {
			return unpackError(err)
		}
	}
	if _, err := io.Copy(io.Discard, buf); err != nil {
		return unpackError(err)
	}
	if bounded.N == 0 {
		return errGrown
	}
	return nil
}

func unpackError(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return &Error{Err: ErrBroken, Msg: fmt.Sprintf("a page cannot be unpacked: %v", err)}
}

// unpack returns a reader of what body is unpacked to. done is called after.
func (p *page) unpack(body *io.SectionReader) (in io.Reader, done func(), err error) {
	done = func() {}
	switch p.codec {
	case format.Snappy:
		in, err = p.snappy(body)
	case format.Gzip:
		in, err = gzip.NewReader(bufio.NewReader(body))
	case format.Brotli:
		in = brotli.NewReader(body)
	case format.Zstd:
		var d *zstd.Decoder
		d, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostPage))
		if err == nil {
			in, done = d, d.Close
		}
	default:
		in = body
	}
	return in, done, err
}

// snappy unpacks in one piece, whose size is at its beginning.
func (p *page) snappy(body *io.SectionReader) (io.Reader, error) {
	data := make([]byte, body.Size())
	if _, err := io.ReadFull(body, data); err != nil {
		return nil, err
	}
	n, err := snappy.DecodedLen(data)
	if err != nil {
		return nil, err
	}
	if n > int(p.header.UncompressedPageSize) {
		return nil, errGrown
	}
	out, err := snappy.Decode(nil, data)
	return bytes.NewReader(out), err
}

// olderDictionary is how older writers name the encoding of a page of numbers of values in a
// dictionary.
const olderDictionary format.Encoding = 2

// checkValues checks the values of a page where their encoding may make much of little.
func checkValues(in *bufio.Reader, as format.Encoding, n int64) error {
	switch as {
	case olderDictionary, format.RLEDictionary:
		width, err := in.ReadByte()
		if err != nil {
			return err
		}
		return runs(in, int(width), n)
	case format.RLE:
		return lengthRuns(in, 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		var head [3]uint64 // sizes of blocks and of parts of them, and how many values there are
		for i := range head {
			v, err := binary.ReadUvarint(in)
			if err != nil {
				return err
			}
			head[i] = v
		}
		if head[2] > uint64(n) {
			return errGrown
		}
	case format.DeltaByteArray:
		return &Error{Err: ErrUnsupported, Msg: "written as DELTA_BYTE_ARRAY, which is not read: write the file again with another encoding, with DuckDB for example"}
	}
	return nil
}

// lengthRuns checks runs of as many bytes as the four before them say.
func lengthRuns(in *bufio.Reader, width int, n int64) error {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return err
	}
	part := io.LimitReader(in, int64(binary.LittleEndian.Uint32(size[:])))
	return runs(bufio.NewReader(part), width, n)
}

// padding is how many values more than there are a group of them may be filled up to.
const padding = 1024

// runs goes over values that are written as runs of equal ones and as groups of eight, and
// fails where they amount to more than n.
func runs(in *bufio.Reader, width int, n int64) error {
	for sum := int64(0); ; {
		head, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		count, size := int64(min(head>>1, mostValues)), (width+7)/8
		if head&1 == 1 {
			size = int(count) * width
			count *= 8
		}
		if sum += count; sum > n+padding {
			return errGrown
		}
		if _, err := in.Discard(size); err != nil {
			return err
		}
	}
}
