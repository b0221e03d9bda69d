package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of what a look reads and keeps.
const (
	entriesAtOnce = 20_000 // of one query, so that no look holds up the writer's own upkeep
	entriesOfLook = 40_000 // a longer record is read by several looks
	placesKept    = 32
	shownLately   = 5 // decisions and faults
)

// Watcher looks at a run again and again, while another process writes it. A look reads
// what was added since the last one, opens the files for that alone, and locks and writes
// nothing. One goroutine uses it at a time.
type Watcher struct {
	dir string
	now func() time.Time

	manifest run.Manifest
	history  result.History
	scores   result.Candidates
	summary  *result.Summary
	stamps   map[string]stamp // of files that were read

	seq     int64
	last    journal.Record
	tally   *journal.Tally
	minute  []time.Time // when the calls of the last minute ended
	places  map[workKey]*work
	seed    maphash.Seed // of their tasks
	faults  []Faulted
	warm    int // tasks of a warm start
	unread  int64
	written time.Time // when the record was written last, by its mark
}

// stamp shows whether a file has changed.
type stamp struct {
	size int64
	at   time.Time
}

type workKey struct {
	epoch, step int
	at          string
}

// work is what is known of a place.
type work struct {
	place Place
	stage string
	asked map[uint64]struct{} // tasks, by their hashes: a record may claim a million
	calls int
	last  int64 // number of the last entry
}

// Watch returns a watcher of the run in dir. Nothing is read before the first look.
func Watch(dir string, now func() time.Time) *Watcher {
	w := &Watcher{dir: dir, now: now, seed: maphash.MakeSeed()}
	w.forget()
	return w
}

// forget starts over: another run has taken the place of the one that was read.
func (w *Watcher) forget() {
	w.stamps, w.tally, w.places = map[string]stamp{}, journal.NewTally(), map[workKey]*work{}
	w.history, w.scores, w.summary = result.History{}, result.Candidates{}, nil
	w.seq, w.last, w.minute, w.faults, w.warm, w.unread = 0, journal.Record{}, nil, nil, 0, 0
}

// Look reads what has come since the last look. That there is no run any more is a
// *run.MissingError. An error may pass, since files change while they are read: the caller
// looks again.
func (w *Watcher) Look(ctx context.Context) (Progress, error) {
	m, found, err := run.ReadManifest(w.dir)
	if err != nil {
		return Progress{}, run.Unreadable(w.dir, err)
	}
	if !found {
		return Progress{}, &run.MissingError{Dir: w.dir}
	}
	if w.manifest.RunID != m.RunID {
		w.forget()
	}
	w.manifest = m
	killed := Killed(w.dir, m) // before the record is read: what a dead process wrote is there by then
	if err := w.files(); err != nil {
		return Progress{}, err
	}
	if err := w.entries(ctx); err != nil {
		return Progress{}, err
	}
	return w.progress(killed), nil
}

// files reads the files that have changed.
func (w *Watcher) files() error {
	for name, into := range map[string]func() any{
		run.HistoryFile: func() any { w.history = result.History{}; return &w.history },
		candidatesFile:  func() any { w.scores = result.Candidates{}; return &w.scores },
		run.SummaryFile: func() any { w.summary = new(result.Summary); return w.summary },
	} {
		info, err := os.Lstat(filepath.Join(w.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		now := stamp{info.Size(), info.ModTime()}
		if w.stamps[name] == now {
			continue
		}
		if err := document(w.dir, name, into()); err != nil {
			return err
		}
		w.stamps[name] = now
	}
	return nil
}

// entries reads the entries that have come.
func (w *Watcher) entries(ctx context.Context) (err error) {
	path := filepath.Join(w.dir, run.DBFile)
	if info, err := os.Stat(path + "-mark"); err == nil {
		w.written = info.ModTime()
	}
	view, err := journal.OpenView(ctx, path)
	if err != nil {
		return w.wrapDamage(err)
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	last, err := view.Last(ctx)
	if err != nil {
		return w.wrapDamage(err)
	}
	if last < w.seq {
		w.forget()
		return fmt.Errorf("read the record of run %s: entries are gone from its end, %d are there", w.dir, last)
	}
	for read := 0; w.seq < last && read < entriesOfLook; read += entriesAtOnce {
		list, err := view.Follow(ctx, w.seq, int(min(entriesAtOnce, last-w.seq)))
		if err != nil {
			return w.wrapDamage(err)
		}
		if len(list) == 0 {
			return fmt.Errorf("read the record of run %s: entries after %d are missing; `skillopt runs check` says what is damaged", w.dir, w.seq)
		}
		for _, r := range list {
			if err := w.plausible(r); err != nil {
				return w.wrapDamage(&journal.CorruptError{Path: path, Reason: err.Error()})
			}
			w.take(r)
		}
	}
	w.unread = max(0, last-w.seq)
	return nil
}

// plausible refuses the next entry of a record that cannot be a run's: to count it on would take
// as long, and as much memory, as the author of the file likes.
func (w *Watcher) plausible(r journal.Record) error {
	if r.Seq != w.seq+1 {
		return fmt.Errorf("entry %d is missing", w.seq+1)
	}
	if w.tally.Strange() {
		return fmt.Errorf("up to entry %d it has more stages, codes or lost tries than any run", w.seq)
	}
	return nil
}

// wrapDamage returns a *run.DamagedError for a record that is missing or cannot be read, and other errors as they are.
func (w *Watcher) wrapDamage(err error) error {
	var corrupt *journal.CorruptError
	if errors.Is(err, journal.ErrMissing) || errors.As(err, &corrupt) {
		return &run.DamagedError{Dir: w.dir, Err: err}
	}
	return err
}

// take counts an entry.
func (w *Watcher) take(r journal.Record) {
	w.seq, w.last = r.Seq, r
	w.tally.Add(r)
	switch r.Kind {
	case journal.Decision:
		w.decision(r)
		return
	case journal.Fault:
		w.fault(r)
		return
	case journal.Call, journal.Inner:
		if r.Code != journal.CodeInherited {
			w.minute = append(w.minute, r.EndedAt())
			w.forgetOld()
		}
	}
	if r.Code == journal.CodeInherited || r.Stage == "" {
		return
	}
	p := ParsePlace(r.Key)
	key := workKey{p.Epoch, p.Step, p.At}
	at := w.places[key]
	if at == nil {
		w.makeRoom()
		at = &work{place: Place{Epoch: p.Epoch, Step: p.Step, At: p.At}, asked: map[uint64]struct{}{}}
		w.places[key] = at
	}
	at.stage, at.last = r.Stage, r.Seq
	if p.Task != "" {
		at.asked[maphash.String(w.seed, p.Task)] = struct{}{}
	} else {
		at.calls++
	}
}

// makeRoom forgets the place that nothing has come from for the longest time.
func (w *Watcher) makeRoom() {
	if len(w.places) < placesKept {
		return
	}
	var oldest workKey
	first := int64(-1)
	for key, at := range w.places {
		if first < 0 || at.last < first {
			oldest, first = key, at.last
		}
	}
	delete(w.places, oldest)
}

func (w *Watcher) decision(r journal.Record) {
	var start struct {
		Warm int `json:"warm"`
	}
	if r.Key == "train/start" && json.Unmarshal(r.Result, &start) == nil {
		w.warm = start.Warm
	}
}

func (w *Watcher) fault(r journal.Record) {
	f := Faulted{Seq: r.Seq, Place: ParsePlace(r.Key), Code: r.Code, Stage: r.Stage}
	if at := r.EndedAt(); !at.IsZero() {
		at = at.UTC()
		f.Ended = &at
	}
	w.faults = append(w.faults, f)
	w.faults = w.faults[max(0, len(w.faults)-shownLately):]
}

// forgetOld keeps the calls of the last minute alone, once there are many.
func (w *Watcher) forgetOld() {
	if len(w.minute) >= 4096 && w.minute[0].Before(w.now().Add(-time.Minute)) {
		w.lastMinute()
	}
}

func (w *Watcher) lastMinute() int {
	since := w.now().Add(-time.Minute)
	w.minute = slices.DeleteFunc(w.minute, func(at time.Time) bool { return !at.After(since) })
	return len(w.minute)
}

// progress returns what is known after a look.
func (w *Watcher) progress(killed bool) Progress {
	m, now := w.manifest, w.now()
	p := Progress{
		RunDir: w.dir, RunID: m.RunID, At: now.UTC(), Kind: m.Kind, Status: m.Status, Killed: killed, Simulated: m.Simulated, Begun: m.CreatedAt,
		Plan: m.Plan, Work: []Work{}, Ceilings: parseCeilings(m), Decisions: w.lastDecisions(), Faults: append([]Faulted{}, w.faults...),
		Spending: w.sumSpending(), Pulse: Pulse{Entries: w.seq + w.unread, Unread: w.unread, StageOf: w.last.Stage},
	}
	if w.summary != nil && m.Status != result.Running {
		p.Reason = w.summary.Reason
	}
	p.Current, p.Best = w.standings()
	if n := len(w.history.Steps); n > 0 {
		p.Epoch, p.Step = w.history.Steps[n-1].Epoch, w.history.Steps[n-1].Step
	}
	if !p.Ended() {
		p.Work = w.atWork()
		for _, at := range p.Work {
			if at.Step > p.Step || at.Epoch > p.Epoch {
				p.Epoch, p.Step = max(p.Epoch, at.Epoch), max(p.Step, at.Step)
			}
		}
	}
	w.alive(&p)
	return p
}

// sumSpending returns what was counted so far.
func (w *Watcher) sumSpending() Spending {
	sum := journal.Sum(w.tally.Totals())
	tokens := sum.Usage
	out := Spending{
		Calls: sum.Calls, LastMinute: w.lastMinute(), Inherited: sum.Inherited, Episodes: sum.Episodes, Failed: sum.Faults, Unknown: sum.Unknown,
		Tokens: result.Tokens{Input: tokens.Input + sum.Bounded.Usage.Input, Output: tokens.Output + sum.Bounded.Usage.Output, Cached: tokens.Cached + sum.Bounded.Usage.Cached},
	}
	if !w.manifest.Simulated && sum.Unpriced == 0 {
		usd := float64(sum.CostNano+sum.Bounded.CostNano) / nanosOfUSD
		out.USD = &usd
	}
	return out
}

// alive says when the record has grown last. The mark of a run at work shows it, and is
// written with each commit; else the last answer does.
func (w *Watcher) alive(p *Progress) {
	at := w.last.EndedAt()
	if !p.Ended() && w.written.After(at) || at.IsZero() {
		at = w.written
	}
	if at.IsZero() || w.seq == 0 {
		return
	}
	at = at.UTC()
	p.LastEntry = &at
	if !p.Ended() {
		silent := max(0, p.At.Sub(at).Seconds())
		p.SilentS = &silent
	}
}

// mostWork is how many places are shown at once: some work is done ahead, at the same time as other work.
const mostWork = 3

// recent is how many entries ago a place that is worked at has had its last one, at most.
const recent = 64

// atWork returns the places from which answers came last.
func (w *Watcher) atWork() []Work {
	var all []*work
	for _, at := range w.places {
		if at.last > w.seq-recent {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b *work) int { return int(b.last - a.last) })
	out := []Work{}
	for _, at := range all {
		if len(out) == mostWork || len(out) > 0 && w.isDecided(at) {
			continue
		}
		n := len(at.asked) + at.calls
		of := w.tasksAt(at.place)
		if n > of {
			of = 0
		}
		out = append(out, Work{Place: at.place, Stage: at.stage, Answered: n, Of: of})
	}
	return out
}

// isDecided reports whether the step of a place is decided.
func (w *Watcher) isDecided(at *work) bool {
	n := len(w.history.Steps)
	if n == 0 {
		return false
	}
	last := w.history.Steps[n-1]
	if at.place.Epoch > 0 && at.place.Step == 0 {
		return slices.ContainsFunc(w.history.Epochs, func(e result.EpochRecord) bool { return e.Epoch == at.place.Epoch })
	}
	return at.place.Step <= last.Step && !strings.HasPrefix(at.place.At, "final/")
}

// tasksAt returns how many tasks are asked at a place at most, 0 where that is not known.
func (w *Watcher) tasksAt(p Place) int {
	m := w.manifest
	if strings.HasSuffix(p.At, "rollout") {
		if p.Step == 1 && w.warm > 0 {
			return w.warm
		}
		n, _ := strconv.Atoi(m.Identity["train.batch_size"])
		return n
	}
	if m.Plan == nil {
		if strings.HasPrefix(p.At, "gate/") || strings.HasPrefix(p.At, "end/gate/") {
			return len(w.scores.Items)
		}
		return 0
	}
	sizes := map[string]int{"train": m.Plan.Train, "selection": m.Plan.Selection, "test": m.Plan.Test}
	first, rest, _ := strings.Cut(p.At, "/")
	switch {
	case first == "gate", first == "seed", strings.HasPrefix(p.At, "end/gate/"):
		return m.Plan.Selection
	case strings.HasPrefix(p.At, "final/test/"):
		return m.Plan.Test
	case first == "eval":
		split, _, _ := strings.Cut(rest, "/")
		return sizes[split]
	case first == "compare" && p.Epoch == 0:
		return sizes[m.About("compare")]
	}
	return 0
}

// lastDecisions returns the last decisions.
func (w *Watcher) lastDecisions() []Decided {
	out := []Decided{}
	for i, s := range w.history.Steps {
		out = append(out, Decided{Step: s.Step, Epoch: s.Epoch, Action: s.Action, Reason: s.Reason, Score: s.Candidate, Difference: s.Difference, N: s.SelectionN, Unanswered: s.SelectionUnanswered})
		if s.Step == 0 {
			out[len(out)-1].Score = s.Current
			continue
		}
		if i+1 < len(w.history.Steps) && w.history.Steps[i+1].Epoch == s.Epoch {
			continue
		}
		for _, e := range w.history.Epochs {
			if e.Epoch == s.Epoch && e.SlowUpdate != "" {
				out = append(out, Decided{Step: s.Step, Epoch: e.Epoch, End: true, Action: e.SlowUpdate, Score: e.Score})
			}
		}
	}
	return out[max(0, len(out)-shownLately):]
}

// standings returns the scores of the current and the best skill.
func (w *Watcher) standings() (current, best *Standing) {
	t := trained{w.manifest, w.history, w.scores, w.summary}
	known := func(s Standing) *Standing {
		if s.Score == nil {
			return nil
		}
		return &s
	}
	origin, _ := t.origins()
	shipped, _ := t.best()
	return known(t.newStanding(origin)), known(shipped)
}

// parseCeilings returns the ceilings of the last session: those of its configuration, but for what
// was changed from outside.
func parseCeilings(m run.Manifest) Ceilings {
	var c Ceilings
	for key, into := range map[string]any{"limits.calls": &c.Calls, "limits.tokens": &c.Tokens, "limits.usd": &c.USD, "limits.time": &c.Time} {
		text := []byte(m.Operational[key])
		if m.Steering != nil {
			if held, ok := m.Steering.Held[key]; ok {
				text = held.Value
			}
		}
		_ = json.Unmarshal(text, into) // what cannot be read is no ceiling that can be shown
	}
	return c
}
