// Package booktest writes small xlsx workbooks for tests.
package booktest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Sheet is a sheet with the XML of its cells by their place, such as `<c r="A1"><v>1</v></c>`.
type Sheet struct {
	Name  string
	Cells map[string]string
}

// Cell returns the XML of a cell with a number, a text, true or false, or nothing.
func Cell(place string, value any) string {
	switch v := value.(type) {
	case nil:
		return fmt.Sprintf(`<c r=%q/>`, place)
	case bool:
		return fmt.Sprintf(`<c r=%q t="b"><v>%d</v></c>`, place, map[bool]int{true: 1}[v])
	case string:
		var text bytes.Buffer
		_ = xml.EscapeText(&text, []byte(v)) // a buffer takes all
		return fmt.Sprintf(`<c r=%q t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, place, text.String())
	}
	return fmt.Sprintf(`<c r=%q><v>%v</v></c>`, place, value)
}

// Write returns a workbook. Parts are added to it, or replace those of the same name.
func Write(t *testing.T, sheets []Sheet, parts map[string]string) []byte {
	t.Helper()
	const main, rels = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	const pack = "http://schemas.openxmlformats.org/package/2006/relationships"
	all := map[string]string{"_rels/.rels": fmt.Sprintf(`<Relationships xmlns=%q><Relationship Id="rId1" Type="%s/officeDocument" Target="xl/workbook.xml"/></Relationships>`, pack, rels)}
	var list, targets strings.Builder
	for i, s := range sheets {
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, s.Name, i+1, i+1)
		fmt.Fprintf(&targets, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, i+1, rels, i+1)
		var cells strings.Builder
		for _, place := range slices.Sorted(maps.Keys(s.Cells)) {
			cells.WriteString("<row r=\"" + strings.TrimLeft(place, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") + "\">" + s.Cells[place] + "</row>")
		}
		all[fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1)] = fmt.Sprintf(`<worksheet xmlns=%q><sheetData>%s</sheetData></worksheet>`, main, cells.String())
	}
	fmt.Fprintf(&targets, `<Relationship Id="rS" Type="%s/styles" Target="styles.xml"/><Relationship Id="rT" Type="%s/sharedStrings" Target="/xl/sharedStrings.xml"/>`, rels, rels)
	all["xl/workbook.xml"] = fmt.Sprintf(`<workbook xmlns=%q xmlns:r=%q><sheets>%s</sheets></workbook>`, main, rels, list.String())
	all["xl/_rels/workbook.xml.rels"] = fmt.Sprintf("<Relationships xmlns=%q>%s</Relationships>", pack, targets.String())
	maps.Copy(all, parts)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(all[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
