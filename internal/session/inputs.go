package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/commands"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/spreadsheet"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/internal/textgame"
	"github.com/seed-f4525e22/skillopt/internal/toolserver"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Inputs are what a configuration names, loaded and checked before anything is opened
// or spent. They are not changed while calls are made.
type Inputs struct {
	Options
	Config config.Config
	Kind   result.Kind // of the command
	Loaded *config.Loaded

	Skill    skill.Skill
	Scope    skill.Scope // the files of Skill that edits may change
	Set      task.Set
	Triggers task.Set // trigger tasks, which are none of Set
	Surroundings
	Images *rollout.Images
	Data   train.Data
	Sizes  map[task.Split]int // number of tasks, if they are only counted

	brought brought

	Assigned bool // the tasks came with their splits
	Suite    *check.Suite
	Extract  *check.Extractor
	Prompts  *prompt.Set // nil: this command asks no optimizer

	Contents map[string]string // digest of the file that a key names, by key
	Versions map[string]string // of programs that the run uses, as settings of its manifest
	Warnings []string

	system, user *template.Template // nil: the built-in one
	isolated     func() bool
	repository   *repository.Repository    // whose tasks are carried out; nil: of none
	games        *textgame.World           // nil: the tasks are no games
	office       *spreadsheet.Recalculator // computes formulas; nil: nothing does
	schema       string                    // digest of what the server of env.url says of its actions; "": it was not asked
	tools        []toolserver.List         // what the servers of env.mcp offer; nil: there are none
	bare         event.Sink                // the sink of events as it was given; nil: there is none
}

// brought are digests of what tasks bring apart from texts.
type brought struct {
	triggers string            // pictures and workspaces of trigger tasks
	folders  map[string]string // workspaces, by path
}

// Surroundings are what a run is given apart from skill and tasks.
type Surroundings struct {
	Documents  []agent.Document // what lies in workspaces next to the skill
	Remembered result.Memory    // what other runs leave to the optimizer; checked, and without secrets
}

// OptimizerOnly returns what of a configuration concerns commands that ask the optimizer and no one else. The
// records of these commands fit also when the rest of it has changed.
func OptimizerOnly(cfg config.Config) config.Config {
	only := config.Default()
	only.Models.Optimizer, only.Limits, only.Prices, only.PriceFile = cfg.Models.Optimizer, cfg.Limits, cfg.Prices, cfg.PriceFile
	only.Record, only.Run, only.Telemetry = cfg.Record, cfg.Run, cfg.Telemetry
	return only
}

// NewInputs returns the inputs of a command that needs no tasks and no skill. It checks the
// configuration.
func NewInputs(cfg config.Config, o Options) (*Inputs, error) {
	s := &Inputs{
		Options: o, bare: o.Events, Config: cfg, Kind: result.Train, Contents: map[string]string{},
		isolated: sync.OnceValue(func() bool { return sandbox.Probe().Isolated }),
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Loaded = o.Loaded; s.Loaded == nil {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find working directory: %w", err)
		}
		s.Loaded = config.Detached(cfg, dir)
	}
	if err := requireInside(o.Loaded, cfg.Run.Dir, o.RunDir, o.Fork, o.Continue.Dir); err != nil {
		return nil, err
	}
	return s, cfg.Validate()
}

// Load loads and checks what cfg names. It ends when ctx does, or o.Stop is closed.
func Load(ctx context.Context, cfg config.Config, o Options) (*Inputs, error) {
	return load(ctx, cfg, o, (*loader).readyBenchmark, (*loader).loadSkill, (*loader).loadDocuments, (*loader).loadMemory, (*loader).loadPrompts, (*loader).loadChecks,
		(*loader).loadRepository, (*loader).loadTasks, (*loader).checkRepository, (*loader).loadImages, (*loader).divide, (*loader).digestWorkspaces, (*loader).readyWorld, (*loader).compareTasks, (*loader).listTasks)
}

// LoadSkill loads as Load does, without tasks, for what the optimizer alone is asked about a skill.
func LoadSkill(ctx context.Context, cfg config.Config, o Options) (*Inputs, error) {
	return load(ctx, cfg, o, (*loader).loadSkill, (*loader).loadMemory, (*loader).loadPrompts)
}

func load(ctx context.Context, cfg config.Config, o Options, parts ...func(*loader, context.Context) error) (*Inputs, error) {
	s, err := NewInputs(cfg, o)
	if err != nil {
		return nil, err
	}
	s.Options.Events = s.maskSink(o.Events)
	ctx, release := untilStopped(ctx, s.Stop)
	defer release()
	l := &loader{s}
	for _, part := range parts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := part(l, ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// loader loads inputs, part by part.
type loader struct{ *Inputs }

// errStopped is a stop before anything was begun that could be finished first.
var errStopped = fmt.Errorf("stopped while the inputs were read, nothing was begun: %w", context.Canceled)

// untilStopped ends a context when stop is closed. release must be called.
func untilStopped(ctx context.Context, stop <-chan struct{}) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil); waiting.Wait() }
}

func (s *loader) loadChecks(context.Context) (err error) {
	if s.Extract, err = check.ParseExtract(s.Config.Tasks.Extract); err != nil {
		return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "tasks.extract"), err))
	}
	var specs any
	if len(s.Config.Tasks.Checks) > 0 {
		specs = s.Config.Tasks.Checks
	}
	if s.Suite, err = check.Compile(specs, check.Options{
		Threshold: s.Config.Tasks.Threshold, Workspace: s.worksInFolders(), Judge: s.namesJudge(), Extract: s.Extract,
	}); err != nil {
		return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "tasks.checks"), err))
	}
	return nil
}

// Needs says what the checks of the tasks need, all together.
func (s *Inputs) Needs() check.Needs {
	var all check.Needs
	if s.Scorer != nil || s.Suite == nil {
		return all
	}
	for _, t := range s.Set.Tasks() {
		n := s.Suite.Needs(t)
		all.Workspace, all.Snapshot, all.Turns = all.Workspace || n.Workspace, all.Snapshot || n.Snapshot, all.Turns || n.Turns
		all.Command, all.Judge = all.Command || n.Command, all.Judge || n.Judge
	}
	return all
}

// Commands returns the commands of the checks.
func (s *Inputs) Commands() *commands.Commands {
	c := &commands.Commands{Config: s.Config, Loaded: s.Loaded, Suite: s.Suite, Tasks: s.Set.Tasks(), RunDir: s.RunDir, Fork: s.Fork, Isolated: s.isolated, Repository: s.repository}
	if s.Scorer != nil {
		c.Suite = nil
	}
	return c
}

// OwnEnv reports whether something else than a chat turn or an agent carries out tasks.
func (s *Inputs) OwnEnv() bool {
	return s.Env != nil || s.Answers != nil || len(s.Config.Env.Command) > 0 && s.Config.Agent.Name == ""
}

// Episodes reports whether a rollout is more than one call of a model.
func (s *Inputs) Episodes() bool { return s.OwnEnv() || s.InWorld() || s.Config.Agent.Name != "" }

// Projection returns the score that the gate goes by.
func (s *Inputs) Projection() score.Projection {
	g := s.Config.Gate
	return score.Projection{Metric: score.Metric(g.Metric), MixedWeight: g.MixedWeight, DensityWeight: g.DensityWeight}
}

// ChatPrompt returns what a chat target is asked, with the pictures of the tasks or without.
func (s *Inputs) ChatPrompt(images *rollout.Images) *rollout.ChatPrompt {
	return &rollout.ChatPrompt{System: s.system, User: s.user, Images: images, Extras: s.Config.Extras, Bare: s.Config.Tasks.System == "", Marked: s.Config.Tasks.Pictures == config.PicturesMarked}
}

// Doubts returns reasons to doubt gold and checks, nil if there are none.
func (s *Inputs) Doubts() error {
	if s.Suite == nil || s.Scorer != nil {
		return nil
	}
	set := s.Suite.SetDoubts()
	if set != nil {
		set = fmt.Errorf("%s: %w", where(s.Loaded, "tasks.checks"), set)
	}
	return fault.Input(errors.Join(set, s.Set.Doubts()))
}

// Warn adds a warning.
func (s *Inputs) Warn(text string) { s.Warnings = append(s.Warnings, text) }

// Hidden takes credentials out of what programs say. In a replay nothing is read
// of them.
func (s *Inputs) Hidden() *redact.Exact {
	if s.Replay != nil {
		return nil
	}
	return wiring.Hidden(s.Config, s.Loaded.Lookup)
}

// masker returns a function that takes out of texts that are passed on what hide and known know,
// and what looks like a secret.
func masker(hide *redact.Exact, known *redact.Redactor) func(string) string {
	return func(text string) string { return known.Text(hide.Text(text)) }
}

// maskSink returns a sink that passes events on without secrets, those of the config and what looks
// like one: they are shown, logged and passed on. Where the run is stays as it is. A nil sink stays
// nil.
func (s *Inputs) maskSink(sink event.Sink) event.Sink {
	if sink == nil {
		return nil
	}
	long := slices.DeleteFunc(wiring.Secrets(s.Config, s.Loaded.Lookup), func(v string) bool { return len(v) < minHidden })
	r := s.Loaded.Redactor(long...)
	return func(e event.Event) { sink(withoutSecrets(r, e)) }
}

// withoutSecrets masks the texts of an event that were made by somebody else: of events that
// come with every answer those alone, of others each text, wherever it occurs.
func withoutSecrets(r *redact.Redactor, e event.Event) event.Event {
	switch e := e.(type) {
	case event.OutcomeDone:
		e.Key, e.Arm, e.Task, e.Reason = r.Text(e.Key), r.Text(e.Arm), r.Text(e.Task), r.Text(e.Reason)
		return e
	case event.GateRead:
		e.Key, e.Why = r.Text(e.Key), r.Text(e.Why)
		e.Lost = slices.Clone(e.Lost)
		for i, id := range e.Lost {
			e.Lost[i] = r.Text(id)
		}
		return e
	case event.Progress, event.StageStarted: // all that they say is ours
		return e
	}
	return redact.Strings(r.Text, e, "RunDir", "RunID")
}

// minHidden is the length in bytes from which a variable's value is masked in events:
// shorter ones are what people write instead of a key that no one asks for.
const minHidden = 12
