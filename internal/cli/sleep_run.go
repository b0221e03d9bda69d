package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
)

// sleepRunOptions are the flags of sleep run.
type sleepRunOptions struct {
	sets      []string
	dryRun    bool
	explore   bool
	yes       bool
	noHarvest bool
	scheduled bool
	tasks     string // file

	reviewed []wish.Task // of it
}

func sleepRunCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepRunOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Carry out a night: from what is new in sessions to a proposal",
		Long: `Carry out a night for each allowed project: read what is new in its sessions, have the
optimizer find tasks in what you corrected, train the skills and the memory file that they
are about, confirm the result on fresh answers, and stage a proposal. Nothing is
written into a project, unless the profile has sleep.auto_adopt.

Before anything is spent on training it says for each document how many tasks there are,
what it does, and what that many tasks can show; on a terminal it asks. Without one it goes
on: it is meant for timers. What hosts text may be sent to was agreed to at init.

With --profile FILE of sleep schedule it is the night that a timer starts: with its flags,
folders and PATH.

--tasks FILE carries out a night on the tasks of a file alone, and reads and mines no session. The
file is one of docs/tasks.md; skill names the skill that a task trains, without one that is
sleep.default_skill or the memory file. It is for one project: that of --project, or the one that
the working directory lies in. By this command you say that you have reviewed the file: read it
first. Nothing that it says runs, opens or fetches anything. What such a night certifies waits for
skillopt sleep adopt, whatever sleep.auto_adopt says.

The same command continues with a night that was stopped: what was paid for is answered from
its record. Ctrl-C stops softly, a second one at once. A night without gain ends with 0.

` + exitHelp,
		Example: `  skillopt sleep run
  skillopt sleep run --dry-run                        what it would do, unspent
  skillopt sleep run --project ~/src/shop --yes
  skillopt sleep run --explore                        train on whatever there is: suggestions
  skillopt sleep run --tasks reviewed.jsonl           on tasks that you have written or reviewed
  skillopt sleep run --set limits.tokens=200000 --json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.scheduled && o.tasks != "" {
				return usagef("--tasks is for a night that a person starts; leave out --scheduled")
			}
			if o.scheduled {
				return runScheduled(cmd.Context(), a, *at, &o)
			}
			return o.run(cmd.Context(), a, *at)
		},
	}
	c.Flags().BoolVar(&o.scheduled, "scheduled", false, "as a timer starts it, with --profile FILE of sleep schedule: once a day, not on battery")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what the night would do with what is kept; nothing is read, sent or kept")
	c.Flags().BoolVar(&o.explore, "explore", false, "train on however few tasks there are; the result is a suggestion")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask before spending")
	c.Flags().BoolVar(&o.noHarvest, "no-harvest", false, "work with what is kept, and read no sessions")
	c.Flags().StringVar(&o.tasks, "tasks", "", "a file of tasks that you have reviewed: a night on these alone")
	addSet(c, &o.sets)
	return c
}

// nightsDone is the result of sleep run.
type nightsDone struct {
	Harvest *harvest.Report `json:"harvest"` // null: nothing was read
	Nights  []*night.Report `json:"nights"`
	Adopted []adopt.Record  `json:"adopted,omitempty"` // by sleep.auto_adopt
	Skipped string          `json:"skipped,omitempty"` // why a start by a timer did nothing
}

func (o *sleepRunOptions) run(ctx context.Context, a *app, at sleepFlags) (err error) {
	setup, err := a.sleepSetup(at, o.sets...)
	if err != nil {
		return err
	}
	o.with(setup.timer)
	if o.tasks != "" {
		if err := setup.single(a); err != nil {
			return err
		}
		if o.reviewed, err = setup.reviewedTasks(ctx, a, o.tasks); err != nil {
			return err
		}
	}
	if o.dryRun {
		return o.dry(ctx, a, setup)
	}
	w, err := openNightWork(ctx, a, setup)
	if err != nil {
		return err
	}
	return o.work(ctx, a, setup, w)
}

// with adds the flags that a timer starts nights with.
func (o *sleepRunOptions) with(t *timed) {
	if t == nil {
		return
	}
	o.explore, o.noHarvest = o.explore || t.flags.Explore, o.noHarvest || t.flags.NoHarvest
}

// work carries the nights out, prints their results, and closes what they work with.
func (o *sleepRunOptions) work(ctx context.Context, a *app, setup sleepSetup, w *nightWork) error {
	out, err := o.nights(ctx, a, setup, w)
	if out == nil {
		return err
	}
	return errors.Join(o.print(a, setup, *out), err)
}

// nights carries the nights out, and closes what they work with. What is known is there also next to an error; nil: nothing is.
func (o *sleepRunOptions) nights(ctx context.Context, a *app, setup sleepSetup, w *nightWork) (out *nightsDone, err error) {
	defer func() { err = errors.Join(err, w.close()) }()
	if err := bank.NoteCommand(w.bank, "skillopt sleep run"); err != nil {
		return nil, err
	}
	out = &nightsDone{Nights: []*night.Report{}}
	if !o.noHarvest && o.reviewed == nil {
		if out.Harvest, err = w.harvest(ctx); err != nil {
			return nil, err
		}
	}
	projects, err := setup.nightProjects(ctx, w.bank)
	if err != nil {
		return nil, err
	}
	auto, err := setup.autoAdopt()
	if err != nil {
		return nil, err
	}
	ctx, stop, release := a.interrupts(ctx)
	defer release()
	w.stop = stop
	for _, project := range projects {
		bad := o.night(ctx, w, out, project, auto)
		err = errors.Join(err, bad)
		if endsAll(bad) {
			break
		}
	}
	err = errors.Join(w.endEvents(), err)
	if len(out.Nights) == 0 && err != nil {
		return nil, err
	}
	if a.json {
		addHashes(ctx, a, setup, out.Nights)
	}
	return out, err
}

// night carries the night of a project out, and what follows it.
func (o *sleepRunOptions) night(ctx context.Context, w *nightWork, out *nightsDone, project string, auto bool) error {
	opts := o.options(w, project)
	opts.Confirm = w.confirm(o.yes)
	r, err := night.Run(ctx, opts)
	if r != nil {
		out.Nights = append(out.Nights, r)
	}
	bad := errors.Join(err, nightError(r))
	if bad == nil && r.Again {
		w.app.printer(w.app.Err).line("complete: night " + r.ID + " was on these tasks, and nothing was asked; --explore trains on them again")
		return nil
	}
	adopted := []adopt.Record{}
	if auto && bad == nil && o.reviewed == nil {
		adopted = w.adoptCertified(ctx, r)
		out.Adopted = append(out.Adopted, adopted...)
	}
	if endsAll(bad) {
		return bad
	}
	if err := runNotify(ctx, w.setup, r, adopted); err != nil {
		w.app.printer(w.app.Err).line("warning: " + oneLine(err.Error()))
	}
	return bad
}

// addHashes adds what adopting the proposals asks for.
func addHashes(ctx context.Context, a *app, s sleepSetup, nights []*night.Report) {
	for _, r := range nights {
		for i := range r.Targets {
			if t := &r.Targets[i]; t.Outcome.Staged() {
				t.Hash = hashToAdopt(ctx, a, s, r, sleepAdoptOptions{targets: []string{t.Target}})
				r.Hash = hashToAdopt(ctx, a, s, r, sleepAdoptOptions{all: true})
			}
		}
	}
}

// print prints the result of nights.
func (o *sleepRunOptions) print(a *app, s sleepSetup, done nightsDone) error {
	if a.json {
		return printJSON(a.Out, ask.Shareable(done))
	}
	if len(done.Nights) == 0 {
		a.results().line("no_data: no session of an allowed project is kept" + tooOldText(s, done.Harvest) + "; `skillopt sleep doctor` says what is there")
	}
	for i, r := range done.Nights {
		if i > 0 {
			fmt.Fprintln(a.results())
		}
		printNight(a.results(), s, r)
	}
	return nil
}

// dry says what nights would do, and keeps nothing.
func (o *sleepRunOptions) dry(ctx context.Context, a *app, setup sleepSetup) (err error) {
	look := setup.look
	if o.reviewed != nil {
		temp, err := os.MkdirTemp("", "skillopt-night-")
		if err != nil {
			return fmt.Errorf("make a folder for a dry run: %w", err)
		}
		defer os.RemoveAll(temp) //nolint:errcheck // what is left over is the system's to delete
		look = func(ctx context.Context) (*bank.Bank, error) { return bank.Open(ctx, temp) }
	}
	b, err := look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	projects, err := setup.nightProjects(ctx, b)
	if err != nil {
		return err
	}
	w := nightWork{app: a, setup: setup, bank: b}
	done := nightsDone{Nights: []*night.Report{}}
	for _, project := range projects {
		opts := o.options(&w, project)
		opts.DryRun = true
		r, err := night.Run(ctx, opts)
		if err != nil {
			return err
		}
		done.Nights = append(done.Nights, r)
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(done))
	}
	for _, r := range done.Nights {
		printAhead(a.results(), r)
		nightForecast(a.results(), r.Forecast, onlySimulated(w.setup.loaded.Config))
		ceilingLine(a.results(), setup.loaded.Config, r.Forecast)
	}
	if o.reviewed == nil {
		a.printer(a.Err).line("dry run: nothing was read, sent or kept; tasks of sessions that are not mined yet are not counted")
	}
	return nil
}

// nightWork is what commands share that carry out nights, or parts of them.
type nightWork struct {
	app       *app
	setup     sleepSetup
	bank      *bank.Bank
	events    event.Sink
	endEvents func() error
	stop      <-chan struct{}
}

// openNightWork opens what is kept for writing. It makes sure that text may be sent where it would go.
func openNightWork(ctx context.Context, a *app, setup sleepSetup) (*nightWork, error) {
	list, err := setup.ready()
	if err != nil {
		return nil, err
	}
	b, err := bank.Open(ctx, setup.dir)
	if err != nil {
		return nil, err
	}
	w := &nightWork{app: a, setup: setup, bank: b, endEvents: func() error { return nil }}
	if err = w.consent(ctx, remote(list)); err == nil {
		view := &nightView{app: a}
		view.renew()
		w.events, w.endEvents, err = a.eventsTo(view.handle, view.end)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return w, nil
}

// ready fails unless the profile has all that nights need but consent; it returns where text would go.
func (s sleepSetup) ready() ([]wiring.Destination, error) {
	if _, err := s.projects(); err != nil {
		return nil, err
	}
	if _, err := s.autoAdopt(); err != nil { // before anything is spent
		return nil, err
	}
	c := s.loaded.Config
	for _, role := range []string{model.Target, model.Optimizer} {
		if c.Models.Of(role).Provider == "" && !(role == model.Target && c.Agent.Name != "") {
			return nil, usagef("%s names no model for models.%s, and nights ask one; set models.target and models.optimizer, then `skillopt sleep init` asks whether text may go to their hosts", s.profile, role)
		}
	}
	list, err := s.destinations()
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if d.Plain {
			return nil, usagef("%s as %s is reached without TLS, and text of sessions and keys could be read on the way; use https, or a tunnel to a port of this machine (ssh -L 8000:%s ...)", oneLine(d.Host), d.Role, oneLine(d.Host))
		}
		if d.OwnLogin && !c.Sleep.OwnLogin {
			return nil, usagef("%s as %s sends by its own login; set sleep.own_login: true in %s if nights may use it, then `skillopt sleep init` asks", oneLine(d.Host), d.Role, s.profile)
		}
	}
	return list, s.clients()
}

// nightView shows the runs of nights, each as one of its own.
type nightView struct {
	app *app

	mu  sync.Mutex
	run *progress
}

func (v *nightView) renew() {
	v.run = newProgress(v.app.Streams)
	v.run.path = v.app.relative
}

func (v *nightView) handle(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run.handle(e)
	if _, done := e.(event.RunDone); done {
		v.renew()
	}
}

func (v *nightView) end() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.run.end()
}

func (w *nightWork) close() error { return w.bank.Close() }

// consent asks for what the user has not agreed to; without a terminal no one can be asked.
func (w *nightWork) consent(ctx context.Context, wanted []bank.Destination) error {
	missing, err := w.bank.MissingConsents(ctx, wanted)
	if err != nil || len(missing) == 0 {
		return err
	}
	errs := w.app.printer(w.app.Err)
	if !w.app.Terminal {
		return usagef("there is no consent that text of sessions and files of the projects go to %s as %s; run `skillopt sleep init` on a terminal", oneLine(missing[0].Host), missing[0].Role)
	}
	for _, d := range missing {
		errs.line(fmt.Sprintf("text of sessions and files of the projects would go to %s as %s", oneLine(d.Host), d.Role))
	}
	if err := w.app.agree("may they be sent there? [y/N] ", "nothing was sent"); err != nil {
		return err
	}
	for _, d := range missing {
		if err := w.bank.Grant(ctx, d.Role, d.Host, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// harvest reads what is new, as `sleep harvest` does.
func (w *nightWork) harvest(ctx context.Context) (*harvest.Report, error) {
	now := time.Now()
	terms, err := (&sleepHarvestOptions{}).terms(w.setup, now)
	if err != nil {
		return nil, err
	}
	in := harvest.Inputs{Sources: w.setup.sources(), Places: w.setup.places, Clean: w.setup.loaded.Redactor(), Now: now, Workers: workers()}
	in.Seen = func(s harvest.StoreReport) { w.events(storeRead(s)) }
	r, err := harvestInto(ctx, w.app, w.bank, w.setup, terms, in)
	if err != nil {
		return nil, err
	}
	w.events(harvestDone(r))
	errs := w.app.printer(w.app.Err)
	printHarvest(errs, errs, r)
	return &r, nil
}

// options returns the options of the night of a project.
func (w *nightWork) options(project string) night.Options {
	s := w.setup
	env := func(name string) string { v, _ := s.loaded.Lookup(name); return v }
	return night.Options{
		Bank: w.bank, Dir: s.dir, Config: s.loaded.Config, Loaded: s.loaded, Project: project, Places: s.targets(project),
		Miner: night.Asked{Env: env}, Version: w.app.version, Clouds: w.app.Clouds, Stop: w.stop, Events: w.events,
		Again: w.rereadSession, Env: env, Adopted: s.standingReader(project, w.app.version),
	}
}

// rereadSession reads a session again from its store; false: the store does not have it as it is kept.
func (w *nightWork) rereadSession(ctx context.Context, s bank.Session) (transcript.Transcript, bool, error) {
	t, err := harvest.ReadSession(ctx, w.setup.places, w.setup.loaded.Redactor(), w.bank.Temp(), s)
	var not *harvest.NotAgainError
	if errors.As(err, &not) {
		return t, false, nil
	}
	return t, err == nil, err
}

// confirm says what a night would do, and asks on a terminal unless nothing is spent.
func (w *nightWork) confirm(yes bool) func(*night.Report) error {
	return func(r *night.Report) error {
		errs := w.app.printer(w.app.Err)
		printAhead(errs, r)
		nightForecast(errs, r.Forecast, onlySimulated(w.setup.loaded.Config))
		ceilingLine(errs, w.setup.loaded.Config, r.Forecast)
		if yes || !w.app.Terminal || onlySimulated(w.setup.loaded.Config) || !spends(r) {
			return nil
		}
		return w.app.agree("continue? [y/N] ", "not started: what was mined is kept, and the same command continues")
	}
}

// endsAll reports whether what ended a night would end those of other projects too: the user, the machine, a model. A
// ceiling, an answer that is not there and a document that cannot be used are one project's.
func endsAll(err error) bool {
	var known *skillopt.Error
	if err == nil || !errors.As(err, &known) {
		return err != nil
	}
	return known.Kind != skillopt.OverBudget && known.Kind != skillopt.Waiting && known.Kind != skillopt.BadInput
}

// spends reports whether a night trains or scores anything.
func spends(r *night.Report) bool {
	for i := range r.Targets {
		if c := r.Targets[i].Groups; c.Tonight > 0 || r.Explore && c.Recall > 0 {
			return true
		}
	}
	return false
}

// nightError returns the error of a night that could not do its work, nil for any other night. The findings of
// a night are no error.
func nightError(r *night.Report) error {
	if r == nil {
		return nil
	}
	kinds := map[night.Outcome]skillopt.ErrorKind{
		night.Stopped: skillopt.Stopped, night.Budget: skillopt.OverBudget, night.WaitingForReply: skillopt.Waiting, night.ModelUnhealthy: skillopt.Unmeasurable,
	}
	for _, t := range r.Targets {
		kind, ends := kinds[t.Outcome]
		if t.Outcome == night.Refused && (t.Target == "" || t.Consolidation.CallError != nil) {
			kind, ends = skillopt.BadInput, true
		}
		if !ends {
			continue
		}
		help := ""
		switch kind {
		case skillopt.Stopped, skillopt.Waiting:
			help = "; `" + cmp.Or(t.Help, "skillopt sleep run") + "` continues with it"
		case skillopt.Unmeasurable:
			help = "; `skillopt sleep show --why` says more"
		}
		return &skillopt.Error{Kind: kind, Err: fmt.Errorf("night %s: %s%s", r.ID, oneLine(t.Reason), help)}
	}
	return nil
}
