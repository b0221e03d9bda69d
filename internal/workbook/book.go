// Package workbook reads the cells of xlsx workbooks as openpyxl (3.1) does with data_only, and compares
// them as the evaluation of SpreadsheetBench does.
//
// Values are typed as openpyxl types them, since that evaluation compares types: numbers, texts, times,
// dates with a time, spans of time. A formula without a cached value is no value. A workbook may come from
// anyone: what is unpacked of it and how many cells it has are bounded. It knows nothing about tasks,
// checks and where workbooks are. It is pure.
//
// excelize was looked at instead: it has no bulk access to typed cells, and adds a tenth to the
// first build of the program.
package workbook

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Bounds of a workbook: what is unpacked of it, in bytes, and its cells.
const (
	maxBook  = 256 << 20
	maxCells = 1 << 20
)

// Book is an open workbook. It is not safe for concurrent use.
type Book struct {
	parts   map[string]*zip.File
	left    int64 // what may be unpacked yet, in bytes
	cells   int   // what may be read yet
	sheets  []sheet
	shared  []string
	dates   []dateKind // by style
	is1904  bool
	content map[string]content // of sheets that were read
}

// sheet is the name of a sheet and the part that it is in.
type sheet struct{ name, part string }

// compound is how a file begins that Office has encrypted, or has written in its former format.
const compound = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// Open reads what a workbook says of its sheets, texts and styles.
func Open(r io.ReaderAt, size int64) (*Book, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		begin := make([]byte, len(compound))
		if n, _ := r.ReadAt(begin, 0); string(begin[:n]) == compound { // what cannot be read is no such file
			return nil, errors.New("no xlsx workbook: it has a password, or is in the format of before 2007; save it as .xlsx without a password")
		}
		return nil, fmt.Errorf("no xlsx workbook: %w", err)
	}
	b := &Book{parts: map[string]*zip.File{}, left: maxBook, cells: maxCells, content: map[string]content{}}
	for _, f := range z.File {
		b.parts[strings.TrimPrefix(f.Name, "/")] = f
	}
	main, err := b.mainPart()
	if err != nil {
		return nil, err
	}
	if err := b.readMain(main); err != nil {
		return nil, err
	}
	if len(b.sheets) == 0 {
		return nil, errors.New("the workbook has no sheet")
	}
	return b, nil
}

// Sheets returns the names of the sheets, in their order.
func (b *Book) Sheets() []string {
	var names []string
	for _, s := range b.sheets {
		names = append(names, s.name)
	}
	return names
}

// Has reports whether there is a sheet of a name.
func (b *Book) Has(name string) bool { return slices.Contains(b.Sheets(), name) }

// mainPart returns where the workbook itself is.
func (b *Book) mainPart() (string, error) {
	types, err := b.relations("_rels/.rels", "")
	if err != nil {
		return "", err
	}
	for _, r := range types {
		if strings.HasSuffix(r.Type, "/officeDocument") {
			return r.Target, nil
		}
	}
	return "xl/workbook.xml", nil
}

// relation is a line of a .rels part, with its target from the root of the archive.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	Mode   string `xml:"TargetMode,attr"`
}

// relations reads those of a part. A part without a file of them has none.
func (b *Book) relations(part, folder string) ([]relation, error) {
	var list struct {
		All []relation `xml:"Relationship"`
	}
	if b.parts[part] == nil {
		return nil, nil
	}
	if err := b.decode(part, &list); err != nil {
		return nil, err
	}
	for i, r := range list.All {
		if target, rooted := strings.CutPrefix(r.Target, "/"); rooted {
			list.All[i].Target = target
		} else {
			list.All[i].Target = path.Join(folder, r.Target)
		}
	}
	return list.All, nil
}

// readMain reads the workbook part and what it names.
func (b *Book) readMain(part string) error {
	var main struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := b.decode(part, &main); err != nil {
		return err
	}
	b.is1904 = slices.Contains([]string{"1", "true", "t"}, main.Properties.Date1904)
	folder := path.Dir(part)
	relations, err := b.relations(path.Join(folder, "_rels", path.Base(part)+".rels"), folder)
	if err != nil {
		return err
	}
	for _, s := range main.Sheets {
		i := slices.IndexFunc(relations, func(r relation) bool { return r.ID == s.ID && r.Mode != "External" })
		if i >= 0 && b.parts[relations[i].Target] != nil {
			b.sheets = append(b.sheets, sheet{name: s.Name, part: relations[i].Target})
		}
	}
	for _, r := range relations {
		switch {
		case r.Mode == "External" || b.parts[r.Target] == nil:
		case strings.HasSuffix(r.Type, "/sharedStrings"):
			err = errors.Join(err, b.readShared(r.Target))
		case strings.HasSuffix(r.Type, "/styles"):
			err = errors.Join(err, b.readStyles(r.Target))
		}
	}
	return err
}

// richText is a text in parts, each with a format of its own.
type richText struct {
	Plain *string `xml:"t"`
	Parts []struct {
		Text string `xml:"t"`
	} `xml:"r"`
}

func (t richText) text() string {
	var out strings.Builder
	if t.Plain != nil {
		out.WriteString(*t.Plain)
	}
	for _, p := range t.Parts {
		out.WriteString(p.Text)
	}
	return out.String()
}

// readShared reads the texts that cells refer to by number.
func (b *Book) readShared(part string) error {
	return b.each(part, func(d *xml.Decoder, start xml.StartElement) error {
		if start.Name.Local != "si" {
			return nil
		}
		var t richText
		if err := d.DecodeElement(&t, &start); err != nil {
			return err
		}
		b.shared = append(b.shared, strings.ReplaceAll(t.text(), "x005F_", ""))
		return b.count()
	})
}

// count counts a cell, or a text that cells share.
func (b *Book) count() error {
	if b.cells--; b.cells < 0 {
		return fmt.Errorf("the workbook has more than %d cells", maxCells)
	}
	return nil
}

// decode reads a part into a structure.
func (b *Book) decode(part string, into any) error {
	r, err := b.open(part)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	if err := xml.NewDecoder(r).Decode(into); err != nil {
		return fmt.Errorf("read %s of the workbook: %w", part, err)
	}
	return nil
}

// each calls do for each element of a part that begins outside of those that do has read.
func (b *Book) each(part string, do func(*xml.Decoder, xml.StartElement) error) error {
	r, err := b.open(part)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	d := xml.NewDecoder(r)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if start, ok := t.(xml.StartElement); err == nil && ok {
			err = do(d, start)
		}
		if err != nil {
			return fmt.Errorf("read %s of the workbook: %w", part, err)
		}
	}
}

// open opens a part within what may be unpacked yet.
func (b *Book) open(part string) (io.ReadCloser, error) {
	f := b.parts[part]
	if f == nil {
		return nil, fmt.Errorf("the workbook has no part %s", part)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("read %s of the workbook: %w", part, err)
	}
	return &bounded{r, b}, nil
}

// bounded is a part of a workbook of which no more is unpacked than is allowed.
type bounded struct {
	io.ReadCloser
	book *Book
}

func (r *bounded) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.book.left -= int64(n); r.book.left < 0 {
		return 0, fmt.Errorf("the workbook unpacks to more than %d MB: is it a bomb?", maxBook>>20)
	}
	return n, err
}
