package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestUndeclaredClusters(t *testing.T) {
	t.Parallel()
	made := func(n int, make func(i int) task.Task) []task.Task {
		out := []task.Task{}
		for i := range n {
			out = append(out, make(i))
		}
		return out
	}
	with := func(field string, value func(i int) any) []task.Task {
		return made(40, func(i int) task.Task {
			return task.Task{Prompt: fmt.Sprint("question ", i), Data: map[string]any{field: value(i), "n": i}}
		})
	}
	text := func(k int) string { return fmt.Sprint(k, strings.Repeat(" and what a long invoice says", 9)) }
	for name, tt := range map[string]struct {
		tasks []task.Task
		want  string // part of the warning; "": none
	}{
		"no tasks":            {nil, ""},
		"five to a document":  {with("document_id", func(i int) any { return i / 5 }), `40 of 40 test tasks share their "document_id" with others (8 different ones)`},
		"a long text":         {with("material", func(i int) any { return text(i / 5) }), `gate.group=material counts those together once`},
		"all of one document": {with("document", func(int) any { return "the only one" }), ""},
		"one document each":   {with("document", func(i int) any { return i }), ""},
		"kinds":               {with("category", func(i int) any { return i % 8 }), ""},
		"a few share":         {with("document", func(i int) any { return max(i, 10) - 10 }), ""},
		"nothing there":       {with("document", func(int) any { return nil }), ""},
		"in the prompt": {made(40, func(i int) task.Task {
			return task.Task{Prompt: text(i/4) + fmt.Sprint(" How much is item ", i)}
		}), "40 of 40 test tasks begin with the same 200 characters as others (10 different ones)"},
		"one instruction": {made(40, func(i int) task.Task { return task.Task{Prompt: text(1) + fmt.Sprint(i)} }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Inputs{}
			s.Data.Test = tt.tasks
			s.undeclaredClusters()
			told := strings.Join(s.Warnings, "\n")
			if (told == "") != (tt.want == "") || !strings.Contains(told, tt.want) {
				t.Errorf("told %q, want %q", told, tt.want)
			}
			s.Warnings, s.Config.Gate.Group = nil, "document"
			if s.undeclaredClusters(); s.Warnings != nil {
				t.Errorf("told though clusters are declared: %v", s.Warnings)
			}
		})
	}
}
