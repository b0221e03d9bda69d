package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// command is a command line that a message repeats.
type command struct {
	path    string
	options trainOptions
	hide    *redact.Redactor
}

// text returns the command line as a shell takes it, without secrets. The setting of the limit that
// was reached is left out ("" if none was).
func (c command) text(reached string) string {
	words := []string{"skillopt", "train"}
	if len(c.options.beside) == 0 { // else the configuration is that of the run that is gone on from
		words = append(words, shellWord(c.path))
	}
	for _, f := range []struct{ name, value string }{{"tasks", c.options.tasks}, {"target", c.options.target}, {"optimizer", c.options.optimizer}, {"replay", c.options.replay}} {
		if f.value != "" {
			words = append(words, "--"+f.name, shellWord(f.value))
		}
	}
	if c.options.from != "" {
		words = append(words, "--continue", shellWord(c.options.from), "--epochs", c.options.epochs)
	}
	for _, set := range c.options.sets {
		key, value, _ := strings.Cut(set, "=")
		if reached != "" && (key == reached || key == "limits") {
			continue
		}
		name := key[strings.LastIndexByte(key, '.')+1:]
		words = append(words, "--set", shellWord(key+"="+c.hide.Entry(name, value)))
	}
	return strings.Join(words, " ")
}

// memory returns the flag with the runs whose edits the optimizer is shown. A run that is resumed
// in its directory needs it no longer.
func (c command) memory() string {
	if len(c.options.memory) == 0 {
		return ""
	}
	return " --memory " + shellWord(strings.Join(c.options.memory, ","))
}

// finishHint says how a run ends that a ceiling has stopped.
func (c command) finishHint() string {
	if c.options.finish {
		return ""
	}
	return "\nor add --finish to that: what there is is evaluated, on the test split too, and the run ends"
}

// withResume adds to err how the run in dir is resumed.
func withResume(err error, dir string, c command) error {
	code := exitCode(err)
	if code == exitInput || code == exitLocked {
		return err
	}
	dir = shellWord(dir)
	// The old run would refuse what has to be changed.
	var other interface{ ChangesIdentity() bool }
	if errors.As(err, &other) && other.ChangesIdentity() {
		return fmt.Errorf("%w\nthat change makes it another run: train again to begin one; with --run %s --fork NEW_DIR it reuses what this one has paid for", err, dir)
	}
	var budget *caller.BudgetError
	if errors.As(err, &budget) {
		return fmt.Errorf("%w\nnothing that was paid for is lost; raise %s (--set %s=...) and continue with: %s --run %s%s",
			err, budget.Limit, budget.Limit, c.text(budget.Limit), dir, c.finishHint())
	}
	if code == exitBudget {
		return fmt.Errorf("%w\nnothing that was paid for is lost; continue with: %s --run %s%s", err, c.text(""), dir, c.finishHint())
	}
	if code == exitWaiting {
		return fmt.Errorf("%w\nnothing is scored before they are answered; then continue with: %s --run %s", err, c.text(""), dir)
	}
	return fmt.Errorf("%w\nnothing that was paid for is lost; continue with: %s --run %s", err, c.text(""), dir)
}
