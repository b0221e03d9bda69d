package skillopt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A rehearsal trains with stand-ins in the place of the models: the real loop,
// the real prompts over the real tasks, and replies of a usual length. It counts
// what would be asked. Nothing is sent and nothing is written.
type rehearsal struct {
	setup    *setup
	mode     optimize.Mode
	story    story
	question *rollout.Question

	mu     sync.Mutex
	tally  map[stageRole]tally
	phase  map[stageRole]tally // of the stages that run at the moment
	phases []map[stageRole]tally
	latest string                     // the skill that was rolled out last
	known  map[[sha256.Size]byte]bool // sums of requests that the record answers when they come again

	steps learned // how many candidates were judged, and survived
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

// story is how a rehearsal goes: how much of the tasks the seed skill solves, and
// how good and how long the optimizer's edits are.
type story struct {
	solved float64 // share of the tasks, at the start
	helps  float64 // share of the edits that help
	length int     // bytes of an edit
}

// The numbers that stand for what is not known before anything was asked.
const (
	priorSolved  = 0.5  // share of tasks that the seed skill solves
	priorHelps   = 0.5  // share of edits that help
	priorEdit    = 80   // bytes of an edit
	priorPraise  = 0.15 // chance that the analyst of successes proposes something
	priorReply   = 60   // bytes of an answer beside the reference answer
	solvable     = 0.98 // share of the tasks that any skill can solve
	edgePerEdit  = 0.5  // share of the unsolved tasks that an edit which helps adds
	bytesPerTok  = 4    // of prompts and replies
	maxRehearsed = 64   // bytes of a reference that a stand-in repeats
)

// rehearsals trains with stand-ins once for each story, all at once: they share
// what is only read.
func (s *setup) rehearsals(ctx context.Context, o train.Options, stories ...story) ([]*rehearsal, error) {
	runs := make([]*rehearsal, len(stories))
	group, ctx := errgroup.WithContext(ctx)
	question := s.question(nil) // prompts are the same in all
	for i, st := range stories {
		group.Go(func() (err error) {
			runs[i], err = s.rehearse(ctx, o, question, st)
			return err
		})
	}
	return runs, group.Wait()
}

// rehearse trains once with stand-ins.
func (s *setup) rehearse(ctx context.Context, o train.Options, question *rollout.Question, st story) (*rehearsal, error) {
	mode, ok := optimize.ParseMode(o.Mode)
	if !ok {
		return nil, fmt.Errorf("unknown update mode %q", o.Mode)
	}
	o.Alpha = 0 // nobody reads a certificate of stand-ins
	r := &rehearsal{setup: s, mode: mode, story: st, question: question, tally: map[stageRole]tally{}, phase: map[stageRole]tally{}, known: map[[sha256.Size]byte]bool{}}
	res, err := train.Run(ctx, o, train.Deps{
		Data: s.data, Skill: s.skill, Roller: &rollout.Runner{Episode: r}, Ask: r.ask, Record: r, Prompts: s.prompts, Files: r, Events: r.event,
		Told: s.told(nil),
	})
	r.event(event.StageStarted{})
	for _, st := range res.History.Steps {
		r.steps.count(st)
	}
	return r, err
}

// event cuts the run into phases that follow one another.
func (r *rehearsal) event(e event.Event) {
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

// Unmeasured implements train.Recorder. Stand-ins always answer.
func (*rehearsal) Unmeasured(context.Context, string, []byte, []string) error { return nil }

// Decided implements train.Recorder.
func (*rehearsal) Decided(string) ([]byte, bool) { return nil, false }

// Decision implements train.Recorder.
func (*rehearsal) Decision(_ context.Context, _ string, compute func() ([]byte, error)) ([]byte, error) {
	return compute()
}

// WriteFile implements train.Files.
func (*rehearsal) WriteFile(string, []byte) error { return nil }

// WriteJSON implements train.Files.
func (*rehearsal) WriteJSON(string, any) error { return nil }

func (t tally) plus(u tally) tally {
	t.calls, t.episodes, t.asked, t.said = t.calls+u.calls, t.episodes+u.episodes, t.asked+u.asked, t.said+u.said
	t.seed, t.seedText, t.blind = t.seed+u.seed, t.seedText+u.seedText, t.blind+u.blind
	return t
}

func (r *rehearsal) count(k stageRole, t tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[k] = r.tally[k].plus(t)
	r.phase[k] = r.phase[k].plus(t)
}

// Run implements rollout.Episode: one chat turn with a stand-in, or an episode
// that is counted only.
func (r *rehearsal) Run(ctx context.Context, p rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	r.mu.Lock()
	r.latest = s.Text()
	r.mu.Unlock()
	if r.setup.episodes() {
		r.count(stageRole{model.StageRollout, model.Target}, tally{episodes: 1})
		hard := r.solves(t, s)
		r.judgeEpisode(t)
		return trajectory.Outcome{
			ID: t.ID, Type: t.Type, Question: t.Prompt, Reference: rollout.Reference(t), Status: score.OK, Hard: hard, Soft: hard, FailReason: reason(hard),
			Trajectory: []trajectory.Turn{{Role: model.Assistant, Content: answer(t)}},
		}, nil
	}
	c := &rollout.Chat{
		Model: &standIn{r, t, p}, Question: r.question, RunSeed: r.setup.cfg.Train.Seed,
		Assess: func(ctx context.Context, key string, t task.Task, ev rollout.Evidence) (string, score.Score, error) {
			r.judge(ctx, t, ev)
			hard := r.solves(t, s)
			return "?", score.Score{Hard: hard, Soft: hard, Reason: reason(hard)}, nil
		},
	}
	out, err := c.Run(ctx, p, t, s)
	if !r.setup.data.InFolds() && !strings.HasSuffix(p.Prefix, "/rollout") && !strings.Contains(p.Prefix, "/compare/") {
		out.Question, out.Trajectory = "", nil // no analyst reads it, and a run keeps one of each task and candidate
	}
	return out, err
}

func reason(hard float64) string {
	if hard > 0 {
		return ""
	}
	return "the answer is not the expected one"
}

// answer is as long as the reference, with a sentence around it.
func answer(t task.Task) string {
	reply := strings.Repeat("word ", priorReply/5)
	if len(t.Gold) > 0 {
		reply += t.Gold[0][:min(len(t.Gold[0]), maxRehearsed)]
	}
	return reply
}

// standIn answers in the place of the target.
type standIn struct {
	*rehearsal
	task  task.Task
	place rollout.Place
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
	if !d.repeats(c) {
		d.count(stageRole{c.Stage, c.Role}, t)
	}
	return model.Response{Text: answer(d.task), Finish: model.FinishStop}, nil
}

// repeats reports whether the same was asked before and is answered from the
// record: that of the run shares answers at temperature 0.
func (d *standIn) repeats(c caller.Call) bool {
	temperature := d.setup.cfg.Models.Target.Temperature
	if d.setup.cfg.Record.Reuse == caller.ReuseNever || temperature == nil || *temperature != 0 {
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

// seedPlace is where a run scores its seed skill.
const seedPlace = "seed/selection"

// judge counts what a judge would be asked.
func (r *rehearsal) judge(ctx context.Context, t task.Task, ev rollout.Evidence) {
	if r.setup.scorer != nil || !r.setup.suite.Needs(t).Judge {
		return
	}
	// That a stand-in's reply cannot be used ends the checks of this task: what was
	// asked until then is counted.
	_, _ = r.setup.suite.Assess(ctx, check.Evidence{Answer: ev.Reply, Turns: ev.Turns}, t, check.Means{
		Judge: func(_ context.Context, _ string, q check.Question) (string, error) {
			reply := filled(q.Schema)
			r.count(stageRole{model.StageJudge, model.Judge}, tally{calls: 1, asked: len(q.System) + len(q.User) + len(q.Schema), said: len(reply)})
			return reply, nil
		},
		Command: func(context.Context, string, check.Command) (check.CommandResult, error) {
			return check.CommandResult{End: check.EndExit}, nil
		},
	})
}

// judgeEpisode counts what a judge would be asked of an episode. What it would be
// shown of that nobody knows.
func (r *rehearsal) judgeEpisode(t task.Task) {
	if r.setup.scorer != nil || r.setup.env != nil {
		return
	}
	if n := r.setup.suite.Questions(t); n > 0 {
		r.count(stageRole{model.StageJudge, model.Judge}, tally{calls: n, blind: n})
	}
}

// filled is a small JSON value that a schema describes.
func filled(schema []byte) string {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return "{}"
	}
	out, err := json.Marshal(fill(s))
	if err != nil {
		return "{}"
	}
	return string(out)
}

func fill(schema any) any {
	s, _ := schema.(map[string]any)
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	switch s["type"] {
	case "object":
		out := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(props)) {
			out[name] = fill(props[name])
		}
		return out
	case "array":
		n, _ := s["minItems"].(float64)
		out := make([]any, int(math.Max(1, n)))
		for i := range out {
			out[i] = fill(s["items"])
		}
		return out
	case "number", "integer":
		return 1
	case "boolean":
		return true
	}
	return strings.Repeat("word ", 12)
}

// solves is 1 when the skill holds enough edits that help for this task.
func (r *rehearsal) solves(t task.Task, s skill.Skill) float64 {
	good := strings.Count(s.Text(), helpful)
	share := solvable - (solvable-min(r.story.solved, solvable))*math.Pow(1-edgePerEdit, float64(good))
	if chance(t.ID) < share {
		return 1
	}
	return 0
}

// chance is a number in [0, 1) that a text stands for.
func chance(text string) float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	x := h.Sum64() // the last bytes reach only the low bits: mix them
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return float64((x^x>>33)>>11) / (1 << 53)
}

// helpful marks an edit of a stand-in that helps.
const helpful = "(helps)"

// ask returns the stand-in of the optimizer.
func (r *rehearsal) ask(prefix string) optimize.Ask {
	return func(_ context.Context, q optimize.Question) (string, error) {
		reply := r.reply(prefix+"/"+q.Key, q.Stage)
		t := tally{calls: 1, asked: len(q.System) + len(q.User), said: len(reply)}
		if q.Schema != nil {
			t.asked += len(q.Schema.JSON)
		}
		r.count(stageRole{q.Stage, model.Optimizer}, t)
		if q.Accept != nil && q.Accept(reply) != nil {
			return "", optimize.ErrLost
		}
		return reply, nil
	}
}

// reply is what a stand-in says in a stage.
func (r *rehearsal) reply(key, stage string) string {
	why := strings.Repeat("word ", 24)
	patch := func(n int) map[string]any { return map[string]any{"reasoning": why, r.mode.Key(): r.items(key, n)} }
	var out any
	switch stage {
	case model.StageAnalystError:
		out = map[string]any{
			"batch_size": 8, "patch": patch(2),
			"failure_summary": []any{map[string]any{"failure_type": "wrong form", "count": 3, "description": why}},
		}
	case model.StageAnalystSuccess:
		out = map[string]any{"batch_size": 8, "success_patterns": []any{why}, "patch": patch(int(chance(key) + priorPraise))}
	case model.StageMerge, model.StageMergeFinal:
		out = patch(3)
	case model.StageRanking:
		chosen := []int{0, 1, 2}
		if strings.Contains(key, "/second/") { // which asks for fewer than there are
			chosen = chosen[:1]
		}
		out = map[string]any{"reasoning": why, "selected_indices": chosen}
	case model.StageLRAutonomous:
		out = map[string]any{"learning_rate": 2, "reasoning": why, "confidence": "low", "risk_notes": []any{}}
	case model.StageRewrite:
		out = map[string]any{"reasoning": why, "change_summary": []any{why}, "new_skill": r.grown(key)}
	case model.StageSlowUpdate:
		out = map[string]any{"reasoning": why, "slow_update_content": strings.Repeat("word ", 20)}
	case model.StageMetaSkill:
		out = map[string]any{"reasoning": why, "meta_skill_content": strings.Repeat("word ", 40)}
	default:
		return strings.Repeat("word ", 60)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	return string(text)
}

// items are n proposals of a stand-in, in the form of the update mode.
func (r *rehearsal) items(key string, n int) []any {
	out := make([]any, n)
	for i := range out {
		text := r.edit(fmt.Sprint(key, "#", i))
		switch r.mode {
		case optimize.ModeRewrite:
			out[i] = map[string]any{"type": "add", "title": "A rule", "motivation": text, "instruction": text, "priority_hint": "high"}
		case optimize.ModeFullRewrite:
			out[i] = map[string]any{"title": "A rule", "change_summary": []any{text}, "new_skill": r.grown(key)}
		default:
			out[i] = map[string]any{"op": "append", "target": "", "content": text, "support_count": 2, "source_type": "failure"}
		}
	}
	return out
}

// edit is a line of its own that helps or not.
func (r *rehearsal) edit(key string) string {
	text := fmt.Sprintf("- Rule %.0f", 1e6*chance(key))
	if chance(key+"?") < r.story.helps {
		text += " " + helpful
	}
	return text + strings.Repeat(" word", max(0, r.story.length-len(text))/5)
}

// grown is the skill with an edit more.
func (r *rehearsal) grown(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.latest, "# Skill") + "\n" + r.edit(key)
}
