package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

func manyTags(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("tag %d", i))
	}
	return out
}

// Notes are kept as they are written within their bounds, and what is out of them changes
// nothing.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	kept := result.Notes{Text: "a\x1b[31mb\n\u202e", Tags: []string{"ä", "b c"}}
	if got, err := WriteNotes(dir, result.Notes{Text: kept.Text, Tags: []string{" ä ", "b c", "ä"}}); err != nil || cmp.Diff(kept, got) != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, n := range map[string]result.Notes{
		"long text": {Text: strings.Repeat("a", MaxNote+1)}, "no UTF-8": {Text: "\xff"}, "empty tag": {Tags: []string{" "}}, "a tag of lines": {Tags: []string{"a\nb"}},
		"a comma": {Tags: []string{"a,b"}}, "an escape": {Tags: []string{"a\x1b"}}, "a long tag": {Tags: []string{strings.Repeat("ä", MaxTag+1)}}, "many tags": {Tags: manyTags(MaxTags + 1)},
		"a direction": {Tags: []string{"a\u202eb"}},
	} {
		var wrong *NotesError
		if _, err := WriteNotes(dir, n); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := ReadNotes(dir); err != nil || cmp.Diff(kept, got) != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := WriteNotes(dir, result.Notes{Text: strings.Repeat("ä", MaxNote/2), Tags: manyTags(MaxTags)}); err != nil {
		t.Error(err)
	}
	if _, err := WriteNotes(dir, result.Notes{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(NotesPath(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty notes leave a file: %v", err)
	}
	var none *run.MissingError
	if _, err := WriteNotes(filepath.Dir(dir), kept); !errors.As(err, &none) {
		t.Errorf("of no run: %v", err)
	}
}

// Notes of another run that had the name are not those of this one, and a file that cannot be
// read says so.
func TestNotesThatAreNotItsOwn(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	for text, want := range map[string]string{
		`{"version":1,"run_id":"other","text":"x"}`: "", `{"version":1,"run_id":"large","text":"x"}`: "x", `{"version":1,"text":"x"}`: "x",
	} {
		putFile(t, NotesPath(dir), text)
		if got, err := ReadNotes(dir); err != nil || got.Text != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{`{`: "damaged", `{"version":9}`: "this program reads version 1", strings.Repeat(" ", maxNotes+1): "larger than"} {
		putFile(t, NotesPath(dir), text)
		if _, err := ReadNotes(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", text, err)
		}
		if r := Row(t.Context(), dir); r.Status != "completed" || !strings.Contains(r.Reason, want) {
			t.Errorf("%.20s: row %+v", text, r)
		}
	}
	if runtime.GOOS == "windows" {
		return // where links need a right of their own
	}
	elsewhere := filepath.Join(t.TempDir(), "notes")
	putFile(t, elsewhere, `{"version":1,"text":"x"}`)
	if err := errors.Join(os.Remove(NotesPath(dir)), os.Symlink(elsewhere, NotesPath(dir))); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadNotes(dir); err == nil {
		t.Error("a link was read")
	}
	for _, n := range []result.Notes{{Text: "y"}, {}} {
		if _, err := WriteNotes(dir, n); err == nil {
			t.Errorf("%+v was written over a link", n)
		}
	}
}
