package env

import (
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// BenchmarkRollout measures one line out and one in, with a process per slot.
func BenchmarkRollout(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(Options{
		Command: []string{program}, Environ: []string{"SKILLOPT_TEST_PROGRAM=serve"}, Slots: 4,
		Score: func(string, task.Task) score.Score { return score.Score{} },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := e.Rollout(b.Context(), task.Task{ID: "t", Prompt: `say {"hard":1}`}, skill.Skill{}, nil); err != nil {
				b.Error(err)
			}
		}
	})
}
