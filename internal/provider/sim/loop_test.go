package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// item is a task of a test: its text, the answer by the book, and where the
// answer stands in a reply.
type item struct {
	id, text, gold string
}

// trainer is the smallest loop that trains: one batch a step, every change that
// does not lower the score on all items is kept.
type trainer struct {
	t       *testing.T
	client  model.Client
	prompts *prompt.Set
	mode    optimize.Mode
	items   []item
	extract func(reply string) string
}

func (tr trainer) ask(ctx context.Context, q optimize.Request) (string, error) {
	for range 9 {
		resp, err := tr.client.Generate(ctx, model.Request{
			Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
			Tags:     model.Tags{Stage: q.Stage, Role: model.Optimizer},
		})
		if model.CodeOf(err).Transient() {
			continue
		}
		if err != nil {
			return "", err
		}
		if resp.Text != "" && (q.Accept == nil || q.Accept(resp.Text) == nil) {
			return resp.Text, nil
		}
	}
	return "", optimize.ErrLost
}

func (tr trainer) rollout(document string, items []item) (outcomes []trajectory.Outcome, hard float64) {
	for _, it := range items {
		req := model.Request{
			Messages: []model.Message{
				{Role: model.System, Content: "Follow the rules.\n\n" + document}, {Role: model.User, Content: it.text},
			},
			Tags: model.Tags{Stage: model.StageRollout, Role: model.Target},
		}
		var resp model.Response
		err := errors.New("not asked yet")
		for n := 0; n < 20 && (err != nil || resp.Text == ""); n++ {
			resp, err = tr.client.Generate(tr.t.Context(), req)
		}
		if err != nil {
			tr.t.Fatalf("rollout of %s: %v", it.id, err)
		}
		o := trajectory.Outcome{
			ID: it.id, Status: score.OK, Question: it.text, Answer: tr.extract(resp.Text), Reference: "expected: " + it.gold,
			Trajectory: []trajectory.Turn{{Role: model.Assistant, Content: resp.Text}},
		}
		if o.Answer == it.gold {
			o.Hard = 1
		} else {
			o.FailReason = "wrong-answer: not as expected"
		}
		hard += o.Hard / float64(len(items))
		outcomes = append(outcomes, o)
	}
	return outcomes, hard
}

// step proposes a candidate.
func (tr trainer) step(current string, batch []item, budget int) string {
	outcomes, _ := tr.rollout(current, batch)
	ctx := tr.t.Context()
	reflected, err := optimize.Reflect(ctx, optimize.ReflectInput{
		Ask: tr.ask, Prompts: tr.prompts, Mode: tr.mode, Outcomes: outcomes, Skill: current, Size: 8, Budget: budget,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	failures, successes := reflected.Patches(tr.mode)
	merged, err := optimize.Aggregate(ctx, optimize.AggregateInput{
		Ask: tr.ask, Prompts: tr.prompts, Mode: tr.mode, FanIn: 2, Failures: failures, Successes: successes, Skill: current,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	ranked, err := optimize.Rank(ctx, optimize.RankInput{
		Ask: tr.ask, Prompts: tr.prompts, Mode: tr.mode, Patch: merged.Patch, Budget: budget, Skill: current,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	if lost := len(reflected.Lost) + len(merged.Lost) + len(ranked.Lost); lost > 0 {
		tr.t.Errorf("%d replies lost", lost)
	}
	updated, err := optimize.Update(ctx, optimize.UpdateInput{
		Ask: tr.ask, Prompts: tr.prompts, Mode: tr.mode, Skill: skill.New(current), Patch: ranked.Patch, Budget: budget,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	if lost := len(updated.Lost); lost > 0 || updated.Refused != "" {
		tr.t.Errorf("%d replies lost, refused: %q", lost, updated.Refused)
	}
	for _, r := range updated.Reports {
		if !strings.HasPrefix(string(r.Status), "applied") {
			tr.t.Errorf("an edit was not applied: %+v", r)
		}
	}
	return updated.Candidate.Text()
}

// train returns the first and the last score, and how many candidates were
// turned down.
func (tr trainer) train(document string, steps int) (first, last float64, rejected int) {
	_, first = tr.rollout(document, tr.items)
	last = first
	r := rand.New(rand.NewPCG(1, 2))
	for range steps {
		var batch []item
		for _, i := range r.Perm(len(tr.items))[:min(24, len(tr.items))] {
			batch = append(batch, tr.items[i])
		}
		candidate := tr.step(document, batch, 3)
		if candidate == document {
			continue
		}
		if _, got := tr.rollout(candidate, tr.items); got > last {
			document, last = candidate, got
		} else {
			rejected++
		}
	}
	return first, last, rejected
}

func incidents(r *rand.Rand) []item {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	priority := map[string]string{"FATAL": "P1", "ERROR": "P2", "WARN": "P3"}
	var items []item
	add := func(text, gold string) {
		items = append(items, item{fmt.Sprintf("i%03d", len(items)), text, gold})
	}
	for range 15 {
		level := pick("FATAL", "ERROR", "WARN")
		add(fmt.Sprintf("12:0%d %s cache: %s\nHow severe is this?", r.IntN(10), level, pick("disk full", "timeout")), priority[level])
	}
	for range 15 {
		ms := 1050 + 100*r.IntN(50)
		add(fmt.Sprintf("GET / took 12 ms\nGET /x took %d ms\nHow long did the slowest request take?", ms),
			fmt.Sprintf("%d.%d s", (ms+50)/1000, (ms+50)%1000/100))
	}
	for range 10 {
		add(fmt.Sprintf("12:0%d INFO cache: up\n12:10 ERROR billing: down\n12:11 WARN search: slow\nWhich services failed?", r.IntN(10)),
			"[search], [billing]")
	}
	for range 10 {
		bad := 8 * r.IntN(20)
		add(fmt.Sprintf("What share of the 400 requests failed, if %d did?", bad), fmt.Sprintf("%d.0%%", bad/4))
	}
	return items
}

func TestIncidentsAreLearned(t *testing.T) {
	t.Parallel()
	world, err := sim.Load("testdata/incidents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []optimize.Mode{optimize.ModePatch, optimize.ModeRewrite, optimize.ModeFullRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			tr := trainer{
				t: t, client: sim.New(world), prompts: prompt.Default(), mode: mode,
				items: incidents(rand.New(rand.NewPCG(5, 6))), extract: strings.TrimSpace,
			}
			first, last, rejected := tr.train("# Incidents\n\nRead the log.\n", 14)
			t.Logf("score %.3f -> %.3f, %d candidates rejected", first, last, rejected)
			if first > 0.1 || last < 0.95 {
				t.Errorf("score %.3f -> %.3f, want from below 0.1 to 0.95 and above", first, last)
			}
			if rejected == 0 {
				t.Error("no candidate was rejected: the harmful rules had no effect")
			}
		})
	}
}

func TestQuickstartIsLearned(t *testing.T) {
	t.Parallel()
	world := quickstartWorld(t)
	seed, err := os.ReadFile(quickstartDir + "SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	tr := trainer{
		t: t, client: sim.New(world), prompts: prompt.Default(), mode: optimize.ModePatch,
		items: quickstart(t, quickstartDir+"tasks.jsonl"), extract: tagged,
	}
	first, last, rejected := tr.train(string(seed), 12)
	t.Logf("score %.3f -> %.3f, %d candidates rejected", first, last, rejected)
	if first < 0.2 || first > 0.4 || last < 0.9 {
		t.Errorf("score %.3f -> %.3f, want from 0.2-0.4 to 0.9 and above", first, last)
	}
	if rejected == 0 {
		t.Error("no candidate was rejected")
	}
}

const quickstartDir = "../../../examples/quickstart/"

// quickstartWorld is the world of the example without its latency, which a test
// would only wait for.
func quickstartWorld(t *testing.T) *sim.World {
	data, err := os.ReadFile(quickstartDir + "world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	world, err := sim.Parse("world.yaml", bytes.Replace(data, []byte("latency_ms: 8"), []byte("latency_ms: 0"), 1))
	if err != nil {
		t.Fatal(err)
	}
	return world
}

func quickstart(t *testing.T, path string) []item {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var items []item
	for line := range strings.Lines(string(data)) {
		var v struct{ ID, Prompt, Gold string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		items = append(items, item{v.ID, v.Prompt, v.Gold})
	}
	if len(items) < 120 {
		t.Fatalf("%d tasks, too few", len(items))
	}
	return items
}

func tagged(reply string) string {
	_, rest, _ := strings.Cut(reply, "<answer>")
	answer, _, _ := strings.Cut(rest, "</answer>")
	return answer
}

// A skill in the words of a person, not in those of the world file.
const byHand = `# Desk

1. Dates: always ISO (2025-03-17).
2. Use the 24-hour clock for times.
3. Every **weight** must be converted into grams.
4. Invoice totals: round to whole euros, half up.
5. Amounts of money begin with the prefix EUR.
6. Lists of products: alphabetical,
   with "; " (a semicolon) in between.
7. Telephone numbers are international (+44 instead of the 0).
8. Not in the document? Say "NOT ON FILE".
9. Personal data is for the data office: REFER TO DATA OFFICE.
`

func TestSkillByHandIsUnderstood(t *testing.T) {
	t.Parallel()
	world := quickstartWorld(t)
	tr := trainer{t: t, client: sim.New(world), items: quickstart(t, quickstartDir+"tasks.jsonl"), extract: tagged}
	if _, hard := tr.rollout(byHand, tr.items); hard < 0.93 {
		t.Errorf("score %.3f, want 0.93 and above", hard)
	}
}
