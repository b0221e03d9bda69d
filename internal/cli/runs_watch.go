package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// runsWatchOptions are the flags of runs watch.
type runsWatchOptions struct{ once bool }

func runsWatchCommand(a *app) *cobra.Command {
	var o runsWatchOptions
	c := &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Watch a run from another terminal: what it does, what it spends, whether it is alive",
		Long: `Show how far a run is, again and again: its status, the stage at work, calls, tokens
and money of their ceilings, scores with intervals, the last decisions and failed
attempts, and when its record has grown last. Without RUN it is the newest one in the
folder runs.

It reads while the process trains and neither locks nor slows it. It ends when
the run ends or was killed, with exit code 0 however the run ended; Ctrl-C ends it
before, and the run continues. Without a terminal, or with TERM=dumb, it prints lines;
with --json a document a line.`,
		Example: `  skillopt runs watch
  skillopt runs watch runs/my-skill-3
  ssh -t host skillopt runs watch /data/runs/my-skill-3
  skillopt runs watch --once                    is it alive?
  skillopt runs watch --json >> log`,
		Args: atMost(1, "at most one run directory"),
		RunE: onRun(a, o.run),
	}
	c.Flags().BoolVar(&o.once, "once", false, "look once")
	return c
}

// retryEvery is how long the look after a failed first one waits.
const retryEvery = 100 * time.Millisecond

// watching is where looks at a run go.
type watching interface {
	look(p record.Progress) error
	end(last record.Progress) error // no look comes after it
}

// run watches a run until it has ended, or no one watches any more.
func (o *runsWatchOptions) run(ctx context.Context, a *app, path string) (err error) {
	view, every := o.view(a, path)
	w := record.Watch(a.absolute(path), time.Now)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last record.Progress
	for failed := 0; ; {
		p, err := w.Look(ctx)
		if err != nil {
			if failed++; failed == mostFailedLooks || isMissingRun(err) {
				return errors.Join(o.lookError(path, err, last), view.end(last))
			}
		} else {
			failed, last = 0, shareable(p)
			if done := o.once || p.Ended(); done && p.Unread == 0 {
				return view.end(last)
			}
			if err := view.look(last); err != nil {
				return errors.Join(err, view.end(last))
			}
		}
		next := tick.C
		switch {
		case err == nil && last.Unread > 0: // a long record is read in parts, without waiting in between
			next = closedChannel()
		case err != nil && last.RunID == "": // nothing was shown yet: the one who waits learns it soon
			next = time.After(retryEvery)
		}
		if a.wait(ctx, next) {
			return view.end(last)
		}
	}
}

// mostFailedLooks is how many looks may fail one after the other: files change while they
// are read.
const mostFailedLooks = 3

func isMissingRun(err error) bool {
	var none *run.MissingError
	return errors.As(err, &none)
}

// lookError returns the error of a look that failed.
func (o *runsWatchOptions) lookError(path string, err error, last record.Progress) error {
	switch {
	case !isMissingRun(err):
		return err
	case last.RunID != "":
		return usagef("run %s is gone: it was deleted or moved while it was watched", path)
	}
	return usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
}

// wait waits for the next look. It reports whether there is to be none.
func (a *app) wait(ctx context.Context, next <-chan time.Time) (end bool) {
	select {
	case <-next:
		return false
	case <-a.Signals:
	case <-ctx.Done():
	}
	return true
}

// closedChannel returns a channel that is ready at once.
func closedChannel() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// view returns how looks are shown, and how often there is one.
func (o *runsWatchOptions) view(a *app, path string) (watching, time.Duration) {
	every := 10 * time.Second
	live := a.Shown && !a.Dumb && !o.once && !a.json
	if live {
		every = time.Second
	}
	text := watchText{path: path, once: o.once}
	switch {
	case a.json:
		return watchJSON{a.Out}, every
	case live:
		return &watchScreen{watchText: text, w: rawWriter(a.Out), size: a.size}, every
	}
	return &watchLines{watchText: text, out: a.printer(a.Out)}, every
}

// size returns the size of the terminal on which results are shown, in columns and rows.
func (a *app) size() (columns, rows int) {
	if a.Size != nil {
		columns, rows = a.Size()
	}
	if columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// watchJSON prints a document for each look.
type watchJSON struct{ w io.Writer }

func (v watchJSON) look(p record.Progress) error {
	line, err := json.Marshal(ask.WithLists(p))
	if err == nil {
		_, err = fmt.Fprintf(v.w, "%s\n", line)
	}
	if err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

func (v watchJSON) end(last record.Progress) error {
	if last.RunID == "" {
		return nil
	}
	return v.look(last)
}

// watchScreen draws each look over the one before, on a screen of its own. What it has
// shown last stays behind when it ends.
type watchScreen struct {
	watchText
	w     io.Writer // what is printable goes there, and what moves the cursor
	size  func() (columns, rows int)
	begun bool
}

// Sequences of terminals: a screen of its own without a cursor, on which long lines are
// cut, and back.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

func (v *watchScreen) look(p record.Progress) error {
	columns, rows := v.size()
	lines := v.frame(p, columns)
	foot := fold("Ctrl-C ends watching; the run continues", columns-1)
	room := rows - 1 - strings.Count(foot, "\n") - 1
	if len(lines) > room {
		lines = lines[:max(0, room)]
	}
	var b strings.Builder
	if !v.begun {
		b.WriteString(enterScreen)
		v.begun = true
	}
	b.WriteString(toTop)
	for _, line := range append(lines, strings.Split(foot, "\n")...) {
		b.WriteString(printable(line) + clearLine + "\r\n")
	}
	b.WriteString(clearBelow)
	return v.write(b.String())
}

func (v *watchScreen) end(last record.Progress) error {
	columns, _ := v.size()
	var b strings.Builder
	if v.begun {
		b.WriteString(leaveScreen)
	}
	if last.RunID != "" {
		for _, line := range v.frame(last, columns) {
			b.WriteString(printable(line) + "\r\n")
		}
		if !last.Ended() {
			b.WriteString("\r\nthe run continues\r\n")
		}
	}
	return v.write(b.String())
}

func (v *watchScreen) write(text string) error {
	if _, err := io.WriteString(v.w, text); err != nil {
		return fmt.Errorf("draw the screen: %w", err)
	}
	return nil
}
