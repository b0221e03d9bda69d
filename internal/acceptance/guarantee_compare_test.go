package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// chancyEnv solves a task with the probability, in percent, that the skill's text
// says, by the seed of the rollout and its own dice. A task of which broken says so has no outcome.
type chancyEnv struct {
	broken func(t task.Task, skill string) bool
	after  func(runs int) // called within each episode

	mu    sync.Mutex
	runs  int
	seeds map[string][]int64 // skill and task -> seeds, in the order of the calls
}

func (e *chancyEnv) Rollout(ctx context.Context, t task.Task, s skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	seed, _ := task.Seed(ctx)
	e.mu.Lock()
	e.runs++
	runs := e.runs
	if e.seeds == nil {
		e.seeds = map[string][]int64{}
	}
	key := s.Text() + " " + t.ID
	e.seeds[key] = append(e.seeds[key], seed)
	e.mu.Unlock()
	if e.after != nil {
		e.after(runs)
	}
	if err := ctx.Err(); err != nil {
		return trajectory.Outcome{}, err
	}
	if e.broken != nil && e.broken(t, s.Text()) {
		return trajectory.Outcome{}, fmt.Errorf("the bench of task %s is out of order", t.ID)
	}
	var percent int64
	if _, err := fmt.Sscanf(s.Text(), "solve %d", &percent); err != nil {
		return trajectory.Outcome{}, err
	}
	out := trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.OK}
	if ((seed+7919*percent)*2654435761>>7)%100 < percent {
		out.Hard, out.Soft = 1, 1
	}
	return out, nil
}

func solving(percent int) skill.Skill { return skill.New(fmt.Sprintf("solve %d %%\n", percent)) }

// compareEnv compares skills that solve so many tasks in a hundred.
func compareEnv(t *testing.T, e *chancyEnv, a, b int, opts ...skillopt.Option) (*result.Comparison, error) {
	t.Helper()
	cfg := worldConfig("http://unused.invalid/v1")
	return skillopt.Compare(t.Context(), cfg, solving(a), solving(b), append([]skillopt.Option{
		skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", e), skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"),
	}, opts...)...)
}

func TestCompareVerdicts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		a, b          int
		margin        float64
		passes        int
		want, about   string
		fewer, atMost int // pairs
	}{
		{"much better, within the first pass", 0, 100, 0.05, 10, result.VerdictBetter, result.OverTasksLikeThese, 20, 16},
		{"much worse", 100, 0, 0.05, 10, result.VerdictWorse, result.OverTasksLikeThese, 20, 16},
		{"better, over several passes", 30, 70, 0.05, 20, result.VerdictBetter, result.OverTheseTasks, 400, 399},
		{"alike", 40, 40, 0.2, 20, result.VerdictNoDifference, result.OverTheseTasks, 400, 399},
		{"one pass says nothing", 45, 55, 0.05, 1, result.VerdictNotEnoughData, result.OverTasksLikeThese, 21, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &chancyEnv{}
			got, err := compareEnv(t, e, tt.a, tt.b, skillopt.WithRunDir(t.TempDir()), skillopt.WithMargin(tt.margin), skillopt.WithPasses(tt.passes))
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != tt.want || got.About != tt.about || got.Pairs > tt.atMost {
				t.Errorf("%s about %s after %d pairs, want %s about %s after at most %d", got.Verdict, got.About, got.Pairs, tt.want, tt.about, tt.atMost)
			}
			if e.runs != 2*got.Pairs || got.Wins+got.Losses+got.Ties != got.Pairs {
				t.Errorf("%d episodes for %d pairs: %d won, %d lost, %d tied", e.runs, got.Pairs, got.Wins, got.Losses, got.Ties)
			}
			if d := got.B.Score.Hard - got.A.Score.Hard - *got.Difference; d > 1e-9 || d < -1e-9 {
				t.Errorf("B %v, A %v, difference %v", got.B.Score.Hard, got.A.Score.Hard, *got.Difference)
			}
			if (got.Needs != nil) != (got.Verdict == result.VerdictNotEnoughData) {
				t.Errorf("%s, and needs %+v", got.Verdict, got.Needs)
			}
		})
	}
}

// Both arms get the same seed for a task in a pass, and another in the next.
func TestCompareGivesBothTheSameSeeds(t *testing.T) {
	t.Parallel()
	e := &chancyEnv{}
	got, err := compareEnv(t, e, 49, 51, skillopt.WithRunDir(t.TempDir()), skillopt.WithPasses(3))
	if err != nil || got.Passes != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, tk := range envTasks(20) {
		a, b := e.seeds[solving(49).Text()+" "+tk.ID], e.seeds[solving(51).Text()+" "+tk.ID]
		if !slices.Equal(a, b) || len(slices.Compact(slices.Sorted(slices.Values(a)))) != 3 {
			t.Errorf("task %s: seeds %v and %v", tk.ID, a, b)
		}
	}
}

// What is left of a comparison that is the same however it came about.
var lasting = cmpopts.IgnoreFields(result.Comparison{}, "TestReadBefore", "RunDir", "WallS", "Calls", "Tokens")

// A comparison without a verdict goes on with more passes, pays for nothing twice,
// and ends as one that was never interrupted, at any concurrency.
func TestCompareGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, again := &chancyEnv{}, &chancyEnv{}
	short, err := compareEnv(t, first, 40, 60, skillopt.WithRunDir(dir), skillopt.WithPasses(2))
	if err != nil || short.Verdict != result.VerdictNotEnoughData || short.Needs == nil {
		t.Fatalf("%+v, %v", short, err)
	}
	if status := manifestStatus(t, dir); status != "undecided" {
		t.Errorf("status %q: it has not ended", status)
	}
	long, err := compareEnv(t, again, 40, 60, skillopt.WithRunDir(dir), skillopt.WithPasses(30))
	if err != nil || long.Verdict != result.VerdictBetter {
		t.Fatalf("%+v, %v", long, err)
	}
	if again.runs != 2*(long.Pairs-short.Pairs) {
		t.Errorf("%d episodes for %d new pairs", again.runs, long.Pairs-short.Pairs)
	}
	if status := manifestStatus(t, dir); status != "completed" {
		t.Errorf("status %q, want completed", status)
	}
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Limits.Concurrency = 1
	whole, err := skillopt.Compare(t.Context(), cfg, solving(40), solving(60), skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", &chancyEnv{}),
		skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"), skillopt.WithRunDir(t.TempDir()), skillopt.WithPasses(30))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, long, lasting); diff != "" {
		t.Errorf("in one go and in two (-one +two):\n%s", diff)
	}
}

// A comparison that is ended in the middle of a pass goes on there.
func TestCompareIsStoppedAndGoesOn(t *testing.T) {
	t.Parallel()
	const ends = 50 // episodes: the first pass has 40
	ctx, cancel := context.WithCancel(t.Context())
	dir, first, second := t.TempDir(), &chancyEnv{}, &chancyEnv{}
	first.after = func(runs int) {
		if runs >= ends {
			cancel()
		}
	}
	compare := func(ctx context.Context, e *chancyEnv, dir string) (*result.Comparison, error) {
		return skillopt.Compare(ctx, worldConfig("http://unused.invalid/v1"), solving(30), solving(70), skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", e),
			skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"), skillopt.WithRunDir(dir), skillopt.WithPasses(20))
	}
	got, err := compare(ctx, first, dir)
	if got != nil || kind(err) != skillopt.Stopped || manifestStatus(t, dir) != "stopped" {
		t.Fatalf("%+v, %v (%s)", got, err, kind(err))
	}
	rest, err := compare(t.Context(), second, dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := compare(t.Context(), &chancyEnv{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, rest, lasting); diff != "" {
		t.Errorf("in one go and in two (-one +two):\n%s", diff)
	}
	if most, least := 2*whole.Pairs-40, 2*whole.Pairs-ends; second.runs > most || second.runs < least {
		t.Errorf("%d episodes in the second session, want %d to %d", second.runs, least, most)
	}
}

func manifestStatus(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Status string }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.Status
}

// A task that one arm could not measure is named and left out of both; that stays
// so when the run continues and could measure it.
func TestCompareLeavesUnmeasuredTasksOutOfBothArms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := &chancyEnv{broken: func(tk task.Task, text string) bool { return tk.ID == "t07" && strings.Contains(text, "60") }}
	for _, e := range []*chancyEnv{bad, {}} {
		got, err := compareEnv(t, e, 40, 60, skillopt.WithRunDir(dir), skillopt.WithPasses(2))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"t07"}, got.Unmeasured); diff != "" {
			t.Errorf("unmeasured: %s", diff)
		}
		if got.Pairs != 38 || got.A.Score.N != 19 || got.B.Score.N != 19 || len(got.ByTask) != 19 {
			t.Errorf("%d pairs, %d and %d tasks, want 38, 19 and 19", got.Pairs, got.A.Score.N, got.B.Score.N)
		}
		if slices.ContainsFunc(got.ByTask, func(d result.TaskDifference) bool { return d.ID == "t07" }) {
			t.Error("the task has scores")
		}
		checkUnscored(t, dir)
	}
}

func TestCompareOfTooFewTasksIsNoVerdict(t *testing.T) {
	t.Parallel()
	e := &chancyEnv{broken: func(tk task.Task, text string) bool { return tk.ID < "t02" && strings.Contains(text, "60") }}
	got, err := compareEnv(t, e, 40, 60, skillopt.WithRunDir(t.TempDir()))
	if got != nil || kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "2 of 20 tasks are without a score") {
		t.Errorf("%+v, %v (%s)", got, err, kind(err))
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := compareEnv(t, &chancyEnv{}, 40, 60, skillopt.WithRunDir(dir), skillopt.WithPasses(1)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		b    int
		opts []skillopt.Option
		says string
	}{
		"another B":        {61, []skillopt.Option{skillopt.WithRunDir(dir)}, "compare.with"},
		"another split":    {60, []skillopt.Option{skillopt.WithRunDir(dir), skillopt.WithSplit("test")}, "compare: was all, is test"},
		"a wrong split":    {60, []skillopt.Option{skillopt.WithSplit("everything"), skillopt.WithRunDir(t.TempDir())}, "--split"},
		"a margin above 1": {60, []skillopt.Option{skillopt.WithMargin(5), skillopt.WithRunDir(t.TempDir())}, "margin"},
		"no passes":        {60, []skillopt.Option{skillopt.WithPasses(-1), skillopt.WithRunDir(t.TempDir())}, "passes"},
	} {
		e := &chancyEnv{}
		if _, err := compareEnv(t, e, 40, tt.b, tt.opts...); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), tt.says) || e.runs > 0 {
			t.Errorf("%s: %v (%s) after %d episodes", name, err, kind(err), e.runs)
		}
	}
}

// Tasks of a cluster count as one.
func TestCompareCountsClustersOnce(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Gate.Group = "type"
	got, err := skillopt.Compare(t.Context(), cfg, solving(0), solving(100), skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", &chancyEnv{}),
		skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"), skillopt.WithRunDir(t.TempDir()), skillopt.WithPasses(3))
	if err != nil || got.Pairs != 6 || got.A.Score.N != 20 {
		t.Errorf("%+v, %v: want 2 pairs a pass", got, err)
	}
}

// Several passes tell what a score owes to chance, and more of them go on with the
// same record.
func TestEvaluateRepeatedly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	evaluate := func(e *chancyEnv, passes int) result.SplitScore {
		t.Helper()
		got, err := skillopt.Evaluate(t.Context(), worldConfig("http://unused.invalid/v1"), "test", skillopt.WithTasks(envTasks(60)), skillopt.WithSkill(solving(50)),
			skillopt.WithEnv("chancy", e), skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithRunDir(dir), skillopt.WithPasses(passes))
		if err != nil {
			t.Fatal(err)
		}
		return got.Splits["test"]
	}
	once := evaluate(&chancyEnv{}, 1)
	more := &chancyEnv{}
	four := evaluate(more, 4)
	if once.Repeats != nil || four.Repeats == nil {
		t.Fatalf("repeats: %+v, %+v", once.Repeats, four.Repeats)
	}
	r := four.Repeats
	if more.runs != 3*once.N || r.Passes != 4 || r.Evaluations != 4*once.N || four.N != once.N {
		t.Errorf("%d episodes more, %+v over %d tasks", more.runs, r, four.N)
	}
	if len(r.Flips) < once.N/2 || *r.Within < 0.3 || r.Detectable == nil {
		t.Errorf("answers by chance: %+v", r)
	}
	if four.High-four.Low >= once.High-once.Low {
		t.Errorf("four passes say [%v, %v], one [%v, %v]", four.Low, four.High, once.Low, once.High)
	}
	sure := t.TempDir()
	got, err := skillopt.Evaluate(t.Context(), worldConfig("http://unused.invalid/v1"), "test", skillopt.WithTasks(envTasks(60)), skillopt.WithSkill(solving(100)),
		skillopt.WithEnv("chancy", &chancyEnv{}), skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithRunDir(sure), skillopt.WithPasses(3))
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Splits["test"].Repeats; len(r.Flips) != 0 || r.Within != nil || r.Detectable != nil {
		t.Errorf("answers that are all right cannot show what changes: %+v", r)
	}
}

// A comparison that looks once reads all of it, whatever it reads, and its test is settled
// before: the exact one for one pass of hard scores of tasks that stand on their own.
func TestCompareLooksOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		a, b    int
		passes  int
		cluster string
		verdict string
		test    gate.LookTest
		n       int
	}{
		{"better", 0, 100, 1, "", result.VerdictBetter, gate.LookExact, 20},
		{"worse", 100, 0, 1, "", result.VerdictWorse, gate.LookExact, 20},
		{"alike", 50, 50, 1, "", result.VerdictNotEnoughData, gate.LookExact, 20},
		{"several passes count once", 0, 100, 3, "", result.VerdictBetter, gate.LookBound, 20},
		{"clusters count once", 0, 100, 1, "type", result.VerdictNotEnoughData, gate.LookBound, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &chancyEnv{}
			cfg := worldConfig("http://unused.invalid/v1")
			cfg.Gate.Group = tt.cluster
			dir := t.TempDir()
			compare := func(level float64) (*result.Comparison, error) {
				return skillopt.Compare(t.Context(), cfg, solving(tt.a), solving(tt.b), skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", e),
					skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"), skillopt.WithRunDir(dir), skillopt.WithPasses(tt.passes), skillopt.WithOneLook(level))
			}
			got, err := compare(0.01)
			if err != nil {
				t.Fatal(err)
			}
			l := got.Look
			if got.Verdict != tt.verdict || l == nil || l.Test != tt.test || l.N != tt.n || l.Level != 0.01 || l.Certified != (tt.verdict == result.VerdictBetter) || got.Needs != nil {
				t.Errorf("%s, look %+v", got.Verdict, l)
			}
			if e.runs != 2*20*tt.passes {
				t.Errorf("%d episodes, want all of %d passes", e.runs, tt.passes)
			}
			if _, err := compare(0.05); kind(err) != skillopt.BadInput {
				t.Errorf("another level in the same run: %v", err)
			}
		})
	}
	if _, err := compareEnv(t, &chancyEnv{}, 1, 2, skillopt.WithOneLook(1)); kind(err) != skillopt.BadInput {
		t.Errorf("a level of 1: %v", err)
	}
}
