package acceptance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// manual is an instruction of forty words.
var manual = strings.Repeat("Read the question with care and answer in few words, please. ", 4)

// quotients are n tasks of a kind that the world learns.
func quotients(n int) []task.Task {
	out := make([]task.Task, n)
	for i := range out {
		a, b := 211+7*i, 13+5*i
		out[i] = task.Task{ID: fmt.Sprint("asks-", i), Type: "split", Prompt: fmt.Sprintf("Divide %d by %d.", a, b), Gold: []string{fmt.Sprintf("about %.1f", float64(a)/float64(b))}}
	}
	return out
}

// reworded are tasks whose prompts the world does not know, with those that it knows.
type reworded struct {
	model.Client
	known map[string]string
}

func (r reworded) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	last := &req.Messages[len(req.Messages)-1]
	if plain, ok := r.known[last.Content]; ok {
		last.Content = plain
	}
	return r.Client.Generate(ctx, req)
}

// phrased makes another prompt of one; i is the number of the task.
type phrasing func(prompt string, i int) string

func under(prefix string) phrasing { return func(p string, _ int) string { return prefix + p } }

// certified trains in dir with other test tasks: n, which are the given ones over and over.
func certified(t testing.TB, dir string, n int, of []task.Task, word phrasing) *result.Certificate {
	t.Helper()
	set, err := task.Load(worldConfig("").Tasks.Path, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	all := append(set.Split(task.Train), set.Split(task.Selection)...)
	target := reworded{sim.New(simulated(t)), map[string]string{}}
	for i := range n {
		c := of[i%len(of)]
		c.ID, c.Split, c.Prompt = fmt.Sprintf("%s-%d", c.ID, i), task.Test, word(c.Prompt, i)
		target.known[c.Prompt] = of[i%len(of)].Prompt
		all = append(all, c)
	}
	return trained(t, worldConfig(""), dir, skillopt.WithTasks(all), skillopt.WithClient(model.Target, "world", target), skillopt.WithClient(model.Optimizer, "world", target)).Certificate
}

// Copies of a test task count once, whatever their ids, case and space, or a word of many.
func TestCopiesCountOnce(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]phrasing{
		"equal":         under(""),
		"case":          func(p string, i int) string { return strings.ToUpper(p[:i%4]) + p[i%4:] },
		"space":         func(p string, i int) string { return p + strings.Repeat(" ", i) },
		"with one word": func(p string, i int) string { return fmt.Sprintf("Item %d. ", i) + manual + p },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := certified(t, filepath.Join(t.TempDir(), "run"), 40, quotients(1), word)
			if c.N != 1 || c.Tasks != 40 || c.Certified || *c.Difference < 0.9 {
				t.Errorf("%d tasks count as %d, certified %v: %s", c.Tasks, c.N, c.Certified, c.Words)
			}
		})
	}
}

// Tasks that differ in what is asked stay what they are under one long instruction.
func TestOneInstructionIsNoCopy(t *testing.T) {
	t.Parallel()
	if c := certified(t, filepath.Join(t.TempDir(), "run"), 40, quotients(40), under(manual)); c.N != 40 || !c.Certified {
		t.Errorf("%d tasks count as %d, certified %v: %s", c.Tasks, c.N, c.Certified, c.Words)
	}
}

// One changed word makes no fresh test, and another question of the same template is one.
func TestNearTasksAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range []struct {
		name    string
		test    []task.Task
		word    phrasing
		reading int
	}{
		{"first", quotients(20), under(manual), 1},
		{"one word", quotients(20), under(strings.Replace(manual, "please", "now", 1)), 2},
		{"a word each", quotients(20), func(p string, i int) string { return fmt.Sprintf("Item %d. ", i) + manual + p }, 3},
		{"other questions", quotients(40)[20:], under(manual), 1},
		{"one of them", quotients(40)[39:], under(strings.ToUpper(manual)), 2},
	} {
		if got := certified(t, filepath.Join(dir, fmt.Sprint(i)), len(c.test), c.test, c.word); got.Reading != c.reading {
			t.Errorf("%s: reading %d, want %d: %s", c.name, got.Reading, c.reading, got.Words)
		}
	}
}

// Test tasks that are almost tasks of another split are named in the certificate.
func TestNearTasksOfSplitsAreNamed(t *testing.T) {
	t.Parallel()
	set, err := task.Load(worldConfig("").Tasks.Path, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	all := set.Tasks()
	for i := range all {
		if all[i].Prompt = manual + all[i].Prompt; all[i].Split == task.Train {
			c := all[i]
			c.ID, c.Split, c.Prompt = "again-"+c.ID, task.Test, "Kindly "+c.Prompt
			all = append(all, c)
		}
	}
	c := trained(t, worldConfig(""), filepath.Join(t.TempDir(), "run"), append(inProcess(t), skillopt.WithTasks(all))...).Certificate
	if len(c.Near) != 20 || c.Near[0].Task != "again-"+c.Near[0].Other || !strings.Contains(c.Words, "20 tasks are almost the same as one of train or selection (again-sum-0 and sum-0, ") {
		t.Errorf("%+v", c)
	}
}
