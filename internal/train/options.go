package train

import (
	"context"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Options are the hyperparameters of a run. All are valid: config has checked
// them.
type Options struct {
	Batching
	Reflection
	Editing
	Gating
	EpochEnd
	Ending
}

// Batching says how many steps there are, and which tasks each draws.
type Batching struct {
	Epochs       int
	BatchSize    int  // tasks a microbatch
	Accumulation int  // microbatches a step
	Shrinks      bool // a step may have fewer tasks where a ceiling has no room for all
	Seed         int64
	Curriculum   Curriculum
	Warm         int // train tasks that the first step rolls out, with as many edits as they call for; 0: it is like the others
}

// Reflection says what analysts are shown, and what is made of what they propose.
type Reflection struct {
	SecondTry   bool // parts of a rejected bundle of edits are judged
	Shallow     bool // each trajectory by itself
	Minibatch   int  // trajectories of an analyst; 0: as many of a kind as Window holds
	Whole       bool // the optimizer is shown all that the agent was; else what it was shown at first
	Window      int  // tokens of rollouts that a prompt holds
	Rollouts    int  // answers to each train task; below 2: one
	FailureOnly bool
	SkillAware  bool
	Remembered  optimize.Remembered // what other runs leave to this one; the zero value: nothing
	Guide       string              // what analysts are given in the user's own words; "": nothing
}

// Editing says how edits are merged, and how many a step makes.
type Editing struct {
	FanIn     int
	Mode      string // update mode
	Budget    int
	MinBudget int
	Schedule  string // constant, linear, cosine, unlimited or model
	Examples  Examples
	Alone     bool // worked examples are all that is tried: there is no optimizer
}

// Gating says how candidates are judged, and the result certified.
type Gating struct {
	Gate          gate.Mode
	Twice         *int    // items of the seed skill that are asked twice, at most; nil: as their number asks for
	Fresh         bool    // what is shipped is scored again, and the noise of the seed skill's answers is measured
	Keep          bool    // a candidate that loses what the current skill wins is rejected
	Alpha         float64 // share of all certificates on the same test tasks that may be wrong; 0: there is none
	Cluster       string  // task field; items with the same value count as one
	Deterministic bool    // as far as the settings say, the target's answers are deterministic
	Projection    score.Projection
}

// EpochEnd says what happens at the end of an epoch.
type EpochEnd struct {
	SlowUpdate  bool
	SlowSamples int
	SlowGated   bool
	SlowPairs   string
	MetaSkill   bool
}

// Ending says where the loop ends, and what is measured then.
type Ending struct {
	Test    bool // score seed, best and final on the test split
	NoSkill bool // and no skill at all

	// EndAfter ends the loop after this many of its units (steps and ends of epochs)
	// and continues with the final evaluation. Nil: the loop runs to its end.
	EndAfter *int
	Raisable bool // a ceiling has ended it there: a higher one continues it
	Reopen   bool // open the test split though it was opened before, for other skills

	Stop    Stop      // by which rules the loop ends before its last step
	Earlier []Stretch // of other runs that this one continues, in their order
}

// Curriculum says which tasks a batch draws. Strategy "none" is one pass over
// the train split an epoch.
type Curriculum struct {
	Strategy    string
	Bins        int
	Temperature float64
	Alpha       float64
}

// Data are the tasks by split.
type Data struct {
	Train, Selection, Test []task.Task

	// Triggers are trigger tasks by split, where the description may change: they are
	// measured in addition to the others and enter no score. Nil: there are none, or there are no
	// others.
	Triggers map[task.Split][]task.Task

	// Folds is the fold of each task of Train, of which Selection holds the same ones: a
	// step draws its batch outside of one fold, and is judged by that one. Nil: what is
	// drawn and what judges are different tasks.
	Folds []int

	// Example returns a task of a chat target as a worked example: what the target is asked,
	// without the skill, and the reply that is expected, "" where none is known. ok is false
	// where the target gets more than a text. Nil: what it gets is not known.
	Example func(t task.Task) (e skill.Example, ok bool)
}

// Roller carries out tasks; *rollout.Runner is one.
type Roller interface {
	One(ctx context.Context, p rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error)
	All(ctx context.Context, p rollout.Place, tasks []task.Task, s skill.Skill, done func()) ([]trajectory.Outcome, error)
}

// Asker returns the Ask of a step: its requests are under prefix.
type Asker func(prefix string) optimize.Ask

// Recorder records a decision that is made without some items, and gives those
// items up, in one transaction. Decision returns the decision recorded under a
// key, or computes and records it; an error of compute is returned as it is.
// Decided reports whether there is one, and computes nothing.
type Recorder interface {
	Decided(key string) ([]byte, bool)
	Unmeasured(ctx context.Context, decisionKey string, decision []byte, keys []string) error
	Decision(ctx context.Context, key string, compute func() ([]byte, error)) ([]byte, error)
}

// Files takes the projections of a run.
type Files interface {
	WriteFile(name string, data []byte) error
	WriteJSON(name string, v any) error
}

// Deps are what training works with.
type Deps struct {
	Data    Data
	Skill   skill.Skill // the seed skill
	Scope   skill.Scope // the files of it that edits may change
	Roller  Roller
	Ask     Asker
	Record  Recorder
	Prompts *prompt.Set
	Files   Files
	Events  event.Sink
	// Ship takes the best skill with all its files whenever it may have changed. Nil: its
	// SKILL.md is written and nothing else.
	Ship func(best skill.Skill) error
	// Verify says why a candidate is not to be judged, "" if it may be; what it found is
	// recorded under key. Nil: all are judged.
	Verify func(ctx context.Context, key string, s skill.Skill) (refused string, err error)
	// AtOnce is how many rollouts a gate asks for at once, and so how many it may have asked
	// for in vain when it has decided. 0: gate.DefaultAtOnce.
	AtOnce int
	// Told returns what the target is given with a task apart from it and the skill, for a
	// given skill. It may be called concurrently. Nil: that is not known.
	Told func(t task.Task, s skill.Skill) optimize.Told
	// Health reports why it is pointless to continue though calls succeed; it is
	// asked after each batch of rollouts. Nil: nothing is.
	Health func() error
	// Look looks at the outcomes of the seed skill before anything rests on them; an
	// error ends the run there. Nil: no one does.
	Look func([]trajectory.Outcome) error
	// Before notes that the test split is read, for the nth time in this run, and returns
	// who has read tasks of it before. taken says that an opening in the record may be
	// that of the run that this one is a fork of. Nil: it is not kept track of.
	Before func(ctx context.Context, n int, taken bool) (result.TestReads, error)
	// Measure names all that scores of the test split depend on apart from the skill: by
	// another one it is another test.
	Measure string
	// Fruitless ends a run whose analysts give nothing that can be used for several
	// steps in a row, with a *FruitlessError. A replay does not.
	Fruitless bool
	// Optimizer represents what may change of the optimizer from session to session.
	Optimizer string
	// Usage reports what the run has used so far, for progress events.
	Usage func() event.Progress
	// Pace learns of each unit of the run before it begins; an error ends the run
	// there, ErrEnded only its loop. For a step it says how many tasks there is room for, from Least to Tasks;
	// nothing else of what the run decides may depend on it. Nil: no one wants to know.
	Pace func(Unit) (tasks int, err error)
	// Overlap lets the rollouts that a unit of the loop begins with be prefetched,
	// before Pace learns of it: as soon as the skill that they are made with is certain,
	// while answers of the unit before are still out. It changes nothing but when
	// they are made, and may be answered otherwise at any time. Nil: never.
	Overlap func() bool
	// Ahead returns a context for rollouts that are begun before their unit, and a
	// function that is called when the unit has come: Health goes by nothing that was
	// answered under the context before. Nil: it does not look at answers.
	Ahead func(context.Context) (context.Context, func())
}
