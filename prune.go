package skillopt

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Files of a run of Ablate or Prune.
const (
	AblationFile = "ablation.json"
	PruningFile  = "pruning.json"
	WholeFile    = "skill.md"        // the skill that was looked at
	PrunedFile   = "pruned_skill.md" // what is left of it
)

// What a rule does for the score.
const (
	RuleNeeded  = string(prune.Needed)
	RuleUseless = string(prune.Useless)
	RuleHarmful = string(prune.Harmful)
	RuleUnclear = string(prune.Unclear)
)

// PruneOptions say how Ablate and Prune work. The zero value is usable.
type PruneOptions struct {
	Split   string  // on whose tasks rules are judged: "" is selection
	Certify string  // on whose tasks the result is; "" is train, or Split if that is empty
	Margin  float64 // largest loss of score that does not matter; 0 is 0.05
	Passes  int     // evaluations of a task by a text at most, on average; 0 is 10

	// Record is a run directory: what it has recorded answers equal questions.
	Record string
}

// Ablation says what each rule of a skill is worth. It is the document that
// `ablate --json` prints and ablation.json holds. Points are those of the gate's
// metric, from 0 to 1. What was not measured is null.
type Ablation struct {
	RunDir      string `json:"run_dir"`
	Simulated   bool   `json:"simulated"`
	Exploratory bool   `json:"exploratory,omitempty"` // tasks are drafts that nobody has reviewed

	Skill  string  `json:"skill_hash"`
	Split  string  `json:"split"`
	Tasks  int     `json:"tasks"`
	Metric string  `json:"metric"`
	Margin float64 `json:"margin"`
	Level  float64 `json:"level"` // of the intervals, which hold however often one looks
	Passes int     `json:"max_passes"`
	// Alike: the model answers alike every time, as far as it was asked again, so
	// that one evaluation of a task is taken for all there is to know.
	Alike bool `json:"alike"`
	// TestRead: tasks of the test split were read.
	TestRead bool `json:"test_read,omitempty"`
	// TestReadBefore says who had read them before; null: they were not read, or an older
	// program began the run.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`

	Rules []RuleWorth `json:"rules"` // in the order of the document

	FromRecord int          `json:"from_record"` // answers that another run had paid for
	Calls      CallSummary  `json:"calls"`
	Tokens     TokenSummary `json:"tokens"`
	CostUSD    *float64     `json:"cost_usd"`
	WallS      float64      `json:"wall_s"`
}

// RuleWorth is a rule and the score with it minus that without it.
type RuleWorth struct {
	prune.Rule
	Verdict    string   `json:"verdict"`
	Worth      *float64 `json:"worth"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Pairs      int      `json:"pairs"`
	Wins       int      `json:"wins"` // pairs in which the rule helped
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
	Unmeasured []string `json:"unmeasured,omitempty"` // tasks left out of a round
}

// Pruned is what became of a skill. It is the document that `prune --json` prints
// and pruning.json holds.
type Pruned struct {
	Ablation
	Steps       []Removal    `json:"steps"`         // in the order in which they were tried
	Removed     []prune.Rule `json:"removed"`       // in the order of the document
	Pruned      string       `json:"pruned_hash"`   // of what is left
	Bytes       [2]int       `json:"bytes"`         // length of the skill before and after
	Certificate *NotWorse    `json:"certificate"`   // null: nothing was removed
	Text        string       `json:"-"`             // what is left
	CertifiedOn string       `json:"certify_split"` // split of the certificate
}

// Removal is one attempt to remove a rule: how much better the text without it
// scores than the one with it, which is what the attempts before had left.
type Removal struct {
	Rule       int      `json:"rule"`
	Removed    bool     `json:"removed"`
	Verdict    string   `json:"verdict"`
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Pairs      int      `json:"pairs"`
	Unmeasured []string `json:"unmeasured,omitempty"`
	// With are the rules that it was tried together with, itself among them: the figures
	// are of all of them. Absent where it was tried by itself.
	With []int `json:"with,omitempty"`
}

// NotWorse is the comparison of the pruned skill with the whole one by answers
// that nothing was chosen by.
type NotWorse struct {
	Certified  bool     `json:"certified"` // the loss is below the margin, at the level of the intervals
	Worse      bool     `json:"worse"`     // it is above
	HeldOut    bool     `json:"held_out"`  // the tasks are others than those that rules were judged on
	Alike      bool     `json:"alike"`
	Tasks      int      `json:"tasks"`
	Passes     float64  `json:"passes"`
	Pairs      int      `json:"pairs"`
	Difference *float64 `json:"difference"` // pruned minus whole
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Wins       int      `json:"wins"` // of the pruned skill
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
	Unmeasured []string `json:"unmeasured,omitempty"`
}

const (
	pruneMargin = 0.05
	prunePasses = 10
	freshSample = 1000 // the first sample of a certificate: far from those of any training
)

// Ablate leaves each rule of a skill out, one at a time, and measures what that
// does. It is recorded as training is: called again it pays for nothing twice. The
// error is an *Error.
func Ablate(ctx context.Context, cfg Config, o PruneOptions, opts ...Option) (*Ablation, error) {
	p, r, err := openPruning(ctx, cfg, o, "ablate", opts)
	if err != nil {
		return nil, err
	}
	out, err := p.ablate(ctx, r)
	return out, closed(r, err)
}

// Prune removes what does not pull its weight from a skill: the rules that
// ablation finds harmful or useless, one after the other, each removal measured
// against what the ones before have left, and compares the result with the whole
// skill afresh. The skill of the configuration is not touched. It is recorded as
// training is. The error is an *Error.
func Prune(ctx context.Context, cfg Config, o PruneOptions, opts ...Option) (*Pruned, error) {
	p, r, err := openPruning(ctx, cfg, o, "prune", opts)
	if err != nil {
		return nil, err
	}
	out, err := p.prune(ctx, r)
	return out, closed(r, err)
}

// pruning is one run of Ablate or Prune.
type pruning struct {
	*setup
	o       PruneOptions
	kind    string // ablate or prune
	rules   []prune.Rule
	judge   []task.Task
	certify []task.Task
	splits  []task.Split // that are read
	before  *TestReads   // who had read the test split, nil unless it is among them

	together bool // rules are tried together, and not each by itself
}

func openPruning(ctx context.Context, cfg Config, o PruneOptions, kind string, opts []Option) (*pruning, *run.Run, error) {
	s, err := prepare(ctx, cfg, opts, model.Target)
	if err != nil {
		return nil, nil, classify(err, "")
	}
	p := &pruning{setup: s, o: o, kind: kind}
	if err := errors.Join(p.defaults(), p.settings().Validate()); err != nil {
		return nil, nil, classify(&inputError{err}, "")
	}
	if err := p.tasks(); err != nil {
		return nil, nil, classify(err, "")
	}
	if o.Record != "" {
		if err := s.readKnown(ctx, o.Record); err != nil {
			return nil, nil, classify(err, "")
		}
	}
	about := fmt.Sprintf("%s, margin %g", p.o.Split, p.o.Margin)
	if kind == "prune" {
		about += ", certified on " + p.o.Certify
	}
	s.command = kind
	s.identify(kind, about)
	s.cfg.Run.Name = s.runName() + "-" + kind
	s.older = true // what a run has trained is pruned
	r, err := s.open(ctx)
	return p, r, classify(err, "")
}

// defaults completes the options and finds the rules.
func (p *pruning) defaults() error {
	if p.o.Split == "" {
		p.o.Split = string(task.Selection)
	}
	if p.o.Certify == "" {
		p.o.Certify = string(task.Train)
		if len(p.set.Split(task.Train)) == 0 {
			p.o.Certify = p.o.Split
		}
	}
	if p.o.Margin == 0 {
		p.o.Margin = pruneMargin
	}
	if p.o.Passes == 0 {
		p.o.Passes = prunePasses
	}
	if p.rules = prune.Rules(p.skill.Text()); len(p.rules) == 0 {
		return errors.New("the skill has no rule to leave out: no paragraph or list item outside of front matter and protected regions")
	}
	return nil
}

func (p *pruning) settings() prune.Settings {
	return prune.Settings{Margin: p.o.Margin, Level: 1 - p.cfg.Gate.Alpha, Passes: p.o.Passes, Steady: p.steady(), Together: p.together}
}

// tasks finds those of the splits.
func (p *pruning) tasks() error {
	judge, err := splitsOf(p.o.Split)
	if err != nil {
		return err
	}
	p.judge, p.splits, p.o.Split = p.of(judge), judge, nameOf(judge)
	if len(p.judge) == 0 {
		return p.set.Require(judge...)
	}
	if p.kind != "prune" {
		return nil
	}
	certify, err := splitsOf(p.o.Certify)
	if err != nil {
		return err
	}
	p.o.Certify = nameOf(certify)
	if p.certify = p.of(certify); len(p.certify) == 0 {
		return p.set.Require(certify...)
	}
	p.splits = append(p.splits, certify...)
	return nil
}

// nameOf names what splitsOf returns.
func nameOf(splits []task.Split) string {
	if len(splits) > 1 {
		return "all"
	}
	return string(splits[0])
}

func (p *pruning) of(splits []task.Split) []task.Task {
	var out []task.Task
	for _, s := range splits {
		out = append(out, p.set.Split(s)...)
	}
	return out
}

// testRead reports whether the test split is among those that are read.
func (p *pruning) testRead() bool {
	for _, s := range p.splits {
		if s == task.Test {
			return true
		}
	}
	return false
}

// rollouts is how many there are at most. The last round of a comparison may begin
// just before its passes are used up. Most end long before, and what two of them
// share is asked once.
func (p *pruning) rollouts() int {
	comparison := 2 * (p.o.Passes + 1) * len(p.judge)
	if p.kind != "prune" {
		return len(p.rules) * comparison
	}
	certificate := 2 * (prune.CertifyPasses*p.o.Passes + 1) * len(p.certify) // and once more where answers differ
	return 3*len(p.rules)*comparison + certificate                           // each rule by itself; together as often, and one after the other
}

// ask tells what the run may cost.
func (p *pruning) ask(r *run.Run) error {
	if p.confirm == nil || r.Resumed {
		return nil
	}
	if err := p.confirm(p.bounded(p.rollouts(), p.splits...)); err != nil {
		return errors.Join(&inputError{err}, r.Discard())
	}
	return nil
}

// begin asks, and opens the world.
func (p *pruning) begin(ctx context.Context, r *run.Run) (*world, error) {
	if err := p.ask(r); err != nil {
		return nil, err
	}
	if err := errors.Join(p.writeConfig(r), r.WriteFile(WholeFile, []byte(p.skill.Text()))); err != nil {
		return nil, err
	}
	w, err := p.world(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, text := range p.warnings {
		w.events(event.Warning{Text: text})
	}
	if p.testRead() {
		w.events(event.Warning{Text: "tasks of the test split are read: what they show of this skill afterwards is no longer a test"})
	}
	if p.kind == "prune" {
		err = p.settleMethod(ctx, w)
	}
	if err == nil {
		p.before, err = w.readsTest(ctx, p.splits)
	}
	if err != nil {
		w.close()
		return nil, p.endEvaluation(r, w.cause(ctx, err))
	}
	return w, nil
}

// methodKey is the key of the recorded way in which rules are removed. Runs that an older
// build began have none, and go on one rule after the other.
const methodKey = "prune/method"

const methodTogether = `"together"`

// settleMethod takes the way in which rules are removed from the record of the run, or
// records it before anything rests on it.
func (p *pruning) settleMethod(ctx context.Context, w *world) error {
	if _, known := w.caller.Decided(methodKey); !known && w.run.Journal.HighWater() > 0 {
		return nil
	}
	method, err := w.caller.Decision(ctx, methodKey, func() ([]byte, error) { return []byte(methodTogether), nil })
	p.together = string(method) == methodTogether
	return err
}

func (p *pruning) ablate(ctx context.Context, r *run.Run) (*Ablation, error) {
	began := p.now()
	w, err := p.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	got, err := p.pruner(w).Ablate(ctx)
	if err != nil {
		return nil, p.endEvaluation(r, w.cause(ctx, tooFew(err)))
	}
	out := p.describe(w, got)
	w.accountFor(&out)
	out.WallS = p.now().Sub(began).Seconds()
	kept := out
	kept.RunDir = "." // a run directory can be moved
	if err := r.WriteJSON(AblationFile, kept); err != nil {
		return nil, err
	}
	return &out, r.SetStatus("completed")
}

func (p *pruning) prune(ctx context.Context, r *run.Run) (*Pruned, error) {
	began := p.now()
	w, err := p.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	out, err := p.work(ctx, w)
	if err != nil {
		return nil, p.endEvaluation(r, w.cause(ctx, tooFew(err)))
	}
	w.accountFor(&out.Ablation)
	out.WallS = p.now().Sub(began).Seconds()
	kept := *out
	kept.RunDir = "."
	if err := errors.Join(r.WriteFile(PrunedFile, []byte(out.Text)), r.WriteFile(run.PullFile, out.Markdown()), r.WriteJSON(PruningFile, kept)); err != nil {
		return nil, err
	}
	return out, r.SetStatus("completed")
}

// work prunes, and compares what is left with the whole skill.
func (p *pruning) work(ctx context.Context, w *world) (*Pruned, error) {
	got, err := p.pruner(w).Prune(ctx)
	if err != nil {
		return nil, err
	}
	whole := p.skill.Text()
	out := &Pruned{
		Ablation: p.describe(w, got), Removed: append([]prune.Rule{}, got.Removed()...), Pruned: skill.Hash(got.Text), Text: got.Text,
		Bytes: [2]int{len(whole), len(got.Text)}, Steps: []Removal{}, CertifiedOn: p.o.Certify,
	}
	for _, s := range got.Steps {
		out.Steps = append(out.Steps, Removal{
			Rule: s.Rule.Number, Removed: s.Removed, Verdict: string(s.Verdict), Difference: s.Difference, Low: s.Low, High: s.High,
			Pairs: s.Pairs, Unmeasured: idsOf(p.judge, s.Lost), With: s.With,
		})
	}
	if len(out.Removed) == 0 {
		return out, nil
	}
	bench := p.bench(w, "certificate", p.certify)
	bench.First = max(freshSample, got.Samples)
	settings := p.settings()
	settings.Steady, settings.Variance = got.Alike, got.Variance
	w.events(event.StageStarted{Stage: "certificate", Total: 2 * len(p.certify)})
	c, err := prune.Certify(ctx, bench, settings, got.Text, whole)
	out.Certificate = &NotWorse{
		Certified: c.NotWorse, Worse: c.Worse, HeldOut: p.heldOut(), Alike: c.Alike, Tasks: len(p.certify), Passes: c.Passes, Pairs: c.Pairs,
		Difference: c.Difference, Low: c.Low, High: c.High, Wins: c.Wins, Losses: c.Losses, Ties: c.Ties, Unmeasured: idsOf(p.certify, c.Lost),
	}
	return out, err
}

// heldOut reports whether no task of the certificate was judged by.
func (p *pruning) heldOut() bool {
	judged := map[string]bool{}
	for _, t := range p.judge {
		judged[t.ID] = true
	}
	for _, t := range p.certify {
		if judged[t.ID] {
			return false
		}
	}
	return true
}
