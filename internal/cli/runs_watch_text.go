package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// watchText says in words how far a run is.
type watchText struct {
	path string
	once bool
}

// labelWidth is the width of what is in front of a line of the screen.
const labelWidth = 10

// reasonColumns bounds the reason why a run did not complete: some list all that helps,
// which runs show prints.
const reasonColumns = 240

// frame returns the whole text in lines that fit into the columns of a terminal.
func (t watchText) frame(p record.Progress, columns int) []string {
	var out []string
	add := func(label, text string) {
		width := max(columns-1-labelWidth, 12)
		for i, line := range strings.Split(fold(oneLine(text), width), "\n") {
			if i > 0 {
				label = ""
			}
			out = append(out, fmt.Sprintf("%-*s%s", labelWidth, label, line))
		}
	}
	add("run", t.path)
	status := statusWords(p)
	if p.Simulated {
		status += " (simulated models)"
	}
	add("status", status)
	if p.Reason != "" {
		add("", shortenText(oneLine(p.Reason), reasonColumns))
	}
	add("alive", aliveWords(p))
	if p.Unread > 0 {
		add("reading", fmt.Sprintf("%s of %s entries so far", count(p.Entries-p.Unread), count(p.Entries)))
	}
	if where := whereWords(p); where != "" {
		add("at", where)
	}
	for i, w := range p.Work {
		label := ""
		if i == 0 {
			label = "work"
		}
		add(label, workWords(w, p))
	}
	add("calls", callWords(p))
	add("tokens", tokenWords(p))
	if p.USD != nil || p.Ceilings.USD != nil || p.Unknown > 0 && !p.Simulated {
		add("money", moneyWords(p))
	}
	if p.Ceilings.Time != "" {
		add("time", "ceiling "+p.Ceilings.Time)
	}
	if p.Current != nil {
		add("current", standingWords(p.Current))
	}
	if p.Best != nil {
		add("best", standingWords(p.Best))
	}
	for i, d := range slices.Backward(p.Decisions) {
		label := ""
		if i == len(p.Decisions)-1 {
			label = "decided"
		}
		add(label, decidedWords(d))
	}
	for i, f := range slices.Backward(p.Faults) {
		label := ""
		if i == len(p.Faults)-1 {
			label = "failed"
		}
		add(label, faultWords(f, p.At))
	}
	return out
}

// statusWords returns how a run is, with the word that `runs list` and `runs show` have for it.
func statusWords(p record.Progress) string {
	if p.Killed {
		return "killed: no process works on it; the same command continues"
	}
	status := string(p.Status)
	switch p.Status {
	case result.Stopped:
		return status + " by the user; the same command continues"
	case result.OverBudget:
		return status + ": at a ceiling; raised, the same command continues"
	case result.Waiting:
		return status + " for answers; then the same command continues"
	case result.Undecided:
		return status + "; more passes continue it"
	case result.Running, result.Completed, result.Failed:
	}
	return status
}

// whereWords returns the step that a run is at, in words.
func whereWords(p record.Progress) string {
	if p.Kind != result.Train {
		return cmp.Or(kindWord(p.Kind), string(p.Kind))
	}
	if p.Step == 0 {
		return "seed skill"
	}
	text := fmt.Sprintf("epoch %d, step %d", p.Epoch, p.Step)
	if p.Plan != nil && p.Plan.Steps > 0 {
		text += fmt.Sprintf(" of %d", p.Plan.Steps)
	}
	return text
}

// workWords returns how much is answered at a place, in words.
func workWords(w record.Work, p record.Progress) string {
	at := placeWords(w.At)
	switch {
	case w.Step > 0 && w.Step != p.Step:
		at = fmt.Sprintf("step %d %s", w.Step, at)
	case w.Step == 0 && w.Epoch > 0:
		at = fmt.Sprintf("epoch %d %s", w.Epoch, at)
	}
	switch {
	case w.Of > 0:
		return fmt.Sprintf("%s: %d of %d tasks", at, w.Answered, w.Of)
	case w.Stage == "rollout":
		return fmt.Sprintf("%s: %s", at, wording.Plural(w.Answered, "task", "tasks"))
	}
	return fmt.Sprintf("%s: %s", at, wording.Plural(w.Answered, "call", "calls"))
}

// placeWords returns a place in words. It leaves out the first batch of a step, which is mostly the only one.
func placeWords(at string) string {
	return strings.ReplaceAll(strings.TrimPrefix(at, "mb0/"), "/", " ")
}

func callWords(p record.Progress) string {
	text := fmt.Sprint(p.Calls)
	if p.Ceilings.Calls != nil {
		text += fmt.Sprintf(" of %d", *p.Ceilings.Calls)
	}
	if p.Plan != nil && p.Plan.Expected != nil && !p.Ended() {
		e := p.Plan.Expected.Calls
		text += fmt.Sprintf(", expected %.0f (%.0f to %.0f)", e.Expected, e.Low, e.High)
	}
	if !p.Ended() {
		text += fmt.Sprintf(", %d in the last minute", p.LastMinute)
	}
	if p.Inherited > 0 {
		text += fmt.Sprintf("; %d taken over", p.Inherited)
	}
	failed := int64(0)
	var by []string
	for _, code := range slices.Sorted(maps.Keys(p.Failed)) {
		failed += p.Failed[code]
		by = append(by, fmt.Sprintf("%s %d", code, p.Failed[code]))
	}
	if failed > 0 {
		text += fmt.Sprintf("; %s failed: %s", wording.Plural(failed, "attempt", "attempts"), strings.Join(by, " "))
	}
	return text
}

func tokenWords(p record.Progress) string {
	about := ""
	if p.Unknown > 0 {
		about = "~"
	}
	text := fmt.Sprintf("%s%s in, %s%s out", about, count(p.Tokens.Input), about, count(p.Tokens.Output))
	if p.Ceilings.Tokens != nil {
		text += fmt.Sprintf(", of %s", count(*p.Ceilings.Tokens))
	}
	if p.Unknown > 0 {
		text += "; usage unknown for " + wording.Plural(p.Unknown, "call", "calls")
	}
	return text
}

func moneyWords(p record.Progress) string {
	text := "not known"
	switch {
	case p.USD != nil && p.Unknown > 0:
		text = fmt.Sprintf("~$%.4f", *p.USD)
	case p.USD != nil:
		text = fmt.Sprintf("$%.4f", *p.USD)
	}
	if p.Ceilings.USD != nil {
		text += fmt.Sprintf(" of $%g", *p.Ceilings.USD)
	}
	return text
}

func standingWords(s *record.Standing) string {
	text := scoreText(s.Score)
	if s.Low != nil && s.High != nil {
		text += fmt.Sprintf(" [%.3f, %.3f]", *s.Low, *s.High)
	}
	text += " on " + s.Over()
	return s.After(text) + ", " + cmp.Or(s.Origin, "unknown")
}

// longSilence is after which time without an entry it is said what that may mean.
const longSilence = time.Minute

// aliveWords returns when the record has grown last, in words.
func aliveWords(p record.Progress) string {
	switch {
	case p.LastEntry == nil:
		return "nothing is recorded yet"
	case p.SilentS == nil:
		return fmt.Sprintf("last entry %s (entry %d)", p.LastEntry.Format("2006-01-02 15:04:05 MST"), p.Entries)
	}
	silent := time.Duration(*p.SilentS * float64(time.Second)).Round(time.Second)
	text := fmt.Sprintf("last entry %s ago (entry %d)", silent, p.Entries)
	if silent >= longSilence {
		text += "; its process is there and waits: for answers, or before it asks again"
	}
	return text
}

func decidedWords(d record.Decided) string {
	head := fmt.Sprintf("step %d", d.Step)
	switch {
	case d.End:
		head = fmt.Sprintf("end of epoch %d, slow update", d.Epoch)
	case d.Step == 0:
		return "seed skill scored " + d.After(scoreText(d.Score))
	}
	text := head + ": " + decisionText(d.Action, d.Difference, d.N)
	if d.Difference == nil && d.Score != nil {
		text += ", candidate " + scoreText(d.Score)
	}
	return d.After(text)
}

func faultWords(f record.Faulted, now time.Time) string {
	text := cmp.Or(f.Code, "no result") + ", " + placeWords(cmp.Or(f.At, f.Stage))
	if f.Task != "" {
		text += " " + f.Task
	}
	if f.Ended != nil {
		text += fmt.Sprintf(", %s ago", max(0, now.Sub(*f.Ended)).Round(time.Second))
	}
	return text
}

// watchLines prints what is new, and a line about the rest, where nothing can be drawn.
type watchLines struct {
	watchText
	out printer

	begun bool
	step  int // that was decided last
	ends  int // epochs whose end was
	fault int64
}

func (v *watchLines) look(p record.Progress) error {
	stamp := p.At.Local().Format("15:04:05")
	if !v.begun {
		v.begun = true
		v.noteProgress(p)
		fmt.Fprintf(v.out, "%s  watching %s\n", stamp, oneLine(v.path))
	}
	for _, d := range p.Decisions {
		if d.Step > v.step && !d.End || d.End && d.Epoch > v.ends {
			v.out.line(stamp + "  " + oneLine(decidedWords(d)))
		}
	}
	for _, f := range p.Faults {
		if f.Seq > v.fault {
			v.out.line(stamp + "  failed: " + oneLine(faultWords(f, p.At)))
		}
	}
	v.noteProgress(p)
	v.out.line(stamp + "  " + oneLine(strings.Join(v.summaryParts(p), "  ")))
	return v.failure()
}

// noteProgress notes what was shown.
func (v *watchLines) noteProgress(p record.Progress) {
	for _, d := range p.Decisions {
		if d.End {
			v.ends = max(v.ends, d.Epoch)
		} else {
			v.step = max(v.step, d.Step)
		}
	}
	for _, f := range p.Faults {
		v.fault = max(v.fault, f.Seq)
	}
}

// summaryParts returns the parts of a look in a line.
func (v *watchLines) summaryParts(p record.Progress) []string {
	parts := []string{strings.SplitN(statusWords(p), ":", 2)[0], whereWords(p)}
	for _, w := range p.Work {
		parts = append(parts, workWords(w, p))
	}
	calls := wording.Plural(p.Calls, "call", "calls")
	if p.Ceilings.Calls != nil {
		calls = fmt.Sprintf("%d of %d calls", p.Calls, *p.Ceilings.Calls)
	}
	parts = append(parts, fmt.Sprintf("%s (%d in the last minute)", calls, p.LastMinute), tokenWords(p)+" tokens")
	if p.USD != nil {
		parts = append(parts, moneyWords(p))
	}
	if p.Best != nil {
		parts = append(parts, "best "+scoreText(p.Best.Score))
	}
	if p.Unread > 0 {
		parts = append(parts, fmt.Sprintf("still reading: %s entries are left", count(p.Unread)))
	}
	return append(parts, aliveWords(p))
}

func (v *watchLines) end(last record.Progress) error {
	if last.RunID == "" {
		return nil
	}
	columns := v.out.columns
	if columns <= 0 {
		columns = 1 << 16
	}
	for _, line := range v.frame(last, columns) {
		fmt.Fprintln(v.out, line)
	}
	if !last.Ended() && !v.once {
		fmt.Fprintln(v.out, "the run continues")
	}
	return v.failure()
}

// failure returns the error that kept a line from being printed.
func (v *watchLines) failure() error {
	_, err := fmt.Fprint(v.out, "")
	return err
}
