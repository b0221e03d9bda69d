package check

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestBenchmarkForms(t *testing.T) {
	t.Parallel()
	tests := []struct{ form, in, want string }{
		{"docvqa", "  The  ITC,\tLtd. ", "the itc, ltd."},
		{"docvqa", "A\u00a0B\x1cC", "a b c"},
		{"docvqa", "$1,000", "$1,000"},
		{"mathtext", `$5\sqrt{3}$`, `5\sqrt3`},
		{"mathtext", `20~\mathrm{cm}`, "20 cm"},
		{"mathtext", `20\,cm`, "20 cm"},
		{"mathtext", "x = 3", "x = 3"},
		{"sealqa", "1,234", "1234"},
		{"sealqa", " Paris,  France! ", "paris france"},
		{"sealqa", "50%, approx. 3-4", "50% approx. 3-4"},
		{"sealqa", "“Zoë”", "zoë"},
		{"plain", "The  U.S.A.!", "the usa"},
		{"plain", "?!", ""},
	}
	for _, tt := range tests {
		if got := benchmarkForm(tt.form)(tt.in); got != tt.want {
			t.Errorf("%s of %q: got %q, want %q", tt.form, tt.in, got, tt.want)
		}
	}
}

// TestFormsWhereverFormsAreTaken: equals, one-of, f1 and the checks of files know every form.
func TestFormsWhereverFormsAreTaken(t *testing.T) {
	t.Parallel()
	for _, form := range formNames() {
		for _, kind := range []string{"equals", "one-of", "f1"} {
			s := suite(t, "[{type: "+kind+", normalize: "+form+"}]", Options{})
			if got := s.Score("Blue Whale", task.Task{Gold: []string{" blue  whale"}}); got.Hard != 1 {
				t.Errorf("%s in the form %s: %+v", kind, form, got)
			}
		}
		suite(t, "[{type: file-equals, path: a, normalize: "+form+"}, {type: file-contains, path: a, normalize: "+form+"}]", Options{Workspace: true})
	}
	s := suite(t, "[{type: file-contains, path: a, normalize: plain}]", Options{Workspace: true})
	if err := s.Check(task.Task{ID: "t", Gold: []string{"?!"}}); err == nil {
		t.Error("gold that every file holds is taken")
	}
}
