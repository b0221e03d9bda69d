package caller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// scenario makes steps of every kind and tells what came out of each.
func (b *bench) scenario(run func() error) []string {
	b.t.Helper()
	ctx := context.Background()
	var log []string
	note := func(name string, got any, err error) { log = append(log, fmt.Sprint(name, ": ", got, " ", err)) }
	for _, key := range []string{"one", "two", "given up"} {
		text, err := b.do(ask(key, key))
		note(key, text, err)
	}
	text, err := b.do(ask("equal to one", "one"))
	note("equal", text, err)
	text, err = b.do(optimizer("unusable", "never good"))
	note("lost", text, err)
	data, err := b.Episode(ctx, caller.EpisodeCall{Key: "ep", Stage: model.StageRollout, Role: model.Target, Own: []byte("{}")},
		func(context.Context, model.Client) (caller.EpisodeResult, error) {
			return caller.EpisodeResult{Data: []byte("outcome")}, run()
		})
	note("episode", string(data), err)
	data, err = b.Check(ctx, caller.CheckCall{Key: "ep/check1", Own: []byte("{}")},
		func(context.Context) ([]byte, error) { return []byte("found"), run() })
	note("check", string(data), err)
	data, err = b.Decision(ctx, "clock", func() ([]byte, error) { return []byte("late"), run() })
	note("decision", string(data), err)
	decided, ok := b.Decided("clock")
	note("decided", string(decided), nil)
	note("decided at all", ok, nil)
	note("unmeasured", "", b.Unmeasured(ctx, "decide", []byte("without"), []string{"given up"}))
	text, err = b.do(ask("given up", "given up"))
	note("after it was given up", text, err)
	return log
}

func taped(t *testing.T, j *journal.Journal) *cassette.Cassette {
	t.Helper()
	var buf bytes.Buffer
	if _, err := cassette.Write(&buf, j.Results(t.Context(), 0), redact.New()); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReplayGivesTheSameResults(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(_ context.Context, n int, req model.Request) (model.Response, error) {
		switch asked := req.Messages[len(req.Messages)-1].Content; {
		case asked == "given up" || asked == "never good":
			return model.Response{Finish: model.FinishStop}, nil
		case n == 0:
			return model.Response{Finish: model.FinishStop}, nil
		default:
			return model.Response{Text: asked + "!", Finish: model.FinishStop}, nil
		}
	})
	first := setup(t, client, nil)
	want := first.scenario(func() error { return nil })
	tape := taped(t, first.journal)

	replay := setup(t, tape.Client(), func(o *caller.Options) { o.Replay = tape })
	for range 2 { // and once more from its own record
		got := replay.scenario(func() error { return errors.New("something is run in a replay") })
		// What was given up has other words once the decision is recorded.
		const given = 2
		if diff := cmp.Diff(append(want[:given:given], want[given+1:]...), append(got[:given:given], got[given+1:]...)); diff != "" {
			t.Errorf("story (-recorded +replayed):\n%s", diff)
		}
		replay.resume(nil)
	}
	if sum := journal.Sum(replay.journal.Totals()); sum.Calls > 0 || sum.FaultCount() > 0 || sum.Inherited == 0 {
		t.Errorf("a replay has spent something: %+v", sum)
	}
}

func TestReplayWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	tape := taped(t, setup(t, modeltest.Always("x"), nil).journal)
	b := setup(t, tape.Client(), func(o *caller.Options) { o.Replay = tape })
	ran := errors.New("something is run in a replay")
	check := func(key string, err error) {
		t.Helper()
		var missing *cassette.MissingError
		var ends *caller.ReplayError
		if !errors.As(err, &missing) || missing.Key != key || !errors.As(err, &ends) || errors.Is(err, ran) {
			t.Errorf("%s: error %v", key, err)
		}
		if caller.Unmeasurable(err) != err {
			t.Errorf("%s: a missing answer counts as not measured", key)
		}
	}
	_, err := b.do(ask("one", "one"))
	check("one/attempt0/turn0", err)
	_, err = b.Episode(t.Context(), caller.EpisodeCall{Key: "ep", Role: model.Target}, func(context.Context, model.Client) (caller.EpisodeResult, error) {
		return caller.EpisodeResult{}, ran
	})
	check("ep", err)
	_, err = b.Check(t.Context(), caller.CheckCall{Key: "check"}, func(context.Context) ([]byte, error) { return nil, ran })
	check("check", err)
	_, err = b.Decision(t.Context(), "clock", func() ([]byte, error) { return nil, ran })
	check("clock", err)
	if data, ok := b.Decided("clock"); ok {
		t.Errorf("a decision that nobody made: %q", data)
	}
}
