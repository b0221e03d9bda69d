package forecast

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/page"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"golang.org/x/sync/errgroup"
)

// A dryRun trains with placeholders instead of the models: the real loop,
// the real prompts over the real tasks, and replies of a usual length. It counts
// what would be asked. Nothing is sent and nothing is written.
type dryRun struct {
	session  *session.Session
	mode     optimize.Mode
	scenario scenario
	question *rollout.ChatPrompt

	mu     sync.Mutex
	tally  map[stageRole]tally
	phase  map[stageRole]tally // of the stages that run at the moment
	phases []map[stageRole]tally
	latest string                     // the skill that was rolled out last
	known  map[[sha256.Size]byte]bool // sums of requests that the record answers when they come again

	ceiling *ceiling // of calls; nil: there is none
	made    int      // steps

	steps learned // how many candidates were judged, and survived
	all   bool    // every call counts, whatever the record answers

	keep    bool // losses are asked afresh
	several bool // train tasks are answered several times
	alone   bool // worked examples are all that is tried

	carriedOut func(key string) bool // by the run that this one continues from; nil: there is none
}

type stageRole struct{ stage, role string }

// tally counts calls and the bytes of what they say.
type tally struct {
	calls    int
	episodes int // rollouts of which only the number is known
	asked    int // bytes of prompts
	said     int // bytes of replies
	seed     int // calls with the seed skill on the selection split, and their bytes
	seedText int
	blind    int // calls of whose texts nothing is known
}

// scenario is how a dryRun goes: how much of the tasks the seed skill solves, and
// how good and how long the optimizer's edits are.
type scenario struct {
	solved float64 // share of the tasks, at the start
	helps  float64 // share of the edits that help
	length int     // bytes of an edit
	again  bool    // no first reply holds an answer where the task names pages, and all pages can be read
}

// The numbers that represent what is not known before anything was asked.
const (
	priorSolved  = 0.5  // share of tasks that the seed skill solves
	priorHelps   = 0.5  // share of edits that help
	priorFlips   = 0.05 // share of answers that score otherwise, where anything follows from that
	priorEdit    = 80   // bytes of an edit
	priorPraise  = 0.15 // chance that the analyst of successes proposes something
	priorReply   = 60   // bytes of an answer in addition to the reference answer
	solvable     = 0.98 // share of the tasks that any skill can solve
	edgePerEdit  = 0.5  // share of the unsolved tasks that an edit which helps adds
	bytesPerTok  = 4    // of prompts and replies
	maxReference = 64   // bytes of a reference that a placeholder repeats
)

// dryRuns trains with placeholders once for each scenario, as many at once as there are
// processors: each takes memory of its own. They share what is only read.
func (s *forecaster) dryRuns(ctx context.Context, o train.Options, scenarios ...scenario) ([]*dryRun, error) {
	runs := make([]*dryRun, len(scenarios))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	question := s.ChatPrompt(nil) // prompts are the same in all
	for i, st := range scenarios {
		group.Go(func() (err error) {
			runs[i], err = s.dryRun(ctx, o, question, st)
			return err
		})
	}
	return runs, group.Wait()
}

// dryRun trains once with placeholders.
func (s *forecaster) dryRun(ctx context.Context, o train.Options, question *rollout.ChatPrompt, st scenario) (*dryRun, error) {
	mode, ok := optimize.ParseMode(o.Mode)
	if !ok {
		return nil, fmt.Errorf("unknown update mode %q", o.Mode)
	}
	o = o.ForDryRun()
	o.Alpha = 0 // a certificate of placeholders is not read
	r := &dryRun{keep: o.Keep, several: o.Rollouts > 1, alone: o.Alone, carriedOut: o.CarriedOut, session: s.Session, mode: mode, scenario: st, question: question, tally: map[stageRole]tally{}, phase: map[stageRole]tally{}, known: map[[sha256.Size]byte]bool{}}
	deps := train.Deps{
		Data: s.Data, Skill: s.Skill, Scope: s.Scope, Roller: &rollout.Runner{Episode: r}, Ask: r.ask, Record: r, Prompts: s.Prompts, Files: r, Events: r.event,
		Told: s.TargetContext(nil), AtOnce: 1, // what is counted does not depend on who is faster
	}
	if calls := s.Config.Limits.Calls; calls != nil && !s.Episodes() {
		r.ceiling = &ceiling{calls: int(*calls), each: max(1, o.Rollouts), pass: s.Data.Pass(), alone: o.Alone}
		deps.Pace = func(u train.Unit) (int, error) { return r.ceiling.room(u, r.used()) }
	}
	res, err := train.Run(ctx, o, deps)
	r.event(event.StageStarted{})
	r.made = max(0, len(res.History.Steps)-1)
	for _, st := range res.History.Steps {
		r.steps.count(st)
	}
	return r, err
}

// event cuts the run into phases that follow one another.
func (r *dryRun) event(e event.Event) {
	if _, ok := e.(event.StageStarted); !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.phase) > 0 {
		r.phases = append(r.phases, r.phase)
		r.phase = map[stageRole]tally{}
	}
}

// Unmeasured implements train.Recorder. Placeholders always answer.
func (*dryRun) Unmeasured(context.Context, string, []byte, []string) error { return nil }

// Decided implements train.Recorder.
func (*dryRun) Decided(string) ([]byte, bool) { return nil, false }

// Decision implements train.Recorder.
func (*dryRun) Decision(_ context.Context, _ string, compute func() ([]byte, error)) ([]byte, error) {
	return compute()
}

// WriteFile implements train.Files.
func (*dryRun) WriteFile(string, []byte) error { return nil }

// WriteJSON implements train.Files.
func (*dryRun) WriteJSON(string, any) error { return nil }

func (t tally) plus(u tally) tally {
	t.calls, t.episodes, t.asked, t.said = t.calls+u.calls, t.episodes+u.episodes, t.asked+u.asked, t.said+u.said
	t.seed, t.seedText, t.blind = t.seed+u.seed, t.seedText+u.seedText, t.blind+u.blind
	return t
}

// isPaid reports whether another run has carried out what a key represents: it is played, and
// not counted.
func (r *dryRun) isPaid(key string) bool { return r.carriedOut != nil && r.carriedOut(key) }

func (r *dryRun) count(k stageRole, t tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[k] = r.tally[k].plus(t)
	r.phase[k] = r.phase[k].plus(t)
}

// Run implements rollout.Episode: one chat turn with a placeholder, or an episode
// that is counted only.
func (r *dryRun) Run(ctx context.Context, p rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	r.mu.Lock()
	r.latest = s.Text()
	r.mu.Unlock()
	paid := r.isPaid(p.Prefix)
	if r.session.Episodes() {
		hard := r.scores(p, t, s)
		if !paid {
			r.count(stageRole{model.StageRollout, model.Target}, tally{episodes: 1})
			r.judgeEpisode(t)
		}
		return trajectory.Outcome{
			ID: t.ID, Type: t.Type, Question: t.Prompt, Reference: rollout.Reference(t), Status: score.OK, Hard: hard, Soft: hard, FailReason: reason(hard),
			Trajectory: []trajectory.Turn{{Role: model.Assistant, Content: answer(t)}},
		}, nil
	}
	c := &rollout.Chat{
		Model: &standIn{r, t, p, paid}, Prompt: r.question, RunSeed: r.session.Config.Train.Seed, Pages: r.pages(),
		Assess: func(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (rollout.Assessment, error) {
			if !paid {
				r.judge(ctx, t, ev)
			}
			hard := r.scores(p, t, s)
			return rollout.Assessment{Answer: "?", Score: score.Score{Hard: hard, Soft: hard, Reason: reason(hard)}}, nil
		},
	}
	out, err := c.Run(ctx, p, t, s)
	if !r.session.Data.InFolds() && !strings.HasSuffix(p.Prefix, "/rollout") && !strings.Contains(p.Prefix, "/compare/") {
		out.Question, out.Trajectory = "", nil // no analyst reads it, and a run keeps one of each task and candidate
	}
	return out, err
}

// pages returns pages that are as long as they may be, or nil.
func (r *dryRun) pages() *rollout.Pages {
	p := session.Pages(r.session)
	if p == nil || !r.scenario.again {
		return nil
	}
	p.Finds = func(string) bool { return false }
	p.Get = func(_ context.Context, address string) (page.Page, error) {
		return page.Page{Address: address, Text: strings.Repeat("x", page.MaxText)}, nil
	}
	return p
}

func reason(hard float64) string {
	if hard > 0 {
		return ""
	}
	return "the answer is not the expected one"
}

// answer returns a text as long as the reference, with a sentence around it.
func answer(t task.Task) string {
	reply := strings.Repeat("word ", priorReply/5)
	if len(t.Gold) > 0 {
		reply += t.Gold[0][:min(len(t.Gold[0]), maxReference)]
	}
	return reply
}

// standIn answers instead of the target.
type standIn struct {
	*dryRun
	task  task.Task
	place rollout.Place
	paid  bool // another run has carried it out
}

// Do implements rollout.Doer.
func (d *standIn) Do(_ context.Context, c caller.Call) (model.Response, error) {
	t := tally{calls: 1, said: len(answer(d.task))}
	for _, m := range c.Messages {
		t.asked += len(m.Content)
		for _, p := range m.Parts {
			t.asked += len(p.Text)
		}
	}
	if d.place.Prefix == seedPlace {
		t.seed, t.seedText = 1, t.asked
	}
	if !d.repeats(c) && !d.paid {
		d.count(stageRole{c.Stage, c.Role}, t)
	}
	return model.Response{Text: answer(d.task), Finish: model.FinishStop}, nil
}

// repeats reports whether the same was asked before and is answered from the
// record: that of the run shares answers at temperature 0.
func (d *standIn) repeats(c caller.Call) bool {
	temperature := d.session.Config.Models.Target.Temperature
	if d.all || d.session.Config.Record.Reuse == caller.ReuseNever || temperature == nil || *temperature != 0 {
		return false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %d", d.task.ID, d.place.Sample)
	for _, m := range c.Messages {
		fmt.Fprintf(h, " %d %s", len(m.Content), m.Content)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[key] {
		return true
	}
	d.known[key] = true
	return false
}

// forecastPlace returns the place of the n-th rollout that is made to see its prompt.
func forecastPlace(n int) rollout.Place {
	return rollout.Place{Prefix: "forecast/compare/", Sample: n}
}

// seedPlace is where a run scores its seed skill.
const seedPlace = "seed/selection"

// judge counts what a judge would be asked.
func (r *dryRun) judge(ctx context.Context, t task.Task, ev rollout.Evidence) {
	if r.session.Scorer != nil || !r.session.Suite.Needs(t).Judge {
		return
	}
	// That a placeholder's reply cannot be used ends the checks of this task: what was
	// asked until then is counted.
	_, _ = r.session.Suite.Assess(ctx, check.Evidence{Answer: ev.Reply, Turns: ev.Turns}, t, check.Means{
		Judge: func(_ context.Context, _ string, q check.JudgeRequest) (string, error) {
			reply := fillSchema(q.Schema)
			r.count(stageRole{model.StageJudge, model.Judge}, tally{calls: 1, asked: len(q.System) + len(q.User) + len(q.Schema), said: len(reply)})
			return reply, nil
		},
		Command: func(context.Context, string, check.Command) (check.CommandResult, error) {
			return check.CommandResult{End: check.EndExit}, nil
		},
	})
}

// judgeEpisode counts what a judge would be asked about an episode. No one knows what of it
// the judge would be shown.
func (r *dryRun) judgeEpisode(t task.Task) {
	if r.session.Scorer != nil || r.session.Env != nil {
		return
	}
	if n := r.session.Suite.JudgeCalls(t); n > 0 {
		r.count(stageRole{model.StageJudge, model.Judge}, tally{calls: n, blind: n})
	}
}
