package env

import (
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// BenchmarkAnswer measures one line out and one in, with a process per slot.
func BenchmarkAnswer(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(Options{
		Command: []string{program}, Environ: []string{"SKILLOPT_TEST_PROGRAM=serve"}, Slots: 4,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := e.Answer(b.Context(), task.Task{ID: "t", Prompt: `say {"hard":1}`}, skill.Skill{}, nil); err != nil {
				b.Error(err)
			}
		}
	})
}
