package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What is put into the region comes out of it, nothing else of the document changes, and
// edits cannot change it.
func TestExamplesRoundTrip(t *testing.T) {
	t.Parallel()
	all := []Example{{"one\n\ntwo", "1"}, {"three", "<answer>3</answer>\nand more"}}
	for name, text := range map[string]string{
		"plain":            "# T\n\n- rule\n",
		"front matter":     "---\nname: t\ndescription: d\n---\n\n# T\n",
		"CRLF":             "# T\r\n\r\n- rule\r\n",
		"with guidance":    "# T\n\n<!-- SLOW_UPDATE_START -->\ng\n<!-- SLOW_UPDATE_END -->\n",
		"no last line end": "# T",
	} {
		s := New(text).WithExamples(all)
		if diff := cmp.Diff(all, Examples(s.Text())); diff != "" {
			t.Errorf("%s (-put +found):\n%s", name, diff)
		}
		if want := strings.Contains(text, "\r\n"); strings.Contains(s.Text(), "\r\n") != want {
			t.Errorf("%s: line ends are mixed: %q", name, s.Text())
		}
		if again := s.WithExamples(all); !again.Equal(s) {
			t.Errorf("%s: a second time it is another document: %q", name, again.Text())
		}
		if got := s.WithExamples(nil).Text(); strings.TrimRight(got, "\r\n") != strings.TrimRight(text, "\r\n") {
			t.Errorf("%s: without examples %q is left of %q", name, got, text)
		}
		for _, e := range []Edit{{Op: Delete, Target: "three"}, {Op: Replace, Target: "Answer:\n1", Content: "Answer:\n2"}, {Op: InsertAfter, Target: "three", Content: "x"}} {
			out, _ := Apply(s, []Edit{e}, ApplyOptions{})
			if diff := cmp.Diff(all, Examples(out.Text())); diff != "" {
				t.Errorf("%s: edit %s changed the examples:\n%s", name, e.Op, diff)
			}
		}
	}
}

// Tasks are texts of anyone: whatever they hold, the region stays one region of as many
// examples, and each task is found in it.
func TestExamplesOfAnyText(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		ExamplesStart, ExamplesEnd, SlowStart, SlowEnd, AppendixEnd, LearnedStart, "### Example", "## Worked examples", "Task:", "Answer:\n", "---\n", "\r\n", "\n\n", "\u202e", "a", " ", "<!--", "-->", "#",
	})
	text := rapid.Custom(func(t *rapid.T) string { return "x" + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Example { return Example{text.Draw(t, "task"), text.Draw(t, "answer")} }), 1, 4).Draw(t, "examples")
		seed := "# T\n\n" + SlowStart + "\nguidance\n" + SlowEnd + "\n"
		s := New(seed).WithExamples(all)
		if n := len(ExampleRanges(s.Text())); n != len(all) {
			t.Fatalf("%d examples are %d: %q", len(all), n, s.Text())
		}
		shows := Shows(s.Text())
		for _, e := range all {
			if !shows(e.Task) {
				t.Fatalf("task %q is not found in %q", e.Task, s.Text())
			}
		}
		if got := SlowText(s.Text()); got != "guidance" {
			t.Fatalf("guidance has become %q", got)
		}
	})
}

// A task whose text is a part of another one's is not shown by it.
func TestShowsWholeTasks(t *testing.T) {
	t.Parallel()
	shows := Shows(New("# T\n").WithExamples([]Example{{"What is 1+1?\n\nPlease", "2"}}).Text())
	for task, want := range map[string]bool{"What is 1+1?\n\nPlease": true, "What is 1+1?": false, "Please": false, "": false} {
		if shows(task) != want {
			t.Errorf("%q: shown is %v", task, !want)
		}
	}
	if Shows("# T\n\nTask:\nq\n\nAnswer:\n1\n")("q") {
		t.Error("a text without the region shows a task")
	}
}
