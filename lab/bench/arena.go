package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Arena is one world with its tasks. Contestants play in it one after the other.
type Arena struct {
	Setup    Setup
	Seed     int64 // of whatever a contestant draws
	Skill    skill.Skill
	Data     train.Data
	world    *sim.World
	calm     *sim.World                    // the same one with a target that never forgets the skill
	plain    map[string]trajectory.Outcome // by task: what that target answers without a skill
	question *rollout.ChatPrompt           // without a model
	Perfect  string                        // a skill that states every rule
	again    []string                      // the rules of it in other words
	params   worlds.Params
}

func newArena(s Setup, i int) (*Arena, error) {
	p := s.params(i)
	w, err := worlds.New(p)
	if err != nil {
		return nil, err
	}
	a := &Arena{Setup: s, Seed: int64(p.Seed >> 1), Skill: skill.New(string(w.Skill)), Perfect: w.Perfect, again: w.Again, params: p}
	if a.world, err = sim.Parse("world.yaml", w.YAML); err != nil {
		return nil, err
	}
	tasks := make([]task.Task, len(w.Items))
	for i, it := range w.Items {
		tasks[i] = task.Task{ID: it.ID, Type: it.Type, Prompt: it.Prompt, Gold: []string{it.Gold}}
	}
	a.Data = train.Data{Train: tasks[:s.Train], Selection: tasks[s.Train : s.Train+s.Selection], Test: tasks[s.Train+s.Selection:]}
	return a, a.templates()
}

func (a *Arena) templates() error {
	system, err := template.Parse("system", "{{skill}}")
	if err != nil {
		return err
	}
	user, err := template.Parse("user", "{{prompt}}")
	a.question = &rollout.ChatPrompt{System: system, User: user, Bare: true}
	return err
}

// models returns models of the world that count their calls.
func (a *Arena) models() *models {
	return a.modelsOf(a.world)
}

func (a *Arena) modelsOf(w *sim.World) *models {
	m := &models{client: sim.New(w), seed: a.Seed}
	m.roller = rollout.Runner{Extra: 2, Episode: &rollout.Chat{
		Model: m, Prompt: a.question, Assess: a.assess, RunSeed: a.Seed,
	}}
	return m
}

// exam scores a skill on the test tasks.
func (a *Arena) exam(ctx context.Context, text string) (float64, error) {
	return a.models().mean(ctx, "test", a.Data.Test, skill.New(text))
}

// models are the models of one contestant in one world.
type models struct {
	client *sim.Client
	roller rollout.Runner
	seed   int64
	asked  atomic.Int64 // calls of the optimizer
	train  atomic.Int64 // rollouts
	rolled atomic.Int64 // of them, those of batches
	judged atomic.Int64 // and those of gates
	kept   result.Candidates
}

// used returns how many calls were made.
func (m *models) used() int { return int(m.asked.Load() + m.train.Load()) }

// attempts is how often a reply that cannot be used is asked for.
const attempts = 9

// Do makes a call of the target.
func (m *models) Do(ctx context.Context, c caller.Call) (model.Response, error) {
	resp, err := m.generate(ctx, c)
	if errors.Is(err, errUnusable) {
		return resp, caller.Unmeasurable(err)
	}
	return resp, err
}

var errUnusable = errors.New("no usable reply")

func (m *models) generate(ctx context.Context, c caller.Call) (model.Response, error) {
	req := model.Request{Messages: c.Messages, Schema: c.Schema, Tags: model.Tags{Stage: c.Stage, Role: c.Role}}
	req.Seed = c.Seed
	var last error
	for range attempts {
		if c.Role == model.Optimizer {
			m.asked.Add(1)
		}
		resp, err := m.client.Generate(ctx, req)
		switch {
		case err != nil && !model.CodeOf(err).Transient():
			return resp, err
		case err != nil:
			last = err
		case strings.TrimSpace(resp.Text) == "":
			last = errors.New("an empty reply")
		case c.Accept != nil && c.Accept(resp.Text) != nil:
			last = c.Accept(resp.Text)
		default:
			return resp, nil
		}
	}
	return model.Response{}, fmt.Errorf("%w: %w", errUnusable, last)
}

// ask returns the optimizer under a prefix of keys.
func (m *models) ask(prefix string) optimize.Ask {
	return func(ctx context.Context, q optimize.Request) (string, error) {
		seed := caller.Seed(m.seed, prefix+"/"+q.Key, 0)
		resp, err := m.generate(ctx, caller.Call{
			Role: model.Optimizer, Stage: q.Stage, Schema: q.Schema, Accept: q.Accept, Seed: &seed,
			Sampling: model.Sampling{Temperature: q.Temperature},
			Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
		})
		if errors.Is(err, errUnusable) {
			return "", optimize.ErrLost
		}
		return resp.Text, err
	}
}

// One implements train.Roller. Only gates use it.
func (m *models) One(ctx context.Context, p rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	m.train.Add(1)
	m.judged.Add(1)
	return m.roller.One(ctx, p, t, s)
}

// All implements train.Roller.
func (m *models) All(ctx context.Context, p rollout.Place, tasks []task.Task, s skill.Skill, done func()) ([]trajectory.Outcome, error) {
	m.train.Add(int64(len(tasks)))
	if strings.HasSuffix(p.Prefix, "/rollout") {
		m.rolled.Add(int64(len(tasks)))
	}
	return m.roller.All(ctx, p, tasks, s, done)
}

// mean scores a skill; what could not be measured is an error.
func (m *models) mean(ctx context.Context, prefix string, tasks []task.Task, s skill.Skill) (float64, error) {
	out, err := m.roller.All(ctx, rollout.Place{Prefix: prefix}, tasks, s, nil)
	if err != nil {
		return 0, err
	}
	solved := 0.0
	for _, o := range out {
		if !o.Status.Measured() {
			return 0, fmt.Errorf("task %s could not be measured: %s", o.ID, o.FailReason)
		}
		solved += o.Hard
	}
	return solved / float64(len(out)), nil
}

// WriteFile implements train.Files: nothing is kept.
func (m *models) WriteFile(string, []byte) error { return nil }

// WriteJSON implements train.Files. It keeps the candidates.
func (m *models) WriteJSON(name string, v any) error {
	if name != "candidates.json" {
		return nil
	}
	kept, ok := v.(result.Candidates)
	if !ok {
		return fmt.Errorf("candidates.json is written as %T", v)
	}
	m.kept = kept
	return nil
}

// Unmeasured implements train.Recorder.
func (m *models) Unmeasured(context.Context, string, []byte, []string) error { return nil }

// Decided implements train.Recorder.
func (m *models) Decided(string) ([]byte, bool) { return nil, false }

// Decision implements train.Recorder.
func (m *models) Decision(_ context.Context, _ string, compute func() ([]byte, error)) ([]byte, error) {
	return compute()
}

// assess compares the answer in a reply with the expected one.
func (a *Arena) assess(_ context.Context, _ string, t task.Task, ev rollout.Evidence) (rollout.Assessment, error) {
	answer, ok := worlds.Answer(ev.Reply)
	switch {
	case !ok:
		return rollout.Assessment{Score: score.Score{Reason: "no-answer: there is no <answer> in the reply"}}, nil
	case answer == t.Gold[0]:
		return rollout.Assessment{Answer: answer, Score: score.Score{Hard: 1, Soft: a.worth(t)}}, nil
	}
	return rollout.Assessment{Answer: answer, Score: score.Score{Reason: "wrong-answer: not as expected"}}, nil
}

// worth is the soft score of a task that is solved: 1, or in worlds with heavy tails
// the cube of a uniform draw, so that few tasks make up most of the mean.
func (a *Arena) worth(t task.Task) float64 {
	if !a.Setup.Heavy {
		return 1
	}
	h := fnv.New64a()
	h.Write([]byte(t.Prompt))
	u := rand.New(rand.NewPCG(h.Sum64(), 0x6865617679)).Float64()
	return u * u * u
}
