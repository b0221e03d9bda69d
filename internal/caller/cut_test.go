package caller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// share is what LengthShare says of the target.
type share struct {
	Cut     float64
	Replies int
}

func (b *bench) share() share {
	cut, n := b.LengthShare(model.Target)
	return share{cut, n}
}

// cutting cuts every request with "long" in it at the output limit.
func cutting() *modeltest.Fake {
	return modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		resp := model.Response{Text: "a", Finish: model.FinishStop}
		if strings.Contains(last(req), "long") {
			resp.Finish = model.FinishLength
		}
		return resp, nil
	})
}

func question(i int) caller.Call {
	text := fmt.Sprint("q", i)
	if i < 4 {
		text = fmt.Sprint("long", i)
	}
	return ask(fmt.Sprint("k", i), text)
}

// A reply counts once, however often it is asked for: a rollout whose judge fails is
// answered from the record when it is scored again.
func TestRepliesCountOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, cutting(), nil)
	want := share{0.1, 40}
	for _, session := range []string{"first", "resumed"} {
		for i := range 40 {
			for range 5 {
				if _, err := b.do(question(i)); err != nil {
					t.Fatal(err)
				}
				if i >= 4 {
					break
				}
			}
		}
		if diff := cmp.Diff(want, b.share()); diff != "" {
			t.Errorf("chat, %s session (-want +got):\n%s", session, diff)
		}
		b.resume(nil)
	}
	half := setup(t, modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
		resp := model.Response{Text: "a", Finish: model.FinishStop}
		if n%4 == 0 {
			resp.Finish = model.FinishLength
		}
		return resp, nil
	}), nil)
	for _, session := range []string{"first", "resumed"} {
		for range 5 {
			if _, err := half.Episode(t.Context(), episode("ep"), talk(4)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(share{0.25, 4}, half.share()); diff != "" {
			t.Errorf("episode, %s session (-want +got):\n%s", session, diff)
		}
		half.resume(nil)
	}
}

// What is asked for ahead of its turn counts when its turn has come, and not before.
func TestRepliesAheadCountLater(t *testing.T) {
	t.Parallel()
	b := setup(t, cutting(), nil)
	for _, session := range []string{"first", "resumed"} {
		ctx, count := b.AheadContext(t.Context())
		for i := range 8 {
			if i == 6 {
				count()
			}
			if _, err := b.Do(ctx, question(i)); err != nil {
				t.Fatal(err)
			}
			want := share{}
			if i >= 6 {
				want = share{4 / float64(i+1), i + 1}
			}
			if diff := cmp.Diff(want, b.share()); diff != "" {
				t.Errorf("%s session, after %d (-want +got):\n%s", session, i+1, diff)
			}
		}
		other, _ := b.AheadContext(t.Context()) // its turn never comes
		if _, err := b.Do(other, question(9)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(share{0.5, 8}, b.share()); diff != "" {
			t.Errorf("%s session (-want +got):\n%s", session, diff)
		}
		b.resume(nil)
	}
}

// What was answered of an item that a decision went on without counts after a resume
// as it did before.
func TestRepliesOfWhatIsGivenUpCountAfterAResume(t *testing.T) {
	t.Parallel()
	b := setup(t, cutting(), nil)
	keys := []string{"k0", "ep"}
	touch := func() {
		if _, err := b.do(question(5)); err != nil {
			t.Fatal(err)
		}
		_, _ = b.do(question(0))
		_, _ = b.Episode(t.Context(), episode("ep"), talk(2))
	}
	touch()
	if err := b.Unmeasured(t.Context(), "without", []byte("{}"), keys); err != nil {
		t.Fatal(err)
	}
	want := b.share()
	if diff := cmp.Diff(share{0.25, 4}, want); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.resume(nil)
	touch()
	if diff := cmp.Diff(want, b.share()); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}
}
