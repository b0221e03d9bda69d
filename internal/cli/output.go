package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file owns the rules of wording, how errors and JSON are printed, and the exit
// codes. printer.go lays out text.
//
// Results go to standard output, everything else to standard error. A message
// starts in lower case, has no full stop, and says in this order what happened,
// where, what is allowed, and the command that helps. Every error is printed
// once, after "skillopt: ".

// Exit codes. They are part of the interface.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInput       = 2   // config, tasks, skill, missing key, other identity
	exitWaiting     = 3   // for an answer of a person
	exitBudget      = 4   // a ceiling of limits
	exitUnmeasured  = 5   // nothing measurable: server unreachable, env faults
	exitLocked      = 6   // another process has the run open, or what sleep keeps
	exitEnvironment = 7   // disk, permission
	exitStopped     = 130 // stopped by the user
)

const exitHelp = `Exit codes: 0 ok; 1 failed; 2 bad input (config, tasks, skill, missing key,
another identity); 3 waiting for an answer; 4 stopped by a budget; 5 nothing
could be measured; 6 the run is locked; 7 disk or permission; 130 stopped.`

// exitCode maps an error to the exit code that the documentation promises.
func exitCode(err error) int {
	var (
		usage  *usageError
		asked  *ask.Error
		tasks  *task.Error
		opened *skillopt.Error
		record *run.DamagedError
		none   *run.NoDirError
		locked *run.LockedError
		kept   *bank.Error
		asleep *bank.LockedError
		docs   *target.Error
		deaf   *unheededError
	)
	switch {
	case err == nil:
		return exitOK
	case adoptionCode(err) != exitOK:
		return adoptionCode(err)
	case timerCode(err) != exitOK:
		return timerCode(err)
	case errors.As(err, &opened):
		return codeOf[opened.Kind]
	case errors.As(err, &usage), errors.As(err, &asked), errors.As(err, &tasks), errors.As(err, &record), errors.As(err, &none), config.IsInput(err):
		return exitInput
	case errors.As(err, &locked), errors.As(err, &asleep), errors.As(err, &deaf):
		return exitLocked
	case errors.As(err, &kept), errors.As(err, &docs):
		return exitInput
	case errors.Is(err, context.Canceled):
		return exitStopped
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // the reader of the output has gone: no fault of the disk
	case isEnvironment(err):
		return exitEnvironment
	}
	return exitFailed
}

var codeOf = map[skillopt.ErrorKind]int{
	skillopt.BadInput:     exitInput,
	skillopt.Waiting:      exitWaiting,
	skillopt.OverBudget:   exitBudget,
	skillopt.Unmeasurable: exitUnmeasured,
	skillopt.Locked:       exitLocked,
	skillopt.Environment:  exitEnvironment,
	skillopt.Stopped:      exitStopped,
	skillopt.Internal:     exitFailed,
}

// isEnvironment reports whether err is about the disk, a path or its permissions.
func isEnvironment(err error) bool {
	var file *fs.PathError
	var names *os.LinkError
	return errors.As(err, &file) || errors.As(err, &names) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT)
}

// usageError is a command line that cannot be carried out.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// ErrorKind says whose business the error is.
func (*usageError) ErrorKind() string { return string(fault.BadInput) }

// asFlag returns an error about a field of a question as one about the flag of its name.
func asFlag(err error) error {
	var asked *ask.Error
	if errors.As(err, &asked) && asked.Field != "" {
		return usagef("--%s: %s", asked.Field, asked.Message)
	}
	return err
}

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// exploratory says what results on unreviewed tasks are. n is how many of them
// there are, 0 if that does not matter.
func exploratory(n int) string {
	who := "tasks are drafts"
	if n > 0 {
		who = wording.Plural(n, "task is a draft", "tasks are drafts")
	}
	return "exploratory: " + who + " without a review (skillopt tasks review)"
}

// writeCaveats says what the scores of a result are not.
func writeCaveats(out io.Writer, simulated, unreviewed bool, limit int) {
	if simulated {
		fmt.Fprintln(out, "simulated models: the scores are those of a simulation")
	}
	if unreviewed {
		fmt.Fprintln(out, exploratory(0))
	}
	writeLimit(out, limit)
}

// writeLimit says that no more than limit tasks of each split are used; 0: all are.
func writeLimit(out io.Writer, limit int) {
	if limit > 0 {
		fmt.Fprintf(out, "limited to %s a split (tasks.limit): no score is that of the whole set\n", wording.Plural(limit, "task", "tasks"))
	}
}

// shareable returns a result in which everything that looks like a secret is masked, since output
// is pasted into tickets and chats. Paths and the skill itself stay as they are.
func shareable[T any](v T) T { return ask.Shareable(v) }

// printError prints err once, with every line of it indented under the first. What
// looks like a secret is masked. As JSON it is a result.Failure.
func printError(out printer, err error, asJSON bool) {
	if asJSON && printFailure(out, out.dir, err) == nil {
		return
	}
	text := redact.Text(err.Error())
	for line := range strings.SplitSeq("skillopt: "+strings.ReplaceAll(printable(text), "\n", "\n  "), "\n") {
		out.line(line)
	}
}

// printAnswer prints an answer of internal/ask, as the server gives it: no list in it is null.
func printAnswer(w io.Writer, v any) error { return printJSON(w, ask.WithLists(v)) }

// printJSON prints one document. Characters that steer a terminal are escaped in it
// as JSON escapes them.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(onScreen(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Dir      string // working directory
	Terminal bool   // Err is a terminal: progress is drawn, questions are asked
	Shown    bool   // Out is a terminal: also documents are shown with escapes
	Color    bool   // Out is a terminal that shows colours, and no one has asked for none
	Width    int    // of the terminal, in columns
	Signals  <-chan os.Signal
	Clouds   skillopt.Clouds
	Battery  func(ctx context.Context) bool // the machine runs on battery; nil: the system is asked

	// Of the terminal that Out is: it takes no sequences that move the cursor (TERM=dumb);
	// its size, in columns and rows, asked each time, nil where there is no such terminal.
	Dumb bool
	Size func() (columns, rows int)
}
