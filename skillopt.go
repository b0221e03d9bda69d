package skillopt

import (
	"context"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/op/compare"
	"github.com/seed-f4525e22/skillopt/internal/op/doctor"
	"github.com/seed-f4525e22/skillopt/internal/op/draft"
	"github.com/seed-f4525e22/skillopt/internal/op/evaluate"
	"github.com/seed-f4525e22/skillopt/internal/op/export"
	"github.com/seed-f4525e22/skillopt/internal/op/gateway"
	"github.com/seed-f4525e22/skillopt/internal/op/mine"
	"github.com/seed-f4525e22/skillopt/internal/op/prune"
	"github.com/seed-f4525e22/skillopt/internal/op/rescore"
	"github.com/seed-f4525e22/skillopt/internal/op/survey"
	"github.com/seed-f4525e22/skillopt/internal/op/train"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Train trains a skill, or resumes its training. Where it is complete, nothing is asked and the
// summary is that of the complete run (WithAgain begins another). The error is an *Error. The
// summary is there whenever a run was begun, also together with an error.
func Train(ctx context.Context, cfg config.Config, opts ...Option) (*result.Summary, error) {
	sum, err := train.Run(ctx, cfg, applyOptions(opts))
	return sum, classify(err)
}

// Plan forecasts a training run. Nothing is sent, and no run is begun. The error is an
// *Error.
func Plan(ctx context.Context, cfg config.Config, opts ...Option) (result.Plan, error) {
	p, err := train.Plan(ctx, cfg, applyOptions(opts))
	return p, classify(err)
}

// Evaluate scores the skill of a configuration on a split: train, selection, test or all,
// once or with fresh samples several times (WithPasses). It is recorded as training is.
// The error is an *Error.
func Evaluate(ctx context.Context, cfg config.Config, split string, opts ...Option) (*result.Evaluation, error) {
	e, err := evaluate.Run(ctx, cfg, split, applyOptions(opts))
	return e, classify(err)
}

// Compare reports whether skill b is better than skill a. Both carry out the same
// tasks of a split (WithSplit; default selection) with the same seeds, in turns, until
// the difference is certain, or certainly no larger than a margin (WithMargin), or
// the passes (WithPasses) or limits are used up. The skill of the configuration is
// not used. It is recorded as training is; a comparison without a verdict continues
// when it is called again with more passes. The error is an *Error; with one
// that says that a budget is used up, Compare returns what was measured before.
func Compare(ctx context.Context, cfg config.Config, a, b skill.Skill, opts ...Option) (*result.Comparison, error) {
	c, err := compare.Run(ctx, cfg, a, b, applyOptions(opts))
	return c, classify(err)
}

// Ablate leaves each rule of a skill out, one at a time, and measures what that
// does. It is recorded as training is: called again it pays for nothing twice. The
// error is an *Error.
func Ablate(ctx context.Context, cfg config.Config, o PruneOptions, opts ...Option) (*result.Ablation, error) {
	a, err := prune.Ablate(ctx, cfg, prune.Options(o), applyOptions(opts))
	return a, classify(err)
}

// Prune removes what does not pull its weight from a skill: the rules that
// ablation finds harmful or useless, one after the other, each removal measured
// against what the ones before have left, and compares the result with the whole
// skill afresh. The skill of the configuration is not touched. It is recorded as
// training is. The error is an *Error.
func Prune(ctx context.Context, cfg config.Config, o PruneOptions, opts ...Option) (*result.Pruned, error) {
	p, err := prune.Run(ctx, cfg, prune.Options(o), applyOptions(opts))
	return p, classify(err)
}

// Rescore scores the recorded answers of the run in dir by the checks, the extraction and
// the tasks of a configuration, and reports which decisions of its gate would have been other
// ones. No model is asked, and nothing of the run is changed. The error is an *Error.
func Rescore(ctx context.Context, cfg config.Config, dir string, o RescoreOptions, opts ...Option) (*result.Rescore, error) {
	r, err := rescore.Run(ctx, cfg, dir, rescore.Filter(o), applyOptions(opts))
	return r, classify(err)
}

// MemoryOf gathers what runs that train leave to the optimizer of a new one, for WithMemory:
// what their gates rejected with the difference that was measured, newest first and each once,
// and the newest meta skill. The runs may be finished or killed, of one skill or of several;
// files of them that are damaged are passed over. It asks no one. The error is an *Error.
func MemoryOf(dirs ...string) (Memory, error) {
	var runs []ask.RunName
	for _, dir := range dirs {
		runs = append(runs, ask.RunName{Dir: dir, Path: dir})
	}
	m, err := ask.Memory(runs)
	return m.Memory, classify(err)
}

// MeasureNoise asks every selection task twice with the skill of a configuration.
// The calls are recorded under run.dir, and asked once: the same configuration is
// answered from the record. The error is an *Error.
func MeasureNoise(ctx context.Context, cfg config.Config, opts ...Option) (*result.Noise, error) {
	n, err := evaluate.Noise(ctx, cfg, applyOptions(opts))
	return n, classify(err)
}

// Draft has the optimizer of a configuration write tasks for a skill that has
// none, or trigger tasks. Of cfg it uses models.optimizer, limits, prices, cache and record. Every
// call is recorded in the directory of WithRunDir: the same request again pays
// for nothing twice. The error is an *Error.
func Draft(ctx context.Context, cfg config.Config, req DraftRequest, opts ...Option) (*result.Draft, error) {
	d, err := draft.Run(ctx, cfg, draft.Request(req), applyOptions(opts))
	return d, classify(err)
}

// Mine has the optimizer of a configuration find tasks in sessions of agents: what users
// corrected, and work that did not pass at first. What is sent of a session is what
// `skillopt sleep harvest --show-outbound` prints of it, about sessions alone that show an
// outcome; the caller must have asked whether it may be sent. Of cfg it uses
// models.optimizer, limits, prices, cache and record. Every call is recorded in the directory of
// WithRunDir: the same request again pays for nothing twice. The error is an *Error.
func Mine(ctx context.Context, cfg config.Config, req MineRequest, opts ...Option) (*result.Mine, error) {
	m, err := mine.Run(ctx, cfg, mine.Request(req), applyOptions(opts))
	return m, classify(err)
}

// Survey makes tasks of a git repository: of commits that came with tests, and of small faults that its tests notice. It runs these
// tests, confined and without network, and keeps each run in the folder repository of req.Dir: called again it runs nothing twice. The
// repository itself is never written to. With models.optimizer in cfg the model words what is asked. The error is an *Error.
func Survey(ctx context.Context, cfg config.Config, req SurveyRequest, opts ...Option) (*result.Survey, error) {
	s, err := survey.Run(ctx, cfg, survey.Request(req), applyOptions(opts))
	return s, classify(err)
}

// VerifyTasks proves tasks that Survey has made again, those with the ids, or all: doing nothing fails and the real fix passes, three
// times of three. note, which may be nil, is called with each. Test tasks are looked at by no model. The error is an *Error.
func VerifyTasks(ctx context.Context, cfg config.Config, ids []string, note func(result.ProvenTask), opts ...Option) (*result.Proven, error) {
	p, err := survey.Verify(ctx, cfg, ids, note, applyOptions(opts))
	return p, classify(err)
}

// Reflect has the optimizer of a configuration read outcomes that the skill has led to, as a step
// of training does, and returns the edits that it proposes, with its reasons. Nothing is applied or
// judged. Of cfg it uses skill, models.optimizer, reflect, edits, prompts, limits, prices, cache,
// record and run. It is recorded as training is: in the same directory (WithRunDir) it pays for
// nothing twice. The error is an *Error.
func Reflect(ctx context.Context, cfg config.Config, outcomes []trajectory.Outcome, opts ...Option) (*result.Reflection, error) {
	r, err := train.Reflect(ctx, cfg, outcomes, applyOptions(opts))
	return r, classify(err)
}

// CheckTasks loads the tasks of a configuration the way training does and
// reports what they are. The error is an *Error that names every problem.
func CheckTasks(ctx context.Context, cfg config.Config, opts ...Option) (result.TaskReport, error) {
	r, err := doctor.Tasks(ctx, cfg, applyOptions(opts))
	return r, classify(err)
}

// Examine checks whether a configuration can run: what it names, what runs its
// tasks, and the models, with one real call to each server of a role, and two more to one on
// this machine. No one who answers by hand is asked. A coding agent works once against a
// scripted model, see WithProofs. What it found wrong has an *Error.
func Examine(ctx context.Context, cfg config.Config, opts ...Option) result.Examination {
	return classifyRows(doctor.Examine(ctx, cfg, applyOptions(opts)))
}

// ExamineAgents says which coding agents are installed here, and whether programs
// can be confined. One that is not there is no failure.
func ExamineAgents(ctx context.Context, opts ...Option) result.Examination {
	return classifyRows(doctor.Agents(ctx, applyOptions(opts)))
}

// CheckProgram tries out the program of env.command that plays episodes (skill-env/1): a row for each thing that a run relies
// on. No model is asked. The error is an *Error.
func CheckProgram(ctx context.Context, cfg config.Config, opts ...Option) (result.Examination, error) {
	e, err := doctor.Program(ctx, cfg, applyOptions(opts))
	return e, classify(err)
}

// classifyRows gives the errors of an examination their kinds.
func classifyRows(e result.Examination) result.Examination {
	for i := range e.Rows {
		e.Rows[i].Err = classify(e.Rows[i].Err)
	}
	return e
}

// Gateway serves the model of a configuration to any agent on this machine, in
// the protocols of OpenAI, Anthropic and Gemini. It sends what it is asked once
// and passes on what the server says: agents retry by themselves. Every call goes
// into the ledger of a run directory, and limits.calls, limits.tokens, limits.usd
// and limits.time hold.
type Gateway struct {
	URL      string // root; agents of OpenAI's protocols get it with /v1 behind it
	Key      string // what agents must send
	RunDir   string
	Model    string // as the provider knows it, "" if it has one only
	Provider string // who answers, as models.target.provider names it

	serving *gateway.Gateway
}

// OpenGateway begins to serve. Of cfg it uses the target model, limits,
// prices and run. The caller closes the gateway. The error is an *Error.
func OpenGateway(ctx context.Context, cfg config.Config, o GatewayOptions, opts ...Option) (*Gateway, error) {
	g, err := gateway.Open(ctx, cfg, gateway.Options(o), applyOptions(opts))
	if err != nil {
		return nil, classify(err)
	}
	return &Gateway{URL: g.URL, Key: g.Key, RunDir: g.RunDir, Model: g.Model, Provider: g.Provider, serving: g}, nil
}

// Ended returns a channel that is closed when limits.time is reached and all that was in flight
// then is answered. Nothing is answered after that; only Close remains.
func (g *Gateway) Ended() <-chan struct{} { return g.serving.Ended() }

// Close ends the gateway and all requests in flight, and says what went through
// it. The error is an *Error; one of the kind OverBudget says that a ceiling has
// kept answers from agents, or that limits.time was reached.
func (g *Gateway) Close() (result.GatewaySummary, error) {
	sum, err := g.serving.Close()
	return sum, classify(err)
}

// Cassette holds what a run recorded, to answer the same run again: see WithReplay. It is
// safe for concurrent use.
type Cassette struct{ recorded *cassette.Cassette }

// Len returns the number of recorded steps.
func (c *Cassette) Len() int { return c.recorded.Len() }

// Unused lists the keys of recorded steps that no replay has asked for, sorted: a replay
// that leaves some took another way. Items that were given up are left out.
func (c *Cassette) Unused() []string { return c.recorded.UnusedKeys() }

// LoadCassette reads a file that ExportCassette wrote. The error is an *Error.
func LoadCassette(path string) (*Cassette, error) {
	c, err := cassette.Load(path)
	if err != nil {
		return nil, classify(fault.Input(err))
	}
	return &Cassette{recorded: c}, nil
}

// ExportCassette writes what the run in dir has recorded to the file at path, as
// a whole or not at all. What has the shape of a key is taken out of results, and
// so are the given secrets wherever they occur. The run is not changed; another
// process may have it open, and what it records from then on is left out. The
// error is an *Error.
func ExportCassette(ctx context.Context, dir, path string, secrets ...string) (result.Exported, error) {
	sum, err := export.Cassette(ctx, dir, path, secrets...)
	return sum, classify(err)
}

// ExportInspect writes the answers of the run in dir as a log of inspect_ai to the file at
// path, as a whole or not at all: those of an arm (seed, best, ...) on a split, or, where
// either is "", what judged the best skill. What has the shape of a key is taken out, and
// so are the given secrets. What was not measured has an error there instead of a score.
// The run is not changed. The error is an *Error.
func ExportInspect(ctx context.Context, dir, path, split, arm string, secrets ...string) (result.ExportedLog, error) {
	sum, err := export.Inspect(ctx, dir, path, export.Which{Split: split, Arm: arm}, secrets...)
	return sum, classify(err)
}

// RunHelper confines a program if this process was started as a helper for that, and does nothing
// otherwise. It has to be called first in the main function of a program that trains with agents or
// command checks. On Linux agents and command checks are confined by a copy of this program, which
// gives up its rights before it becomes them. RunHelper does not return when it finds itself to be
// that copy. args is os.Args.
func RunHelper(args []string) { sandbox.Main(args) }
