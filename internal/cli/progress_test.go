package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
)

// stage is a progress line with a clock that the test turns.
type stage struct {
	*progress

	out bytes.Buffer
	at  time.Time
}

func onTerminal(width int) *stage {
	s := &stage{at: time.Unix(1000, 0)}
	s.progress = newProgress(Streams{Err: &s.out, Terminal: true, Width: width})
	s.now = func() time.Time { return s.at }
	return s
}

// pass lets time go by, so that the line is drawn again.
func (s *stage) pass(d time.Duration, events ...event.Event) {
	s.at = s.at.Add(d)
	for _, e := range events {
		s.handle(e)
	}
}

// shown returns what a terminal shows: lines that stay, and the drawn one.
func (s *stage) shown() []string {
	lines := strings.Split(s.out.String(), "\n")
	for i, l := range lines {
		if at := strings.LastIndex(l, "\x1b[K"); at >= 0 {
			lines[i] = l[at+len("\x1b[K"):]
		}
	}
	return lines
}

func f(v float64) *float64 { return &v }

func TestTheLineOfARun(t *testing.T) {
	t.Parallel()
	s := onTerminal(200)
	s.pass(0, event.RunStarted{RunDir: "runs/a-1", Train: 8, Selection: 8, Test: 4, Steps: 4})
	s.pass(time.Second, event.StageStarted{Stage: "baseline", Total: 8}, event.Progress{Stage: "selection", Done: 3, Total: 8})
	s.pass(time.Second, event.Progress{Stage: "selection", Done: 8, Total: 8, Calls: 8, Input: 900, Output: 100})
	s.pass(0, event.StepDone{Current: f(0.25), Best: f(0.25)})
	s.pass(time.Second, event.StageStarted{Epoch: 1, Step: 1, Stage: "rollout", Total: 4})
	s.pass(9*time.Second, event.Progress{Stage: "rollout", Done: 4, Total: 4, Calls: 12, Input: 20_000, Output: 345, Cost: f(0.125)})
	s.pass(0, event.StepDone{Epoch: 1, Step: 1, Action: "reject", Rollout: f(0.5), Candidate: f(0.125), Current: f(0.25), Best: f(0.25), Edits: 2, Budget: 4, Difference: f(-0.125), N: 3})
	s.pass(time.Second, event.StageStarted{Epoch: 1, Step: 2, Stage: "gate", Total: 8})
	want := []string{
		"run runs/a-1: 8 train, 8 selection, 4 test tasks, 4 steps",
		"seed  selection 0.250",
		"step 1/4  epoch 1  train 0.500  edits 2/4   candidate 0.125 on 3 of 8  best 0.250  reject (-0.125 on 3 tasks)",
		"epoch 1 step 2/4  gate  0/8  best 0.250  12 calls  20k tokens  $0.12  33s left",
	}
	if diff := cmp.Diff(want, s.shown()); diff != "" {
		t.Error(diff)
	}
	s.pass(0, event.EpochDone{Epoch: 1, SlowUpdate: "reject", MetaSkill: true},
		event.Warning{Text: "mind the gap"}, event.EpochDone{Epoch: 2}, event.RunDone{Status: "completed"})
	want = append(want[:3], "epoch 1 end  slow update: reject  meta skill written", "warning: mind the gap", "")
	if diff := cmp.Diff(want, s.shown()); diff != "" {
		t.Error(diff)
	}
}

func TestTimeLeftIsThatOfStepsThatCallModels(t *testing.T) {
	t.Parallel()
	s := onTerminal(200)
	s.pass(0, event.RunStarted{Resumed: true, Recorded: 40, Steps: 10})
	replayed := event.Progress{Stage: "rollout", Calls: 40}
	s.pass(time.Second, replayed, event.StepDone{Step: 0}, replayed, event.StepDone{Epoch: 1, Step: 1}, replayed, event.StepDone{Epoch: 1, Step: 2})
	if left, ok := s.remainingTime(); ok {
		t.Errorf("%s left, though no step has called a model", left)
	}
	s.pass(20*time.Second, event.Progress{Stage: "rollout", Calls: 50}, event.StepDone{Epoch: 1, Step: 3})
	if left, ok := s.remainingTime(); !ok || left != 140*time.Second {
		t.Errorf("%s left, want 7 steps of 20 s", left)
	}
}

func TestTheLineFitsTheTerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(20)
	s.pass(time.Second, event.StageStarted{Epoch: 1, Step: 1, Stage: strings.Repeat("long ", 20)})
	if got := s.shown(); len(got[0]) != 19 {
		t.Errorf("the line %q has %d columns", got[0], len(got[0]))
	}
}

func TestTheLineDropsWholeFields(t *testing.T) {
	t.Parallel()
	s := onTerminal(60)
	s.pass(0, event.RunStarted{Steps: 12})
	s.pass(time.Second, event.StageStarted{Epoch: 1, Step: 2, Stage: "rollout", Total: 40})
	s.pass(time.Second, event.Progress{Stage: "rollout", Done: 7, Total: 40, Calls: 217, Input: 138_000})
	lines := s.shown()
	if got, want := lines[len(lines)-1], "epoch 1 step 2/12  rollout  7/40  217 calls  138k tokens"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.width = 50
	s.pass(time.Second, event.Progress{Stage: "rollout", Done: 8, Total: 40, Calls: 218, Input: 138_000})
	lines = s.shown()
	if got, want := lines[len(lines)-1], "epoch 1 step 2/12  rollout  8/40  218 calls"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesThatStayAreFoldedAtSpaces(t *testing.T) {
	t.Parallel()
	s := onTerminal(60)
	s.pass(0, event.RunStarted{Steps: 12}, event.StepDone{Epoch: 1, Step: 1, Action: "accept_new_best", Rollout: f(0.5), Candidate: f(0.125), Best: f(0.25), Edits: 2, Budget: 4})
	want := []string{"step  1/12  epoch 1  train 0.500  edits 2/4   candidate", "  0.125  best 0.250  accept_new_best", ""}
	if diff := cmp.Diff(want, s.shown()[1:]); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", strings.Repeat("x", 200), strings.Repeat("x ", 200), "é " + strings.Repeat("ü", 70)} {
		if got := strings.Join(strings.Fields(fold(text, 59)), " "); got != strings.TrimSpace(text) {
			t.Errorf("folding changed %q to %q", text, got)
		}
	}
}

func TestAWarningCannotPassForAnotherLine(t *testing.T) {
	t.Parallel()
	s := onTerminal(200)
	s.pass(0, event.Warning{Text: "a task\nstep 1/4  accept_new_best"})
	if diff := cmp.Diff([]string{"warning: a task", "  step 1/4  accept_new_best", ""}, s.shown()); diff != "" {
		t.Error(diff)
	}
}

func TestOutsideOfTrainingThereAreNoSteps(t *testing.T) {
	t.Parallel()
	s := onTerminal(200)
	s.pass(time.Second, event.StageStarted{Stage: "eval test", Total: 6}, event.Progress{Stage: "eval test", Done: 1, Total: 6, Calls: 1})
	if diff := cmp.Diff([]string{"eval test  0/6  0 calls  0 tokens"}, s.shown()); diff != "" {
		t.Error(diff)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	s.pass(time.Second, event.Progress{Stage: "eval test", Done: 2, Total: 6})
	if diff := cmp.Diff([]string{""}, s.shown()); diff != "" {
		t.Errorf("something is left on the line: %s", diff)
	}
}

func TestNoLineWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(Streams{Err: &out})
	p.handle(event.StageStarted{Stage: "rollout"})
	p.handle(event.Progress{Stage: "rollout", Done: 1, Total: 2})
	p.handle(event.StepDone{})
	if diff := cmp.Diff("seed  selection -\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 9999: "9999", 10_000: "10k", 1_234_567: "1235k", 12_345_678: "12M"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
}
