package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}}
}

func TestScript(t *testing.T) {
	t.Parallel()
	f := modeltest.Script(modeltest.Text("one"), modeltest.Fails(model.RateLimit), modeltest.Text(""))
	type result struct {
		text string
		code model.Code
	}
	var got []result
	for i := range 4 {
		res, err := f.Generate(t.Context(), ask(fmt.Sprint(i)))
		got = append(got, result{res.Text, model.CodeOf(err)})
	}
	want := []result{{"one", ""}, {"", model.RateLimit}, {"", ""}, {"", model.BadRequest}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	calls := f.Calls()
	if len(calls) != 4 || f.Count() != 4 {
		t.Fatalf("%d calls logged, want 4", len(calls))
	}
	for i, c := range calls {
		if c.N != i || c.Request.Messages[0].Content != fmt.Sprint(i) || !c.Done {
			t.Errorf("call %d logged as %+v", i, c)
		}
	}
	if model.CodeOf(calls[1].Err) != model.RateLimit || calls[0].Response.Text != "one" {
		t.Errorf("outcomes are not logged: %+v", calls)
	}
}

func TestFakeKeepsRequests(t *testing.T) {
	t.Parallel()
	f := modeltest.Always("same")
	req := ask("before")
	if _, err := f.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.Messages[0].Content = "after"
	if got := f.Calls()[0].Request.Messages[0].Content; got != "before" {
		t.Errorf("the log says %q: it shares memory with the caller", got)
	}
}

func TestScriptWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := modeltest.Script(
			modeltest.Step{Wait: gate, Response: model.Response{Text: "late"}},
			modeltest.Step{Wait: make(chan struct{})},
		)
		var res model.Response
		var wg sync.WaitGroup
		wg.Go(func() { res, _ = f.Generate(t.Context(), ask("a")) })
		synctest.Wait()
		if f.Calls()[0].Done {
			t.Error("the call did not wait")
		}
		close(gate)
		wg.Wait()
		if res.Text != "late" {
			t.Errorf("text = %q", res.Text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := f.Generate(ctx, ask("b")); model.CodeOf(err) != model.Timeout {
			t.Errorf("error %v, want a timeout", err)
		}
	})
}

func TestFakePeak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
			<-gate
			return model.Response{}, nil
		})
		var wg sync.WaitGroup
		for range 9 {
			wg.Go(func() { _, _ = f.Generate(t.Context(), ask("q")) })
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		_, _ = f.Generate(t.Context(), ask("q"))
		if f.Peak() != 9 || f.Count() != 10 {
			t.Errorf("peak %d, count %d, want 9 and 10", f.Peak(), f.Count())
		}
	})
}

func TestFakeCancelledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := modeltest.Always("x")
	if _, err := f.Generate(ctx, ask("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if f.Count() != 0 {
		t.Error("the call was counted")
	}
}

func ExampleFunc() {
	var echo model.Client = modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		return model.Response{Text: "you said " + req.Messages[0].Content}, nil
	})
	res, _ := echo.Generate(context.Background(), ask("hello"))
	fmt.Println(res.Text)
	// Output: you said hello
}
