package handoff_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/provider/handoff"
)

// What was taken from an answer stands: a file that says something else afterwards is named, whoever comes next. One that
// is deleted is not missed, and one that was never taken may change.
func TestTrap36AnAnswerThatChangesAfterwards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir)
	first, second := waiting(t, c, ask("2+2?")), waiting(t, c, ask("3+3?"))
	answer(t, first, "four")
	answer(t, second, "five")
	for range 2 {
		if got, err := c.Generate(t.Context(), ask("2+2?")); err != nil || got.Text != "four" {
			t.Fatalf("%q, %v", got.Text, err)
		}
	}
	answer(t, second, "six") // nobody has taken it
	again, err := handoff.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(){
		"another answer": func() { answer(t, first, "5") },
		"no answer":      func() { write(t, filepath.Join(dir, first.Answer), "answer-to: nobody\n") },
	} {
		change()
		_, err = handoff.New(dir)
		var changed *handoff.ChangedError
		if !errors.As(err, &changed) || !strings.Contains(err.Error(), first.Answer) || len(changed.Answers) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	answer(t, first, "5")
	if _, err := c.Generate(t.Context(), ask("2+2?")); err == nil || !strings.Contains(err.Error(), first.Answer) {
		t.Errorf("the changed answer is used: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, first.Answer)); err != nil {
		t.Fatal(err)
	}
	// A line that was being written when the program ended takes nothing along.
	write(t, filepath.Join(dir, handoff.Used), read(t, dir, handoff.Used)+first.ID[:9])
	again, err = handoff.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
