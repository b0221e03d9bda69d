package skillopt

import (
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Config is everything that a run depends on; `skillopt config explain` and
// docs/config.schema.json document its keys.
type Config = config.Config

// Duration is a length of time in a Config.
type Duration = config.Duration

// DefaultConfig returns the configuration of the published protocol.
func DefaultConfig() Config { return config.Default() }

// LoadConfig reads a config file, or the config.yaml of a directory, with
// settings "a.b=value" over it. Relative paths in it become absolute.
//
// A file is regular and at most 1 MB. What is wrong with it comes as one error with
// every problem that was found.
func LoadConfig(path string, settings ...string) (Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Config{}, fmt.Errorf("find working directory: %w", err)
	}
	opts := config.Options{Path: path, Dir: dir}
	for _, text := range settings {
		set, err := config.ParseSetting(text)
		if err != nil {
			return Config{}, err
		}
		opts.Settings = append(opts.Settings, set)
	}
	l, err := config.Load(opts)
	if err != nil {
		return Config{}, err
	}
	return l.Config, nil
}

// Option changes how Train and Evaluate work.
type Option func(*options)

type options struct {
	tasks       []task.Task
	skill       *skill.Skill
	env         task.Env
	scorer      func(answer string, t task.Task) score.Score
	clients     map[string]model.Client
	events      event.Sink
	testLedgers []string
	runDir      string
	fork        string
	finish      bool
	reopen      bool
	replay      *Cassette
	stop        <-chan struct{}
	loaded      *config.Loaded
	version     string
	now         func() time.Time
	confirm     func(Plan) error
	extraIDs    map[string]string
	split       string
	passes      int
	margin      float64
	proofs      Proofs
	counting    bool // tasks are only counted

	acceptSeed bool
}

// WithTasks trains on tasks of your own instead of those of tasks.path. Tasks
// with a Split keep it; otherwise all are divided as the config says.
func WithTasks(tasks []task.Task) Option { return func(o *options) { o.tasks = tasks } }

// WithSkill starts from a skill value instead of the file of the config.
func WithSkill(s skill.Skill) Option { return func(o *options) { o.skill = &s } }

// WithEnv carries out tasks in an environment of your own. name stands for it
// in the identity of the run: change it when the environment changes.
func WithEnv(name string, env task.Env) Option {
	return func(o *options) { o.env = env; o.identify("env", name) }
}

// WithScorer scores answers by a function of your own instead of tasks.checks.
// It must be pure and may be called concurrently. name stands for it in the
// identity of the run.
func WithScorer(name string, score func(answer string, t task.Task) score.Score) Option {
	return func(o *options) { o.scorer = score; o.identify("scorer", name) }
}

// WithClient answers the calls of a role (target, optimizer) by a client of your
// own. name stands for it in the identity of the run.
func WithClient(role, name string, c model.Client) Option {
	return func(o *options) {
		clients := maps.Clone(o.clients)
		if clients == nil {
			clients = map[string]model.Client{}
		}
		clients[role] = c
		o.clients = clients
		o.identify("client."+role, name)
	}
}

// WithEvents subscribes to the events of the run. The sink is called in order,
// never concurrently, and the run waits for it.
func WithEvents(sink event.Sink) Option { return func(o *options) { o.events = sink } }

// WithRunDir keeps the run in this directory. Without it the newest unfinished
// run of the same configuration is resumed, or the next run.dir/NAME-N begun.
func WithRunDir(dir string) Option { return func(o *options) { o.runDir = dir } }

// WithFork begins a new run in dir with a copy of what the run of WithRunDir
// has paid for, up to the first call that differs.
func WithFork(dir string) Option { return func(o *options) { o.fork = dir } }

// WithFinish ends the loop of a run that was begun where its record ends, and
// evaluates what there is, on the test split too. That is recorded: the run stays
// ended.
func WithFinish() Option { return func(o *options) { o.finish = true } }

// WithReopenTest opens the test split though the record says that it was opened
// before, for other skills. What it shows then certifies nothing, and history,
// summary and report say so.
func WithReopenTest(reopen bool) Option { return func(o *options) { o.reopen = reopen } }

// WithReplay answers the run from what another one recorded, instead of calling
// models and running environments and checks. No key is needed. A step that the
// cassette does not have ends the run. The run is one of its own: it does not go
// on with models, nor does one that was begun with them go on with a cassette.
func WithReplay(c *Cassette) Option { return func(o *options) { o.replay = c } }

// WithStop stops the run softly when the channel is closed: calls in flight are
// finished and recorded, no new ones are sent. Cancel the context to stop hard.
func WithStop(stop <-chan struct{}) Option { return func(o *options) { o.stop = stop } }

// WithConfirm is asked once before anything is spent; an error ends the run.
func WithConfirm(confirm func(Plan) error) Option { return func(o *options) { o.confirm = confirm } }

// WithTestLedger has a run note what it reads of a test set in the ledger of this folder
// too, besides that of the folder in which it lies, and count what stands there. It may
// be given more than once.
func WithTestLedger(dir string) Option {
	return func(o *options) { o.testLedgers = append(o.testLedgers, dir) }
}

// WithSplit compares on another split than test: train, selection or all.
func WithSplit(split string) Option { return func(o *options) { o.split = split } }

// WithPasses is how often Evaluate goes over the tasks (default 1), and how often
// Compare does at most (default 10). More passes go on with the same run.
func WithPasses(n int) Option { return func(o *options) { o.passes = n } }

// WithMargin is the largest difference that does not matter to a comparison, in
// points of the score from 0 to 1. Default 0.05.
func WithMargin(margin float64) Option { return func(o *options) { o.margin = margin } }

// WithLoaded hands on what LoadConfig forgets: variables of the .env file and
// where the configuration came from. It is for the command line.
func WithLoaded(l *config.Loaded) Option { return func(o *options) { o.loaded = l } }

// WithVersion names the program in the manifest of the run.
func WithVersion(v string) Option { return func(o *options) { o.version = v } }

func (o *options) identify(key, name string) {
	ids := maps.Clone(o.extraIDs)
	if ids == nil {
		ids = map[string]string{}
	}
	ids[key] = name
	o.extraIDs = ids
}
