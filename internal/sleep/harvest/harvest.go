package harvest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/repo"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Terms say what is read.
type Terms struct {
	Projects Projects
	Headless bool
	Since    time.Time     // sessions that ended before are left out; zero: none
	Keep     time.Duration // sessions that ended longer ago are left out
	Disk     int64         // bytes that the bank may take; 0: any number
}

// Inputs are what a harvest works with.
type Inputs struct {
	Sources []transcript.Source
	Places  transcript.Places
	Clean   transcript.Cleaner
	Now     time.Time
	Workers int           // stores read at a time, at least 1
	Temp    string        // private folder, where the bank does not give one
	Keep    time.Duration // a survey counts sessions that ended longer before Now as old; 0: none
	// Seen learns what happened to each store, in order; nil: no one does.
	Seen func(StoreReport)
}

// Reasons for which a session is left out.
const (
	NotAllowed = "not_allowed" // its project is not in sleep.projects
	NoTime     = "no_time"     // its store does not say when it was
	NoProject  = "no_project"  // its store does not say where it was
	Headless   = "headless"    // a script drove it
	Subagent   = "subagent"    // another agent's helper
	Replay     = "replay"      // this program carried out a task
	TooOld     = "too_old"     // it ended before sleep.keep, or before --since
)

// StoreReport is what happened to a store.
type StoreReport struct {
	Source   string               `json:"source"`
	Path     string               `json:"file"`
	State    string               `json:"state"` // new, changed, unchanged, gone, failed
	Sessions int                  `json:"sessions"`
	Turns    int                  `json:"turns"`
	Bytes    int64                `json:"bytes"` // read now
	LeftOut  map[string]int       `json:"left_out"`
	Problems []transcript.Problem `json:"problems"`
	Error    string               `json:"error,omitempty"`
}

// Report is the result of a harvest.
type Report struct {
	Stores   []StoreReport        `json:"stores"`
	Sources  []SourceReport       `json:"sources"`
	Sessions int                  `json:"sessions"` // read now
	Turns    int                  `json:"turns"`
	Bytes    int64                `json:"bytes"`
	Pruned   int                  `json:"pruned"` // sessions deleted by sleep.keep and sleep.disk
	Warnings []string             `json:"warnings"`
	Kept     bank.Totals          `json:"kept"`
	DryRun   bool                 `json:"dry_run"`
	Found    []bank.Session       `json:"-"` // of a dry run
	Problems []transcript.Problem `json:"-"`
}

// SourceReport is what a source found.
type SourceReport struct {
	Name    string `json:"name"`
	Stores  int    `json:"stores"`
	Untried bool   `json:"untried,omitempty"` // written from public descriptions, never tried on a real store
	Error   string `json:"error,omitempty"`   // of folders that cannot be listed
}

// Run reads what is new into b. Without a bank it is a dry run: nothing is kept, and what would
// be is in Found. A store that cannot be read is given in the report and does not stop the others.
func Run(ctx context.Context, b *bank.Bank, terms Terms, in Inputs) (Report, error) {
	h := &harvest{bank: b, terms: terms, in: in, report: Report{DryRun: b == nil, Warnings: []string{}, Stores: []StoreReport{}, Found: []bank.Session{}}, digest: terms.digest()}
	if b != nil {
		var err error
		if h.known, err = b.Stores(ctx); err != nil {
			return h.report, err
		}
	}
	h.in.Places.Projects = terms.Projects.Folders()
	h.clock()
	stores := h.stores(ctx)
	if err := h.read(ctx, stores); err != nil {
		return h.report, err
	}
	return h.report, h.finish(ctx, stores)
}

type harvest struct {
	bank   *bank.Bank
	terms  Terms
	in     Inputs
	known  map[string]bank.Store
	digest string
	report Report
}

// digest names what is wanted, but for Since and Keep: stores that were read under other terms are
// read again, as are those of which older sessions are wanted than before.
func (t Terms) digest() string {
	data, err := json.Marshal([]any{t.Projects.Folders(), t.Headless, t.Disk})
	if err != nil {
		panic("harvest: digest: " + err.Error()) // texts, a bool and a number
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// clock warns if the clock shows an earlier time than what was kept.
func (h *harvest) clock() {
	for _, s := range h.known {
		if s.ReadAt.After(h.in.Now.Add(time.Hour)) {
			h.warn(fmt.Sprintf("the clock is at %s, and an earlier harvest was at %s: was it set back? Sessions are known by their own times; what was read is not read twice", h.in.Now.UTC().Format(time.RFC3339), s.ReadAt.Format(time.RFC3339)))
			return
		}
	}
}

func (h *harvest) warn(text string) { h.report.Warnings = append(h.report.Warnings, text) }

// stores finds the stores of all sources, each once.
func (h *harvest) stores(ctx context.Context) []transcript.Store {
	var out []transcript.Store
	seen := map[string]bool{}
	for _, src := range h.in.Sources {
		found, err := src.Stores(ctx, h.in.Places)
		rep := SourceReport{Name: src.Name(), Stores: len(found), Untried: transcript.IsUntried(src.Name())}
		if err != nil {
			rep.Error = err.Error()
		}
		h.report.Sources = append(h.report.Sources, rep)
		for _, s := range found {
			if !seen[s.Path()] {
				seen[s.Path()] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// result is what reading one store produced.
type result struct {
	report   StoreReport
	store    bank.Store
	sessions []bank.Session
	skip     bool // nothing new
	err      error
}

// read reads the stores, some at a time, and keeps what was read in their order, during the
// reading. Of what is read no more waits in memory than twice as many stores as are read at a
// time, and two lists of the keeper.
func (h *harvest) read(ctx context.Context, stores []transcript.Store) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := max(1, h.in.Workers)
	done := make([]chan result, len(stores))
	reading, ahead := make(chan struct{}, workers), make(chan struct{}, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for i := range stores {
		done[i] = make(chan result, 1)
	}
	wg.Go(func() {
		for i := range stores {
			ahead <- struct{}{} // given back when the result is taken
			reading <- struct{}{}
			wg.Go(func() { done[i] <- h.one(ctx, stores[i]); <-reading })
		}
	})
	k := newKeeper(context.WithoutCancel(ctx), h.bank, cancel) // who stops the reading keeps what was read
	var failed error
	for i := range stores {
		res := <-done[i]
		if failed == nil {
			failed = errors.Join(ctx.Err(), h.keep(res, k))
			if failed != nil {
				cancel()
			}
		}
		<-ahead
	}
	if err := k.close(); err != nil {
		return err // the rest failed because of it, or of what it failed for
	}
	return failed
}

// one reads one store, if it has news.
func (h *harvest) one(ctx context.Context, s transcript.Store) result {
	path := s.Path()
	old, known := h.knownAs(path)
	res := result{report: StoreReport{Source: s.Source, Path: path, State: "new", LeftOut: map[string]int{}, Problems: []transcript.Problem{}}, store: bank.Store{Path: path, Source: s.Source}}
	if known {
		res.report.State = "changed"
		if mark, err := transcript.Peek(ctx, s); err == nil && h.same(old, mark) {
			res.report.State, res.report.LeftOut, res.skip = "unchanged", old.LeftOut, true
			return res
		}
	}
	r := &transcript.Reading{Clean: h.in.Clean, Temp: h.temp(), Wanted: h.terms.Projects.Allow, Each: func(t transcript.Transcript) error {
		h.take(ctx, &res, t)
		return nil
	}}
	res.err = h.source(s.Source).Read(ctx, s, r)
	count(res.report.LeftOut, NotAllowed, r.Unwanted)
	count(res.report.LeftOut, NoProject, r.Nowhere)
	res.report.Bytes, res.report.Problems = r.Bytes, append(res.report.Problems, r.Problems...)
	if r.More > 0 {
		res.report.Problems = append(res.report.Problems, transcript.Problem{Path: path, What: fmt.Sprintf("%d more problems", r.More)})
	}
	res.store = bank.Store{
		Path: path, Source: s.Source, Mark: r.Mark, Terms: h.digest, Since: h.oldest(), ReadAt: h.in.Now.UTC(), Highest: highest(res.sessions),
		Bytes: r.Bytes, LeftOut: res.report.LeftOut, Problems: res.report.Problems,
	}
	if res.err != nil {
		res.report.State, res.report.Error, res.store.Error = "failed", res.err.Error(), res.err.Error()
		if known { // what was read before stays, and it is tried again
			res.store.Highest = old.Highest
		}
		res.store.Mark = transcript.Mark{}
	}
	return res
}

// knownAs returns what is known of a store, by its path or by the key of one without sessions.
func (h *harvest) knownAs(path string) (bank.Store, bool) {
	if s, ok := h.known[path]; ok {
		return s, true
	}
	s, ok := h.known[bank.StoreKey(path)]
	return s, ok
}

func count(left map[string]int, why string, n int) {
	if n > 0 {
		left[why] += n
	}
}

// same reports whether a store has nothing new under the terms.
func (h *harvest) same(old bank.Store, mark transcript.Mark) bool {
	return old.Error == "" && old.Mark == mark && old.Terms == h.digest && !h.oldest().Before(old.Since)
}

func (h *harvest) temp() string {
	if h.bank != nil {
		return h.bank.Temp()
	}
	return h.in.Temp
}

func (h *harvest) source(name string) transcript.Source {
	i := slices.IndexFunc(h.in.Sources, func(s transcript.Source) bool { return s.Name() == name })
	return h.in.Sources[i]
}

func highest(list []bank.Session) (t time.Time) {
	for i := range list {
		if list[i].Ended.After(t) {
			t = list[i].Ended
		}
	}
	return t
}

// take takes a session, or notes why it is left out.
func (h *harvest) take(ctx context.Context, res *result, t transcript.Transcript) {
	if why := h.leftOut(t); why != "" {
		res.report.LeftOut[why]++
		return
	}
	if len(t.Turns) == 0 {
		return // opened and closed
	}
	s := bank.Session{Transcript: t, Store: res.report.Path}
	if s.Commit != "" {
		s.CommitBy = "recorded"
	} else if at, found, err := repo.At(ctx, t.Project, t.Started); err != nil {
		res.report.Problems = append(res.report.Problems, transcript.Problem{Path: t.Project, What: "what was checked out cannot be read: " + err.Error()})
	} else if found {
		s.Commit, s.CommitBy = at.Commit, "inferred"
		if s.Branch == "" {
			s.Branch = at.Branch
		}
	}
	res.sessions = append(res.sessions, s)
	res.report.Sessions++
	res.report.Turns += len(t.Turns)
}

// oldest returns the time before which sessions that ended are left out; zero if none is left out for its time.
func (h *harvest) oldest() time.Time {
	if keep := h.in.Now.Add(-h.terms.Keep); h.terms.Keep > 0 && keep.After(h.terms.Since) {
		return keep
	}
	return h.terms.Since
}

func (h *harvest) leftOut(t transcript.Transcript) string {
	switch {
	case t.Project == "":
		return NoProject
	case t.Origin == transcript.Replay || IsReplay(t.Project):
		return Replay
	case !h.terms.Projects.Allow(t.Project):
		return NotAllowed
	case t.Origin == transcript.Subagent:
		return Subagent
	case t.Origin == transcript.Headless && !h.terms.Headless:
		return Headless
	case len(t.Turns) > 0 && t.Ended.IsZero():
		return NoTime
	case len(t.Turns) > 0 && t.Ended.Before(h.oldest()):
		return TooOld
	}
	return ""
}

// keep keeps what was read of a store.
func (h *harvest) keep(res result, k *keeper) error {
	if errors.Is(res.err, context.Canceled) || errors.Is(res.err, context.DeadlineExceeded) {
		return res.err
	}
	h.report.Stores = append(h.report.Stores, res.report)
	h.report.Bytes += res.report.Bytes
	if h.in.Seen != nil {
		h.in.Seen(res.report)
	}
	if res.skip {
		return nil
	}
	h.report.Sessions += res.report.Sessions
	h.report.Turns += res.report.Turns
	if h.bank == nil {
		h.report.Found = append(h.report.Found, res.sessions...)
		return nil
	}
	k.add(bank.Kept{Store: res.store, Sessions: res.sessions, Failed: res.err != nil}, res.report.Turns)
	return nil
}

// finish notes stores that are gone, settles what is kept twice and keeps the bounds.
func (h *harvest) finish(ctx context.Context, stores []transcript.Store) error {
	if h.bank == nil {
		return nil
	}
	here := map[string]bool{}
	for _, s := range stores {
		here[s.Path()], here[bank.StoreKey(s.Path())] = true, true
	}
	var gone, unknown []string
	for path, s := range h.known {
		switch {
		case here[path] || s.Error == bank.Gone:
		case !filepath.IsAbs(path):
			unknown = append(unknown, path)
		case isGone(path):
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	for _, path := range gone {
		h.report.Stores = append(h.report.Stores, StoreReport{Source: h.known[path].Source, Path: path, State: "gone", LeftOut: map[string]int{}, Problems: []transcript.Problem{}})
	}
	if err := errors.Join(h.bank.NoteGoneStores(ctx, gone), h.bank.Unknown(ctx, unknown)); err != nil {
		return err
	}
	if err := h.bounds(ctx); err != nil {
		return err
	}
	if err := h.bank.Settle(ctx); err != nil {
		return err
	}
	var err error
	h.report.Kept, err = h.bank.Totals(ctx)
	return err
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func (h *harvest) bounds(ctx context.Context) (err error) {
	if h.terms.Keep > 0 {
		if h.report.Pruned, err = h.bank.Prune(ctx, h.in.Now.Add(-h.terms.Keep)); err != nil {
			return err
		}
	}
	if h.terms.Disk > 0 {
		n, err := h.bank.Shrink(ctx, h.terms.Disk)
		if err != nil {
			return err
		}
		if n > 0 {
			h.warn(fmt.Sprintf("what is kept was larger than sleep.disk: the %d oldest sessions were deleted", n))
		}
		h.report.Pruned += n
	}
	return nil
}
