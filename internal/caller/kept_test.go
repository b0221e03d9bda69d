package caller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// keeping has what is said inside episodes kept, without the word hunter.
func keeping(o *caller.Options) {
	o.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter", "[redacted]") }
}

// ledger returns the ledger entries of a try and the conversation in them.
func (b *bench) ledger(key string, attempt int) ([]journal.Record, exchange.Conversation) {
	b.t.Helper()
	if err := b.journal.SetMeta(b.t.Context(), "all before it is", "written"); err != nil {
		b.t.Fatal(err)
	}
	v, err := journal.OpenView(b.t.Context(), b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	var of []journal.Record
	for r, err := range v.Entries(b.t.Context(), journal.Query{Key: key}) {
		if err != nil {
			b.t.Fatal(err)
		}
		if r.Attempt == attempt && (r.Kind == journal.Inner || r.Kind == journal.Fault) {
			of = append(of, r)
		}
	}
	said, err := v.ReadExchanges(b.t.Context(), of)
	if err != nil {
		b.t.Fatal(err)
	}
	var forms []exchange.Stored
	for _, s := range said {
		forms = append(forms, exchange.Stored{Form: exchange.Form{Body: s.Form, Texts: s.Texts}, Damage: s.Damage, None: s.Form == nil && s.Damage == nil})
	}
	return of, exchange.Read(forms)
}

func wordsOf(c exchange.Conversation, call exchange.Call) (out []string) {
	for _, s := range call.Sent {
		for _, m := range c.Messages[s.First : s.First+s.Count] {
			out = append(out, m.Role+": "+m.Parts[0].Text)
		}
	}
	return out
}

// Every attempt at a call inside an episode is kept with what was sent, and with its reply
// or what it failed with: of the try that failed, and of the one that counts.
func TestCallsInsideEpisodesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modeltest.New(func(_ context.Context, n int, req model.Request) (model.Response, error) {
			if n == 1 {
				return model.Response{}, &model.Error{Code: model.Server, Status: 500, Endpoint: "server", Err: errors.New("the hunter is out")}
			}
			return model.Response{Text: fmt.Sprint("answer to hunter ", n), Finish: model.FinishStop, Model: "served"}, nil
		}), keeping)
		ask := func(fail error) func(context.Context, model.Client) (caller.EpisodeResult, error) {
			return func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
				messages := []model.Message{{Role: model.System, Content: "be a hunter"}, {Role: model.User, Content: "first"}}
				for range 2 {
					resp, err := client.Generate(ctx, model.Request{Messages: messages, Tools: []model.Tool{{Name: "bash", Parameters: []byte(`{}`)}}})
					if err != nil {
						return caller.EpisodeResult{}, err
					}
					messages = append(messages, resp.Message(), model.Message{Role: model.User, Content: "next"})
				}
				return result("done"), fail
			}
		}
		failed := errors.New("the ground gave way")
		if _, err := b.Episode(t.Context(), episode("ep"), ask(failed)); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		if _, err := b.Episode(t.Context(), episode("ep"), ask(nil)); err != nil {
			t.Fatal(err)
		}
		entries, c := b.ledger("ep", 0)
		if len(entries) != 3 || entries[1].Kind != journal.Fault || !strings.Contains(c.Calls[1].Fault, "the [redacted] is out") || c.Calls[1].Reply != nil {
			t.Fatalf("%d entries, %+v", len(entries), c.Calls)
		}
		want := []string{"system: be a [redacted]", "user: first", "assistant: answer to [redacted] 0", "user: next"}
		for i, n := range []int{2, 4, 4} {
			if diff := cmp.Diff(want[:n], wordsOf(c, c.Calls[i])); diff != "" {
				t.Errorf("call %d: %s", i, diff)
			}
		}
		if len(c.Messages) != 5 || len(c.Tools) != 1 || c.Calls[0].Served != "served" || c.Calls[0].Settings.Model != "m" || *c.Calls[0].Settings.Seed != 9 {
			t.Errorf("%+v", c)
		}
		if _, c := b.ledger("ep", 1); len(c.Calls) != 2 || c.Calls[1].Reply == nil || c.Calls[1].Damage != "" {
			t.Errorf("the second try: %+v", c.Calls)
		}
	})
}

// What had come of an answer that broke off is kept with its fault.
func TestTheBeginningOfACutAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, passing(1, true), keeping)
		if _, err := b.Episode(t.Context(), episode("ep"), passed); err == nil {
			t.Fatal("it is a result")
		}
		_, c := b.ledger("ep", 0)
		if len(c.Calls) == 0 || c.Calls[0].Begun != "wh" || !strings.Contains(c.Calls[0].Fault, "cut") {
			t.Errorf("%+v", c.Calls)
		}
	})
}

// An episode has the same entries, digests and all, whether or not what it says is kept;
// and a run goes on under either.
func TestNothingDependsOnWhatIsKept(t *testing.T) {
	t.Parallel()
	entries := func(changes ...func(*caller.Options)) (out []journal.Record) {
		answer := func(_ context.Context, n int, _ model.Request) (model.Response, error) {
			return model.Response{Text: fmt.Sprint("answer ", n), Finish: model.FinishStop}, nil
		}
		b := setup(t, modeltest.New(answer), changes[0])
		for i, change := range changes {
			if b.opts.Redact = nil; change != nil {
				change(&b.opts)
			}
			if err := b.journal.Close(); err != nil {
				t.Fatal(err)
			}
			b.open()
			for n := range i + 1 { // those of before are answered from the record
				if _, err := b.Episode(t.Context(), episode(fmt.Sprint("ep", n)), talk(3)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.journal.Each(t.Context(), func(r journal.Record) error {
			r.Took, r.StartedAt, r.Input = 0, r.StartedAt.Truncate(1<<62), journal.Input{}
			out = append(out, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	full := entries(keeping, keeping, keeping)
	if len(full) != 12 {
		t.Fatalf("%d entries", len(full))
	}
	for name, other := range map[string][]journal.Record{"never": entries(nil, nil, nil), "first": entries(keeping, nil, nil), "last": entries(nil, nil, keeping)} {
		if diff := cmp.Diff(full, other); diff != "" {
			t.Errorf("kept %s: %s", name, diff)
		}
	}
}

// Calls that an agent makes beside each other are kept, each with its own words.
func TestCallsBesideEachOtherAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		return model.Response{Text: "re " + req.Messages[len(req.Messages)-1].Content, Finish: model.FinishStop}, nil
	}), keeping)
	_, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				_, err := client.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.System, Content: "all share this"}, {Role: model.User, Content: fmt.Sprint("q", i)}}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return result("done"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, c := b.ledger("ep", 0)
	if len(c.Calls) != 40 || len(c.Messages) != 81 {
		t.Fatalf("%d calls, %d messages", len(c.Calls), len(c.Messages))
	}
	for i, call := range c.Calls {
		words := wordsOf(c, call)
		if len(words) != 2 || words[0] != "system: all share this" || "re "+strings.TrimPrefix(words[1], "user: ") != c.Messages[*call.Reply].Parts[0].Text {
			t.Errorf("call %d: %q, answered %+v", i, words, c.Messages[*call.Reply])
		}
	}
}

// BenchmarkEpisode is an episode of 20 turns, with and without its words.
func BenchmarkEpisode(b *testing.B) {
	output := strings.Repeat("what the tool gave, a line of it\n", 60)
	for name, change := range map[string]func(*caller.Options){"usage": nil, "full": keeping} {
		b.Run(name, func(b *testing.B) {
			c := setup(b, modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
				return model.Response{Text: fmt.Sprint("I look at file ", n), Finish: model.FinishStop}, nil
			}), change)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				_, err := c.Episode(context.Background(), episode(fmt.Sprint("ep", n)), func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
					messages := []model.Message{{Role: model.System, Content: output}}
					for i := range 20 {
						messages = append(messages, model.Message{Role: model.User, Content: fmt.Sprint(n, i, output)})
						resp, err := client.Generate(ctx, model.Request{Messages: messages})
						if err != nil {
							return caller.EpisodeResult{}, err
						}
						messages = append(messages, resp.Message())
					}
					return result("done"), nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(20*b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
