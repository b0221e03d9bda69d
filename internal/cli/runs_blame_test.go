package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/skill"
)

// On a narrow terminal texts are folded, elsewhere each line stays one.
func TestBlameFitsTheTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("größere Wörter ", 12)
	edit := provenance.Origin{Kind: provenance.Edit, Step: 2, Edit: 1}
	b := record.Blame{
		Run: "runs/x", Version: "best",
		Lines: []provenance.Line{{Number: 1, Text: "# T\x1b[2J"}, {Number: 2}, {Number: 3, Text: long, Origin: edit}},
		Sources: []record.Source{{
			Origin: edit, Edit: &skill.Edit{Op: "append", Content: long},
			Reason: &provenance.Reason{Link: provenance.Reworded, Support: 2, Tasks: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, Patterns: []provenance.Pattern{{Description: long}}},
		}},
	}
	for _, width := range []int{0, 60, 200} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Out: &out, Terminal: width > 0, Width: width}}
		if err := printBlame(a.printer(&out), b); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for _, want := range []string{"best_skill.md of run runs/x", "step 2.1     3  größere", "they read a, b, c, d, e, f, g, h and 1 more", "reworded from what analysts proposed", "not judged"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%d columns: %q is missing:\n%s", width, want, text)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Error("a line steers the terminal")
		}
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); width > 0 && n >= width {
				t.Errorf("%d columns: a line has %d: %s", width, n, line)
			}
		}
	}
}
