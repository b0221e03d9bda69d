package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
)

// progress shows a run: one line that is drawn over on a terminal, plain lines
// elsewhere. Lines that report a decision stay.
type progress struct {
	mu       sync.Mutex
	w        io.Writer // text that is printable goes there, and what moves the cursor
	terminal bool
	width    int
	now      func() time.Time
	path     func(string) string // how a path is shown

	start     time.Time
	steps     int
	selection int // tasks that judge
	stepsDone int
	replayed  int   // of those, steps that came from the record
	calls     int64 // when the last step was done
	epoch     int
	step      int
	best      *float64
	last      event.Progress
	drawn     bool
	drawnAt   time.Time
}

func newProgress(s Streams) *progress {
	return &progress{w: rawWriter(s.Err), terminal: s.Terminal, width: s.Width, now: time.Now, start: time.Now(), path: func(p string) string { return p }}
}

// handle takes one event.
func (p *progress) handle(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case event.RunStarted:
		p.beginRun(e)
	case event.StageStarted:
		p.epoch, p.step = e.Epoch, e.Step
		p.last.Stage, p.last.Done, p.last.Total = e.Stage, 0, e.Total
		p.draw(false)
	case event.Progress:
		p.last = e
		p.draw(false)
	case event.StepDone:
		p.stepDone(e)
	case event.EpochDone:
		p.epochDone(e)
	case event.Stopped:
		p.line("%s", e.Words)
	case event.NoiseFloor:
		p.noise(e)
	case event.Compared:
		p.line("pass %d  %s  %s  %s", e.Pass, wording.Plural(e.Pairs, "pair", "pairs"), differenceText(e.Difference, e.Low, e.High), strings.ReplaceAll(e.Verdict, "_", " "))
	case event.Warning:
		// Indented, a text of several lines cannot pass for lines of its own.
		p.line("warning: %s", strings.ReplaceAll(e.Text, "\n", "\n  "))
	case event.Waiting:
		patience := time.Duration(e.PatienceS * float64(time.Second))
		p.line("waiting for %s: %s; the run stops if that lasts for %s", e.Endpoint, oneLine(e.Reason), patience)
	case event.Steered:
		p.line("%s", steeredText(e))
	case event.RunDone:
		p.clear()
	}
}

// steeredText says what somebody outside of the process has asked for.
func steeredText(e event.Steered) string {
	from := "from outside (" + oneLine(e.From) + ")"
	switch {
	case e.Refused != "" && e.What == "":
		return "a file in control was no request and is removed: " + oneLine(e.Refused)
	case e.Refused != "":
		return fmt.Sprintf("asked %s to %s, and refused: %s", from, map[string]string{"stop": "stop", "stop_now": "stop at once", "limit": "change ceilings"}[e.What], oneLine(e.Refused))
	case e.What == "stop":
		return "stopping, as asked " + from + ": calls in flight are finished and recorded; interrupt twice to stop at once"
	case e.What == "stop_now":
		return "stopping at once, as asked " + from
	}
	var parts []string
	for _, name := range []string{"usd", "tokens", "calls", "time"} {
		if v, ok := e.Limits[name]; ok {
			parts = append(parts, name+" "+ceilingText(v))
		}
	}
	return "ceilings changed " + from + ": " + strings.Join(parts, ", ")
}

// ceilingText returns a ceiling as it is in an event.
func ceilingText(v any) string {
	if v == nil {
		return "none"
	}
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func (p *progress) beginRun(e event.RunStarted) {
	p.steps, p.selection, p.start = e.Steps, e.Selection, p.now()
	verb := "run"
	if e.Resumed {
		verb = fmt.Sprintf("resuming (%s recorded)", wording.Plural(e.Recorded, "call", "calls"))
	}
	tasks := fmt.Sprintf("%d train, %d selection", e.Train, e.Selection)
	if e.Folds > 0 {
		tasks = fmt.Sprintf("%d train and selection in %s", e.Train, wording.Plural(e.Folds, "pool", "folds"))
	}
	p.line("%s %s: %s, %d test %s, %s", verb, p.path(e.RunDir), tasks, e.Test, wording.PluralWord(e.Test, "task", "tasks"), wording.Plural(e.Steps, "step", "steps"))
	if e.Continues != "" {
		p.line("%s", e.Continues)
	}
	if e.Folds > 0 {
		p.line("best is the score on all %d tasks, on most of which the skill is made too: expect less on new ones", e.Train)
	}
}

func (p *progress) stepDone(e event.StepDone) {
	if e.Best != nil {
		p.best = e.Best
	}
	p.notePace(e.Step)
	if e.Step == 0 {
		p.line("seed  selection %s", e.SelectionUnanswered.After(scoreText(e.Current)))
		return
	}
	edits := fmt.Sprint(e.Edits)
	if e.Budget > 0 {
		edits += fmt.Sprintf("/%d", e.Budget)
	}
	edits = "edits " + edits
	if e.Examples > 0 {
		edits = wording.Plural(e.Examples, "example", "examples")
	}
	digits := len(fmt.Sprint(p.steps))
	p.line("step %*d/%d  epoch %d  train %-5s  %-10s  candidate %-5s  best %-5s  %s",
		digits, e.Step, p.steps, e.Epoch, scoreText(e.Rollout), edits, partScore(e.Candidate, e.N, p.selection), scoreText(e.Best), decisionText(e.Action, e.Difference, e.N)+unansweredText(e.RolloutUnanswered, e.SelectionUnanswered))
}

// unansweredText says what of a step was refused or late, "" if nothing was.
func unansweredText(train, candidate score.Unanswered) string {
	text := ""
	for _, of := range []struct {
		name string
		score.Unanswered
	}{{"train", train}, {"candidate", candidate}} {
		if words := of.Words(); words != "" {
			text += fmt.Sprintf("  %s: %s", of.name, words)
		}
	}
	return text
}

// partScore returns a score on n of all tasks. A score on a part of them is marked, because it is
// not to be compared with scores on all.
func partScore(v *float64, n, all int) string {
	if v == nil || n == 0 || n >= all {
		return scoreText(v)
	}
	return fmt.Sprintf("%s on %d of %d", scoreText(v), n, all)
}

// decisionText returns a decision, and what a race rested it on.
func decisionText(action string, difference *float64, n int) string {
	if difference == nil {
		return action
	}
	return fmt.Sprintf("%s (%+.3f on %s)", action, *difference, wording.Plural(n, "task", "tasks"))
}

// noise says what asking twice has shown.
func (p *progress) noise(e event.NoiseFloor) {
	if e.Twice == 0 {
		return
	}
	changed := "no answer changed"
	if e.Flips > 0 {
		changed = wording.Plural(e.Flips, "answer", "answers") + " changed"
	}
	seen := "noise cannot be measured with this skill"
	if e.Detectable != nil {
		seen = fmt.Sprintf("a difference of %.1f points can be seen", 100**e.Detectable)
	}
	p.line("noise %s asked twice, %s; %s", wording.Plural(e.Twice, "task", "tasks"), changed, seen)
}

// notePace notes what the remaining time is computed from: the pace of steps that called
// models, not of those that a resumed run reads from its record, and not of the
// seed's score.
func (p *progress) notePace(step int) {
	if step == 0 || p.last.Calls == p.calls {
		p.start, p.replayed = p.now(), step
	}
	p.stepsDone, p.calls = step, p.last.Calls
}

func (p *progress) epochDone(e event.EpochDone) {
	if e.SlowUpdate == "" && !e.MetaSkill {
		return
	}
	text := "epoch " + fmt.Sprint(e.Epoch) + " end"
	if e.SlowUpdate != "" {
		text += "  slow update: " + e.SlowUpdate
	}
	if e.MetaSkill {
		text += "  meta skill written"
	}
	p.line("%s", text)
}

// line prints a line that stays.
func (p *progress) line(format string, args ...any) {
	p.clear()
	text := printable(fmt.Sprintf(format, args...))
	for one := range strings.SplitSeq(text, "\n") {
		if p.terminal {
			one = fold(one, p.width-1)
		}
		fmt.Fprintln(p.w, printable(one))
	}
	p.draw(true)
}

// end takes the drawn line away: what is printed next is not the run's. It never
// fails.
func (p *progress) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.terminal = false
	return nil
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// draw redraws the progress line, at most twenty times a second.
func (p *progress) draw(force bool) {
	if !p.terminal || p.last.Stage == "" || !force && p.now().Sub(p.drawnAt) < 50*time.Millisecond {
		return
	}
	p.drawnAt = p.now()
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.fit(p.fields()))
	p.drawn = true
}

// fit joins as many parts as the terminal has room for: half a number would be
// another number.
func (p *progress) fit(parts []string) string {
	var line []rune
	for i, part := range parts {
		next := []rune(oneLine(part))
		if i > 0 {
			next = append([]rune("  "), next...)
		}
		if over := len(line) + len(next) - (p.width - 1); p.width > 1 && over > 0 {
			if i == 0 {
				return string(next[:p.width-1])
			}
			break
		}
		line = append(line, next...)
	}
	return string(line)
}

// where says what is being worked on. Outside of training there are no steps.
func (p *progress) where() []string {
	switch {
	case p.steps == 0:
		return []string{p.last.Stage}
	case p.step == 0:
		return []string{"seed skill", p.last.Stage}
	}
	return []string{fmt.Sprintf("epoch %d step %d/%d", p.epoch, p.step, p.steps), p.last.Stage}
}

// fields returns the parts of the drawn line, the most important first.
func (p *progress) fields() []string {
	fields := p.where()
	if p.last.Total > 0 {
		fields = append(fields, fmt.Sprintf("%d/%d", p.last.Done, p.last.Total))
	}
	if p.best != nil {
		fields = append(fields, "best "+scoreText(p.best))
	}
	fields = append(fields, wording.Plural(p.last.Calls, "call", "calls"), fmt.Sprintf("%s tokens", count(p.last.Input+p.last.Output)))
	if p.last.Cost != nil {
		fields = append(fields, fmt.Sprintf("$%.2f", *p.last.Cost))
	}
	if d, ok := p.remainingTime(); ok {
		fields = append(fields, d.Round(time.Second).String()+" left")
	}
	return fields
}

// remainingTime extrapolates the time from the steps that are done.
func (p *progress) remainingTime() (time.Duration, bool) {
	done := p.stepsDone - p.replayed
	if done <= 0 {
		return 0, false
	}
	each := p.now().Sub(p.start) / time.Duration(done)
	return each * time.Duration(p.steps-p.stepsDone), true
}

// eventSinks returns a sink for everything that wants the run's events, and a
// function that closes what was opened.
func (a *app) eventSinks() (event.Sink, func() error, error) {
	view := newProgress(a.Streams)
	view.path = a.relative
	show := view.handle
	if a.hear != nil {
		show = a.hear
	}
	return a.eventsTo(show, view.end)
}

// eventsTo returns a sink that shows events and writes them where --events says, and a function
// that closes what was opened and ends the showing.
func (a *app) eventsTo(show event.Sink, end func() error) (event.Sink, func() error, error) {
	if a.events == "" {
		return show, end, nil
	}
	w := underlyingWriter(a.Out) // a run does not fail because its events are not read
	done := end
	if a.events != "-" {
		f, err := os.Create(a.absolute(a.events))
		if err != nil {
			return nil, nil, fmt.Errorf("open --events file: %w", err)
		}
		w, done = f, func() error { return errors.Join(end(), f.Close()) }
	}
	return writeEvents(w, show), done, nil
}

// writeEvents shows events, and writes them to w as well until that fails: the run is
// worth more than its events, so that one warning is the only result.
func writeEvents(w io.Writer, show event.Sink) event.Sink {
	broken := false
	return func(e event.Event) {
		show(e)
		if broken {
			return
		}
		line, err := event.Marshal(e, time.Now())
		if err == nil {
			_, err = io.WriteString(w, printable(string(line))+"\n")
		}
		if err != nil {
			broken = true
			show(event.Warning{Text: "no more events are written: " + err.Error()})
		}
	}
}
