package caller_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a caller under test with the record behind it.
type bench struct {
	*caller.Caller

	t       testing.TB
	path    string
	journal *journal.Journal
	opts    caller.Options
}

// setup returns a caller whose roles are all played by client.
func setup(t testing.TB, client model.Client, change func(*caller.Options)) *bench {
	t.Helper()
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "run.db")}
	zero := 0.0
	r := caller.Role{Client: client, Endpoint: "server", Model: "m", Sampling: model.Sampling{Temperature: &zero}, MaxOutput: 300}
	b.opts = caller.Options{
		Roles: map[string]caller.Role{model.Target: r, model.Optimizer: r}, Concurrency: 8, RunName: "test",
	}
	if change != nil {
		change(&b.opts)
	}
	b.open()
	t.Cleanup(func() {
		if err := b.journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	j, err := journal.Open(context.Background(), b.path, journal.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.journal, b.opts.Journal = j, j
	if b.Caller, err = caller.New(b.opts); err != nil {
		b.t.Fatal(err)
	}
}

// resume ends the session and begins another with the same record.
func (b *bench) resume(change func(*caller.Options)) {
	b.t.Helper()
	if err := b.journal.Close(); err != nil {
		b.t.Fatal(err)
	}
	if change != nil {
		change(&b.opts)
	}
	b.open()
}

// role changes a role's settings.
func (b *bench) role(name string, change func(*caller.Role)) func(*caller.Options) {
	return func(o *caller.Options) {
		r := o.Roles[name]
		change(&r)
		roles := map[string]caller.Role{}
		for n, other := range o.Roles {
			roles[n] = other
		}
		roles[name] = r
		o.Roles = roles
	}
}

func (b *bench) do(call caller.Call) (string, error) {
	b.t.Helper()
	resp, err := b.Do(context.Background(), call)
	return resp.Text, err
}

func ask(key, text string) caller.Call {
	return caller.Call{
		Key: key, Role: model.Target, Stage: model.StageRollout,
		Messages: []model.Message{{Role: model.System, Content: strings.Repeat("skill ", 100)}, {Role: model.User, Content: text}},
	}
}

func optimizer(key, text string) caller.Call {
	call := ask(key, text)
	call.Role, call.Stage = model.Optimizer, model.StageMerge
	return call
}

// echo answers with what it was asked last.
func echo(_ context.Context, _ int, req model.Request) (model.Response, error) {
	last := req.Messages[len(req.Messages)-1].Content
	return model.Response{Text: "re: " + last, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 100, Output: 10, Cached: 40}}, nil
}

func TestDoIsRecordedAndAnsweredFromTheRecord(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	seed := caller.Seed(42, "item1", 0)
	call := ask("e1/s1/rollout/item1/sample0", "q")
	call.Seed, call.Schema = &seed, &model.Schema{Name: "s", JSON: []byte(`{"type":"object"}`)}
	for session := range 3 {
		text, err := b.do(call)
		if err != nil || text != "re: q" {
			t.Fatalf("session %d: %q, %v", session, text, err)
		}
		if session < 2 {
			b.resume(nil)
		}
	}
	if client.Count() != 1 {
		t.Fatalf("%d calls were sent, want 1", client.Count())
	}
	req := client.Calls()[0].Request
	if req.Model != "m" || *req.Seed != seed || *req.Temperature != 0 || req.Schema.Name != "s" {
		t.Errorf("sent %+v", req)
	}
	if want := (model.Tags{Stage: "rollout", Role: "target", Run: "test"}); req.Tags != want {
		t.Errorf("tags %+v, want %+v", req.Tags, want)
	}
	rec, ok := lookup(t, b.journal, "e1/s1/rollout/item1/sample0/attempt0/turn0")
	if !ok || rec.Usage.Input != 100 || rec.Stage != "rollout" || rec.Cost != nil {
		t.Errorf("recorded %+v", rec)
	}
	stats := b.Stats().Sum
	if stats.Calls != 1 || stats.Replayed != 1 || stats.Reused != 0 {
		t.Errorf("stats %+v", stats)
	}
}

func TestAnUnusableReplyIsAskedForAgain(t *testing.T) {
	t.Parallel()
	bad := errors.New("no JSON in it")
	accept := func(text string) error {
		if strings.HasPrefix(text, "good") {
			return nil
		}
		return bad
	}
	replies := func(texts ...string) *modeltest.Fake {
		return modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
			return model.Response{Text: texts[min(n, len(texts)-1)], Finish: model.FinishStop}, nil
		})
	}
	tests := []struct {
		name   string
		client *modeltest.Fake
		role   string
		reask  caller.Reask
		want   string
		sent   int
		err    error
	}{
		{"usable at once", replies("good"), model.Optimizer, caller.Reask{}, "good", 1, nil},
		{"usable later", replies("bad", "", "good"), model.Optimizer, caller.Reask{}, "good", 3, nil},
		{"after the error", replies("b", "b", "b", "b", "b", "b", "b", "b", "b", "good"), model.Optimizer, caller.Reask{}, "good", 10, nil},
		{"never", replies("bad"), model.Optimizer, caller.Reask{}, "", 10, caller.ErrLost},
		{"never, not asked again", replies("bad"), model.Optimizer, caller.Reask{Same: -1}, "", 1, caller.ErrLost},
		{"only with the error", replies("bad"), model.Optimizer, caller.Reask{Same: -1, WithError: 2}, "", 3, caller.ErrLost},
		{"target, empty", replies(" \n"), model.Target, caller.Reask{Same: 8}, "", 9, caller.ErrUnmeasured},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.client, nil)
			call := optimizer("k", "q")
			call.Role, call.Accept, call.Reask = tt.role, accept, tt.reask
			for range 2 { // the second time from the record
				text, err := b.do(call)
				if text != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("got %q, %v; want %q, %v", text, err, tt.want, tt.err)
				}
				if got := tt.client.Count(); got != tt.sent {
					t.Errorf("%d requests were sent, want %d", got, tt.sent)
				}
				b.resume(nil)
			}
		})
	}
}

// Somebody who answers in their own time is not asked the same again: the answer
// in the file would be the same.
func TestAPatientRoleIsNotAskedTheSameAgain(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
		return model.Response{Text: []string{"bad", "good"}[min(n, 1)], Finish: model.FinishStop}, nil
	})
	b := setup(t, client, func(o *caller.Options) {
		r := o.Roles[model.Optimizer]
		r.Patient, r.Price = true, nil
		usd := 1.0
		o.Roles[model.Optimizer], o.Limits.USD = r, &usd
		for name, r := range o.Roles {
			if !r.Patient {
				r.Price = &caller.Price{}
				o.Roles[name] = r
			}
		}
	})
	call := optimizer("k", "q")
	call.Accept = func(text string) error {
		if text == "bad" {
			return errors.New("it is bad")
		}
		return nil
	}
	text, err := b.do(call)
	if err != nil || text != "good" {
		t.Fatalf("%q, %v", text, err)
	}
	requests := client.Calls()
	if len(requests) != 2 || len(requests[1].Request.Messages) != len(requests[0].Request.Messages)+2 {
		t.Errorf("%d requests, want a second one with what was wrong", len(requests))
	}
}

func TestTheLastReaskShowsTheReplyAndTheError(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"rubbish", ""} {
		client := modeltest.Always(reply)
		b := setup(t, client, nil)
		call := optimizer("k", "q")
		call.Accept = func(string) error { return errors.New("field edits is missing") }
		call.Reask = caller.Reask{Same: 1, WithError: 1}
		_, err := b.do(call)
		var lost *caller.LostError
		if !errors.As(err, &lost) || lost.Replies != 3 {
			t.Fatalf("got %v", err)
		}
		calls := client.Calls()
		if diff := cmp.Diff(calls[0].Request, calls[1].Request); diff != "" {
			t.Errorf("the second request is not the first:\n%s", diff)
		}
		var roles []string
		for _, m := range calls[2].Request.Messages {
			roles = append(roles, m.Role)
		}
		want, reason := []string{"system", "user", "assistant", "user"}, "field edits is missing"
		if reply == "" {
			want, reason = []string{"system", "user"}, "the reply is empty"
		}
		if diff := cmp.Diff(want, roles); diff != "" {
			t.Errorf("reply %q: roles (-want +got):\n%s", reply, diff)
		}
		if last := calls[2].Request.Messages[len(roles)-1].Content; !strings.Contains(last, reason) {
			t.Errorf("reply %q: the last message does not name the error: %q", reply, last)
		}
		if call.Messages[1].Content != "q" {
			t.Error("the caller's messages were changed")
		}
	}
}

func TestHowAReplyEnded(t *testing.T) {
	t.Parallel()
	schema := &model.Schema{Name: "s", JSON: []byte(`{}`)}
	tests := []struct {
		name   string
		role   string
		finish model.Finish
		text   string
		schema *model.Schema
		err    error
	}{
		{"target, cut", model.Target, model.FinishLength, "half", nil, nil},
		{"target, cut before the first word", model.Target, model.FinishLength, "", nil, nil},
		{"target, refusal", model.Target, model.FinishRefusal, "", nil, nil},
		{"target, filter", model.Target, model.FinishFilter, "", nil, nil},
		{"target, empty", model.Target, model.FinishStop, "", nil, caller.ErrUnmeasured},
		{"optimizer, free text cut", model.Optimizer, model.FinishLength, "half", nil, caller.ErrLost},
		{"optimizer, cut after a whole value", model.Optimizer, model.FinishLength, "{}", schema, nil},
		{"optimizer, cut before the first word", model.Optimizer, model.FinishLength, "", schema, caller.ErrLost},
		{"optimizer, refusal", model.Optimizer, model.FinishRefusal, "", nil, caller.ErrLost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
				return model.Response{Text: tt.text, Finish: tt.finish}, nil
			}), nil)
			call := ask("k", "q")
			call.Role, call.Schema = tt.role, tt.schema
			resp, err := b.Do(t.Context(), call)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err == nil && (resp.Text != tt.text || resp.Finish != tt.finish) {
				t.Errorf("got %+v", resp)
			}
			share, n := b.LengthShare(tt.role)
			if want := tt.finish == model.FinishLength; (share == 1) != want || n == 0 {
				t.Errorf("share of cut replies %v of %d", share, n)
			}
			if share, n := b.LengthShare(model.Judge); share != 0 || n != 0 {
				t.Errorf("a role without replies has %v of %d", share, n)
			}
		})
	}
}

func TestLimitsOfTheTaskAreAnswers(t *testing.T) {
	t.Parallel()
	for _, code := range []model.Code{model.ContextLength, model.ContentFilter} {
		client := modeltest.Script(modeltest.Fails(code), modeltest.Fails(code))
		b := setup(t, client, nil)
		for range 2 {
			_, err := b.do(ask("target", "long"))
			var limit *caller.TaskLimitError
			if !errors.As(err, &limit) || limit.Code != code || model.CodeOf(err) != code {
				t.Errorf("%s: got %v", code, err)
			}
			if _, err := b.do(optimizer("optimizer", "long")); !errors.Is(err, caller.ErrLost) {
				t.Errorf("%s, optimizer: got %v", code, err)
			}
			b.resume(nil)
		}
		if client.Count() != 2 {
			t.Errorf("%s: %d requests, want 2", code, client.Count())
		}
	}
}

func TestAChangedInputIsNeverAnsweredFromTheRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	base := func() caller.Call {
		call := ask("k", "the question about apples")
		call.Messages = append([]model.Message{{Role: model.System, Content: long + "rule one" + long}}, call.Messages[1:]...)
		call.Schema = &model.Schema{Name: "s", JSON: []byte(`"` + long + `"`)}
		return call
	}
	hot, seed := 0.5, int64(3)
	tests := []struct {
		name   string
		change func(*caller.Call)
		part   string
		was    string
		now    string
	}{
		{"model", func(c *caller.Call) { c.Model = "n" }, "model", `"m"`, `"n"`},
		{"temperature", func(c *caller.Call) { c.Sampling.Temperature = &hot }, "temperature", "0", "0.5"},
		{"seed", func(c *caller.Call) { c.Seed = &seed }, "seed", "null", "3"},
		{"max_tokens", func(c *caller.Call) { c.Sampling.MaxTokens = 7 }, "max_tokens", "0", "7"},
		{"schema", func(c *caller.Call) { c.Schema = nil }, "schema", long[:20], "null"},
		{"user", func(c *caller.Call) { c.Messages[1].Content = "the question about pears" }, "message 2 (user)", "apples", "pears"},
		{"skill", func(c *caller.Call) { c.Messages[0].Content = long + "rule two" + long }, "message 1 (system)", "one", "two"},
		{"one more", func(c *caller.Call) { c.Messages = append(c.Messages, model.Message{Role: "user", Content: "more"}) }, "message 3 (user)", `""`, "more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := modeltest.New(echo)
			b := setup(t, client, nil)
			if _, err := b.do(base()); err != nil {
				t.Fatal(err)
			}
			b.resume(nil)
			changed := base()
			tt.change(&changed)
			_, err := b.do(changed)
			var diverged *caller.DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("got %v", err)
			}
			if diverged.Part != tt.part || !strings.Contains(diverged.Recorded, tt.was) || !strings.Contains(diverged.Now, tt.now) {
				t.Errorf("got %+v", diverged)
			}
			if !strings.Contains(err.Error(), "k/attempt0/turn0") {
				t.Errorf("the key is not named: %v", err)
			}
			if client.Count() != 1 {
				t.Errorf("%d requests were sent", client.Count())
			}
		})
	}
}

func TestAForkAsksAnewWhatDiffers(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	for _, key := range []string{"a", "b"} {
		if _, err := b.do(ask(key, "old "+key)); err != nil {
			t.Fatal(err)
		}
	}
	fork := filepath.Join(t.TempDir(), "fork.db")
	if err := b.journal.CopyTo(t.Context(), fork, b.journal.HighWater()); err != nil {
		t.Fatal(err)
	}
	b.path = fork
	for range 2 {
		b.resume(func(o *caller.Options) { o.Forked = true })
		for key, text := range map[string]string{"a": "old a", "b": "new b", "c": "old b"} {
			got, err := b.do(ask(key, text))
			if err != nil || got != "re: "+text {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
	}
	var diverged *caller.DivergedError
	if _, err := b.do(ask("b", "newer b")); !errors.As(err, &diverged) {
		t.Errorf("the fork's own record was asked another question: %v", err)
	}
	// a is inherited; b is asked anew; the answer that c shared with the old b
	// may be used as long as it is there.
	if n := client.Count(); n < 3 || n > 4 {
		t.Errorf("%d requests were sent", n)
	}
	if sum := b.Stats().Sum; sum.Inherited != 2 || int(sum.Calls) != client.Count()-2 {
		t.Errorf("stats %+v", sum)
	}
}

func TestTurnsOfAConversation(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	talk := func() string {
		seed, hot := int64(5), 1.0
		chat := b.Bind(caller.Call{Key: "k", Turn: 1, Role: model.Target, Stage: model.StageRollout, Seed: &seed})
		messages := []model.Message{{Role: model.User, Content: "one"}}
		for range 3 {
			req := model.Request{Messages: messages, Sampling: model.Sampling{Temperature: &hot, MaxTokens: 9, TopP: &hot, ReasoningEffort: "low"}}
			req.Schema = &model.Schema{Name: "s", JSON: []byte(`{}`)}
			resp, err := chat.Generate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, model.Message{Role: model.Assistant, Content: resp.Text}, model.Message{Role: model.User, Content: "again " + resp.Text})
		}
		return messages[len(messages)-1].Content
	}
	first := talk()
	b.resume(nil)
	if second := talk(); second != first {
		t.Errorf("the record tells another conversation: %q, %q", second, first)
	}
	if client.Count() != 3 {
		t.Errorf("%d requests were sent, want 3", client.Count())
	}
	for turn := range 3 {
		if ok := b.journal.Has(fmt.Sprintf("k/attempt0/turn%d", turn+1)); !ok {
			t.Errorf("turn %d is not recorded", turn+1)
		}
	}
	req := client.Calls()[2].Request
	if *req.Temperature != 1 || req.MaxTokens != 9 || *req.Seed != 5 || req.ReasoningEffort != "low" || len(req.Messages) != 5 {
		t.Errorf("sent %+v", req)
	}
	other := int64(8)
	chat := b.Bind(caller.Call{Key: "l", Role: model.Target})
	_, err := chat.Generate(t.Context(), model.Request{Model: "n", Messages: []model.Message{{Role: "user", Content: "q"}}, Sampling: model.Sampling{Seed: &other}})
	if req := client.Calls()[3].Request; err != nil || req.Model != "n" || *req.Seed != 8 {
		t.Errorf("sent %+v, %v", req, err)
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	seen := map[int64]bool{}
	for run := range int64(5) {
		for item := range 50 {
			for sample := range 4 {
				s := caller.Seed(run, fmt.Sprint("item", item), sample)
				if s <= 0 || s >= 1<<31 {
					t.Fatalf("seed %d is out of range", s)
				}
				seen[s] = true
			}
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d different seeds of 1000", len(seen))
	}
	// Recorded inputs hold these values: they may never change.
	if got := caller.Seed(42, "item1", 0); got != 1139039431 {
		t.Errorf("Seed(42, item1, 0) = %d", got)
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	t.Parallel()
	usd := 1.0
	_, err := caller.New(caller.Options{
		Concurrency: -1, Patience: -1, Reuse: "sometimes", Limits: caller.Limits{USD: &usd},
		Roles: map[string]caller.Role{model.Target: {}},
	})
	if err == nil {
		t.Fatal("they were taken")
	}
	for _, want := range []string{"journal", "limits.concurrency is -1", "limits.patience", `record.reuse is "sometimes"`, "models.target: no client", "price of models.target"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %q:\n%v", want, err)
		}
	}
}

func TestAnUnknownRole(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(echo), nil)
	call := ask("k", "q")
	call.Role = model.Judge
	if _, err := b.do(call); err == nil || !strings.Contains(err.Error(), "models.judge") {
		t.Errorf("got %v", err)
	}
	if _, err := b.Episode(t.Context(), caller.EpisodeCall{Role: "nobody"}, nil); err == nil {
		t.Error("an episode of nobody was run")
	}
}

func TestAJournalThatFailsEndsTheCall(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(echo), nil)
	if err := b.journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.do(ask("k", "q")); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a result was used that is not recorded: %v", err)
	}
	b.open()
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
		if n%5 == 1 {
			return model.Response{}, &model.Error{Code: model.Server, Endpoint: "server", Err: errors.New("oops")}
		}
		return echo(ctx, n, req)
	})
	b := setup(t, client, nil)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			text, err := b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i%150)))
			if err != nil || text != fmt.Sprint("re: q", i%150) {
				t.Errorf("%d: %q, %v", i, text, err)
			}
		})
	}
	wg.Wait()
	if client.Peak() > 8 {
		t.Errorf("%d requests were in flight, the limit is 8", client.Peak())
	}
	sum := b.Stats().Sum
	if sum.Calls != 150 || sum.Reused != 50 || sum.Retries() == 0 || int(sum.Calls+sum.Retries()) != client.Count() {
		t.Errorf("stats %+v with %d requests", sum, client.Count())
	}
}

// lookup returns the result under key.
func lookup(t testing.TB, j *journal.Journal, key string) (journal.Record, bool) {
	t.Helper()
	r, ok, err := j.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return r, ok
}
