package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// world returns the small world with more keys in front.
func world(t testing.TB, more string) *World {
	t.Helper()
	w, err := Parse("world.yaml", []byte(more+small))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func rollout(system, user string) model.Request {
	return model.Request{
		Messages: []model.Message{{Role: model.System, Content: system}, {Role: model.User, Content: user}},
		Tags:     model.Tags{Stage: model.StageRollout, Role: model.Target},
	}
}

func text(t testing.TB, c *Client, req model.Request) string {
	t.Helper()
	resp, err := c.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Text
}

func TestTargetFollowsTheSkill(t *testing.T) {
	t.Parallel()
	c := New(world(t, ""))
	tests := []struct{ name, skill, task, want string }{
		{"without a rule", "Be exact.", "Add 1 and 2", "<answer>3</answer>"},
		{"with it", "- Numbers have a prefix.", "Add 1 and 2", "<answer>no. 3</answer>"},
		{"in other words", "Put a prefix\nbefore all numbers", "Add 1 and 2", "<answer>no. 3</answer>"},
		{"words apart", "Numbers matter.\n\nA prefix is short.", "Add 1 and 2", "<answer>3</answer>"},
		{"no such task", "Numbers have a prefix.", "Hello", "<answer>unknown</answer>"},
	}
	for _, tt := range tests {
		if got := text(t, c, rollout(tt.skill, tt.task)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestResponseSaysThatItIsSimulated(t *testing.T) {
	t.Parallel()
	c := New(world(t, "reply: 'It is {{answer}}.'\n"))
	got, err := c.Generate(t.Context(), rollout("12345678", "Add 1 and 2"))
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{
		Text: "It is 3.", Finish: model.FinishStop, Model: "sim:small", Fingerprint: c.print,
		Usage: trajectory.Usage{Input: 5, Output: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	req := rollout("", "Add 1 and 2")
	req.MaxTokens = 1
	if got, err = c.Generate(t.Context(), req); err != nil || got.Text != "It i" || got.Finish != model.FinishLength {
		t.Errorf("got %q, %s, %v, want the reply cut off", got.Text, got.Finish, err)
	}
}

func TestRolesComeFromTags(t *testing.T) {
	t.Parallel()
	c := New(world(t, ""))
	req := rollout("", "Add 1 and 2")
	req.Tags = model.Tags{}
	if got := text(t, c, req); got != "<answer>3</answer>" {
		t.Errorf("without tags: %q", got)
	}
	for _, tags := range []model.Tags{{Stage: model.StageJudge}, {Stage: "dream"}, {Role: model.Optimizer}} {
		req.Tags = tags
		_, err := c.Generate(t.Context(), req)
		if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), "simulated world small") {
			t.Errorf("%+v: got %v, want a bad request", tags, err)
		}
	}
}

func TestMessagesOfARoleAreJoined(t *testing.T) {
	t.Parallel()
	c := New(world(t, ""))
	req := rollout("Be exact.", "Add 1 and 2")
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Content: "3"},
		model.Message{Role: model.User, Content: "Once more, please."}, model.Message{Role: model.System, Content: "Numbers have a prefix."})
	if got := text(t, c, req); got != "<answer>no. 3</answer>" {
		t.Errorf("got %q", got)
	}
}

func TestBrokenWorldIsABadRequest(t *testing.T) {
	t.Parallel()
	w, err := Parse("w", []byte("name: w\nkinds: [{type: x, match: 'Halve (?P<a>.*)', answer: a / 2}]"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(w).Generate(t.Context(), rollout("", "Halve it"))
	if model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), `kind x: "it" is no decimal number`) {
		t.Errorf("got %v", err)
	}
	e := prompt{stage: model.StageAnalystError, user: headFailed + "\n\n### 1\n- scored answer: 3\n\nTask:\nHalve it\n"}
	if _, err := w.optimize(e); err == nil {
		t.Error("the analyst did not notice")
	}
	e = prompt{stage: model.StageSlowUpdate, user: headComparison + "\n\n#### Task 1\nHalve it\nNow: hard=0 soft=0 answer=3\n"}
	if _, err := w.optimize(e); err == nil {
		t.Error("the slow update did not notice")
	}
}

// share counts the tasks, out of many, with an answer.
func share(t *testing.T, c *Client, skill, answer string) float64 {
	n := 0
	for i := range 2000 {
		if strings.Contains(text(t, c, rollout(skill, fmt.Sprintf("Add %d and 0", i))), fmt.Sprintf(answer, i)) {
			n++
		}
	}
	return float64(n) / 2000
}

func between(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: share %.3f, want %.2f to %.2f", what, got, low, high)
	}
}

func TestNoiseAndFlips(t *testing.T) {
	t.Parallel()
	noisy := New(world(t, "rates: {noise: 0.2}\n"))
	between(t, "noise", share(t, noisy, "Numbers have a prefix", "<answer>no. %d<"), 0.75, 0.85)
	flippy := New(world(t, "rates: {flip: 0.2}\n"))
	between(t, "kept to the skill", share(t, flippy, "Numbers have a prefix", "<answer>no. %d<"), 0.75, 0.85)
	between(t, "forgot the skill", share(t, flippy, "Numbers have a prefix", "<answer>%d<"), 0.15, 0.25)
	between(t, "lost the way", share(t, flippy, "", "<answer>%d<"), 0.75, 0.85)
}

func TestAnotherSampleIsAnotherDraw(t *testing.T) {
	t.Parallel()
	c := New(world(t, "rates: {flip: 0.5}\n"))
	answers := map[string]int{}
	for seed := range int64(64) {
		req := rollout("Numbers have a prefix", "Add 1 and 2")
		req.Seed = &seed
		first := text(t, c, req)
		if again := text(t, c, req); again != first {
			t.Errorf("seed %d: %q, then %q", seed, first, again)
		}
		answers[first]++
	}
	if len(answers) != 2 {
		t.Errorf("64 samples gave %v, want two answers", answers)
	}
}

func TestAnswersArePure(t *testing.T) {
	t.Parallel()
	w := world(t, "rates: {flip: 0.3, noise: 0.1, empty: 0.2, errors: 0.2}\n")
	usable := func(c *Client, req model.Request) string {
		for range 100 {
			if resp, err := c.Generate(context.Background(), req); err == nil && resp.Text != "" {
				return resp.Text
			}
		}
		return "nothing usable"
	}
	shared := New(w)
	rapid.Check(t, func(t *rapid.T) {
		req := rollout(rapid.SampledFrom([]string{"", "Numbers have a prefix"}).Draw(t, "skill"),
			fmt.Sprintf("Add %d and 1", rapid.IntRange(0, 50).Draw(t, "n")))
		seed := rapid.Int64Range(0, 3).Draw(t, "seed")
		req.Seed = &seed
		if a, b := usable(shared, req), usable(New(w), req); a != b || a == "nothing usable" {
			t.Fatalf("%q from a client with a past, %q from a new one", a, b)
		}
	})
}

func TestFaultsPassWhenAskedAgain(t *testing.T) {
	t.Parallel()
	c := New(world(t, "rates: {errors: 0.3, empty: 0.2, malformed: 0.2}\n"))
	codes := map[model.Code]int{}
	empty := 0
	for i := range 200 {
		req := rollout("", fmt.Sprintf("Add %d and 0", i))
		tries := 0
		for ; tries < 60; tries++ {
			resp, err := c.Generate(t.Context(), req)
			if err == nil && resp.Text != "" {
				break
			}
			if err == nil {
				empty++
				continue
			}
			if !model.CodeOf(err).Transient() {
				t.Fatalf("got %v, want a transient error", err)
			}
			codes[model.CodeOf(err)]++
		}
		if tries == 60 {
			t.Fatal("a fault came 60 times in a row")
		}
	}
	if len(codes) != 4 || empty == 0 {
		t.Errorf("got %v and %d empty replies, want four kinds of error", codes, empty)
	}
}

func TestMalformedRepliesAreOnlyTheOptimizers(t *testing.T) {
	t.Parallel()
	c := New(world(t, "rates: {malformed: 0.9}\n"))
	if got := text(t, c, rollout("", "Add 1 and 2")); got != "<answer>3</answer>" {
		t.Errorf("rollout: %q", got)
	}
	forms := map[string]bool{}
	for range 40 {
		req := rollout("", "budget=2")
		req.Tags = model.Tags{Stage: model.StageRanking}
		forms[text(t, c, req)] = true
	}
	if len(forms) != 4 {
		t.Errorf("got %d forms of a reply, want the whole one and three broken ones: %v", len(forms), forms)
	}
}

func TestLatencyEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(world(t, "rates: {latency_ms: 1000, jitter: 0.5}\n"))
		start := time.Now()
		text(t, c, rollout("", "Add 1 and 2"))
		if d := time.Since(start); d < 500*time.Millisecond || d > 1500*time.Millisecond {
			t.Errorf("answered after %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Generate(ctx, rollout("", "Add 1 and 2")); model.CodeOf(err) != model.Timeout {
			t.Errorf("got %v, want a timeout", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := c.Generate(ctx, rollout("", "Add 1 and 2")); !errors.Is(err, context.Canceled) || model.CodeOf(err) != "" {
			t.Errorf("got %v, want the cancelled context", err)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := New(world(t, "rates: {errors: 0.1}\n"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 300 {
				resp, err := c.Generate(t.Context(), rollout(fmt.Sprintf("Skill %d", i%7), fmt.Sprintf("Add %d and 1", i)))
				if err == nil && resp.Text != fmt.Sprintf("<answer>%d</answer>", i+1) {
					t.Errorf("%d + 1: got %q", i, resp.Text)
				}
			}
		})
	}
	wg.Wait()
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := memo[int]{limit: 3}
	made := 0
	for i := range 20 {
		v, err := m.get(fmt.Sprint(i%4), func(string) (int, error) { made++; return i % 4, nil })
		if err != nil || v != i%4 {
			t.Errorf("got %d, %v", v, err)
		}
		if len(m.kept) > 3 {
			t.Fatalf("%d entries are kept, at most 3", len(m.kept))
		}
	}
	if made < 5 {
		t.Errorf("made %d values: nothing was ever forgotten", made)
	}
}

// One core answers a rollout in a few microseconds, so that what is measured
// with a simulated target is the loop around it.
func BenchmarkRollout(b *testing.B) {
	w, err := Load("testdata/incidents.yaml")
	if err != nil {
		b.Fatal(err)
	}
	c := New(w)
	skill := strings.Repeat("- Read every line of the log, and read it again.\n", 60) + "- Round numbers to one decimal.\n- State durations in seconds.\n"
	reqs := make([]model.Request, 2400)
	for i := range reqs {
		reqs[i] = rollout(skill, fmt.Sprintf("GET / took 12 ms\nGET /x took %d ms\nHow long did the slowest request take?", 1000+i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := c.Generate(b.Context(), reqs[i%len(reqs)]); err != nil {
			b.Fatal(err)
		}
	}
}

// Every task is new.
func BenchmarkRolloutOfNewTasks(b *testing.B) {
	w, err := Load("testdata/incidents.yaml")
	if err != nil {
		b.Fatal(err)
	}
	c := New(w)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		req := rollout("- State durations in seconds.", fmt.Sprintf("GET / took 12 ms\nGET /x took %d ms\nHow long did the slowest request take?", i))
		if _, err := c.Generate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
