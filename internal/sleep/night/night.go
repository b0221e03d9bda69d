package night

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/result"
)

// MinTrain is how many clusters a target needs to be trained.
const MinTrain = 12

// Names below sleep.dir.
const (
	RunsDir    = "runs"   // runs of nights, and the ledger of test sets
	StagingDir = "nights" // PROJECT/NIGHT: what nights have staged
	keyFile    = "key"
)

// Options are what a night works with.
type Options struct {
	Bank    *bank.Bank
	Dir     string // sleep.dir
	Config  config.Config
	Loaded  *config.Loaded // of Config; nil: there is no file
	Project string         // absolute
	Places  target.Places
	Miner   Miner
	Version string
	Clouds  skillopt.Clouds
	Explore bool
	DryRun  bool // says what the night would do, asks no model and keeps nothing
	Now     func() time.Time
	Stop    <-chan struct{}
	Events  event.Sink
	// Confirm is asked once it is known what the night would do, before anything is spent on training; an
	// error ends the night. Nil: no one is asked.
	Confirm func(*Report) error
	// Tasks, if set, are tasks that a person has reviewed: the night works with these alone, and mines nothing.
	Tasks []wish.Task
	// Found, if set, takes tasks that were mined instead of the bank, and returns those that it does not take.
	Found func(tasks []wish.Task) (rest []wish.Task, err error)
	// Command is the command line that continues the night; "": that of every night.
	Command string
	// Adopted are the adoptions of a document that were not taken back, the newest last, for what it holds now. Nil: nothing was adopted.
	Adopted func(target, live string) ([]Standing, error)
	// With are options of every run, such as clients of models.
	With []skillopt.Option
	// Again rereads a kept session from its store, with what files held. false: the store does not have it any
	// more as it is kept. Nil: no store can be read.
	Again func(ctx context.Context, s bank.Session) (transcript.Transcript, bool, error)
	// Env reads the environment for git, by which the files of commits are read. Nil: it is empty.
	Env tree.Env
}

// Miner makes tasks of sessions, by asking models.
type Miner interface {
	// Way names how sessions are mined: another name means that they are mined again.
	Way() string
	// Mine mines sessions in a run of its own. Done again it pays for nothing twice.
	Mine(ctx context.Context, cfg config.Config, sessions []bank.Session, known []wish.Task, opts ...skillopt.Option) ([]wish.Task, *result.Mine, error)
	// Same finds the known task that is the same wish; -1: none.
	Same(known []wish.Task, t *wish.Task) int
	// Suspicious says why a text that nights would write needs a person, given the sessions that it came from; "":
	// it does not.
	Suspicious(text string, sessions []bank.Session) string
}

// night is one night at work.
type night struct {
	Options

	report   *Report
	sessions []bank.Session
	purse    purse
	key      []byte
	laidOut  string                  // what the workspaces of the tasks at hand lie in; "": they have none
	seen     map[string]bank.Session // of the project, by source and id
	problem  error                   // of the program or the machine: it ends the night
	before   []Target                // of the night that continues, as they were when it was interrupted
	said     string                  // a note of how it began; "": none
	files    []time.Time             // when nights on files began
	served   []string                // models that answered in the nights before; none: not known
}

// Run carries a night out, or continues the one of the project that was not over. It returns what is known,
// also together with an error. A night without gain is no error.
func Run(ctx context.Context, o Options) (*Report, error) {
	n := newNight(o)
	err := checkConfinement(n.Config, n.Places.Home)
	if err == nil {
		err = n.begin(ctx)
	}
	if err == nil && n.report.Again {
		return n.report, nil
	}
	if err == nil {
		err = n.work(ctx)
	}
	if other := otherSettings(err); other != nil && n.report != nil && !n.DryRun {
		next, err2 := n.startAgain(ctx, other)
		if err2 != nil {
			return n.report, err2
		}
		n = next
		err = n.work(ctx)
	}
	if n.report == nil || n.DryRun {
		return n.report, err
	}
	return n.report, errors.Join(err, n.keep(context.WithoutCancel(ctx), err == nil && !n.goesOn()))
}

func newNight(o Options) *night {
	n := &night{Options: o, seen: map[string]bank.Session{}}
	if n.Now == nil {
		n.Now = time.Now
	}
	if n.Events == nil {
		n.Events = func(event.Event) {}
	}
	n.Command = cmp.Or(n.Command, "skillopt sleep run")
	return n
}

// goesOn reports whether the same command is to continue the night.
func (n *night) goesOn() bool {
	return slices.ContainsFunc(n.report.Targets, func(t Target) bool { return ends(t.Outcome) && t.Outcome != ModelUnhealthy })
}

// begin finds the night that is to be continued, or begins one.
func (n *night) begin(ctx context.Context) error {
	nights, err := n.Bank.Nights(ctx, n.Project)
	if err != nil {
		return err
	}
	mark, err := n.mark()
	if err != nil {
		return err
	}
	same := n.same(nights, mark)
	var since time.Time // zero: the first night takes all that is kept
	for _, old := range nights {
		if !old.Ended.IsZero() && hasWorked(old.Data) {
			since = old.Started
			break
		}
	}
	n.purse = newPurse(n.Config)
	began := n.Now()
	n.purse.passed = func() time.Duration { return n.Now().Sub(began) }
	n.served = lastServed(nights, same.ID)
	if same.ID != "" {
		if n.report, err = ReadNight(ctx, n.Dir, same); err != nil {
			return err
		}
		if n.report.Again = !same.Ended.IsZero(); n.report.Again {
			return nil
		}
		n.before = n.report.Targets
		n.report.Targets, n.report.Skipped, n.report.Notes, n.report.Exploratory = []Target{}, []Skipped{}, []string{}, false
		n.report.Joint, n.report.Served, n.report.Adopted, n.report.DryRun = nil, nil, []Adopted{}, n.DryRun
		return n.prepare(ctx)
	}
	now := n.Now().UTC()
	all, err := n.Bank.Nights(ctx, "")
	if err != nil {
		return err
	}
	n.report = n.blank(now, since)
	n.report.ID, n.report.Tasks = newNightName(now, all), mark
	return n.prepare(ctx)
}

// blank returns the report of a night that has done nothing yet.
func (n *night) blank(now, since time.Time) *Report {
	return &Report{
		Format: Format, Project: n.Project, Version: n.Version, Started: now, Since: since, Explore: n.Explore, DryRun: n.DryRun,
		Targets: []Target{}, Skipped: []Skipped{}, Notes: []string{}, Adopted: []Adopted{}, Mined: Mined{Runs: []string{}},
	}
}

// hasWorked reports whether a night read sessions and had a result for a document, or no document to work on. If it did not, since
// there was no session, a model was ill or a document could not be found, all is still new to the next one.
func hasWorked(data json.RawMessage) bool {
	var r Report
	if json.Unmarshal(data, &r) != nil {
		return true // the damage is reported where that night is shown
	}
	return len(r.Targets)+len(r.Skipped) == 0 && r.Mined.Sessions > 0 || slices.ContainsFunc(r.Targets, func(t Target) bool { return !ends(t.Outcome) && t.Outcome != Refused && t.Outcome != "" })
}

// newNightName returns the name of a night, which no other one has, of whatever project: of two that begin in one second,
// the later one has the next second. No name begins with another one, so that the names of runs show whose they are.
func newNightName(now time.Time, nights []bank.Night) string {
	id := now.Format("20060102-150405")
	for slices.ContainsFunc(nights, func(b bank.Night) bool { return b.ID == id }) {
		now = now.Add(time.Second)
		id = now.Format("20060102-150405")
	}
	return id
}

// prepare reads the key and the sessions that are new.
func (n *night) prepare(ctx context.Context) (err error) {
	if !n.DryRun {
		if n.key, err = readKey(n.Dir); err != nil {
			return err
		}
		if err := os.MkdirAll(n.folder(), 0o700); err != nil {
			return fmt.Errorf("make the folder of the night: %w", err)
		}
		if err := n.keep(ctx, false); err != nil {
			return err
		}
	}
	mined, err := n.Bank.SessionMarks(ctx)
	if err != nil {
		return err
	}
	way := n.Miner.Way()
	return n.Bank.Sessions(ctx, bank.Filter{Project: func(p string) bool { return isWithin(n.Project, p) }}, func(s bank.Session) error {
		n.seen[s.Source+"/"+s.ID] = s
		// A session may have been read long after it ended: what counts is whether it was mined.
		if n.Tasks != nil || mined[[2]string{s.Source, s.ID}] == bank.SessionMark(&s, way) {
			return nil
		}
		n.sessions = append(n.sessions, s)
		return nil
	})
}

// isWithin reports whether a folder is another one, or lies below it.
func isWithin(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// folder returns the folder of the night.
func (n *night) folder() string { return Folder(n.Dir, n.Project, n.report.ID) }

// Folder returns the folder of a night below sleep.dir.
func Folder(dir, project, id string) string {
	return filepath.Join(dir, StagingDir, target.Digest(project)[:16], id)
}

// work mines, takes in, and trains one target after the other.
func (n *night) work(ctx context.Context) error {
	n.report.Mined.Sessions = n.report.Mined.Noted + len(n.sessions)
	if n.said != "" {
		n.note(n.said)
	}
	if err := n.takeReviewed(ctx); err != nil {
		return err
	}
	if n.DryRun {
		return n.dry(ctx)
	}
	if err := n.mine(ctx); err != nil {
		return n.recordEnd(err)
	}
	jobs, err := settler{n}.jobs(ctx)
	if err != nil {
		return err
	}
	if err := (trainer{n}).foresee(ctx, jobs); err != nil {
		return err
	}
	if n.Confirm != nil && !n.report.Agreed {
		for i := range jobs {
			n.report.Targets = append(n.report.Targets, jobs[i].out)
		}
		err := n.Confirm(n.report)
		n.report.Targets = []Target{}
		if err != nil {
			return err
		}
	}
	n.report.Agreed = true
	n.holdForBundle(jobs)
	for i := range jobs {
		if late := n.purse.late(); late != "" { // a run of no time might end before it is stopped, and decide with what it has
			jobs[i].out.Outcome, jobs[i].out.Reason, jobs[i].out.Help = Budget, late, n.Command
		} else {
			workshop{n}.replay(ctx, jobs, i)
		}
		n.report.Targets = append(n.report.Targets, jobs[i].out)
		if n.problem != nil {
			return n.problem
		}
		if err := n.keep(ctx, false); err != nil {
			return err
		}
		if ends(jobs[i].out.Outcome) {
			for k := i + 1; k < len(jobs); k++ {
				jobs[k].out.Outcome, jobs[k].out.Reason = jobs[i].out.Outcome, "the night ended before its turn: "+jobs[i].out.Reason
				n.report.Targets = append(n.report.Targets, jobs[k].out)
			}
			break
		}
	}
	if err := (trainer{n}).bundle(ctx, jobs); err != nil {
		return err
	}
	return n.stage(ctx, jobs)
}

// dry says what the night would do.
func (n *night) dry(ctx context.Context) error {
	jobs, err := settler{n}.jobs(ctx)
	for i := range jobs {
		n.report.Targets = append(n.report.Targets, jobs[i].out)
	}
	if err != nil {
		return err
	}
	return trainer{n}.foresee(ctx, jobs)
}

// recordEnd records an error that ended the night as an outcome of it, if it is one, and returns other errors.
func (n *night) recordEnd(err error) error {
	out := errorOutcome(err)
	if out == "" || otherSettings(err) != nil {
		return err
	}
	n.report.Targets = append(n.report.Targets, Target{Target: "", Outcome: out, Reason: err.Error(), Help: n.helpFor(out), Rules: []Rule{}, Remove: []string{}, Held: []HeldRule{}, Runs: []string{}})
	return nil
}

// place makes a task one of the project: a session may have been in a folder below it.
func (n *night) place(t *wish.Task) {
	if rel, err := filepath.Rel(n.Project, t.Project); err == nil && rel != "." {
		for i, f := range t.Place.Files {
			t.Place.Files[i] = filepath.ToSlash(filepath.Join(rel, filepath.FromSlash(f)))
		}
		t.Place.Folder = filepath.ToSlash(rel)
	}
	t.Project = n.Project
}

// listTasks lists the tasks of the project that there are.
func (n *night) listTasks(ctx context.Context) ([]wish.Task, error) {
	groups, err := n.Bank.Groups(ctx)
	if err != nil {
		return nil, err
	}
	var out []wish.Task
	for _, g := range groups {
		if g.Project != n.Project {
			continue
		}
		clusters, err := n.Bank.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return nil, err
		}
		for _, c := range clusters {
			for _, t := range c.Tasks {
				out = append(out, t.Task)
			}
		}
	}
	return out, nil
}

// relativePath returns a path as it is reported: below sleep.dir.
func (n *night) relativePath(path string) string {
	if rel, err := filepath.Rel(n.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return path
}

// keep writes down what is known of the night.
func (n *night) keep(ctx context.Context, over bool) error {
	if over {
		n.report.Ended = n.Now().UTC()
	}
	if err := record.Account(ctx, n.Dir, n.report); err != nil {
		return err
	}
	row := bank.Night{ID: n.report.ID, Project: n.Project, Started: n.report.Started, Ended: n.report.Ended}
	data, err := json.MarshalIndent(n.report, "", "  ")
	if err != nil {
		return fmt.Errorf("write the night down: %w", err)
	}
	row.Data = data
	if err := n.Bank.PutNight(ctx, row); err != nil {
		return err
	}
	return writeFile(n.folder(), result.NightFile, append(data, '\n'))
}

// purse is what the night may spend.
type purse struct {
	limits config.Limits
	passed func() time.Duration // since the night began, or continued; nil: no time passes
	chat   bool
	held   float64 // share of the ceilings that is left for the last confirmation

	byDefault bool // the limits say nothing of money, tokens and calls
}

// The ceilings of a night whose limits say nothing.
const (
	chatTokens  = 400_000
	agentTokens = 5_000_000
)

func newPurse(cfg config.Config) purse {
	p := purse{limits: cfg.Limits, chat: cfg.Agent.Name == ""}
	if p.limits.Tokens == nil && p.limits.USD == nil && p.limits.Calls == nil {
		most := int64(agentTokens)
		if p.chat {
			most = chatTokens
		}
		p.limits.Tokens, p.byDefault = &most, true
	}
	return p
}

// rest returns the ceilings of a run: what the night's other runs have left of its own. What the run itself has used before counts
// within them.
func (n *night) rest(ctx context.Context, name string, reserve float64) (config.Limits, error) {
	if err := record.Account(ctx, n.Dir, n.report); err != nil {
		return config.Limits{}, err
	}
	s, own := n.report.Spent, n.report.ByRun[name]
	s.Calls, s.Input, s.Output = s.Calls-own.Calls, s.Input-own.Input, s.Output-own.Output
	if s.CostUSD != nil && own.CostUSD != nil {
		others := *s.CostUSD - *own.CostUSD
		s.CostUSD = &others
	}
	return n.purse.rest(s, reserve), nil
}

// rest returns what is left of the ceilings for one more run, which leaves a share of all of them for what comes
// after it. A ceiling that is used up is 0.
func (p *purse) rest(s Spent, reserve float64) config.Limits {
	out := p.limits
	reserve += p.held
	if c := p.limits.Tokens; c != nil {
		left := max(0, *c-s.Input-s.Output-int64(reserve*float64(*c)))
		out.Tokens = &left
	}
	if c := p.limits.Calls; c != nil {
		left := max(0, *c-s.Calls-int64(reserve*float64(*c)))
		out.Calls = &left
	}
	if c := p.limits.USD; c != nil {
		used := 0.0
		if s.CostUSD != nil {
			used = *s.CostUSD
		}
		left := max(0, *c-used-reserve**c)
		out.USD = &left
	}
	if c := p.limits.Time; c != nil && p.passed != nil {
		left := max(config.Duration(time.Millisecond), *c-config.Duration(p.passed())-config.Duration(reserve*float64(*c)))
		out.Time = &left
	}
	return out
}

// late says that limits.time leaves none to another document; "" while it does, or there is no such limit.
func (p *purse) late() string {
	if p.limits.Time == nil || p.passed == nil {
		return ""
	}
	if left := *p.rest(Spent{}, reserved).Time; left > config.Duration(time.Millisecond) {
		return ""
	}
	return fmt.Sprintf("limits.time is reached: %s of %s have passed", p.passed().Round(time.Second), p.limits.Time.Std())
}

// maxReply is how long a reply may be, in tokens, where the profile does not say: a ceiling of tokens, which every night
// has unless the profile has others, cannot be kept without.
const maxReply = 8192

// settings returns the settings of all runs of the night.
func (n *night) settings() config.Config {
	cfg := n.Config
	for _, m := range []*config.Model{&cfg.Models.Target, &cfg.Models.Optimizer, &cfg.Models.Judge} {
		if m.Provider != "" && m.MaxTokens == 0 {
			m.MaxTokens = maxReply
		}
	}
	cfg.Run.Dir = filepath.Join(n.Dir, RunsDir)
	cfg.Run.Name = ""
	return cfg
}

// options returns the options of a run of the night.
func (n *night) options(name string) []skillopt.Option {
	out := []skillopt.Option{
		skillopt.WithRunDir(filepath.Join(n.Dir, RunsDir, n.runName(name))), skillopt.WithEvents(n.Events), skillopt.WithVersion(n.Version), skillopt.WithClouds(n.Clouds),
		skillopt.WithTestLedger(filepath.Join(n.Dir, RunsDir)), skillopt.WithKeepOpen(),
	}
	if n.Loaded != nil {
		out = append(out, skillopt.WithLoaded(n.Loaded))
	}
	if n.laidOut != "" {
		out = append(out, skillopt.WithWorkspaces(n.laidOut))
	}
	if n.Stop != nil {
		out = append(out, skillopt.WithStop(n.Stop))
	}
	return append(out, n.With...)
}

// runName returns the folder of a run: nights of two projects may begin in one second.
func (n *night) runName(name string) string { return record.NightRuns(n.Project) + name }

// Last returns the newest night of a project, or the one with an id; false: there is none. dir is sleep.dir.
func Last(ctx context.Context, b *bank.Bank, dir, project, id string) (*Report, bool, error) {
	nights, err := b.Nights(ctx, project)
	if err != nil {
		return nil, false, err
	}
	slices.SortStableFunc(nights, func(a, b bank.Night) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	for _, row := range nights {
		if id != "" && row.ID != id {
			continue
		}
		r, err := ReadNight(ctx, dir, row)
		return r, err == nil, err
	}
	return nil, false, nil
}

// ReadNight reads the result of a night. As long as it is not over its account is that of its runs now. dir is sleep.dir.
func ReadNight(ctx context.Context, dir string, row bank.Night) (*Report, error) {
	var r Report
	if err := json.Unmarshal(row.Data, &r); err != nil {
		return nil, fmt.Errorf("read night %s: %w", row.ID, err)
	}
	if row.Ended.IsZero() {
		return &r, record.Account(ctx, dir, &r)
	}
	return &r, nil
}
