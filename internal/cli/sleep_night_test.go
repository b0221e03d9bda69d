package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// The first line of explain names the outcome and its reason, whatever else the night had; the exit code is that of
// the product, and 0 for a night that found nothing.
func TestEachOutcomeHasItsCauseAndExitCode(t *testing.T) {
	t.Parallel()
	for outcome, code := range map[night.Outcome]int{
		night.Certified: 0, night.Supported: 0, night.Suggested: 0, night.Rejected: 0, night.NothingToLearn: 0, night.NoData: 0, night.TooFewTasks: 0,
		night.NotReplayable: 0, night.JudgeUnusable: 0, night.Refused: 0, night.ModelUnhealthy: exitUnmeasured, night.Budget: exitBudget,
		night.WaitingForReply: exitWaiting, night.Stopped: exitStopped,
	} {
		r := &night.Report{ID: "n", Targets: []night.Target{
			{Target: "skill:a", Outcome: night.NoData, Reason: "nothing"}, {Target: "skill:b", Outcome: outcome, Reason: "it is so"},
		}}
		cause, help := nightCause(r)
		want := string(outcome) + ": skill:b: it is so"
		if outcome == night.NoData {
			want = "no_data: skill:a: nothing"
		}
		if cause != want || help == "" {
			t.Errorf("%s: %q, help %q", outcome, cause, help)
		}
		if got := exitCode(nightError(r)); got != code {
			t.Errorf("%s: exit code %d, want %d", outcome, got, code)
		}
		var out bytes.Buffer
		printNight(printer{Writer: &out}, sleepSetup{}, r)
		if !strings.Contains(out.String(), string(outcome)) || !strings.Contains(out.String(), "\nnext: ") {
			t.Errorf("%s:\n%s", outcome, out.String())
		}
	}
	failed := "no key"
	for name, target := range map[string]night.Target{
		"of mining":   {Outcome: night.Refused, Reason: "no key"},
		"of training": {Target: "skill:a", Outcome: night.Refused, Reason: "no key", Consolidation: night.Consolidation{CallError: &failed}},
	} {
		if got := exitCode(nightError(&night.Report{Targets: []night.Target{target}})); got != exitInput {
			t.Errorf("%s: exit code %d", name, got)
		}
	}
}

// A night without a document says where it ran dry.
func TestWhereANightRanDry(t *testing.T) {
	t.Parallel()
	funnel := func(f result.MineFunnel) night.Mined { return night.Mined{Sessions: 4, Funnel: &f} }
	why := []result.MineCount{{Reason: "have an answer that was not kept whole", N: 3}, {Reason: "x", N: 1}}
	for want, m := range map[string]night.Mined{
		"no_data: no session of the project is new since it was mined last":                                                {},
		"no_data: 4 sessions are new and none was mined":                                                                   {Sessions: 4},
		"no_data: of 4 sessions none shows an outcome; 3 are sessions that have an answer that was not kept whole":         funnel(result.MineFunnel{Sessions: 4, LeftOut: why}),
		"no_data: the optimizer proposed no task of 2 sessions":                                                            funnel(result.MineFunnel{Sessions: 4, Candidates: 2}),
		"no_data: of 4 tasks that were proposed none can be used; 3 are tasks that have an answer that was not kept whole": funnel(result.MineFunnel{Sessions: 4, Candidates: 2, Proposed: 4, Fell: why}),
	} {
		if got, help := nightCause(&night.Report{Mined: m}); got != want || help == "" {
			t.Errorf("%q, want %q (help %q)", got, want, help)
		}
	}
	got, _ := nightCause(&night.Report{Skipped: []night.Skipped{{Skill: "s", Groups: 2, Reason: "s: no skill of this name"}}})
	if got != "refused: 2 independent tasks: s: no skill of this name" {
		t.Error(got)
	}
}

// What a night shows steers no terminal.
func TestANightIsPlain(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\a\nsecond\u202eline"
	r := &night.Report{ID: evil, Project: evil, Notes: []string{evil}, Skipped: []night.Skipped{{Skill: evil, Reason: evil}}, Targets: []night.Target{{
		Target: evil, Reason: evil, Outcome: night.Refused, Rules: []night.Rule{{Text: evil}}, Remove: []string{evil}, Held: []night.HeldRule{{Text: evil, Reason: evil}},
		Continued: &night.Continued{Night: evil},
	}}}
	var out bytes.Buffer
	printNight(printer{Writer: &out}, sleepSetup{}, r)
	printAhead(printer{Writer: &out}, r)
	if strings.ContainsAny(out.String(), "\x1b\a\u202e") || strings.Contains(out.String(), "\nsecond") {
		t.Errorf("%q", out.String())
	}
}

// The program of sleep.notify is told counts: no word of a night, and nothing of the environment but what programs need.
func TestNotifyIsToldCounts(t *testing.T) {
	t.Parallel()
	r := &night.Report{
		ID: "20261125-200000", Project: "/srv/SECRET", Ended: time.Now(), Exploratory: true,
		Targets: []night.Target{{Target: "skill:SECRET", Outcome: night.Supported, Reason: "SECRET", Rules: []night.Rule{{Text: "SECRET"}}, Held: []night.HeldRule{{Text: "SECRET"}}}, {Outcome: night.Rejected}},
	}
	got := strings.Join(nightVariables(r, nil), "\n")
	if strings.Contains(got, "SECRET") {
		t.Error(got)
	}
	for _, want := range []string{"SKILLOPT_NIGHT=20261125-200000", "SKILLOPT_TARGETS=2", "SKILLOPT_SUPPORTED=1", "SKILLOPT_REJECTED=1", "SKILLOPT_CERTIFIED=0", "SKILLOPT_HELD=1", "SKILLOPT_EXPLORATORY=1", "SKILLOPT_SIMULATED=0"} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

// A session belongs to the nearest repository that is allowed, else to its own folder.
func TestRootOfASession(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	for _, dir := range []string{at(".git"), at("src", "shop", ".git"), at("src", "shop", "web", "deep"), at("src", "notes")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	allowed := harvest.NewProjects(at("src"))
	got := map[string]string{}
	for _, dir := range []string{at("src", "shop"), at("src", "shop", "web", "deep"), at("src", "notes"), at("src")} {
		got[dir] = findProjectRoot(dir, allowed)
	}
	want := map[string]string{
		at("src", "shop"): at("src", "shop"), at("src", "shop", "web", "deep"): at("src", "shop"), at("src", "notes"): at("src", "notes"), at("src"): at("src"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The diff of a document is called by its name.
func TestDocumentDiff(t *testing.T) {
	t.Parallel()
	got := record.DiffText("a\n", "a\nb\n", "memory:CLAUDE.md", "live", "proposed").Diff
	if want := "--- memory:CLAUDE.md (live)\n+++ memory:CLAUDE.md (proposed)\n@@ -1 +1,2 @@\n a\n+b\n"; got != want {
		t.Errorf("%q", got)
	}
}

// What a night spends at most is said also where the limits say nothing.
func TestCeilingIsSaid(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	usd := 2.5
	chat, agent, limited := config.Default(), config.Default(), config.Default()
	agent.Agent.Name = "codex"
	limited.Limits.USD = &usd
	for _, cfg := range []config.Config{chat, agent, limited} {
		ceilingLine(printer{Writer: &out}, cfg, nil)
	}
	want := "at most 400k tokens a night, mining included (limits)\nat most 5000k tokens a night, mining included (limits)\nat most $2.50 a night, mining included (limits)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only a night that is over is told of, and a program that cannot be started is a warning's text.
func TestNotifyOfWhatIsOver(t *testing.T) {
	t.Parallel()
	loaded, err := config.Load(config.Options{Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Config.Sleep.Notify = []string{"./nobody"}
	s := sleepSetup{profile: filepath.Join(t.TempDir(), "sleep.yaml"), dir: t.TempDir(), loaded: loaded}
	if err := runNotify(t.Context(), s, &night.Report{}, nil); err != nil {
		t.Error(err)
	}
	err = runNotify(t.Context(), s, &night.Report{Ended: time.Now()}, nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "sleep.notify: start ") {
		t.Error(err)
	}
}

// Sessions that a script drove are kept where the profile says so, and explain says that they make no task.
func TestExplainCountsDrivenSessions(t *testing.T) {
	u := newSleeper(t)
	u.write("sleep: {projects: [" + u.site + "]}\n")
	u.must("", "harvest", "--headless")
	b, err := bank.Look(t.Context(), u.kept())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	e, err := explain(t.Context(), b, &night.Report{ID: "n", Project: u.site})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 sessions of the project kept, 0 new to this night; 1 of the kept were driven by a program: no task is made of them"; e.Stages[1].Says != want {
		t.Errorf("%q", e.Stages[1].Says)
	}
}
