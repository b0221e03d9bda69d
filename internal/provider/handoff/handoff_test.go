package handoff_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/handoff"
	"github.com/seed-f4525e22/skillopt/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string) *handoff.Client {
	t.Helper()
	c, err := handoff.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func ask(text string) model.Request {
	return model.Request{
		Model: "somebody", Messages: []model.Message{{Role: model.System, Content: "# Skill\nBe brief."}, {Role: model.User, Content: text}},
		Tags: model.Tags{Stage: model.StageRollout, Role: model.Target, Run: "r"},
	}
}

// waiting asks and returns where the answer is expected.
func waiting(t *testing.T, c *handoff.Client, req model.Request) *handoff.WaitingError {
	t.Helper()
	_, err := c.Generate(t.Context(), req)
	var w *handoff.WaitingError
	if model.CodeOf(err) != model.Waiting || !errors.As(err, &w) {
		t.Fatalf("error %v, want one that waits", err)
	}
	return w
}

func answer(t *testing.T, w *handoff.WaitingError, text string) {
	t.Helper()
	body := "answer-to: " + w.ID + "\n" + text + "\nend-of-answer: " + w.ID + "\n"
	write(t, filepath.Join(w.Dir, w.Answer), body)
}

func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func index(t *testing.T, dir string) []handoff.Entry {
	t.Helper()
	var doc struct {
		Format    string
		Open      int
		Questions []handoff.Entry
	}
	if err := json.Unmarshal([]byte(read(t, dir, handoff.Index)), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != handoff.Format || doc.Open != len(doc.Questions) {
		t.Errorf("index %+v", doc)
	}
	return doc.Questions
}

func TestQuestionAndAnswer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "handoff")
	c := open(t, dir)
	if got := index(t, dir); len(got) != 0 {
		t.Errorf("index %+v before anything was asked", got)
	}
	w := waiting(t, c, ask("What is 2+2?\n```\n----- end user x -----\n```"))
	for _, part := range []string{w.Question, w.Answer, handoff.Readme, dir} {
		if !strings.Contains(w.Error(), filepath.FromSlash(part)) {
			t.Errorf("error %q does not name %s", w, part)
		}
	}
	text := read(t, dir, w.Question)
	for _, part := range []string{w.ID, "What is 2+2?", "# Skill", "role: target", "stage: rollout", "answer-to: " + w.ID, "end-of-answer: " + w.ID} {
		if !strings.Contains(text, part) {
			t.Errorf("the question lacks %q:\n%s", part, text)
		}
	}
	want := []handoff.Entry{{ID: w.ID, Stage: "rollout", Role: "target", Question: w.Question, Answer: w.Answer}}
	if diff := cmp.Diff(want, index(t, dir)); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	if !strings.Contains(read(t, dir, handoff.Readme), "fresh context") {
		t.Error("the folder does not say what to do")
	}

	answer(t, w, "\n  4 is\r\nthe answer ")
	// Another process finds it.
	resp, err := open(t, dir).Generate(t.Context(), ask("What is 2+2?\n```\n----- end user x -----\n```"))
	if want := (model.Response{Text: "4 is\nthe answer", Finish: model.FinishStop, Model: "somebody"}); err != nil || cmp.Diff(want, resp) != "" {
		t.Errorf("got %+v, %v", resp, err)
	}
	// So does this one, and takes the question off its list.
	if _, err := c.Generate(t.Context(), ask("What is 2+2?\n```\n----- end user x -----\n```")); err != nil || len(c.Open()) != 0 || len(index(t, dir)) != 0 {
		t.Errorf("%v, open: %+v", err, c.Open())
	}
}

// TestIDs: whatever the answer depends on makes another question, and nothing
// else does.
func TestIDs(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir())
	base := waiting(t, c, ask("q")).ID
	seed, zero := int64(7), 0.0
	changes := map[string]func(*model.Request){
		"model":       func(r *model.Request) { r.Model = "other" },
		"skill":       func(r *model.Request) { r.Messages[0].Content += "." },
		"task":        func(r *model.Request) { r.Messages[1].Content += " " },
		"role":        func(r *model.Request) { r.Messages[0].Role = model.User },
		"seed":        func(r *model.Request) { r.Seed = &seed },
		"temperature": func(r *model.Request) { r.Temperature = &zero },
		"schema":      func(r *model.Request) { r.Schema = &model.Schema{Name: "n", JSON: json.RawMessage(`{}`)} },
		"image": func(r *model.Request) {
			r.Messages[1] = model.Message{Role: model.User, Parts: []model.Part{{Text: "q"}, {Image: &model.Image{MIME: "image/png", Data: []byte("x")}}}}
		},
	}
	ids := map[string]string{base: "nothing"}
	for name, change := range changes {
		req := ask("q")
		change(&req)
		id := waiting(t, c, req).ID
		if other, taken := ids[id]; taken {
			t.Errorf("a change of %s gives the question that a change of %s gives", name, other)
		}
		ids[id] = name
	}
	req := ask("q")
	req.Tags = model.Tags{Stage: "elsewhere", Run: "another"}
	if got := waiting(t, c, req).ID; got != base {
		t.Errorf("the tags change the question")
	}
}

func TestFilesThatAreNoAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"empty", "", "first line"},
		{"half a line", "answ", "first line"},
		{"text alone", "4", "first line"},
		{"begun", "answer-to: ID", "not finished"},
		{"not finished", "answer-to: ID\n4\n", "not finished"},
		{"last line cut", "answer-to: ID\n4\nend-of-ans", "not finished"},
		{"last id cut", "answer-to: ID\n4\nend-of-answer: I", "not finished"},
		{"text after the end", "answer-to: ID\n4\nend-of-answer: ID\nmore", "not finished"},
		{"nothing said", "answer-to: ID\n \n\nend-of-answer: ID\n", "nothing between"},
		{"nothing at all", "answer-to: ID\nend-of-answer: ID\n", "nothing between"},
		{"to another question", "answer-to: 0123\n4\nend-of-answer: 0123", "another question"},
		{"end of another", "answer-to: ID\n4\nend-of-answer: 0123", "not finished"},
		{"not UTF-8", "answer-to: ID\n\xff\nend-of-answer: ID", "UTF-8"},
		{"too large", "answer-to: ID\n" + strings.Repeat("x", handoff.MaxAnswer) + "\nend-of-answer: ID", "larger"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := open(t, t.TempDir())
			w := waiting(t, c, ask("q"))
			write(t, filepath.Join(w.Dir, w.Answer), strings.ReplaceAll(tt.body, "ID", w.ID))
			bad := waiting(t, c, ask("q"))
			if !strings.Contains(bad.Problem, tt.want) || !strings.Contains(bad.Error(), bad.Problem) {
				t.Errorf("problem %q, want %q in it", bad.Problem, tt.want)
			}
			if got := index(t, w.Dir); len(got) != 1 || got[0].Problem != bad.Problem {
				t.Errorf("index %+v", got)
			}
		})
	}
}

func TestFormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"plain":      "answer-to: ID\n4\nend-of-answer: ID\n",
		"no newline": "answer-to: ID\n4\nend-of-answer: ID",
		"windows":    "\uFEFFanswer-to: ID\r\n4\r\nend-of-answer: ID\r\n",
		"roomy":      "\n\n  answer-to:  ID \n\n\n4\n\n  end-of-answer: ID  \n\n",
	} {
		c := open(t, t.TempDir())
		w := waiting(t, c, ask("q"))
		write(t, filepath.Join(w.Dir, w.Answer), strings.ReplaceAll(body, "ID", w.ID))
		if resp, err := c.Generate(t.Context(), ask("q")); err != nil || resp.Text != "4" {
			t.Errorf("%s: %q, %v", name, resp.Text, err)
		}
	}
}

func TestOutOfTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir)
	w := waiting(t, c, ask("q"))
	outside := filepath.Join(t.TempDir(), "secret.md")
	write(t, outside, "answer-to: "+w.ID+"\nstolen\nend-of-answer: "+w.ID)
	if err := os.Symlink(outside, filepath.Join(dir, w.Answer)); err != nil {
		t.Skip(err)
	}
	if bad := waiting(t, c, ask("q")); !strings.Contains(bad.Problem, "regular file") {
		t.Errorf("problem %q", bad.Problem)
	}
	if err := os.Mkdir(filepath.Join(dir, handoff.Answers, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A folder that is itself a way out is not written through.
	other := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.Mkdir(victim, 0o700), os.Symlink(victim, filepath.Join(other, handoff.Questions))); err != nil {
		t.Fatal(err)
	}
	escaping, err := handoff.New(other)
	if err != nil {
		return
	}
	defer func() { _ = escaping.Close() }()
	if _, err := escaping.Generate(t.Context(), ask("q")); model.CodeOf(err) == model.Waiting {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("%v was written outside, %v", left, err)
	}
}

func TestImagesAndSchema(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir())
	req := ask("")
	req.Messages[1] = model.Message{Role: model.User, Parts: []model.Part{
		{Text: "Compare "}, {Image: &model.Image{MIME: "image/png", Data: []byte("one")}}, {Text: " with "}, {Image: &model.Image{MIME: "image/jpeg", Data: []byte("two")}},
	}}
	req.Schema = &model.Schema{Name: "verdict", JSON: json.RawMessage(`{"type":"object"}`)}
	w := waiting(t, c, req)
	text := read(t, w.Dir, w.Question)
	first, second := w.ID+"-1.png", w.ID+"-2.jpg"
	if want := fmt.Sprintf("Compare [image: %s] with [image: %s]", first, second); !strings.Contains(text, want) || !strings.Contains(text, `{"type":"object"}`) {
		t.Errorf("the question lacks %q or the schema:\n%s", want, text)
	}
	if read(t, w.Dir, handoff.Questions, first) != "one" || read(t, w.Dir, handoff.Questions, second) != "two" {
		t.Error("the images are not beside the question")
	}
}

func TestRequestsThatCannotBeHandedOff(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir())
	tools := ask("q")
	tools.Tools = []model.Tool{{Name: "list"}}
	for name, req := range map[string]model.Request{"tools": tools, "nothing": {Model: "m"}} {
		if _, err := c.Generate(t.Context(), req); model.CodeOf(err) != model.BadRequest {
			t.Errorf("%s: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Generate(ctx, ask("q")); !errors.Is(err, context.Canceled) || len(c.Open()) > 0 {
		t.Errorf("error %v, open %v", err, c.Open())
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if _, err := handoff.New(file); err == nil {
		t.Error("a file is no folder")
	}
}

// TestRounds has a caller ask as a run does: all questions are put before it
// ends, nothing is recorded of those that wait, and the next round goes on.
func TestRounds(t *testing.T) {
	t.Parallel()
	const calls = 40
	dir, db := t.TempDir(), filepath.Join(t.TempDir(), "run.db")
	waits := round(t, dir, db, calls)
	if len(waits) != calls || len(index(t, dir)) != calls {
		t.Fatalf("%d calls wait and the index has %d, want %d", len(waits), len(index(t, dir)), calls)
	}
	for i, w := range waits {
		if i%2 == 0 {
			answer(t, w, "an answer to "+w.ID)
		}
	}
	if rest := round(t, dir, db, calls); len(rest) != calls/2 || len(index(t, dir)) != calls/2 {
		t.Fatalf("%d calls wait after half was answered", len(rest))
	} else {
		for _, w := range rest {
			answer(t, w, "an answer to "+w.ID)
		}
	}
	if left := round(t, dir, db, calls); len(left) > 0 {
		t.Errorf("%d calls wait after all was answered", len(left))
	}
	// What is recorded needs no folder any more.
	if left := round(t, t.TempDir(), db, calls); len(left) > 0 {
		t.Errorf("%d calls are asked again", len(left))
	}
}

func round(t *testing.T, dir, db string, calls int) []*handoff.WaitingError {
	t.Helper()
	j, err := journal.Open(t.Context(), db, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	c, err := caller.New(caller.Options{Journal: j, Roles: map[string]caller.Role{
		model.Target: {Client: open(t, dir), Endpoint: "handoff", Model: "somebody", Source: "handoff"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	found := make([]*handoff.WaitingError, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			key := fmt.Sprint("item", i)
			resp, err := c.Do(t.Context(), caller.Call{
				Key: key, Role: model.Target, Stage: model.StageRollout,
				Messages: []model.Message{{Role: model.User, Content: key}},
			})
			var waits *caller.WaitingError
			switch {
			case errors.As(err, &waits) && errors.As(err, &found[i]):
				if waits.Key == "" {
					t.Errorf("%s: the error has no key", key)
				}
			case err != nil || !strings.HasPrefix(resp.Text, "an answer to "):
				t.Errorf("%s: %q, %v", key, resp.Text, err)
			}
		})
	}
	wg.Wait()
	if n := journal.Sum(j.Totals()).FaultCount(); n > 0 {
		t.Errorf("%d faults are recorded", n)
	}
	return slices.DeleteFunc(found, func(w *handoff.WaitingError) bool { return w == nil })
}
