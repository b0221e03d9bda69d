package train

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestStepsAreDecided(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		change  func(*Options)
		propose map[int][]string
		actions []string
		current []string // after each step, the baseline included
		best    []string
		lines   []string // that the best skill holds
	}{
		{
			name: "better, worse, equal, nothing", propose: map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule z"}, 4: nil},
			actions: []string{"baseline", "accept_new_best", "reject", "reject", "skip_no_patches"},
			current: []string{"0", "0.25", "0.25", "0.25", "0.25"}, best: []string{"0", "0.25", "0.25", "0.25", "0.25"}, lines: []string{"rule a"},
		},
		{
			name: "better and better", propose: map[int][]string{1: {"rule a", "rule b"}, 2: {"rule c"}, 3: {"rule c"}, 4: {"rule d"}},
			actions: []string{"baseline", "accept_new_best", "accept_new_best", "reject", "accept_new_best"},
			current: []string{"0", "0.5", "0.75", "0.75", "1"}, best: []string{"0", "0.5", "0.75", "0.75", "1"},
			lines: []string{"rule a", "rule b", "rule c", "rule d"},
		},
		{
			name: "observe", change: func(o *Options) { o.Gate = "observe" },
			propose: map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule b"}, 4: {"rule c"}},
			actions: []string{"baseline", "accept_new_best", "accept", "accept", "accept_new_best"},
			current: []string{"0", "0.25", "0", "0.25", "0.5"}, best: []string{"0", "0.25", "0.25", "0.25", "0.5"},
			lines: []string{"rule a", "harm a", "rule b", "rule c"},
		},
		{
			name: "off", change: func(o *Options) { o.Gate = "off" },
			propose: map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: nil, 4: {"rule b"}},
			actions: []string{"baseline", "accept_new_best", "accept_new_best", "skip_no_patches", "accept_new_best"},
			current: []string{"null", "null", "null", "null", "null"}, best: []string{"null", "null", "null", "null", "null"},
			lines: []string{"rule a", "harm a", "rule b"},
		},
		{
			name: "soft", change: func(o *Options) { o.Projection = score.Projection{Metric: "soft"} },
			propose: map[int][]string{1: {"half a"}, 2: {"half b"}},
			actions: []string{"baseline", "accept_new_best", "accept_new_best", "skip_no_patches", "skip_no_patches"},
			current: []string{"0", "0.125", "0.25", "0.25", "0.25"}, best: []string{"0", "0.125", "0.25", "0.25", "0.25"}, lines: []string{"half a", "half b"},
		},
		{
			name: "mixed", change: func(o *Options) { o.Projection = score.Projection{Metric: "mixed", MixedWeight: 0.5} },
			propose: map[int][]string{1: {"half a"}, 2: {"rule a"}},
			actions: []string{"baseline", "accept_new_best", "accept_new_best", "skip_no_patches", "skip_no_patches"},
			current: []string{"0", "0.0625", "0.25", "0.25", "0.25"}, best: []string{"0", "0.0625", "0.25", "0.25", "0.25"}, lines: []string{"rule a"},
		},
		{
			name: "hard alone sees no half", propose: map[int][]string{1: {"half a"}},
			actions: []string{"baseline", "reject", "skip_no_patches", "skip_no_patches", "skip_no_patches"},
			current: []string{"0", "0", "0", "0", "0"}, best: []string{"0", "0", "0", "0", "0"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(16, 8, 4)
			w.propose = tt.propose
			o := standard()
			o.Epochs, o.Test = 2, true
			if tt.change != nil {
				tt.change(&o)
			}
			r := w.must(t, o)
			if diff := cmp.Diff(tt.actions, actions(r)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			var current, best []string
			counts := map[string]int{}
			for i, s := range r.History.Steps {
				current, best = append(current, value(s.Current)), append(best, value(s.Best))
				counts[strings.SplitN(s.Action, "_", 2)[0]]++
				if s.Step != i {
					t.Errorf("step %d stands at place %d", s.Step, i)
				}
			}
			if diff := cmp.Diff([][]string{tt.current, tt.best}, [][]string{current, best}); diff != "" {
				t.Errorf("current and best score (-want +got):\n%s", diff)
			}
			if r.Accepted != counts["accept"] || r.Rejected != counts["reject"] || r.Skipped != counts["skip"] {
				t.Errorf("%d accepted, %d rejected, %d skipped; the history has %v", r.Accepted, r.Rejected, r.Skipped, counts)
			}
			for _, line := range tt.lines {
				if !strings.Contains(r.Best.Text(), line) {
					t.Errorf("the best skill lacks %q:\n%s", line, r.Best.Text())
				}
			}
			if len(tt.lines) == 0 && r.Best.Text() != w.seed {
				t.Errorf("the best skill is not the seed:\n%s", r.Best.Text())
			}
			if w.files["best_skill.md"] != r.Best.Text() || w.files["skills/skill_v0004.md"] != r.Final.Text() {
				t.Error("the files do not hold the best and the final skill")
			}
			if (r.Baseline == nil) != (o.Gate == gate.ModeOff) {
				t.Errorf("the baseline is %v", r.Baseline)
			}
		})
	}
}

func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	five := []string{"rule a", "rule b", "rule c", "rule d", "rule e"}
	for _, tt := range []struct {
		name    string
		change  func(*Options)
		reply   string // to the ranking
		ranked  int
		budget  *int
		ranking int
		holds   []string
		lacks   []string
	}{
		{
			name: "ranked", change: func(o *Options) { o.Budget = 2 }, reply: `{"selected_indices": [3, 2, 0]}`,
			ranked: 2, budget: ptr(2), ranking: 1, holds: []string{"rule d", "rule c"}, lacks: []string{"rule a", "rule b"},
		},
		{
			name: "the first ones when ranking is lost", change: func(o *Options) { o.Budget = 2 }, reply: "no idea",
			ranked: 2, budget: ptr(2), ranking: 1, holds: []string{"rule a", "rule b"}, lacks: []string{"rule c"},
		},
		{name: "unlimited", change: func(o *Options) { o.Schedule = "unlimited" }, ranked: 5, holds: five},
		{
			name: "the model's count", change: func(o *Options) { o.Schedule = "model"; o.Budget = 5 },
			ranked: 1, budget: ptr(1), ranking: 1, holds: []string{"rule a"}, lacks: []string{"rule b"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 4, 0)
			// Two analysts propose the same, the merge makes one patch of it.
			w.propose[1] = five
			if tt.reply != "" {
				w.reply[model.StageRanking] = tt.reply
			}
			o := standard()
			o.Minibatch = 4
			tt.change(&o)
			r := w.must(t, o)
			s := r.History.Steps[1]
			if s.Merged != 5 || s.Ranked != tt.ranked || !cmp.Equal(s.Budget, tt.budget) || len(w.asked(model.StageRanking)) != tt.ranking {
				t.Errorf("%d merged, %d kept, budget %v, %d rankings", s.Merged, s.Ranked, s.Budget, len(w.asked(model.StageRanking)))
			}
			for _, line := range tt.holds {
				if !strings.Contains(r.Final.Text(), line) {
					t.Errorf("%q is missing", line)
				}
			}
			for _, line := range tt.lacks {
				if strings.Contains(r.Final.Text(), line) {
					t.Errorf("%q got in over the budget", line)
				}
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestRewriteModes(t *testing.T) {
	t.Parallel()
	const region = "<!-- APPENDIX_START -->\nkeep me\n<!-- APPENDIX_END -->\n"
	suggestions := encode(map[string]any{"patch": map[string]any{"reasoning": "", "revise_suggestions": []any{map[string]any{"type": "add", "title": "a", "instruction": "rule a"}}}})
	candidate := func(text string) string {
		return encode(map[string]any{"patch": map[string]any{"reasoning": "", "skill_candidates": []any{map[string]any{"title": "new", "new_skill": text}}}})
	}
	for _, tt := range []struct {
		name, mode, analyst, rewrite string
		action                       string
		lost                         int
	}{
		{"suggestions", "rewrite_from_suggestions", suggestions, encode(map[string]any{"new_skill": "# New\nrule a\n" + region}), "accept_new_best", 0},
		{"a rewrite that loses a region", "rewrite_from_suggestions", suggestions, encode(map[string]any{"new_skill": "# New\nrule a\n"}), "skip_refused", 1},
		{"no rewrite", "rewrite_from_suggestions", suggestions, "sorry", "skip_refused", 1},
		{"whole skills", "full_rewrite_minibatch", candidate("# New\nrule a\n" + region), "", "accept_new_best", 0},
		{"the same skill", "full_rewrite_minibatch", candidate("# Skill\n" + region), "", "skip_no_change", 0},
		{"a whole skill that loses a region", "full_rewrite_minibatch", candidate("# New\nrule a\n"), "", "skip_no_patches", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(8, 4, 0)
			w.seed += region
			w.reply[model.StageAnalystError], w.reply[model.StageRewrite] = tt.analyst, tt.rewrite
			o := standard()
			o.Mode = tt.mode
			r := w.must(t, o)
			s := r.History.Steps[1]
			if s.Action != tt.action || s.LostReplies != tt.lost || r.Lost != tt.lost {
				t.Errorf("%s with %d lost replies, %d in the result (%s)", s.Action, s.LostReplies, r.Lost, s.Reason)
			}
			if got := strings.Contains(r.Final.Text(), "rule a"); got != (tt.action == "accept_new_best") {
				t.Errorf("after %s the skill is\n%s", s.Action, r.Final.Text())
			}
			if !strings.Contains(r.Final.Text(), region) {
				t.Error("the protected region is gone")
			}
			if full := tt.mode == "full_rewrite_minibatch"; full && len(w.asked(model.StageRanking)) > 0 {
				t.Error("whole skills were ranked")
			}
		})
	}
}

func TestNotesGoIntoTheAppendix(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.notes[1] = []string{"rule a was there and not followed", "rule b too"}
	o := standard()
	o.SkillAware = true
	r := w.must(t, o)
	s := r.History.Steps[1]
	if s.Action != "accept_new_best" || s.Patches != 0 || len(s.Notes) != 2 {
		t.Errorf("a step with notes alone: %s, %d patches, notes %q", s.Action, s.Patches, s.Notes)
	}
	if got := skill.Notes(r.Final.Text()); !cmp.Equal(got, w.notes[1]) {
		t.Errorf("the appendix holds %q", got)
	}
}

func TestNotesThatDoNotFitAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 4, 0)
	w.seed += strings.Repeat("x", skill.MaxBytes-len(w.seed)-40)
	w.notes[1] = []string{strings.Repeat("y", 100)}
	o := standard()
	o.SkillAware = true
	s := w.must(t, o).History.Steps[1]
	if s.Action != "skip_no_change" || !strings.Contains(s.Refused, "bytes") {
		t.Errorf("%s, refused: %q", s.Action, s.Refused)
	}
}

// The analysts of a microbatch read while the next is rolled out: here they wait
// for it.
func TestAnalystsOverlapTheNextRollout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(12, 4, 0)
		w.propose[1] = []string{"rule a"}
		second := make(chan struct{})
		started := false
		w.rolling = func(key string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if strings.HasPrefix(key, "e1/s1/mb1/") && !started {
				started = true
				close(second)
			}
		}
		w.asking = func(key, _ string) {
			if strings.HasPrefix(key, "e1/s1/mb0/") {
				<-second // for ever, if nothing overlaps
			}
		}
		o := standard()
		o.BatchSize, o.Accumulation = 4, 3
		r := w.must(t, o)
		if s := r.History.Steps[1]; s.RolloutN != 12 || s.FailurePatches != 3 || s.Action != "accept_new_best" {
			t.Errorf("%d rollouts, %d patches, %s", s.RolloutN, s.FailurePatches, s.Action)
		}
	})
}

// What was tried and rejected is told to the next step of the epoch, and
// forgotten at its end.
func TestStepsOfAnEpochAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 4, 0)
	w.propose[1] = []string{"a marvel of a line"}
	o := standard()
	o.Epochs = 2
	w.must(t, o)
	for _, q := range w.asked(model.StageAnalystError) {
		told := strings.Contains(q.User+q.System, "a marvel of a line")
		if second := strings.HasPrefix(q.key, "e1/s2/"); told != second {
			t.Errorf("%s is told of the first step's rejection: %v", q.key, told)
		}
	}
}

// An edit that could not be applied was never tried: nothing is known of it.
func TestOnlyWhatWasAppliedIsRememberedAsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 4, 0)
	w.reply[model.StageAnalystError] = encode(map[string]any{"patch": map[string]any{"reasoning": "", "edits": []any{
		map[string]any{"op": "replace", "target": "no such line", "content": "never seen"},
		5,
		map[string]any{"op": "append", "content": "a marvel of a line"},
	}}})
	r := w.must(t, standard())
	if s := r.History.Steps[1]; s.Action != "reject" || len(s.Edits) != 3 {
		t.Fatalf("step 1: %s, %+v", s.Action, s.Edits)
	}
	for _, q := range w.asked(model.StageAnalystError) {
		if !strings.HasPrefix(q.key, "e1/s2/") {
			continue
		}
		if text := q.System + q.User; !strings.Contains(text, "- append content=a marvel of a line") || strings.Contains(text, "never seen") {
			t.Errorf("%s is told:\n%s", q.key, text)
		}
	}
}

func TestFailureOnlyAndShallow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		failureOnly, shallow bool
		failures, successes  int
	}{
		{false, false, 2, 1}, {true, false, 2, 0}, {false, true, 6, 2}, {true, true, 6, 0},
	} {
		w := newWorld(8, 4, 0)
		w.seed += "rule a\n"
		o := standard()
		o.Minibatch, o.FailureOnly, o.Shallow = 3, tt.failureOnly, tt.shallow
		w.must(t, o)
		if f, s := len(w.asked(model.StageAnalystError)), len(w.asked(model.StageAnalystSuccess)); f != tt.failures || s != tt.successes {
			t.Errorf("failure only %v, shallow %v: %d and %d analysts, want %d and %d", tt.failureOnly, tt.shallow, f, s, tt.failures, tt.successes)
		}
	}
}

func TestCurriculumChoosesTheBatch(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"uniform", "easy_first", "competence_based"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			run := func(seed int64) (*Result, *world) {
				w := newWorld(40, 4, 0)
				o := standard()
				o.Epochs, o.Seed = 2, seed
				o.Curriculum = Curriculum{Strategy: strategy, Bins: 3, Temperature: 1, Alpha: 0.3}
				return w.must(t, o), w
			}
			r, w := run(1)
			if len(r.History.Steps) != 11 || len(r.History.Steps[10].Curriculum) == 0 {
				t.Fatalf("%d steps, metrics %v", len(r.History.Steps), r.History.Steps[10].Curriculum)
			}
			_, again := run(1)
			_, other := run(2)
			sorted := func(w *world) map[string]string { return w.skills }
			if !cmp.Equal(sorted(w), sorted(again)) {
				t.Error("the same seed drew other tasks")
			}
			if cmp.Equal(sorted(w), sorted(other)) {
				t.Error("another seed drew the same tasks")
			}
			if w.rolled("seed/selection/") != 4 {
				t.Error("the curriculum touched the selection split")
			}
		})
	}
}
