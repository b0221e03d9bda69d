package train

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// looking is a world in which one rule solves a fourth of the tasks, whose ledger says
// before.
func looking(before *result.TestReads) (*world, Options) {
	w := newWorld(8, 20, 40)
	w.propose[1] = []string{"rule a"}
	w.before = before
	o := fresh()
	o.Test = true
	return w, o
}

func read(times int) *result.TestReads {
	out := result.TestReads{Times: times}
	for i := range times {
		out.By = append(out.By, result.Reader{Run: fmt.Sprint("r", i+1), Command: "train", Times: 1})
	}
	return &out
}

// The level is that of the reading; what is not known is no first reading.
func TestTheLevelOfAReading(t *testing.T) {
	t.Parallel()
	unknown := *read(1)
	unknown.Unknown = "r2 cannot be read"
	for name, c := range map[string]struct {
		before    *result.TestReads
		reading   int
		level     string
		certified bool
		words     []string
	}{
		"first":  {read(0), 1, "0.04", true, []string{"certified at the 4 % level (exact McNemar test, p 0.000977): better than the seed skill by at least "}},
		"second": {read(1), 2, "0.005", true, []string{"certified at the 0.5 % level", "read 1 time before, by r1: this 2nd reading spends 0.5 % of the 5 % that all readings may err"}},
		"fifth":  {read(4), 5, "0.000625", false, []string{"not certified at the 0.0625 % level (exact McNemar test, p 0.000977): measured +25.0 points", "5th reading"}},
		"unknown": {
			&unknown, 0, "null", false,
			[]string{"not certified: the level depends on how often the test set was read before, and that is not known; measured +25.0 points", "r2 cannot be read"},
		},
		"no ledger": {nil, 0, "null", false, []string{"that is not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, o := looking(c.before)
			r := w.must(t, o)
			got := r.Certificate
			if got.Reading != c.reading || value(got.Level) != c.level || got.Certified != c.certified || got.Alpha != 0.05 || got.Test != gate.LookExact {
				t.Errorf("%+v", got)
			}
			if (got.AtLeast != nil) != c.certified || value(got.PGreater) != "0.000977" || value(got.P) != "0.00195" || got.EValue != nil {
				t.Errorf("%+v", got)
			}
			for _, words := range c.words {
				if !strings.Contains(got.Words, words) {
					t.Errorf("%q does not say %q", got.Words, words)
				}
			}
			told := 0
			for _, e := range w.events {
				if e, ok := e.(event.Certificate); ok {
					told++
					if e.Words != got.Words || e.Reading != got.Reading || e.Test != "exact" || e.Assumes == "" {
						t.Errorf("the event: %+v", e)
					}
				}
			}
			if told != 1 {
				t.Errorf("%d events", told)
			}
		})
	}
}

// The history does not depend on who read the test before, and has no verdict.
func TestTheHistoryKnowsNoLedger(t *testing.T) {
	t.Parallel()
	history := func(before *result.TestReads) string {
		w, o := looking(before)
		text, err := json.Marshal(w.must(t, o).History)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := history(read(0))
	for _, before := range []*result.TestReads{read(1), read(6), nil, {Unknown: "it is no database"}} {
		if diff := cmp.Diff(want, history(before)); diff != "" {
			t.Errorf("read before %+v (-never +then):\n%s", before, diff)
		}
	}
	if strings.Contains(want, `"certified"`) || !strings.Contains(want, `"comparison":{"metric":"hard","n":40`) {
		t.Error(want)
	}
}

// What was settled is settled before the first answer, and stays so when the run is
// resumed, whatever the ledger says then.
func TestTheLevelIsSettledBeforeTheTest(t *testing.T) {
	t.Parallel()
	w, o := looking(read(1))
	settled := 0
	w.rolling = func(key string) {
		if strings.HasPrefix(key, "final/test/") {
			w.mu.Lock()
			defer w.mu.Unlock()
			if _, ok := w.recorded["final/test/level/1"]; ok {
				settled++
			}
		}
	}
	first := w.must(t, o)
	if settled != 80 || string(w.recorded["final/test/level/1"]) != `{"test":"exact","alpha":0.05,"reading":2,"level":0.005}` {
		t.Errorf("settled before %d of 80 rollouts: %s", settled, w.recorded["final/test/level/1"])
	}
	again, o := looking(read(7))
	again.recorded = w.recorded
	if diff := cmp.Diff(first.Certificate, again.must(t, o).Certificate); diff != "" {
		t.Errorf("resumed (-first +again):\n%s", diff)
	}
}

// Which test it is does not depend on a score of the test split.
func TestWhichTestIsSettled(t *testing.T) {
	t.Parallel()
	clusters := func(w *world, name func(i int) string) {
		for i := range w.data.Test {
			w.data.Test[i].Data = map[string]any{"doc": name(i)}
		}
	}
	for name, c := range map[string]struct {
		change func(w *world, o *Options)
		test   gate.LookTest
		n      int
	}{
		"hard":  {func(*world, *Options) {}, gate.LookExact, 40},
		"soft":  {func(_ *world, o *Options) { o.Projection.Metric = score.Soft }, gate.LookBound, 40},
		"mixed": {func(_ *world, o *Options) { o.Projection = score.Projection{Metric: score.Mixed, MixedWeight: 0.5} }, gate.LookBound, 40},
		"clusters": {func(w *world, o *Options) {
			o.Cluster = "doc"
			clusters(w, func(i int) string { return fmt.Sprint(i / 4) })
		}, gate.LookBound, 10},
		"clusters of one": {func(w *world, o *Options) {
			o.Cluster = "doc"
			clusters(w, func(i int) string { return fmt.Sprint(i) })
		}, gate.LookExact, 40},
		"some tasks without a name": {func(w *world, o *Options) { o.Cluster = "doc"; clusters(w, func(int) string { return "" }) }, gate.LookExact, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, o := looking(read(0))
			c.change(w, &o)
			got := w.must(t, o).Certificate
			if got.Test != c.test || got.N != c.n || got.Tasks != 40 {
				t.Errorf("%+v", got)
			}
			exact := c.test == gate.LookExact
			if (got.P != nil) != exact || (got.PGreater != nil) != exact || (got.EValue != nil) == exact {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Hard scores that an environment gives in part have no exact test.
func TestPartialHardScores(t *testing.T) {
	t.Parallel()
	outcome := func(status score.Status, hard float64) []trajectory.Outcome {
		return []trajectory.Outcome{{Status: score.OK, Hard: 1}, {Status: status, Hard: hard}}
	}
	for _, c := range []struct {
		list []trajectory.Outcome
		want bool
	}{
		{nil, false},
		{outcome(score.OK, 0), false},
		{outcome(score.OK, 0.5), true},
		{outcome(score.AgentError, 0), false},
		{outcome(score.Unmeasured, 0.5), false},
	} {
		if got := partial(c.list); got != c.want {
			t.Errorf("%+v: %v", c.list, got)
		}
	}
}

// A skill that is the seed skill is not certified, and neither is one that is behind.
func TestWordsOfOneLook(t *testing.T) {
	t.Parallel()
	pairs := func(wins, losses, ties int) (out []gate.Pair) {
		for i := range wins + losses + ties {
			p := gate.Pair{}
			switch {
			case i < wins:
				p.Candidate = 1
			case i < wins+losses:
				p.Reference = 1
			}
			out = append(out, p)
		}
		return out
	}
	first := Level{Test: gate.LookExact, Alpha: 0.05, Reading: 1, Level: 0.04}
	bound := Level{Test: gate.LookBound, Alpha: 0.05, Reading: 1, Level: 0.04}
	for _, c := range []struct {
		pairs []gate.Pair
		level Level
		same  bool
		want  string
	}{
		{nil, first, false, "no test task was measured with both skills"},
		{pairs(9, 0, 0), first, true, "not certified: the best skill is the seed skill"},
		{pairs(2, 5, 9), first, false, "the best skill is not ahead of the seed skill"},
		{pairs(0, 0, 9), first, false, "(exact McNemar test, p 1): measured +0.0 points on 9 test tasks; the best skill is not ahead"},
		{pairs(5, 4, 9), first, false, "more test tasks would help"},
		{pairs(40, 0, 0), first, false, "(exact McNemar test, p below 0.00001): better"},
		{pairs(6, 1, 30), bound, false, "not certified at the 4 % level (bound for one look, e-value "},
		{pairs(30, 0, 0), bound, false, "certified at the 4 % level (bound for one look): better than the seed skill by at least 79.6 points"},
		{[]gate.Pair{{Candidate: 2}}, bound, false, "scores go from 0 to 1"},
	} {
		if got := lookOnce("hard", c.pairs, c.level, 1, c.same); !strings.Contains(got.Words, c.want) || got.Certified && c.same {
			t.Errorf("%q does not say %q", got.Words, c.want)
		}
	}
}
