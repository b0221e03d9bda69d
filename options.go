package skillopt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// Option changes how an operation works. Options that an operation has no use for do
// nothing.
type Option func(*session.Options)

// applyOptions applies options.
func applyOptions(opts []Option) session.Options {
	var o session.Options
	for _, option := range opts {
		option(&o)
	}
	return o
}

// RescoreOptions say what of a run is rescored. The zero value is all but the answers to
// test tasks.
type RescoreOptions struct {
	Step string   // a step, or "best"; "": all
	IDs  []string // of tasks; none: all
	Type string   // of tasks; "": all
	Test bool     // answers to test tasks as well: to look at them is to read the test set
}

// PruneOptions say how Ablate and Prune work. The zero value is usable.
type PruneOptions struct {
	Split   string  // on whose tasks rules are judged: "" is selection
	Certify string  // on whose tasks the result is; "" is train, or Split if that is empty
	Margin  float64 // largest loss of score that does not matter; 0 is 0.05
	Passes  int     // evaluations of a task by a text at most, on average; 0 is 10

	// Record is a run directory: what it has recorded answers equal requests. So does what the
	// newest ablation of the skill has recorded, where there is one in run.dir.
	Record string

	// Seed is the skill that training began with, whose lines Prune leaves where they are unless
	// SeedLines is set; "": the skill of the configuration, where another one is pruned.
	Seed      string
	SeedLines bool
}

// DraftRequest says which tasks are to be drafted.
type DraftRequest struct {
	Skill string // a skill folder, its SKILL.md, or another Markdown file
	Tasks int    // how many, 1 to 500
	Seed  int64  // of the requests, and of the choice between equal parts of the skill

	// Triggers asks for trigger tasks, 2 to 500: half of them prompts that should load the
	// skill, half near misses that should not.
	Triggers bool
	// Known are prompts of trigger tasks that there are already, to which others are not to
	// be alike. A draft that is resumed keeps to those that it was begun with.
	Known []string
}

// MineRequest says in which sessions tasks are looked for.
type MineRequest struct {
	// Sessions are lines of JSON, one a session of an agent, at most 500 of which are looked at.
	// Members: source, session, project, origin, commit, started, ended, turns; of a turn id,
	// started, ended, user, agent, files, read, commands (text, exit, altered), skill,
	// skill_by, failed, interrupted, cut.
	Sessions []byte

	// Accepted, if set, returns what files held that a turn wrote and the user kept, by their
	// names in the session; nil: it is not known. It may be called concurrently.
	Accepted func(ctx context.Context, source, session, turn string) (map[string]string, error)
}

// SurveyRequest says of which repository tasks are made.
type SurveyRequest struct {
	Path  string   // of the repository, absolute
	Dir   string   // the folder to write, absolute: only what is below its folder repository is written
	Test  []string // a program that runs the tests and writes JUnit XML to $REPORT; none: the runner is found
	Setup string   // a command that installs dependencies, with network; "": those of the machine
	Limit int      // tasks at most; 0 = 60

	// Begin is called before anything of the repository runs, with what was found, and may refuse. Nil: it begins.
	Begin func(found []string) error
	// Note is called with what was done, a line each. Nil: no one reads it.
	Note func(line string)
}

// GatewayOptions say how a gateway is reached.
type GatewayOptions struct {
	Addr string // host:port on the loopback interface; "" = a free port of 127.0.0.1
	Key  string // what agents must send; "" = a random one

	// Observe learns of each exchange once it is over. It is not called
	// concurrently. Nil is normal.
	Observe func(result.Exchange)
}

// Proofs says where Examine keeps what it has proven of an agent. The zero value keeps
// nothing.
type Proofs struct {
	Dir   string // a folder for nothing else; it is made
	Fresh bool   // prove again what is kept
}

// WithTasks trains on tasks of your own instead of those of tasks.path. Tasks
// with a Split keep it; otherwise all are divided as the config says.
func WithTasks(tasks []task.Task) Option { return func(o *session.Options) { o.Tasks = tasks } }

// WithWorkspaces says what the field workspace of tasks is relative to: a folder of yours, below
// which each task names one that its workspace starts with. It holds for tasks of
// [WithTasks] as for those of tasks.path. What is in the folders that tasks name is part of
// the identity of the run, where they lie is not; they are read as long as the run is at work,
// and again by each session that continues it. A folder with links is refused.
func WithWorkspaces(dir string) Option { return func(o *session.Options) { o.Folders = dir } }

// WithAnswers has Evaluate score answers that are there already, by the ids of their tasks: no
// target is asked and nothing is extracted, whatever the configuration says of both. Judges of
// checks are asked as always, once for each answer. Every task needs an answer; agents,
// environments and checks that look at files or tools do not go with it, and other operations refuse
// it. The answers are part of the identity of the run.
func WithAnswers(answers map[string]string) Option {
	return func(o *session.Options) {
		o.Answers = session.Answers(maps.Clone(answers))
		h := sha256.New()
		for _, id := range slices.Sorted(maps.Keys(answers)) {
			fmt.Fprintf(h, "%q %q\n", id, answers[id])
		}
		o.Identify("answers", hex.EncodeToString(h.Sum(nil)))
	}
}

// WithSkill starts from a skill value, or from the text of a SKILL.md, instead of the file of the config.
func WithSkill[S string | skill.Skill](s S) Option {
	given, whole := any(s).(skill.Skill)
	if !whole {
		given = skill.New(any(s).(string))
	}
	return func(o *session.Options) { o.Skill = &given }
}

// Memory is what other runs leave to the optimizer of a new one. MemoryOf makes it.
type Memory = result.Memory

// WithMemory has Train show its analysts which edits other runs tried in vain, with what was
// measured of them, and begin with the meta skill of another optimizer. It is part of the
// identity of the run by all that it says, and recorded in it: a run that is resumed in its
// directory has it without this option. An empty memory is as none. Its texts are shown as evidence, between fences and without secrets; a
// memory beyond the bounds (200 entries, 64 edits of one, 16 KB a text) is an *Error.
func WithMemory(m Memory) Option { return func(o *session.Options) { o.Memory = &m } }

// WithEnv carries out tasks in an environment of your own. name represents it
// in the identity of the run: change it when the environment changes.
func WithEnv(name string, env task.Env) Option {
	return func(o *session.Options) { o.Env = env; o.Identify("env", name) }
}

// WithWorld has the target act in a world of your own over several turns, within env.turns, env.tokens and
// env.timeout. name represents it in the identity of the run: change it when the world changes.
func WithWorld(name string, w world.World) Option {
	return func(o *session.Options) { o.World = w; o.Identify("world", name) }
}

// WithScorer scores answers by a function of your own instead of tasks.checks.
// It must be pure and may be called concurrently. name represents it in the
// identity of the run.
func WithScorer(name string, score func(answer string, t task.Task) score.Score) Option {
	return func(o *session.Options) { o.Scorer = score; o.Identify("scorer", name) }
}

// WithClient answers the calls of a role (target, optimizer) by a client of your
// own. name represents it in the identity of the run.
func WithClient(role, name string, c model.Client) Option {
	return func(o *session.Options) {
		clients := maps.Clone(o.Clients)
		if clients == nil {
			clients = map[string]model.Client{}
		}
		clients[role] = c
		o.Clients = clients
		o.Identify("client."+role, name)
	}
}

// WithEvents subscribes to the events of the run. The sink is called in order,
// never concurrently, and the run waits for it.
func WithEvents(sink event.Sink) Option { return func(o *session.Options) { o.Events = sink } }

// WithPlanOnly has Evaluate, Compare, Ablate, Prune and MeasureNoise say in plan what they
// would take, and end there: they return nil and no error, nothing is sent and no run is
// begun.
func WithPlanOnly(plan *result.Plan) Option { return func(o *session.Options) { o.Plan = plan } }

// WithRunDir keeps the run in this directory. Without it the newest unfinished
// run of the same configuration is resumed, or the next run.dir/NAME-N begun.
func WithRunDir(dir string) Option { return func(o *session.Options) { o.RunDir = dir } }

// WithFork begins a new run in dir with a copy of what the run of WithRunDir
// has paid for, up to the first call that differs.
func WithFork(dir string) Option { return func(o *session.Options) { o.Fork = dir } }

// WithContinue begins a new run that trains on from the finished run in dir, until it has this
// many epochs in all, or with more this many in addition to those that run has carried out. What
// that run has paid for is taken over. The new run is kept in the directory of WithRunDir, or in
// the next free one. The configuration may differ from that of the finished run in train.stop
// and in what may change when a run is resumed.
func WithContinue(dir string, epochs int, more bool) Option {
	return func(o *session.Options) { o.Continue = session.Continuation{Dir: dir, Epochs: epochs, More: more} }
}

// WithFinish ends the loop of a run that was begun where its record ends, and
// evaluates what there is, on the test split too. That is recorded: the run stays
// ended.
func WithFinish() Option { return func(o *session.Options) { o.Finish = true } }

// WithKeepOpen begins a run that makes nothing smaller for its ceilings, and leaves the test
// unread where one ends it: that it will be raised is recorded. Without it such a run ends
// with its result.
func WithKeepOpen() Option { return func(o *session.Options) { o.KeepOpen = true } }

// WithReopenTest opens the test split though the record says that it was opened
// before, for other skills. What it shows then certifies nothing, and history,
// summary and report say so.
func WithReopenTest(reopen bool) Option { return func(o *session.Options) { o.Reopen = reopen } }

// WithReplay answers the run from what another one recorded, instead of calling
// models and running environments and checks. No key is needed. A step that the
// cassette does not have ends the run. The run is one of its own: it does not continue
// with models, nor does one that was begun with them continue with a cassette.
func WithReplay(c *Cassette) Option {
	return func(o *session.Options) {
		if c != nil {
			o.Replay = c.recorded
		}
	}
}

// WithStop stops the run softly when the channel is closed: calls in flight are
// finished and recorded, no new ones are sent. Cancel the context to stop hard.
func WithStop(stop <-chan struct{}) Option { return func(o *session.Options) { o.Stop = stop } }

// WithUsed calls used when an operation ends, whether it succeeded or not, with what it has used by
// itself: nothing of earlier sessions of the run, and what failed attempts may have been charged
// for as input. A null cost is not known.
func WithUsed(used func(event.Progress)) Option { return func(o *session.Options) { o.Used = used } }

// WithConfirm sets the function that is asked once before anything is spent; an error ends the run.
func WithConfirm(confirm func(result.Plan) error) Option {
	return func(o *session.Options) { o.Confirm = confirm }
}

// WithTestLedger has a run note what it reads of a test set in the ledger of this folder
// as well as in that of the folder in which the run lies, and count what is there. It may
// be given more than once.
func WithTestLedger(dir string) Option {
	return func(o *session.Options) { o.TestLedgers = append(o.TestLedgers, dir) }
}

// WithSplit compares on another split than selection: train, test or all.
func WithSplit(split string) Option { return func(o *session.Options) { o.Split = split } }

// WithPasses sets how often Evaluate goes over the tasks (default 1), and how often Compare does at
// most (default 10). More passes continue with the same run.
func WithPasses(n int) Option { return func(o *session.Options) { o.Passes = n } }

// Only says which tasks of a split Evaluate scores: with an id among IDs, of a Type, and of
// those the first Limit. Absent parts let everything through.
type Only struct {
	IDs   []string
	Type  string
	Limit int // 0: all
}

// WithTuned has Evaluate note that a person has edited the skill, and from which one. The result says that it is no proof,
// and so do later scores of this skill on the same tasks in run.dir. Test tasks are refused.
func WithTuned(from result.Tuned) Option { return func(o *session.Options) { o.Tuned = &from } }

// WithOnly has Evaluate score some tasks of the split alone. A score over some tasks says
// nothing of the others. An id that the split does not have is an error.
func WithOnly(only Only) Option {
	return func(o *session.Options) { o.Only = session.Only(only) }
}

// WithMargin sets the largest difference that does not matter to a comparison, in points of the
// score from 0 to 1. Default 0.05.
func WithMargin(margin float64) Option { return func(o *session.Options) { o.Margin = margin } }

// WithOneLook has Compare read all of the split as many times as [WithPasses] says (1 if it is
// not given), and look at the result once, at the end: at level, between 0 and 1, by an
// exact test where scores are hard, tasks are independent and there is one pass. With equal
// numbers of tasks that finds more than looking all the time; what is read never depends on
// what was read. The level is part of the identity of the run. 0: it looks as it goes.
func WithOneLook(level float64) Option { return func(o *session.Options) { o.Level = level } }

// WithLoaded passes on what config.LoadFile forgets: variables of the .env file and where
// the configuration came from. It is for the command line.
func WithLoaded(l *config.Loaded) Option { return func(o *session.Options) { o.Loaded = l } }

// Clouds are what the SDKs of clouds are needed for.
type Clouds = wiring.Clouds

// WithClouds passes on the SDKs of clouds that the program has, for models at Amazon Bedrock and Google
// Vertex AI and for Azure by Entra ID: such as Clouds{Amazon: cloud.NewAmazon(), Azure: cloud.Azure, Google: cloud.Google}.
func WithClouds(c Clouds) Option { return func(o *session.Options) { o.Clouds = c } }

// WithVersion names the program in the manifest of the run.
func WithVersion(v string) Option { return func(o *session.Options) { o.Version = v } }

// WithAgain has Train begin another run of a configuration that has a complete run in run.dir, or
// one that continued from the same run for as long: else Train returns the summary of that run, and
// nothing is asked. A run that is named with WithRunDir, a fork and a replay are not looked at.
func WithAgain() Option { return func(o *session.Options) { o.Start.Again = true } }

// WithAcceptedSeed has the run continue though the seed skill's first scores look as if the
// measurement were broken, or a provider refuses many requests.
func WithAcceptedSeed() Option { return func(o *session.Options) { o.Start.AcceptSeed = true } }

// WithProofs keeps proofs of agents: one that is kept for the same program, model,
// config and build of this package is not made again.
func WithProofs(p Proofs) Option { return func(o *session.Options) { o.Proofs = session.Proofs(p) } }
