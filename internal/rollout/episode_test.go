package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// doer answers every call alike and remembers them.
type doer struct {
	resp  model.Response
	err   error
	calls []caller.Call
}

func (d *doer) Do(_ context.Context, c caller.Call) (model.Response, error) {
	d.calls = append(d.calls, c)
	return d.resp, d.err
}

func parsed(t *testing.T, text string) *template.Template {
	t.Helper()
	out, err := template.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exact scores a reply that is the gold answer.
func exact(reply string, t task.Task) (string, score.Score) {
	if reply == t.Gold[0] {
		return reply, score.Score{Hard: 1, Soft: 1}
	}
	return reply, score.Score{Soft: 0.25, Reason: "wrong: not " + t.Gold[0], Feedback: "look again"}
}

// assessed makes a scorer of replies an Assess.
func assessed(by func(string, task.Task) (string, score.Score)) Assess {
	return func(_ context.Context, _ string, t task.Task, ev Evidence) (Assessment, error) {
		answer, s := by(ev.Reply, t)
		return Assessment{Answer: answer, Score: s}, nil
	}
}

var sum = task.Task{ID: "sum-1", Type: "sum", Prompt: "2+2?", Gold: []string{"4"}, Hidden: "carry nothing", Data: map[string]any{"unit": "m"}}

// What the target is to blame for is a score of 0 with its reason, what others
// are to blame for is no score.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	t.Parallel()
	usage := trajectory.Usage{Input: 3, Output: 1}
	for _, tt := range []struct {
		name   string
		resp   model.Response
		err    error
		status score.Status
		hard   float64
		reason string
	}{
		{"right", model.Response{Text: "4", Finish: model.FinishStop, Usage: usage}, nil, score.OK, 1, ""},
		{"wrong", model.Response{Text: "5", Finish: model.FinishStop, Usage: usage}, nil, score.OK, 0, "wrong: not 4"},
		{"cut at the limit, right as it looks", model.Response{Text: "4", Finish: model.FinishLength, Usage: usage}, nil, score.AgentError, 0, "length: "},
		{"refused", model.Response{Text: "I will not", Finish: model.FinishRefusal, Usage: usage}, nil, score.AgentError, 0, "refusal: "},
		{"filtered", model.Response{Finish: model.FinishFilter, Usage: usage}, nil, score.AgentError, 0, "content_filter: "},
		{"too long a prompt", model.Response{}, &caller.TaskLimitError{Code: model.ContextLength, Err: errors.New("8193 tokens")}, score.AgentError, 0, "context_length: 8193 tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Chat{Model: &doer{resp: tt.resp, err: tt.err}, Prompt: &ChatPrompt{System: parsed(t, "{{skill}}"), User: parsed(t, "{{prompt}}")}, Assess: assessed(exact)}
			got, err := c.Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add."))
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != tt.status || got.Hard != tt.hard || !strings.HasPrefix(got.FailReason, tt.reason) || (got.FailReason == "") != (tt.reason == "") {
				t.Errorf("got %+v", got)
			}
			if got.ID != "sum-1" || got.Type != "sum" || got.Question != "2+2?" || got.Reference != "expected: 4\ncarry nothing" || got.Usage != tt.resp.Usage {
				t.Errorf("the outcome lost what it is of: %+v", got)
			}
			if (len(got.Trajectory) == 1) != (tt.resp.Text != "") {
				t.Errorf("the conversation is %+v", got.Trajectory)
			}
		})
	}
	for name, err := range map[string]error{
		"unmeasured": &caller.UnmeasuredError{Key: "k", Err: errors.New("given up")},
		"stopping":   caller.ErrStopping,
		"stopped":    &caller.StoppedError{Err: errors.New("dead")},
	} {
		c := Chat{Model: &doer{err: err}, Prompt: &ChatPrompt{System: parsed(t, ""), User: parsed(t, "{{prompt}}")}, Assess: assessed(exact)}
		if _, got := c.Run(t.Context(), Place{}, sum, skill.New("")); !errors.Is(got, err) {
			t.Errorf("%s became %v", name, got)
		}
	}
}

func TestChatAsksWithTheSkill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, system, skill string
		bare                bool
		want                []model.Message
	}{
		{"skill alone", "Skill:\n{{skill}}", "Add.", false, []model.Message{{Role: "system", Content: "Skill:\nAdd."}, {Role: "user", Content: "2+2? in m"}}},
		{"with fields", "{{skill}} {{type}} {{extras.tone}}", "Add.", false, []model.Message{{Role: "system", Content: "Add. sum calm"}, {Role: "user", Content: "2+2? in m"}}},
		{"no skill, bare", "Skill:\n{{skill}}", " \n", true, []model.Message{{Role: "user", Content: "2+2? in m"}}},
		{"no skill", "Skill:\n{{skill}}", "", false, []model.Message{{Role: "system", Content: "Skill:\n"}, {Role: "user", Content: "2+2? in m"}}},
		{"empty system", "", "Add.", false, []model.Message{{Role: "user", Content: "2+2? in m"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &doer{resp: model.Response{Text: "4"}}
			c := Chat{
				Model: d, Assess: assessed(exact), RunSeed: 7,
				Prompt: &ChatPrompt{
					System: parsed(t, tt.system), User: parsed(t, "{{prompt}} in {{unit}}"),
					Extras: map[string]any{"tone": "calm"}, Bare: tt.bare,
				},
			}
			place := Place{Prefix: "e1/s1/mb0/rollout"}
			for range 2 { // the second time from what was kept
				if _, err := c.Run(t.Context(), place, sum, skill.New(tt.skill)); err != nil {
					t.Fatal(err)
				}
			}
			for _, call := range d.calls {
				if diff := cmp.Diff(tt.want, call.Messages); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if call.Key != "e1/s1/mb0/rollout/sum-1/sample0" || call.Role != model.Target || call.Stage != model.StageRollout {
					t.Errorf("call %+v", call)
				}
				if want := caller.Seed(7, "sum-1", 0); call.Seed == nil || *call.Seed != want {
					t.Errorf("seed %v, want %d", call.Seed, want)
				}
			}
			again := place
			again.Sample = 1
			if _, err := c.Run(t.Context(), again, sum, skill.New(tt.skill)); err != nil {
				t.Fatal(err)
			}
			if *d.calls[2].Seed == *d.calls[0].Seed {
				t.Error("another sample has the same seed")
			}
		})
	}
}

// Skills come and go; what is kept of them is bounded.
func TestChatForgetsOldSkills(t *testing.T) {
	t.Parallel()
	c := Chat{Model: &doer{resp: model.Response{Text: "4"}}, Prompt: &ChatPrompt{System: parsed(t, "{{skill}}"), User: parsed(t, "{{prompt}}")}, Assess: assessed(exact)}
	for i := range 300 {
		if _, err := c.Run(t.Context(), Place{}, sum, skill.New(strings.Repeat("x", i))); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.Prompt.system) > 65 {
		t.Errorf("%d system messages are kept", len(c.Prompt.system))
	}
}

func TestTemplateFaultsNameTheTask(t *testing.T) {
	t.Parallel()
	origin := sum
	origin.Origin = "tasks.jsonl:3"
	for key, c := range map[string]*Chat{
		"tasks.prompt": {Prompt: &ChatPrompt{System: parsed(t, ""), User: parsed(t, "{{missing}}")}},
		"tasks.system": {Prompt: &ChatPrompt{System: parsed(t, "{{missing}}"), User: parsed(t, "{{prompt}}")}},
	} {
		_, err := c.Run(t.Context(), Place{}, origin, skill.New("x"))
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "sum-1 (tasks.jsonl:3)") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	for want, tk := range map[string]task.Task{
		"":                           {},
		"expected: 4":                {Gold: []string{"4"}},
		"expected: 4 | four\ncarry":  {Gold: []string{"4", "four"}, Hidden: "carry"},
		"what nobody else must know": {Hidden: "what nobody else must know"},
	} {
		if got := Reference(tk); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// recorder runs episodes, or answers them from what it recorded.
type recorder struct {
	recorded []byte
	call     caller.EpisodeCall
	usage    trajectory.Usage // that the episode reported
	err      error
}

func (r *recorder) Episode(ctx context.Context, c caller.EpisodeCall, run func(context.Context, model.Client) (caller.EpisodeResult, error)) ([]byte, error) {
	r.call = c
	if r.err != nil || r.recorded != nil {
		return r.recorded, r.err
	}
	res, err := run(ctx, nil)
	r.usage = res.Usage
	return res.Data, err
}

// environment is a function as a task.Env.
type environment func(ctx context.Context, t task.Task, s skill.Skill) (trajectory.Outcome, error)

func (f environment) Rollout(ctx context.Context, t task.Task, s skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	return f(ctx, t, s)
}

func returns(out trajectory.Outcome, err error) environment {
	return func(context.Context, task.Task, skill.Skill) (trajectory.Outcome, error) { return out, err }
}

func TestEnvOutcomesAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		out  trajectory.Outcome
		err  error
		want string // in the error, "" = none
	}{
		{"ok", trajectory.Outcome{Status: score.OK, Hard: 1, Soft: 0.5}, nil, ""},
		{"a failure of the agent", trajectory.Outcome{Status: score.AgentError, FailReason: "turns"}, nil, ""},
		{"no status", trajectory.Outcome{Hard: 1}, nil, `status ""`},
		{"another status", trajectory.Outcome{Status: "great"}, nil, `status "great"`},
		{"unmeasured", trajectory.Outcome{Status: score.Unmeasured}, nil, "unmeasured"},
		{"hard too high", trajectory.Outcome{Status: score.OK, Hard: 1.5}, nil, "hard = 1.5"},
		{"soft below 0", trajectory.Outcome{Status: score.OK, Soft: -0.1}, nil, "soft = -0.1"},
		{"no number", trajectory.Outcome{Status: score.OK, Hard: math.NaN()}, nil, "hard = NaN"},
		{"negative tokens", trajectory.Outcome{Status: score.OK, Usage: trajectory.Usage{Input: 4, Cached: -1}}, nil, "Cached:-1"},
		{"broken", trajectory.Outcome{Status: score.OK, Hard: 1}, errors.New("it broke"), "it broke"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := Env{Env: returns(tt.out, tt.err), Record: &recorder{}}
			got, err := e.Run(t.Context(), Place{}, sum, skill.New(""))
			if tt.want == "" {
				if err != nil || got.ID != "sum-1" || got.Type != "sum" || got.Question != "2+2?" || got.Reference == "" || got.Hard != tt.out.Hard {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, caller.ErrUnmeasured) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "sum-1") {
				t.Errorf("got %v, want an unmeasured task that names %q", err, tt.want)
			}
		})
	}
}

// A failure of the agent is a score of 0, whatever else an environment says.
func TestAFailureOfTheAgentScoresNothing(t *testing.T) {
	t.Parallel()
	failed := trajectory.Outcome{Status: score.AgentError, Hard: 1, Soft: 0.5, FailReason: "turns: all used"}
	got, err := (&Env{Env: returns(failed, nil), Record: &recorder{}}).Run(t.Context(), Place{}, sum, skill.New(""))
	if err != nil || got.Status != score.AgentError || got.Hard != 0 || got.Soft != 0 || got.FailReason != failed.FailReason {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whoever writes feedback, analysts get no more of it than is allowed.
func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", score.MaxFeedback)
	e := Env{Env: returns(trajectory.Outcome{Status: score.OK, Feedback: long}, nil), Record: &recorder{}}
	c := Chat{
		Model: &doer{resp: model.Response{Text: "4"}}, Prompt: &ChatPrompt{System: parsed(t, ""), User: parsed(t, "{{prompt}}")},
		Assess: assessed(func(string, task.Task) (string, score.Score) { return "", score.Score{Feedback: long} }),
	}
	for name, episode := range map[string]Episode{"environment": &e, "scorer": &c} {
		got, err := episode.Run(t.Context(), Place{}, sum, skill.New(""))
		if n := len(got.Feedback); err != nil || n > score.MaxFeedback || n < score.MaxFeedback/2 || !utf8.ValidString(got.Feedback) {
			t.Errorf("%s: %d bytes, valid: %v, %v", name, n, utf8.ValidString(got.Feedback), err)
		}
	}
}

func TestEnvIsTheDurableStep(t *testing.T) {
	t.Parallel()
	ran := false
	env := environment(func(_ context.Context, tk task.Task, s skill.Skill) (trajectory.Outcome, error) {
		ran = true
		return trajectory.Outcome{Status: score.OK, Hard: 1, Question: "own", Reference: "own too", Usage: trajectory.Usage{Input: 9}}, nil
	})
	rec := &recorder{}
	e := Env{Env: env, Record: rec, RunSeed: 7, Context: []byte("ctx")}
	place := Place{Prefix: "e1/s1/mb0/rollout"}
	first, err := e.Run(t.Context(), place, sum, skill.New("Add."))
	if err != nil || !ran || first.Question != "own" || first.Reference != "own too" {
		t.Fatalf("got %+v, %v", first, err)
	}
	if rec.usage.Input != 9 {
		t.Errorf("the tokens of the environment were dropped: %+v", rec.usage)
	}
	if rec.call.Key != place.Key(sum) || rec.call.Seed != caller.Seed(7, "sum-1", 0) || string(rec.call.Shared[0]) != "Add." || string(rec.call.Shared[1]) != "ctx" {
		t.Errorf("call %+v", rec.call)
	}
	if !strings.Contains(string(rec.call.Own), "carry nothing") {
		t.Error("another task would be answered by this record")
	}

	ran = false
	if rec.recorded, err = json.Marshal(first); err != nil {
		t.Fatal(err)
	}
	again, err := e.Run(t.Context(), place, sum, skill.New("Add."))
	if diff := cmp.Diff(first, again); err != nil || ran || diff != "" {
		t.Errorf("from the record: ran %v, %v (-want +got):\n%s", ran, err, diff)
	}
	rec.recorded = []byte("{")
	if _, err := e.Run(t.Context(), place, sum, skill.New("")); err == nil || !strings.Contains(err.Error(), place.Key(sum)) {
		t.Errorf("a broken record: %v", err)
	}
	rec.recorded, rec.err = nil, caller.ErrStopping
	if _, err := e.Run(t.Context(), place, sum, skill.New("")); !errors.Is(err, caller.ErrStopping) {
		t.Errorf("got %v", err)
	}
}

// An environment that hangs measured nothing.
func TestEnvDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := environment(func(ctx context.Context, _ task.Task, _ skill.Skill) (trajectory.Outcome, error) {
			<-ctx.Done()
			return trajectory.Outcome{}, context.Cause(ctx)
		})
		e := Env{Env: hang, Record: &recorder{}, Timeout: time.Minute}
		start := time.Now()
		_, err := e.Run(t.Context(), Place{}, sum, skill.New(""))
		if !errors.Is(err, caller.ErrUnmeasured) || !strings.Contains(err.Error(), "env.timeout") || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// What cannot be written down cannot be recorded.
func TestTasksThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	odd := sum
	odd.Data = map[string]any{"x": math.Inf(1)}
	e := Env{Env: returns(trajectory.Outcome{}, nil), Record: &recorder{}}
	if _, err := e.Run(t.Context(), Place{}, odd, skill.New("")); err == nil || !strings.Contains(err.Error(), "sum-1") {
		t.Errorf("got %v", err)
	}
}
