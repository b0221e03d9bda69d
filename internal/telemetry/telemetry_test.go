package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/testing/otlptest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func begin(t *testing.T, o Options) *Telemetry {
	t.Helper()
	o.Service, o.Command = "test", "train"
	tel, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

// An agent's requests stand below its episode, whose stage stands below the step.
func TestAnEpisodeHoldsItsCalls(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	tel := begin(t, Options{Endpoint: r.URL, Agent: "codex", Providers: map[string]string{"target": "azure"}})
	tel.Event(event.StageStarted{Epoch: 1, Step: 1, Stage: "rollout"})
	at, nano := time.Now(), int64(2_000_000)
	episode := tel.Observe(caller.Activity{At: at, Key: "k", Stage: "rollout", Role: "target", Try: 1, Episode: true, Request: model.Request{Model: "m"}})
	call := tel.Observe(caller.Activity{At: at, Key: "k", Stage: "rollout", Role: "target", Try: 1, Request: model.Request{Model: "m"}})
	beside := tel.Observe(caller.Activity{At: at, Key: "other", Stage: "rollout", Role: "target", Request: model.Request{Model: "m"}})
	call.Failed(at, model.RateLimit)
	call.Ended(caller.Ended{At: at.Add(time.Second), Took: time.Second, Cost: &nano, Response: model.Response{
		Finish: model.FinishTools, Model: "m-1", Usage: trajectory.Usage{Input: 7, Output: 3},
	}})
	beside.Ended(caller.Ended{At: at, Err: &model.Error{Code: model.Server, Err: errors.New("a private reason")}})
	episode.Ended(caller.Ended{At: at.Add(time.Second), Took: time.Second})
	if warnings := tel.Close(""); len(warnings) > 0 {
		t.Error(warnings)
	}
	names := map[string]string{}
	for _, s := range r.Spans() {
		names[string(s.GetSpanId())] = s.GetName()
	}
	got := map[string]string{}
	attrs := map[string]map[string]string{}
	for _, s := range r.Spans() {
		key := s.GetName()
		a := otlptest.Attributes(s.GetAttributes())
		if a["skillopt.key"] == "other" {
			key += " beside"
		}
		got[key], attrs[key] = names[string(s.GetParentSpanId())], a
	}
	want := map[string]string{
		"skillopt train": "", "epoch": "skillopt train", "step": "epoch", "stage rollout": "step",
		"invoke_agent codex": "stage rollout", "chat m": "invoke_agent codex", "chat m beside": "stage rollout",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("parents (-want +got):", diff)
	}
	if diff := cmp.Diff(map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "azure.ai.openai", "gen_ai.request.model": "m", "gen_ai.response.model": "m-1",
		"gen_ai.response.finish_reasons": "[tool_calls]", "gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": "3",
		"skillopt.cost": "0.002", "skillopt.key": "k", "skillopt.role": "target", "skillopt.stage": "rollout", "skillopt.try": "1",
	}, attrs["chat m"]); diff != "" {
		t.Error(diff)
	}
	if attrs["chat m beside"]["error.type"] != "server" || strings.Contains(r.Text(), "private") {
		t.Error("a failure is told by its class alone")
	}
}

// Scores that were not measured are absent; a zero is a value.
func TestAbsentScores(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	tel := begin(t, Options{Endpoint: r.URL})
	zero := 0.0
	tel.Event(event.StageStarted{Epoch: 1, Step: 1, Stage: "gate"})
	tel.Event(event.StepDone{Epoch: 1, Step: 1, Action: "reject", Current: &zero})
	tel.Event(event.RunDone{Status: "failed", Reason: "a private reason"})
	tel.Event(event.StageStarted{Epoch: 1, Step: 2, Stage: "late"})
	tel.Close("")
	for _, s := range r.Spans() {
		a := otlptest.Attributes(s.GetAttributes())
		_, candidate := a["skillopt.score.candidate"]
		if s.GetName() == "step" && (a["skillopt.score.current"] != "0" || candidate) {
			t.Errorf("the step has %v", a)
		}
		if s.GetName() == "stage late" {
			t.Error("a span after the end")
		}
	}
	if r.Metric("skillopt.score.candidate") != nil || r.Metric("skillopt.score.current") == nil || strings.Contains(r.Text(), "private") {
		t.Error(r.Text())
	}
}

// What the SDK would read from the environment changes nothing.
func TestVariablesHaveNoEffect(t *testing.T) {
	r, other := otlptest.New(t), otlptest.New(t)
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": other.URL, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": other.URL + "/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS": "x-leak=planted-leak",
		"OTEL_RESOURCE_ATTRIBUTES": "leak=planted-leak", "OTEL_SERVICE_NAME": "planted-leak", "OTEL_TRACES_SAMPLER": "always_off",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_SDK_DISABLED": "true",
		"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta",
	} {
		t.Setenv(name, value)
	}
	tel := begin(t, Options{Endpoint: r.URL + "/"})
	tel.Event(event.TestDone{Arm: "best", Hard: 1, N: 1})
	if warnings := tel.Close(""); len(warnings) > 0 {
		t.Error(warnings)
	}
	if len(other.Headers()) > 0 || len(r.Spans()) != 1 || r.Metric("skillopt.score.test_hard") == nil {
		t.Errorf("%d requests went elsewhere, %d spans arrived", len(other.Headers()), len(r.Spans()))
	}
	for _, h := range r.Headers() {
		if h.Get("X-Leak") != "" || h.Get("Content-Encoding") != "gzip" {
			t.Errorf("headers %v", h)
		}
	}
	if strings.Contains(r.Text(), "planted-leak") || r.Resource()["service.name"] != "test" {
		t.Error(r.Text())
	}
}

// Whatever a receiver does, Close returns and says what is lost.
func TestBadReceivers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handler http.HandlerFunc
		want    string
		answers bool // at once, and is not asked again
	}{
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "no answer in time", false},
		"refuses": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, "403", true},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "307", true},
		"rejects": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("\x0a\x0b\x08\x01\x12\x07too old"))
		}, "rejected 1: too old", true},
		"overload": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			deadline := 50 * time.Millisecond
			if tt.answers {
				deadline = time.Minute // however busy the machine is
			}
			tel := begin(t, Options{Endpoint: server.URL, Deadline: deadline})
			warnings := tel.Close("")
			if len(warnings) != 1 || !strings.Contains(warnings[0], "1 of 1 span lost") || !strings.Contains(warnings[0], tt.want) {
				t.Errorf("%q, want %q", warnings, tt.want)
			}
			if tel.Close("") != nil {
				t.Error("it warns twice")
			}
		})
	}
}

func TestAReceiverThatIsAway(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	warnings := begin(t, Options{Endpoint: server.URL}).Close("")
	if len(warnings) != 1 || !strings.Contains(warnings[0], "refused") || strings.Contains(warnings[0], "/v1/") {
		t.Errorf("%q", warnings)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	tel := &Telemetry{o: Options{Hide: func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") }}}
	long := strings.Repeat("é", maxText/2-1) + "secret"
	if got := tel.scrub(long); strings.Contains(got, "sec") || !strings.HasSuffix(got, " [cut]") || len(got) > maxText+6 {
		t.Errorf("...%q", got[len(got)-30:])
	}
	got := tel.messages([]model.Message{
		{Role: model.User, Content: "a secret"},
		{Role: model.Assistant, Parts: []model.Part{{Text: "t"}, {Image: &model.Image{Data: []byte("p")}}, {Call: &model.ToolCall{Name: "read"}}}},
	})
	want := `[{"role":"user","parts":[{"type":"text","content":"a [redacted]"}]},{"role":"assistant","parts":[{"type":"text","content":"t"},{"type":"tool_call","name":"read"}]}]`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]caller.Ended{
		"": {}, "content_filter": {Limit: model.ContentFilter}, "timeout": {Err: context.DeadlineExceeded}, "cancelled": {Err: caller.ErrStopping},
		"auth": {Err: &model.Error{Code: model.Auth, Err: errors.New("x")}}, "_OTHER": {Err: errors.New("x")},
	} {
		if got := errorType(e); got != want {
			t.Errorf("%v: %q, want %q", e, got, want)
		}
	}
}
