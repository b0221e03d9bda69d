package workbook

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
)

func TestReadPosition(t *testing.T) {
	t.Parallel()
	b, err := open(t, []booktest.Sheet{
		{Name: "S", Cells: map[string]string{"A1": booktest.Cell("A1", 1), "B3": booktest.Cell("B3", "x")}},
		{Name: "My, own", Cells: map[string]string{"C2": booktest.Cell("C2", true)}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ position, sheet, want string }{
		{"A1:B2", "", "S!A1=1 S!A2=None S!B1=None S!B2=None"},
		{"$B$3, 'My, own'!C2", "", "S!B3='x' My, own!C2=True"},
		{"'S'!A1,B3", "My, own", "S!A1=1 My, own!B3=None"},
		{"S'!A1,'S'!B3", "", "S!A1=1 S!B3='x'"},
		{"S!'A1:A1'", "", "S!A1=1"},
		{"B:B", "", "S!B1=None S!B2=None S!B3='x'"},
		{"3:3", "", "S!A3=None S!B3='x'"},
	} {
		cells, err := b.ReadPosition(tt.position, tt.sheet)
		var got []string
		for _, c := range cells {
			got = append(got, c.Sheet+"!"+c.At.String()+"="+c.Value.String())
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || err != nil {
			t.Error(tt.position, err, diff)
		}
	}
	for _, position := range []string{"", " , ", "Gone!A1", "B2:A1", "A", "A1:XFD1048576", "A0", "A1:B2:C3", "C:A", "9:1"} {
		var fault *PositionError
		if cells, err := b.ReadPosition(position, ""); !errors.As(err, &fault) {
			t.Errorf("%q: %v, %v", position, cells, err)
		}
	}
}

func TestFormulas(t *testing.T) {
	t.Parallel()
	b, err := open(t, []booktest.Sheet{{Name: "S", Cells: map[string]string{
		"A1": `<c r="A1"><f>SUM(B1:B2)</f><v>3</v></c>`,
		"A2": `<c r="A2"><f t="shared" ref="A2:A3" si="0">B2*2</f></c>`,
		"A3": `<c r="A3"><f t="shared" si="0"/><v>4</v></c>`,
		"B5": booktest.Cell("B5", nil),
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Formulas("S")
	want := map[Place]string{{1, 1}: "=SUM(B1:B2)", {2, 1}: "=B2*2", {3, 1}: "=(as in A2)"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	empty, err := b.WithoutValue()
	if diff := cmp.Diff([]Cell{{Sheet: "S", At: Place{2, 1}}}, empty); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if last, err := b.Extent("S"); err != nil || last != (Place{3, 1}) {
		t.Errorf("%v, %v", last, err)
	}
}

// FuzzReadPosition reads what claims to be the place of an answer.
func FuzzReadPosition(f *testing.F) {
	for _, position := range []string{"A1:B2", "'S'!$A:$B, 1:3", "S!A1,'x"} {
		f.Add(position)
	}
	f.Fuzz(func(t *testing.T, position string) {
		b := mustOpen(t, map[string]any{"A1": 1, "B3": "x"})
		cells, err := b.ReadPosition(position, "")
		var fault *PositionError
		if err != nil && !errors.As(err, &fault) || err == nil && (len(cells) == 0 || len(cells) > maxPositions) {
			t.Errorf("%q: %d cells, %v", position, len(cells), err)
		}
	})
}
