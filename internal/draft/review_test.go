package draft_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/task"
)

// odd is a file in which nothing is laid out as Encode does it.
const odd = "\ufeff" + `{"id":"a","reviewed": false ,"prompt":"p <b>","n":1.50,"gold":"g"}` + "\r\n" +
	"\n" +
	`{"id":"b","prompt":"q","gold":"g"}` + "\n" +
	`  {"prompt":"r","gold":["g"],"z":{"reviewed":false},"reviewed":false}` + "\n" +
	`{"id":"d","prompt":"s","gold":"g","reviewed":true}`

func open(t *testing.T, content string) (*draft.Review, string) {
	t.Helper()
	path := filepath.Join(put(t, map[string]string{"tasks.jsonl": content}), "tasks.jsonl")
	r, err := draft.OpenReview(path)
	if err != nil {
		t.Fatal(err)
	}
	return r, path
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAcceptKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	r, path := open(t, odd)
	if diff := cmp.Diff([]int{0, 3}, r.PendingLines()); diff != "" {
		t.Fatal(diff)
	}
	if err := r.Accept(3); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(odd, `"reviewed":false}`+"\n{", `"reviewed":true}`+"\n{", 1)
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Error(diff)
	}
	if err := r.Accept(r.PendingLines()...); err != nil {
		t.Fatal(err)
	}
	want = strings.Replace(want, `"reviewed": false ,`, `"reviewed": true ,`, 1)
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Error(diff)
	}
	if len(r.PendingLines()) != 0 {
		t.Error("an accepted task is pending")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file may be read by others now: %v", info.Mode())
	}
}

func TestRejectLosesNothing(t *testing.T) {
	t.Parallel()
	r, path := open(t, odd)
	first := string(r.Line(0))
	if err := r.Reject(0); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); strings.Contains(got, `"id":"a"`) || !strings.HasPrefix(got, "\ufeff\n") {
		t.Errorf("the file is now %q", got)
	}
	if got := content(t, r.RejectedPath()); got != first+"\n" {
		t.Errorf("rejected: %q, want %q", got, first)
	}
	if r.Number(3) != 3 {
		t.Errorf("the task on line 4 is on line %d now, want 3", r.Number(3))
	}
	if err := r.Reject(3); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(content(t, r.RejectedPath()), "\n"); n != 2 {
		t.Errorf("%d rejected tasks, want 2", n)
	}
}

// TestRejectGoesOnAfterAKill: the task is in both files, and once in the second.
func TestRejectGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	r, _ := open(t, odd)
	if err := os.WriteFile(r.RejectedPath(), append(r.Line(0), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Reject(0); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(content(t, r.RejectedPath()), "\n"); n != 1 {
		t.Errorf("the task was kept %d times", n)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	r, path := open(t, odd)
	if err := r.Replace(0, []byte("{\n  \"id\": \"a\",\n  \"prompt\": \"new\",\n  \"gold\": \"g\",\n  \"reviewed\": false\n}\n")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(content(t, path), "\ufeff"+`{"id":"a","prompt":"new","gold":"g","reviewed":false}`+"\r\n\n") {
		t.Errorf("the file is now %q", content(t, path))
	}
	if err := r.Replace(3, []byte(`{"prompt":"r","gold":"g"}`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0}, r.PendingLines()); diff != "" {
		t.Errorf("a task without the field counts as reviewed:\n%s", diff)
	}
	before := content(t, path)
	for _, bad := range []string{`{"a":`, `[1]`, `{} {}`, ``} {
		if err := r.Replace(0, []byte(bad)); err == nil {
			t.Errorf("%q is taken for a task", bad)
		}
	}
	if content(t, path) != before {
		t.Error("a refused task changed the file")
	}
}

func TestReviewNoticesOtherWriters(t *testing.T) {
	t.Parallel()
	r, path := open(t, odd)
	other := strings.Replace(odd, "p <b>", "mine", 1)
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(0); !errors.Is(err, draft.ErrChanged) {
		t.Errorf("accepting over another's change: %v", err)
	}
	if err := r.Replace(0, []byte(`{"prompt":"x","gold":"g"}`)); !errors.Is(err, draft.ErrChanged) {
		t.Errorf("replacing over another's change: %v", err)
	}
	if content(t, path) != other {
		t.Error("the other's change is lost")
	}
}

func TestOpenReviewErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a"}` + "\n" + `{"reviewed":false`: "tasks.jsonl:2: the line is not JSON",
		`["reviewed"]`:                         "tasks.jsonl:1: the line is no JSON object",
		`{"reviewed":false}{"reviewed":false}`: "tasks.jsonl:1: the line holds more than one JSON object",
		`{"x":NaN,"reviewed":false}`:           "tasks.jsonl:1: the line is not JSON",
	} {
		path := filepath.Join(put(t, map[string]string{"tasks.jsonl": text}), "tasks.jsonl")
		if _, err := draft.OpenReview(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if r, _ := open(t, `{"x":NaN,"prompt":"a line that is none of our business"}`+"\n"); len(r.PendingLines()) != 0 {
		t.Error("a task that says nothing of a review is pending")
	}
}

func TestLintOfAnEditedTask(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"prompt":"p","gold":"g"}`:                                                "",
		`{"gold":"g","input":"the set has a template"}`:                            "",
		`{"prompt":"p"}`:                                                           "no gold answer",
		`{"prompt":"p","gold":"g","checks":[{"type":"euqals"}]}`:                   "unknown check",
		`{"prompt":"p","gold":"g","checks":[{"type":"not-contains","value":"x"}]}`: "cannot fail",
		`{"prompt":"p","gold":"g","reviewed":"perhaps"}`:                           "must be true or false",
		`{"prompt":"p",`: "the task is not JSON",
	} {
		err := draft.Lint(t.TempDir(), []byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzAccept: accepting changes the one field and no other value.
func FuzzAccept(f *testing.F) {
	f.Add(odd)
	f.Add(`{"reviewed":false,"reviewed":false}`)
	f.Add(`{"a":"\u2028","reviewed" : "false" }` + "\r")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(put(t, map[string]string{"tasks.jsonl": text}), "tasks.jsonl")
		r, err := draft.OpenReview(path)
		if err != nil {
			return
		}
		pending := r.PendingLines()
		before := make([]map[string]any, len(pending))
		for n, i := range pending {
			if err := json.Unmarshal(r.Line(i), &before[n]); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Accept(pending...); err != nil {
			t.Fatal(err)
		}
		again, err := draft.OpenReview(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.PendingLines()) != 0 {
			t.Fatalf("still pending: %v", again.PendingLines())
		}
		for n, i := range pending {
			var after map[string]any
			if err := json.Unmarshal(again.Line(i), &after); err != nil {
				t.Fatal(err)
			}
			before[n]["reviewed"] = true
			if diff := cmp.Diff(before[n], after); diff != "" {
				t.Fatal(diff)
			}
		}
		if len(pending) == 0 && content(t, path) != text {
			t.Fatal("nothing was accepted, and the file differs")
		}
	})
}

// TestReviewSeesWhatTheLoaderSees: a task that counts as unreviewed can be
// accepted, however its line says so.
func TestReviewSeesWhatTheLoaderSees(t *testing.T) {
	t.Parallel()
	suite, err := check.Compile(nil, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	unreviewed := func(path string) int {
		set, err := task.Load(path, task.Rules{Prompt: "-", Checker: suite})
		if err != nil {
			t.Fatal(err)
		}
		return set.Unreviewed()
	}
	for _, field := range []string{
		`"reviewed":false`, `"reviewed":"false"`, `"reviewed":"FALSE"`, `"reviewed":0`, `"reviewed":"f"`, `"rev\u0069ewed": false`,
		`"reviewed":true`, `"reviewed":1`, `"reviewed":null`, `"reviewed":""`, `"Reviewed":false`,
	} {
		path := filepath.Join(t.TempDir(), "tasks.jsonl")
		if err := os.WriteFile(path, []byte(`{"id":"a","prompt":"p \u00e9","gold":"g",`+field+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := draft.OpenReview(path)
		if err != nil {
			t.Errorf("%s: %v", field, err)
			continue
		}
		if want := unreviewed(path); len(r.PendingLines()) != want {
			t.Errorf("%s: %d to review, %d unreviewed", field, len(r.PendingLines()), want)
		}
		if err := r.Accept(r.PendingLines()...); err != nil {
			t.Errorf("%s: %v", field, err)
		}
		if n := unreviewed(path); n != 0 {
			t.Errorf("%s: %d unreviewed after all", field, n)
		}
	}
}
