package workbook

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
)

func open(t *testing.T, sheets []booktest.Sheet, parts map[string]string) (*Book, error) {
	t.Helper()
	content := booktest.Write(t, sheets, parts)
	return Open(bytes.NewReader(content), int64(len(content)))
}

func mustOpen(t *testing.T, cells map[string]any) *Book {
	t.Helper()
	sheet := booktest.Sheet{Name: "S", Cells: map[string]string{}}
	for place, v := range cells {
		sheet.Cells[place] = booktest.Cell(place, v)
	}
	b, err := open(t, []booktest.Sheet{sheet}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCompare(t *testing.T) {
	t.Parallel()
	want := mustOpen(t, map[string]any{"A1": 1, "A2": "x", "B1": nil})
	for _, tt := range []struct {
		cells    map[string]any
		position string
		first    string
		agree    int
	}{
		{map[string]any{"A1": 1.004, "A2": "x", "B1": ""}, "A1:B2", "", 4},
		{map[string]any{"A1": 1.006, "A2": "x"}, "'S'!$A$1:$A$2", "value@S!A1: gt=1 pred=1.006", 1},
		{map[string]any{"A1": "1", "A2": "X"}, "A1, S!A2,", "value@S!A2: gt='x' pred='X'", 1},
	} {
		first, agree, _, err := Compare(want, mustOpen(t, tt.cells), tt.position)
		text := ""
		if first != nil {
			text = first.String()
		}
		if err != nil || text != tt.first || agree != tt.agree {
			t.Errorf("%s: %v, %q, %d agree, want %q, %d", tt.position, err, text, agree, tt.first, tt.agree)
		}
	}
}

// A place that cannot be read is a fault of the task.
func TestPositionsThatAreNone(t *testing.T) {
	t.Parallel()
	b := mustOpen(t, map[string]any{"A1": 1})
	for _, position := range []string{"A:A", "1:3", "A1:B2:C3", "A0", "A1:ZZZZ9", "A1:XFD1048576", "A"} {
		var fault *PositionError
		if _, _, _, err := Compare(b, b, position); !errors.As(err, &fault) {
			t.Errorf("%s: %v", position, err)
		}
	}
}

// A workbook may come from anyone.
func TestWorkbooksThatAreNotRead(t *testing.T) {
	t.Parallel()
	one := []booktest.Sheet{{Name: "S", Cells: map[string]string{"A1": booktest.Cell("A1", 1)}}}
	long := func(body string) string {
		return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + body + `</sheetData></worksheet>`
	}
	for name, tt := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"a text that is not there": {map[string]string{"xl/worksheets/sheet1.xml": long(`<row r="1"><c r="A1" t="s"><v>7</v></c></row>`)}, `found the text number "7"`},
		"no number":                {map[string]string{"xl/worksheets/sheet1.xml": long(`<row r="1"><c r="A1"><v>x</v></c></row>`)}, `cell A1: found "x"`},
		"a row far away":           {map[string]string{"xl/worksheets/sheet1.xml": long(`<row r="99999999"/>`)}, "allowed: 1 to 1048576"},
		"no such cell":             {map[string]string{"xl/worksheets/sheet1.xml": long(`<row r="1"><c r="A-1"/></row>`)}, `found "A-1"`},
		"half a sheet":             {map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData>"}, "unexpected EOF"},
		"a sheet elsewhere":        {map[string]string{"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="../../../etc/passwd"/></Relationships>`}, "has no sheet"},
		"no workbook":              {map[string]string{"xl/workbook.xml": "<html"}, "read xl/workbook.xml"},
		"a bomb":                   {map[string]string{"xl/worksheets/sheet1.xml": long("<!--" + strings.Repeat(" ", 2000) + "-->")}, "is it a bomb?"},
	} {
		b, err := open(t, one, tt.parts)
		if err == nil {
			b.left = 1000
			_, err = b.Cells("S")
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()
	got := map[string]dateKind{}
	want := map[string]dateKind{
		"General": noDate, "0.00;[Red]d": noDate, `"day" 0`: noDate, "[$-409]d mmm": dateOrTime, "_d0": noDate, `\\d0`: noDate, "[h]:mm": spanOfTime, "[Red]0": noDate, "h:mm": dateOrTime, "Y": dateOrTime,
	}
	for code := range want {
		got[code] = parseFormat(strings.ReplaceAll(code, `\\`, `\`))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpenNoWorkbook(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"": "zip", "PK": "zip", compound: "it has a password", compound + "\x00\x00": "save it as .xlsx"} {
		if _, err := Open(strings.NewReader(content), int64(len(content))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// FuzzOpen reads what claims to be a sheet.
func FuzzOpen(f *testing.F) {
	f.Add(`<worksheet><sheetData><row r="2"><c t="d"><v>2024-01-02</v></c><c r="B2" s="1"><v>1e3</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B2"/></mergeCells></worksheet>`)
	f.Fuzz(func(t *testing.T, sheet string) {
		b, err := open(t, []booktest.Sheet{{Name: "S"}}, map[string]string{"xl/worksheets/sheet1.xml": sheet})
		if err != nil {
			t.Fatal(err)
		}
		cells, err := b.Cells("S")
		for at, v := range cells {
			if err == nil && (at.Row < 1 || at.Column < 1 || !Equal(v, v) && v.Form().Kind != Number) {
				t.Errorf("%s: %v", at, v)
			}
		}
	})
}
