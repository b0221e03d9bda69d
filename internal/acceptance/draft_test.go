package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
)

const draftWorld = `name: counting
seed: 5
kinds:
  - {type: sum, match: 'Add (?P<a>\d+) and (?P<b>\d+)', answer: a + b}
rules:
  - id: points
    task_types: [sum]
    states: [points]
    say: ['Write sums with the unit, as in 5 points.']
    transform: {kind: suffix, text: ' points'}
triggers:
  should:
    - 'What do the {{bills|receipts|fares}} of {{March|April|May|June}} {{1000..9999}} add up to for {{Ann|Bo|Cy|Di|Eve|Flo}}?'
    - '{{Gus|Hal|Ida|Jo}} has {{bills|receipts}} from shop {{1..90}} and wants one figure by {{noon|night}}, reference {{1000..9999}}.'
  should_not:
    - 'Translate the {{bills|letters|labels}} of {{March|April|May|June}} {{1000..9999}} into {{French|Greek|Latin}} for {{Ann|Bo|Cy|Di|Eve}}.'
    - 'Draw a {{logo|poster|banner}} for shop {{1..90}} in {{red|blue|green}}, reference {{1000..9999}}, says {{Gus|Hal|Ida}}.'
draft:
  - '{{Ann|Bo|Cy|Di}} of the {{red|blue|green|black}} team asks: Add {{100..999}} and {{100..999}} for round {{1..90}} of {{1000..9999}}.'
  - 'Add {{100..999}} and {{100..999}}, {{please|kindly|quickly}}, says {{Eve|Flo|Gus|Hal}} at desk {{1..90}} in hall {{1000..9999}}.'
`

// drafting is a skill to draft tasks for, and a simulated author behind a fake
// that counts what it is asked.
type drafting struct {
	skill  string
	world  *sim.Client
	run    string
	author *modeltest.Fake
	fail   func(n int) error // of the nth call

	triggers bool     // trigger tasks are drafted
	stopped  func()   // told that the draft was cut off
	known    []string // of which there are these already
}

func newDrafting(t *testing.T) *drafting {
	t.Helper()
	world, err := sim.Parse("world.yaml", []byte(draftWorld))
	if err != nil {
		t.Fatal(err)
	}
	d := &drafting{skill: t.TempDir(), world: sim.New(world), run: filepath.Join(t.TempDir(), "draft")}
	text := "---\nname: desk\ndescription: Figures.\n---\n# Sums\n- Write sums with the unit, as in 5 points.\n\n# Teams\n- Name no team.\n"
	if err := os.WriteFile(filepath.Join(d.skill, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.author = modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
		if d.fail != nil {
			if err := d.fail(n); err != nil {
				return model.Response{}, err
			}
		}
		return d.world.Generate(ctx, req)
	})
	return d
}

func (d *drafting) draft(ctx context.Context, n int, opts ...skillopt.Option) (*result.Draft, error) {
	opts = append(opts, skillopt.WithClient(model.Optimizer, "author", d.author), skillopt.WithRunDir(d.run))
	return skillopt.Draft(ctx, config.Default(), skillopt.DraftRequest{Skill: d.skill, Tasks: n, Seed: 7, Triggers: d.triggers, Known: d.known}, opts...)
}

func TestDraft(t *testing.T) {
	t.Parallel()
	d := newDrafting(t)
	var plan result.Plan
	got, err := d.draft(t.Context(), 12, skillopt.WithConfirm(func(p result.Plan) error {
		plan = p
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Kept < 10 || got.Asked != 12 || bytes.Count(got.Tasks, []byte("\n")) != got.Kept || !bytes.Contains(got.Tasks, []byte(`points"]`)) {
		t.Errorf("kept %d of %d: %+v\n%s", got.Kept, got.Asked, got.Fell, got.Tasks)
	}
	if calls := d.author.Count(); calls > plan.Total || int64(calls) != got.Calls.Total {
		t.Errorf("%d calls, counted %d, planned at most %d", calls, got.Calls.Total, plan.Total)
	}
	if got.Calls.ByStage[model.StageDraft] == 0 || got.Calls.ByStage[model.StageDraftCheck] < int64(got.Kept) {
		t.Errorf("calls by stage: %v", got.Calls.ByStage)
	}

	before := d.author.Count()
	again, err := d.draft(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	if d.author.Count() != before || !bytes.Equal(again.Tasks, got.Tasks) {
		t.Errorf("the same draft again makes %d calls", d.author.Count()-before)
	}
}

// TestDraftIsPaidOnce stops a draft at every tenth of its way and goes on.
func TestDraftIsPaidOnce(t *testing.T) {
	t.Parallel()
	paidOnce(t, newDrafting)
}

// TestTriggersArePaidOnce does so with trigger tasks, while others are added to the file in
// which they are to be.
func TestTriggersArePaidOnce(t *testing.T) {
	t.Parallel()
	known := 0
	paidOnce(t, func(t *testing.T) *drafting {
		d := newDrafting(t)
		d.triggers, d.known = true, []string{"Add up the fares of the ferry"}
		d.stopped = func() {
			known++
			d.known = append(d.known, fmt.Sprintf("Another prompt %d", known))
		}
		return d
	})
}

func paidOnce(t *testing.T, newDrafting func(*testing.T) *drafting) {
	whole := newDrafting(t)
	want, err := whole.draft(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	calls := whole.author.Count()
	for _, at := range []int{1, calls / 2, calls - 1} {
		d := newDrafting(t)
		ctx, cancel := context.WithCancel(t.Context())
		d.fail = func(n int) error {
			if n == at {
				cancel()
				return context.Canceled
			}
			return nil
		}
		_, err := d.draft(ctx, 12)
		var stopped *skillopt.Error
		if !errors.As(err, &stopped) || stopped.Kind != skillopt.Stopped {
			t.Fatalf("a draft that was stopped at call %d: %v", at, err)
		}
		if d.stopped != nil {
			d.stopped()
		}
		paid := map[string]bool{}
		for _, c := range d.author.Calls() {
			if c.Err == nil {
				paid[requestText(t, c.Request)] = true
			}
		}
		first := d.author.Count()
		got, err := d.draft(t.Context(), 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.author.Calls()[first:] {
			if paid[requestText(t, c.Request)] {
				t.Fatalf("stopped at call %d: a call is paid for twice", at)
			}
		}
		if diff := cmp.Diff(string(want.Tasks), string(got.Tasks)); diff != "" {
			t.Errorf("stopped at call %d:\n%s", at, diff)
		}
	}
}

func TestDraftTriggers(t *testing.T) {
	t.Parallel()
	d := newDrafting(t)
	d.triggers = true
	var plan result.Plan
	got, err := d.draft(t.Context(), 21, skillopt.WithConfirm(func(p result.Plan) error {
		plan = p
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (result.DraftedTriggers{Should: 11, ShouldNot: 10}); got.Triggers == nil || *got.Triggers != want || got.Kept != 21 || got.Doubtful != 0 {
		t.Errorf("kept %d: %+v, fell %+v", got.Kept, got.Triggers, got.Fell)
	}
	if calls := d.author.Count(); calls > plan.Total || int64(calls) != got.Calls.Total || got.Calls.ByStage[model.StageDraftCheck] == 0 {
		t.Errorf("%d calls, counted %v, planned at most %d", calls, got.Calls, plan.Total)
	}
	d.triggers = false
	_, err = d.draft(t.Context(), 21)
	var bad *skillopt.Error
	if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), "the record of a draft with other settings") {
		t.Errorf("tasks over the record of trigger tasks: %v", err)
	}
	for name, req := range map[string]skillopt.DraftRequest{
		"2 to 500 can be": {Skill: d.skill, Tasks: 1, Triggers: true},
		"front matter":    {Skill: plainSkill(t), Tasks: 4, Triggers: true},
	} {
		_, err := skillopt.Draft(t.Context(), config.Default(), req, skillopt.WithRunDir(filepath.Join(t.TempDir(), "r")))
		if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// plainSkill is a skill without front matter.
func plainSkill(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(path, []byte("# Sums\n- Write sums with the unit.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func requestText(t *testing.T, req model.Request) string {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDraftRefusals(t *testing.T) {
	t.Parallel()
	d := newDrafting(t)
	refuse := errors.New("too much")
	if _, err := d.draft(t.Context(), 12, skillopt.WithConfirm(func(result.Plan) error { return refuse })); !errors.Is(err, refuse) || d.author.Count() != 0 {
		t.Errorf("refused: %v, %d calls", err, d.author.Count())
	}
	if _, err := os.Stat(d.run); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a draft that was refused leaves something behind: %v", err)
	}
	if _, err := d.draft(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	_, err := d.draft(t.Context(), 5)
	var bad *skillopt.Error
	if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), "the record of a draft with other settings") {
		t.Errorf("another number over the same record: %v", err)
	}
	for name, req := range map[string]skillopt.DraftRequest{
		"found nothing at":  {Skill: filepath.Join(d.skill, "absent"), Tasks: 4},
		"1 to 500 can be":   {Skill: d.skill, Tasks: 501},
		"has no SKILL.md":   {Skill: t.TempDir(), Tasks: 4},
		"models.optimizer.": {Skill: d.skill, Tasks: 4},
	} {
		_, err := skillopt.Draft(t.Context(), config.Default(), req, skillopt.WithRunDir(filepath.Join(t.TempDir(), "r")))
		if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDraftThatCannotBeMeasured: a server that refuses is no reason to write
// anything, and nothing was paid for.
func TestDraftThatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	d := newDrafting(t)
	d.fail = func(int) error {
		return &model.Error{Code: model.Auth, Endpoint: "author", Err: errors.New("no entry")}
	}
	_, err := d.draft(t.Context(), 4)
	var bad *skillopt.Error
	if !errors.As(err, &bad) || bad.Kind != skillopt.Unmeasurable {
		t.Errorf("a wrong key: %v", err)
	}
}
