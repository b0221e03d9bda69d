package caller_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// passer fails as often as it is told to, before or after the first byte.
type passer struct {
	*modeltest.Fake
}

func (passer) Passes(wire string) bool { return wire == "chat" }

func passing(failures int, begun bool) passer {
	return passer{modeltest.New(func(_ context.Context, n int, req model.Request) (model.Response, error) {
		if n >= failures {
			_, err := req.Passage.Write("text/plain", []byte("whole"))
			return model.Response{Text: "whole", Finish: model.FinishStop}, err
		}
		if begun {
			if _, err := req.Passage.Write("text/plain", []byte("wh")); err != nil {
				return model.Response{}, err
			}
		}
		return model.Response{}, &model.Error{Code: model.Truncated, Endpoint: "server", Err: errors.New("cut")}
	})}
}

// passed asks in an agent's own words.
func passed(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
	if !model.Passes(client, "chat") || model.Passes(client, "messages") {
		return caller.EpisodeResult{}, errors.New("the episode does not know what its client takes")
	}
	resp, err := client.Generate(ctx, model.Request{Passage: &model.Passage{Wire: "chat", Reply: func(string) io.Writer { return io.Discard }}})
	if err != nil {
		return result("the agent went on"), nil
	}
	return result(resp.Text), nil
}

// A failure before the first byte is tried again; after it nothing is, and the
// episode is no measurement whatever the agent makes of it.
func TestNothingIsAskedAgainAfterTheFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := passing(2, false)
		got, err := setup(t, before, nil).Episode(t.Context(), episode("ep"), passed)
		if err != nil || string(got) != "whole" || before.Count() != 3 {
			t.Errorf("%q, %v after %d requests", got, err, before.Count())
		}
		after := passing(1, true)
		b := setup(t, after, nil)
		_, err = b.Episode(t.Context(), episode("ep"), passed)
		var lost *caller.UnmeasuredError
		if !errors.As(err, &lost) || model.CodeOf(err) != model.Truncated || after.Count() != 1 {
			t.Errorf("%v after %d requests, want one that is not measured", err, after.Count())
		}
		if b.Recorded("ep") {
			t.Error("it is recorded")
		}
	})
}
