package spreadsheet

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/workbook"
)

// numbers returns cells of a workbook.
func numbers(t *testing.T, data []byte, places ...string) []string {
	t.Helper()
	b, err := openBook(data)
	must(t, err)
	cells, err := b.Cells("Data")
	must(t, err)
	var out []string
	for _, p := range places {
		at, err := workbook.ParsePlace(p)
		must(t, err)
		out = append(out, cells[at].String())
	}
	return out
}

// A real LibreOffice fills in missing values, or computes all.
func TestRecalc(t *testing.T) {
	t.Parallel()
	for which, want := range map[Recalc][]string{RecalcMissing: {"3", "7"}, RecalcAll: {"3", "3"}} {
		r, err := FindOffice(t.Context(), which, os.LookupEnv)
		var missing *OfficeError
		if errors.As(err, &missing) {
			t.Skip(err)
		}
		must(t, err)
		if !strings.Contains(r.Version(), "LibreOffice") || !strings.Contains(r.Version(), string(which)) {
			t.Errorf("%q", r.Version())
		}
		data := book(t, map[string]any{"A1": 1, "A2": 2, "B1": `<c r="B1"><f>SUM(A1:A2)</f></c>`, "B2": `<c r="B2"><f>SUM(A1:A2)</f><v>7</v></c>`})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				out, err := r.Run(t.Context(), data)
				if err != nil {
					t.Error(which, err)
					return
				}
				if diff := cmp.Diff(want, numbers(t, out, "B1", "B2")); diff != "" {
					t.Error(which, diff)
				}
			})
		}
		all.Wait()
		plain := book(t, map[string]any{"A1": 1})
		if out, err := r.Run(t.Context(), plain); err != nil || string(out) != string(plain) {
			t.Errorf("%s: a workbook without formulas was changed: %v", which, err)
		}
	}
}

func TestNoOffice(t *testing.T) {
	t.Parallel()
	none := func(string) (string, bool) { return t.TempDir(), true }
	var missing *OfficeError
	if _, err := FindOffice(t.Context(), RecalcAll, none); !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install --no-install-recommends libreoffice-calc") {
		t.Errorf("%v", err)
	}
	if r, err := FindOffice(t.Context(), RecalcNone, none); r != nil || err != nil {
		t.Errorf("%v, %v", r, err)
	}
}
