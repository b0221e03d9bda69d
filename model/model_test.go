package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

func TestTransient(t *testing.T) {
	t.Parallel()
	want := map[model.Code]bool{
		model.Auth: false, model.NotFound: false, model.BadRequest: false, model.ContextLength: false,
		model.ContentFilter: false, model.Credit: false, model.Certificate: false, model.Redirect: true, model.RateLimit: true, model.Overloaded: true, model.Server: true,
		model.Network: true, model.Timeout: true, model.Truncated: true, model.Empty: false,
		model.Malformed: true, model.Budget: false, "": false, "unheard of": false,
	}
	for code, transient := range want {
		if got := code.Transient(); got != transient {
			t.Errorf("%q.Transient() = %v, want %v", code, got, transient)
		}
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	cause := errors.New("slow down")
	tests := []struct {
		name string
		err  *model.Error
		want string
	}{
		{"with status", &model.Error{Code: model.RateLimit, Status: 429, Endpoint: "api.example.com", Err: cause}, "rate_limit (HTTP 429) from api.example.com: slow down"},
		{"without", &model.Error{Code: model.Network, Endpoint: "localhost:1", Err: cause}, "network from localhost:1: slow down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
			wrapped := fmt.Errorf("ask: %w", tt.err)
			if got := model.CodeOf(wrapped); got != tt.err.Code {
				t.Errorf("CodeOf = %q, want %q", got, tt.err.Code)
			}
			if !errors.Is(wrapped, cause) {
				t.Error("the cause is lost")
			}
		})
	}
	if got := model.CodeOf(cause); got != "" {
		t.Errorf("CodeOf of another error = %q", got)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := model.Interrupted(ctx, "host"); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		<-ctx.Done()
		err := model.Interrupted(ctx, "host")
		var e *model.Error
		if !errors.As(err, &e) || e.Code != model.Timeout || e.Endpoint != "host" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the deadline: %v", err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := model.Interrupted(stopped, "host"); err != context.Canceled {
			t.Errorf("after a cancel: %v", err)
		}
	})
}

func TestDeterministic(t *testing.T) {
	t.Parallel()
	zero, warm := 0.0, 0.1
	for name, tt := range map[string]struct {
		temperature *float64
		want        bool
	}{"unset": {nil, false}, "zero": {&zero, true}, "warm": {&warm, false}} {
		if got := (model.Sampling{Temperature: tt.temperature}).Deterministic(); got != tt.want {
			t.Errorf("%s: Deterministic() = %v, want %v", name, got, tt.want)
		}
	}
}

// TestRequestJSON pins the form that records hold: all that the answer depends
// on, and not the tags.
func TestRequestJSON(t *testing.T) {
	t.Parallel()
	zero, seed := 0.0, int64(7)
	req := model.Request{
		Model:    "m",
		Messages: []model.Message{{Role: model.System, Content: "s"}, {Role: model.User, Content: "u"}},
		Schema:   &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object"}`)},
		Sampling: model.Sampling{Temperature: &zero, MaxTokens: 5, Seed: &seed},
		Tags:     model.Tags{Stage: model.StageMerge, Role: model.Optimizer, Run: "r"},
	}
	got, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],` +
		`"schema":{"name":"n","json":{"type":"object"}},"temperature":0,"max_tokens":5,"seed":7}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
