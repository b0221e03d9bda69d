package acceptance_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/result"
)

// ofSample finds the number of a sample in a key.
var ofSample = regexp.MustCompile(`/sample(\d+)/`)

func sampleOf(t testing.TB, key string) int {
	t.Helper()
	m := ofSample.FindStringSubmatch(key)
	if m == nil {
		t.Fatalf("%s has no sample", key)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// callsOf lists the calls that a run has recorded.
func (s *shop) callsOf(dir string) []record.Call {
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
	var out []record.Call
	for _, c := range calls {
		if c.Kind == journal.Call {
			out = append(out, c)
		}
	}
	return out
}

// askedTwice is how many calls a run has asked under keys under which an earlier one has an
// answer.
func (s *shop) askedTwice(first, second string) (n int) {
	s.t.Helper()
	has := map[string]bool{}
	for _, c := range s.callsOf(first) {
		has[c.Key] = true
	}
	for _, c := range s.callsOf(second) {
		if c.Origin == nil && has[c.Key] {
			n++
		}
	}
	return n
}

// forgetfulShop is one whose server forgets the skill in a tenth of its answers, by the seed of
// the request: rules are judged by several samples of a task.
func forgetfulShop(t *testing.T) *shop {
	t.Helper()
	cfg := forgetful(t)
	w, err := sim.Load(filepath.Join(filepath.Dir(cfg.Tasks.Path), "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Start(wiretest.Options{Client: sim.New(w), Seed: 1})
	t.Cleanup(server.Close)
	cfg.Models.Target = worldConfig(server.URL()).Models.Target
	cfg.Record.Reuse, cfg.Run.Dir, cfg.Run.Name = "auto", t.TempDir(), "x"
	return &shop{t: t, server: server, cfg: cfg}
}

// Each sample of ablate answers the same sample of prune and no other: what prune measures is
// what it would have measured, and its certificate is asked afresh.
func TestSamplesOfRulesArePaidOnce(t *testing.T) {
	t.Parallel()
	s := forgetfulShop(t)
	options := skillopt.PruneOptions{Passes: 4, Margin: 0.15}
	ablation, err := skillopt.Ablate(t.Context(), s.cfg, options)
	if err != nil {
		t.Fatal(err)
	}
	ablated := s.since()
	if ablation.Deterministic || int64(ablated) != ablation.Calls.Total {
		t.Fatalf("%d calls at the server, deterministic %t, %+v: no task is asked twice, so that this shows nothing", ablated, ablation.Deterministic, ablation.Calls)
	}
	prune := func(name string) *result.Pruned {
		t.Helper()
		pruned, err := skillopt.Prune(t.Context(), s.cfg, options, skillopt.WithRunDir(filepath.Join(s.cfg.Run.Dir, name)))
		if err != nil {
			t.Fatal(err)
		}
		return pruned
	}
	pruned := prune("pruned")
	paid := s.since()
	asked, reused := s.entries(pruned.RunDir)
	if asked != paid || int64(paid) != pruned.Calls.Total || reused < ablated*9/10 { // what is in flight when a race ends is asked or not, by chance
		t.Errorf("ablate: %d calls, prune: %d, %d asked, %d reused, %+v", ablated, paid, asked, reused, pruned.Calls)
	}
	if n := s.askedTwice(ablation.RunDir, pruned.RunDir); n != 0 {
		t.Errorf("%d questions of ablate were asked again", n)
	}
	s.samplesAreTheirOwn(ablation.RunDir, pruned.RunDir)

	again := prune("again")
	certificate, chance := 0, 0
	for _, c := range s.callsOf(again.RunDir) {
		switch fresh := sampleOf(t, c.Key) >= 1000; {
		case fresh && c.Origin != nil:
			t.Errorf("%s of the certificate comes from %+v", c.Key, c.Origin)
		case fresh:
			certificate++
		case c.Origin == nil:
			chance++
		}
	}
	if n := s.askedTwice(pruned.RunDir, again.RunDir); n != certificate || certificate == 0 || again.Certificate == nil {
		t.Errorf("the second time: %d questions are asked again, %d of the certificate", n, certificate)
	}
	if n := s.since(); n != certificate+chance || chance > paid/10 {
		t.Errorf("the second time: %d calls at the server, %d of the certificate, %d others", n, certificate, chance)
	}

	s.cfg.Record.Reuse = "never"
	want := prune("without")
	s.since()
	for name, got := range map[string]*result.Pruned{"after ablate": pruned, "again": again} {
		if got.Text != want.Text || len(got.Steps) != len(want.Steps) {
			t.Errorf("%s: %d steps, and another skill is left than where all is asked", name, len(got.Steps))
			continue
		}
		for i := range got.Steps {
			if a, b := got.Steps[i], want.Steps[i]; a.Rule != b.Rule || a.Verdict != b.Verdict || a.Pairs != b.Pairs || *a.Difference != *b.Difference {
				t.Errorf("%s, step %d: %+v, want %+v", name, i+1, a, b)
			}
		}
	}
}

// samplesAreTheirOwn checks that what a run took from another one was asked there at the same
// sample, and that no entry was taken twice.
func (s *shop) samplesAreTheirOwn(from, by string) {
	s.t.Helper()
	entries := map[int64]record.Call{}
	for _, c := range s.callsOf(from) {
		entries[c.Seq] = c
	}
	taken, later := map[int64]string{}, 0
	for _, c := range s.callsOf(by) {
		if c.Origin == nil {
			continue
		}
		source, ok := entries[c.Origin.Entry]
		if !ok || source.Origin != nil || source.Key != c.Key {
			s.t.Errorf("%s comes from entry %d, %s", c.Key, c.Origin.Entry, source.Key)
		}
		if other := taken[c.Origin.Entry]; other != "" {
			s.t.Errorf("entry %d answers %s and %s", c.Origin.Entry, other, c.Key)
		}
		taken[c.Origin.Entry] = c.Key
		if sampleOf(s.t, c.Key) > 1 {
			later++
		}
	}
	if later == 0 {
		s.t.Error("no sample after the second was taken, so that this shows nothing")
	}
}

// Whoever records an answer to sample 0 has none to sample 1, whatever the run before was
// about: eval and train have the first only, and another seed has other samples.
func TestNoSampleAnswersAnother(t *testing.T) {
	t.Parallel()
	s := forgetfulShop(t)
	scored, err := skillopt.Evaluate(t.Context(), s.cfg, "selection")
	if err != nil {
		t.Fatal(err)
	}
	s.since()
	options := skillopt.PruneOptions{Passes: 3, Margin: 0.15}
	ablate := func() *result.Ablation {
		t.Helper()
		out, err := skillopt.Ablate(t.Context(), s.cfg, options)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := ablate()
	first0, reused := 0, 0
	for _, c := range s.callsOf(first.RunDir) {
		switch {
		case c.Origin == nil:
		case sampleOf(t, c.Key) != 0 || c.Origin.RunID == "":
			t.Errorf("%s was answered by a first answer of %s", c.Key, scored.RunDir)
		default:
			reused++
		}
		if sampleOf(t, c.Key) == 0 && strings.HasPrefix(c.Key, "text/") {
			first0++
		}
	}
	if reused == 0 || reused == first0 {
		t.Errorf("%d of %d first answers come from eval", reused, first0)
	}
	asked := s.since()
	s.cfg.Train.Seed++
	if other := ablate(); other.Calls.FromRuns != 0 || s.since() == 0 {
		t.Errorf("another seed: %+v; with the first %d calls", other.Calls, asked)
	}
}
