package acceptance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// shop is a folder of runs against a server that counts.
type shop struct {
	t      testing.TB
	server *wiretest.Server
	cfg    config.Config
	calls  int // at the server so far
}

func newShop(t testing.TB) *shop {
	server := serve(t, wiretest.Options{Seed: 1})
	s := &shop{t: t, server: server, cfg: worldConfig(server.URL())}
	s.cfg.Record.Reuse, s.cfg.Run.Dir, s.cfg.Run.Name = "auto", t.TempDir(), "x"
	return s
}

// since is how many calls came to the server since it was asked last.
func (s *shop) since() int {
	n := s.server.Stats().Calls
	defer func() { s.calls = n }()
	return n - s.calls
}

// never are places of which nothing may come from another run: every place but those of a
// first answer in training, and of the samples by which rules are judged.
var never = regexp.MustCompile(`test|again/[^m]|fresh|reselect|null|drift|^final|anew|confirm|^[^t].*sample[1-9]|sample\d{4}`)

// entries checks what a run has recorded, and returns how many of its calls were asked, and
// how many answered from other runs.
func (s *shop) entries(dir string) (asked, reused int) {
	s.t.Helper()
	r, err := record.Open(s.t.Context(), dir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	calls, err := r.Calls(s.t.Context(), record.Filter{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range calls {
		switch {
		case c.Kind != journal.Call:
		case c.Origin == nil:
			asked++
		default:
			reused++
			if never.MatchString(c.Key) {
				s.t.Errorf("%s was answered from run %s", c.Key, c.Origin.RunID)
			}
			if c.Usage != (journal.Usage{}) || c.USD != nil {
				s.t.Errorf("%s counts %+v", c.Key, c)
			}
		}
	}
	return asked, reused
}

func readSkill(path string) (skill.Skill, error) {
	text, err := os.ReadFile(path)
	return skill.New(string(text)), err
}

func (s *shop) train(opts ...skillopt.Option) *result.Summary {
	s.t.Helper()
	sum, err := skillopt.Train(s.t.Context(), s.cfg, opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

// What equals a request that another run was answered is not paid for again, and nothing
// else changes. What has to be asked is asked: the server counts.
func TestPaidOnceAcrossCommands(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first := s.train()
	paid := s.since()
	if asked, reused := s.entries(first.RunDir); asked != paid || reused != 0 {
		t.Errorf("%d calls at the server, %d asked, %d reused", paid, asked, reused)
	}
	best, err := readSkill(filepath.Join(first.RunDir, "best_skill.md"))
	if err != nil {
		t.Fatal(err)
	}

	ablation, err := skillopt.Ablate(t.Context(), s.cfg, skillopt.PruneOptions{}, skillopt.WithSkill(best))
	if err != nil {
		t.Fatal(err)
	}
	ablated := s.since()
	pruned, err := skillopt.Prune(t.Context(), s.cfg, skillopt.PruneOptions{}, skillopt.WithSkill(best))
	if err != nil {
		t.Fatal(err)
	}
	again := s.since()
	asked, reused := s.entries(pruned.RunDir)
	if int64(ablated) != ablation.Calls.Total || int64(again) != pruned.Calls.Total || asked != again || int64(reused) != pruned.Calls.FromRuns {
		t.Errorf("ablate: %d calls, %+v; prune: %d calls, %d asked, %d reused, %+v", ablated, ablation.Calls, again, asked, reused, pruned.Calls)
	}
	if n := s.askedTwice(ablation.RunDir, pruned.RunDir); n != 0 || reused < ablated*9/10 { // what is in flight when a race ends is asked or not, by chance
		t.Errorf("ablate asked for %d answers, prune took %d, and asked %d again", ablated, reused, n)
	}

	seed, err := readSkill(s.cfg.Skill)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"compare-1", "compare-2"} {
		compared, err := skillopt.Compare(t.Context(), s.cfg, seed, best, skillopt.WithRunDir(filepath.Join(s.cfg.Run.Dir, name)))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.since(); n == 0 || compared.Calls.FromRuns != 0 || int64(n) != compared.Calls.Total {
			t.Errorf("compare: %d calls, %+v", n, compared.Calls)
		}
	}
	for split, want := range map[string]bool{"selection": true, "test": false} {
		scored, err := skillopt.Evaluate(t.Context(), s.cfg, split)
		if err != nil {
			t.Fatal(err)
		}
		if n := s.since(); (n == 0) != want || (scored.Calls.FromRuns > 0) != want {
			t.Errorf("eval of %s: %d calls, %+v", split, n, scored.Calls)
		}
	}

	second := s.train(skillopt.WithAgain())
	n := s.since()
	asked, reused = s.entries(second.RunDir)
	if asked != n || int64(n) != second.Calls.Total || reused < paid/2 || n >= paid {
		t.Errorf("again: %d calls, the first time %d; %d asked, %d reused, %+v", n, paid, asked, reused, second.Calls)
	}
	sameResults(t, results(t, first.RunDir), second.RunDir)
	onTest := func(dir string) (n int) {
		r, err := record.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		calls, err := r.Calls(t.Context(), record.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if c.Kind == journal.Call && c.Origin == nil && never.MatchString(c.Key) {
				n++
			}
		}
		return n
	}
	if a, b := onTest(first.RunDir), onTest(second.RunDir); a == 0 || a != b {
		t.Errorf("%d answers of certificate and confirmations were asked for the first time, %d the second", a, b)
	}

	s.cfg.Record.Reuse = "never"
	if s.train(skillopt.WithAgain()); s.since() < paid {
		t.Error("record.reuse: never took answers of other runs")
	}
}

// Answers to the very questions of the test, recorded where they may be reused, are no
// answers to the test; and those to the test are none to anything else.
func TestNoAnswerIsSmuggledIntoTheTest(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	whole, err := task.Load(s.cfg.Tasks.Path, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	as := func(split task.Split, other task.Split) []task.Task {
		out := append([]task.Task(nil), whole.Tasks()...)
		for i := range out {
			out[i].Split = other
			if i%2 == 0 {
				out[i].Split = split
			}
		}
		return out
	}
	score := func(split string, tasks []task.Task) int {
		t.Helper()
		if _, err := skillopt.Evaluate(t.Context(), s.cfg, split, skillopt.WithTasks(tasks)); err != nil {
			t.Fatal(err)
		}
		return s.since()
	}
	half := score("train", as(task.Train, task.Selection))
	if half == 0 || score("train", as(task.Train, task.Test)) != 0 {
		t.Fatalf("%d calls: nothing is reused where it may be, so that this shows nothing", half)
	}
	if n := score("test", as(task.Test, task.Train)); n != half {
		t.Errorf("%d of %d answers to test tasks were asked for", n, half)
	}
	if n := score("selection", as(task.Test, task.Selection)); n == 0 {
		t.Error("answers that were never recorded were reused")
	}
	elsewhere := newShop(t)
	s = elsewhere
	half = score("test", as(task.Test, task.Train))
	if n := score("train", as(task.Train, task.Test)); n != half {
		t.Errorf("%d of %d: answers to test tasks answered others", n, half)
	}
}

// A run that was copied below run.dir is nobody's word, whoever made it; the run itself is
// still one where it was moved to, and may go away at any time.
func TestACopyAnswersNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	score := func() int {
		t.Helper()
		if _, err := skillopt.Evaluate(t.Context(), s.cfg, "selection"); err != nil {
			t.Fatal(err)
		}
		return s.since()
	}
	all := score()
	here := s.cfg.Run.Dir
	s.cfg.Run.Dir = t.TempDir()
	if err := os.CopyFS(s.cfg.Run.Dir, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	if n := score(); n != all {
		t.Errorf("%d of %d calls: the rest was answered from a copy", n, all)
	}
	s.cfg.Run.Dir = here
	if err := os.Rename(filepath.Join(here, "x-eval-1"), filepath.Join(here, "renamed")); err != nil {
		t.Fatal(err)
	}
	if n := score(); n != 0 {
		t.Errorf("%d of %d calls though the run was only renamed", n, all)
	}
	for _, damage := range []func() error{
		func() error { return os.Remove(filepath.Join(here, "answers.db")) },
		func() error {
			return os.WriteFile(filepath.Join(here, "answers.db"), []byte("no database at all, but long enough to be one ........................................................................."), 0o600)
		},
		func() error { return os.Truncate(filepath.Join(here, "answers.db"), 5000) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if n := score(); n != 0 {
			t.Errorf("%d of %d calls after the index was damaged", n, all)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(here, "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range dirs {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
	}
	if n := score(); n != all {
		t.Errorf("%d of %d calls though no run is left", n, all)
	}
}
