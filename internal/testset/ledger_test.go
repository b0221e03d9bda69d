package testset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// set makes tasks with numbers from and below to.
func set(from, to int) []task.Task {
	var out []task.Task
	for i := from; i < to; i++ {
		out = append(out, task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprintf("What is %d  squared?", i), Gold: []string{fmt.Sprint(i * i)}})
	}
	return out
}

func claim(t *testing.T, dir, run string, number int, tasks []task.Task) result.TestReads {
	t.Helper()
	found, err := Claim(t.Context(), dir, Reading{RunID: run, Number: number, Run: run, Command: "train", At: time.Unix(1, 0)}, tasks)
	if err != nil {
		t.Fatal(err)
	}
	return Sum(found)
}

func TestSetsThatShareATaskAreTheSame(t *testing.T) {
	t.Parallel()
	changed := func(f func(*task.Task)) []task.Task {
		out := set(0, 30)
		for i := range out {
			f(&out[i])
		}
		return out
	}
	for name, c := range map[string]struct {
		tasks []task.Task
		same  bool
	}{
		"the same":              {set(0, 30), true},
		"in another order":      {append(set(15, 30), set(0, 15)...), true},
		"one of them":           {set(29, 60), true},
		"none of them":          {set(30, 60), false},
		"under other ids":       {changed(func(k *task.Task) { k.ID = "x" + k.ID }), true},
		"with corrected gold":   {changed(func(k *task.Task) { k.Gold = []string{"1"} }), true},
		"with checks":           {changed(func(k *task.Task) { k.Checks = []byte(`[{"type":"equals"}]`) }), true},
		"with types and splits": {changed(func(k *task.Task) { k.Type, k.Split = "a", task.Test }), true},
		"with another field":    {changed(func(k *task.Task) { k.Data = map[string]any{"source": "b"} }), true},
		"with other spaces":     {changed(func(k *task.Task) { k.Prompt = strings.ReplaceAll(k.Prompt, " ", "\n ") }), true},
		"only the ids":          {changed(func(k *task.Task) { k.Prompt = "Who was " + k.ID + "?" }), false},
		"one question for all":  {changed(func(k *task.Task) { k.Prompt = "Play." }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			claim(t, dir, "first", 1, set(0, 30))
			want := 0
			if c.same {
				want = 1
			}
			if got := claim(t, dir, "second", 1, c.tasks); got.Times != want {
				t.Errorf("read %d times before, want %d", got.Times, want)
			}
		})
	}
}

// Levels of a game have one prompt: their ids or other fields tell them apart.
func TestTasksWithOnePrompt(t *testing.T) {
	t.Parallel()
	levels := func(field string, from, to int) (out []task.Task) {
		for i := from; i < to; i++ {
			k := task.Task{ID: fmt.Sprint("level", i), Prompt: "Play."}
			if field != "" {
				k.Data = map[string]any{field: i}
			}
			out = append(out, k)
		}
		return out
	}
	for _, field := range []string{"", "level"} {
		dir := t.TempDir()
		claim(t, dir, "a", 1, levels(field, 0, 10))
		if got := claim(t, dir, "b", 1, levels(field, 10, 20)); got.Times != 0 {
			t.Errorf("other levels (field %q): read %d times before", field, got.Times)
		}
		if got := claim(t, dir, "c", 1, levels(field, 9, 15)); got.Times != 2 {
			t.Errorf("shared levels (field %q): read %d times before, want 2", field, got.Times)
		}
	}
}

func TestClaimsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	claim(t, dir, "a", 1, set(0, 3))
	claim(t, dir, "b", 1, set(2, 5))
	claim(t, dir, "c", 1, set(0, 3))
	claim(t, dir, "c", 2, set(0, 3))
	if got := claim(t, dir, "b", 1, set(2, 5)); got.Times != 1 {
		t.Errorf("an opening noted again counts %d before it, want the 1 of the first time", got.Times)
	}
	got := claim(t, dir, "d", 1, set(2, 3))
	if diff := cmp.Diff("read 4 times before, by a, b, c (2 times)", got.Words()); diff != "" {
		t.Error(diff)
	}
	found, err := Look(t.Context(), dir, set(4, 9))
	if err != nil {
		t.Fatal(err)
	}
	if got := Sum(found); got.Words() != "read 1 time before, by b" {
		t.Errorf("looked up: %q", got.Words())
	}
}

// Of runs that open a set at once each has another place.
func TestClaimsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 16
	dir := t.TempDir()
	seen := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			found, err := Claim(t.Context(), dir, Reading{RunID: fmt.Sprint(i), Number: 1, At: time.Unix(1, 0)}, set(0, 50))
			if err != nil {
				t.Error(err)
				return
			}
			seen[len(found)]++
		})
	}
	all.Wait()
	for place, k := range seen {
		if k != 1 {
			t.Errorf("%d runs were told of %d before them", k, place)
		}
	}
}

func TestALedgerThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"of a newer program": {func(path string) error {
			dir := filepath.Dir(path)
			if _, err := Claim(t.Context(), dir, Reading{RunID: "a", Number: 1}, set(0, 1)); err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[63] = 9 // the last byte of user_version
			return os.WriteFile(path, data, 0o600)
		}, "format 9"},
		"something else": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600)
		}, "not a database"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := c.make(filepath.Join(dir, File)); err != nil {
				t.Fatal(err)
			}
			_, err := Claim(t.Context(), dir, Reading{RunID: "b", Number: 1}, set(0, 1))
			_, looked := Look(t.Context(), dir, set(0, 1))
			for _, err := range []error{err, looked} {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), File) {
					t.Errorf("error %v does not say %q of %s", err, c.want, File)
				}
			}
		})
	}
}

func TestShows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2000)
	for name, c := range map[string]struct {
		file  string
		tasks []task.Task
		want  bool
	}{
		"an arm":             {`{"best":[{"id":"t7","question":"Answer: What is 7 squared? Please."}]}`, set(0, 9), true},
		"another question":   {`{"best":[{"id":"t7","question":"What is 70 squared?"}]}`, set(0, 9), false},
		"another id":         {`{"best":[{"id":"u7","question":"What is 7 squared?"}]}`, set(0, 9), false},
		"passes":             {`{"a":[[{"id":"t1","question":"What is 1 squared?"}],[]],"b":[]}`, set(0, 9), true},
		"a question cut":     {`{"test":[{"id":"l","question":"` + long[:500] + `..."}]}`, []task.Task{{ID: "l", Prompt: long}}, true},
		"no task in the set": {`{"test":[{"id":"t1","question":"What is 1 squared?"}]}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "outcomes.json")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Shows(t.Context(), path, c.tasks); err != nil || got != c.want {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	many := result.TestReads{Times: 7}
	for i := range 7 {
		many.By = append(many.By, result.Reader{Run: fmt.Sprint("r", i), Times: 1})
	}
	for want, b := range map[string]*result.TestReads{
		"": {},
		"read 7 times before, by r0, r1, r2, r3, r4, and 2 more":                 &many,
		"read at least 1 time before, by a; there may be more: b cannot be read": {Times: 1, By: []result.Reader{{Run: "a", Times: 1}}, Unknown: "b cannot be read"},
		"read before, it is not known how often: it is no database":              {Unknown: "it is no database"},
	} {
		if got := b.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (*result.TestReads)(nil).Words(); got != "" {
		t.Errorf("nothing known: %q", got)
	}
}
