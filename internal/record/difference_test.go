package record

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// sided is one side of a file by its difference and the other side: what a reader makes of it.
func sided(t *rapid.T, f result.FileDiff, before string) string {
	old := strings.SplitAfter(before, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out strings.Builder
	at := 0
	for _, h := range f.Hunks {
		for ; at < h.From-1; at++ {
			out.WriteString(old[at])
		}
		for _, l := range h.Lines {
			end := "\n"
			if l.NoEnd {
				end = ""
			}
			if l.Op != "insert" {
				if at+1 != l.From || old[at] != l.Text+end {
					t.Fatalf("line %d is said to be %q", l.From, l.Text)
				}
				at++
			}
			if l.Op != "delete" {
				if n := strings.Count(out.String(), "\n") + 1; n != l.To {
					t.Fatalf("line %d is said to be %d", n, l.To)
				}
				out.WriteString(l.Text + end)
			}
			words := ""
			for _, w := range l.Words {
				words += w.Text
			}
			if words != "" && words != l.Text {
				t.Fatalf("words %q of line %q", words, l.Text)
			}
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String()
}

// A difference leads from one text to the other, of short texts and long ones.
func TestDifferenceLeadsToTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "a b c", "- Use a semicolon.", "- Use a comma.", "", "ä ö", "@@ -1,2 +3,4 @@", "--- x", "\\ No newline at end of file"})
		text := func(name string) string {
			n := rapid.SampledFrom([]int{0, 1, 5, 20, 1600}).Draw(t, name+" long")
			lines := rapid.SliceOfN(line, 0, 12).Draw(t, name)
			var b strings.Builder
			for i := range min(n, len(lines)*n) {
				b.WriteString(lines[i%len(lines)])
				if i > 20 && i%3 == 0 {
					fmt.Fprint(&b, i)
				}
				b.WriteString("\n")
			}
			if rapid.Bool().Draw(t, name+" ends") {
				b.WriteString("the end")
			}
			return b.String()
		}
		before, after := text("before"), text("after")
		d := Diff(skill.New(before), skill.New(after), "x", "y")
		if d.Equal != (before == after) || d.Equal != (len(d.Files) == 0) || d.Equal != (d.Diff == "") {
			t.Fatalf("equal %v, %d files", d.Equal, len(d.Files))
		}
		if !d.Equal {
			if got := sided(t, d.Files[0], before); got != after {
				t.Fatalf("leads to\n%q, want\n%q", got, after)
			}
		}
	})
}

func TestDifferenceShowsWords(t *testing.T) {
	t.Parallel()
	a := skill.New("one\n- Give the price in EUR.\nthree\n").WithFile("gone.md", "x\n").WithFile("same.md", "y\n")
	b := skill.New("one\n- Give the price in USD.\nthree\n").WithFile("new.md", "").WithFile("same.md", "y\n")
	d := Diff(a, b, "x", "y")
	states := map[string]string{}
	for _, f := range d.Files {
		states[f.Path] = f.State
	}
	if fmt.Sprint(states) != "map[SKILL.md:changed gone.md:removed new.md:added]" {
		t.Errorf("%v", states)
	}
	lines := d.Files[0].Hunks[0].Lines
	var changed []string
	for _, l := range lines {
		for _, w := range l.Words {
			if w.Changed {
				changed = append(changed, l.Op+" "+w.Text)
			}
		}
	}
	if fmt.Sprint(changed) != "[delete EUR insert USD]" {
		t.Errorf("%v", changed)
	}
}

// What differences of 256 KB of text take, of which all is changed, in ways that cost a
// comparison of all lines the most.
func BenchmarkDifferenceOf256KB(b *testing.B) {
	const size = 256 << 10
	grow := func(line func(i int) string) string {
		var s strings.Builder
		for i := 0; s.Len() < size; i++ {
			s.WriteString(line(i))
		}
		return s.String()
	}
	for name, of := range map[string][2]func(i int) string{
		"every line":       {func(i int) string { return fmt.Sprintf("- Rule %d is old and long enough.\n", i) }, func(i int) string { return fmt.Sprintf("- Rule %d was new and short enough.\n", i) }},
		"every other line": {func(i int) string { return fmt.Sprintf("- Rule %d of them.\n", i) }, func(i int) string { return fmt.Sprintf("- Rule %d of them.\n", i+i%2*1000000) }},
		"a hundred lines over and over": {
			func(i int) string { return fmt.Sprintf("%d\n", i%100) },
			func(i int) string { return fmt.Sprintf("%d\n", (i*7+i/100)%100) },
		},
		"one line":    {func(i int) string { return fmt.Sprintf("word%d ", i) }, func(i int) string { return fmt.Sprintf("other%d ", i) }},
		"empty lines": {func(int) string { return "\n" }, func(i int) string { return strings.Repeat(" ", i%2) + "\n" }},
	} {
		b.Run(name, func(b *testing.B) {
			x, y := skill.New(grow(of[0])), skill.New(grow(of[1]))
			for b.Loop() {
				if d := Diff(x, y, "x", "y"); d.Equal {
					b.Fatal("no difference")
				}
			}
		})
	}
}
