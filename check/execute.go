package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// MaxHead is how many bytes from the beginning of what an Execute prints the
// command after it gets.
const MaxHead = 1 << 20

// Execution is what a command check runs before its command: a program that may
// be the agent's, and that learns nothing of what is expected. It never uses the network.
type Execution struct {
	Argv    []string      `json:"argv"`    // program and arguments; run in the workspace
	Timeout time.Duration `json:"timeout"` // above 0
}

// command returns the command of the execution that Carry passes to run.
func (e *Execution) command(missingFails bool) Command {
	return Command{Argv: e.Argv, Timeout: e.Timeout, MissingFails: missingFails, Untrusted: true}
}

// executeVerdict reads how Execute ended. decided says that the command has nothing to add: the
// verdict is that of the check, an error that nothing was measured. A program that ran, also one
// that took too long or wrote too much, decides nothing: the command gets its end, and judges.
func (c *Command) executeVerdict(r *CommandResult) (v verdict, decided bool, err error) {
	switch {
	case c.Execute == nil:
		return v, false, nil
	case r == nil:
		return v, true, errors.New("execute was not run, so that there is nothing to judge")
	case r.End == EndDeadline || r.End == EndFlood || r.End == EndLimit:
		return v, false, nil
	case r.End != EndExit:
		return v, true, fmt.Errorf("execute ended by %q, which means nothing", r.End)
	case r.killer() != "":
		return v, true, fmt.Errorf("execute was ended by %s, which measures nothing: that comes from outside, for want of memory perhaps", r.killer())
	case r.missingReason() != "":
		if v, err = r.missingVerdict(c.MissingFails, true); err != nil {
			err = fmt.Errorf("execute: %w", err)
		}
		v.reason = "execute: " + v.reason
		return v, true, err
	}
	return v, false, nil
}

// unseen finds a variable that an Execute does not see.
var unseen = pattern.New(`\$\{?(GOLD|TASK|CONFIG_DIR|OUTPUT)\b`)

// execution reads execute, nil without one.
func (s *spec) execution() *Execution {
	v, ok := s.get("execute")
	if !ok {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		s.fail("execute", "an object with argv or run expected, found %s", describe(v))
		return nil
	}
	inner := &spec{path: join(s.path, "execute"), m: m, kind: "execute"}
	e := &Execution{Argv: inner.argv(), Timeout: inner.duration("timeout", defaultCommandTimeout, maxCommandTimeout)}
	for _, word := range e.Argv {
		if found := unseen.FindStringSubmatch(word); found != nil {
			inner.fail("", "$%s is not there for what may be the agent's program; name it in the command, which sees what execute has left in $OUTPUT", found[1])
			break
		}
	}
	if err := inner.finish(); err != nil {
		s.errs = append(s.errs, err)
	}
	return e
}
