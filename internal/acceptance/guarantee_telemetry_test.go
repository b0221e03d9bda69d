package acceptance_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/testing/otlptest"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/result"
)

const (
	plantedKey    = "planted-receiver-key-8f41"
	plantedSecret = "planted-model-secret-77ac"
	plantedText   = "Add 89 and 42."
)

// A seeded run arrives as a tree of spans, with its calls, tokens and scores, and
// changes nothing about the run.
func TestTelemetryOfARun(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "run")
	trained(t, worldConfig("http://in.process/v1"), plain, inProcess(t)...)

	r := otlptest.New(t)
	server := serve(t, wiretest.Options{Seed: 5, Faults: wiretest.Faults{RateLimit: 0.05}})
	cfg := worldConfig(server.URL())
	cfg.Models.Target.Headers["X-Api-Key"] = plantedSecret
	cfg.Telemetry = config.Telemetry{Endpoint: r.URL, Service: "svc", Headers: map[string]string{"X-Api-Key": plantedKey}}
	dir := filepath.Join(t.TempDir(), "run")
	var warned []string
	sum := trained(t, cfg, dir, skillopt.WithEvents(func(e event.Event) {
		if w, ok := e.(event.Warning); ok {
			warned = append(warned, w.Text)
		}
	}))
	sameResults(t, results(t, plain), dir)
	for _, w := range warned {
		if strings.Contains(w, "telemetry") {
			t.Errorf("warned: %s", w)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range []string{plantedKey, plantedSecret, plantedText, "131 boxes", "Write boxes"} {
		if strings.Contains(r.Text(), unwanted) {
			t.Errorf("%q was sent", unwanted)
		}
	}
	for _, h := range r.Headers() {
		if h.Get("X-Api-Key") != plantedKey {
			t.Errorf("a request came without its header: %v", h)
		}
	}
	if got := r.Resource()["service.name"]; got != "svc" {
		t.Errorf("service.name is %q", got)
	}
	checkTree(t, r.Spans(), sum)
	checkMetrics(t, r, sum)
}

// checkTree checks the spans of a run against its summary.
func checkTree(t *testing.T, spans []*trace.Span, sum *result.Summary) {
	t.Helper()
	byID := map[string]*trace.Span{}
	for _, s := range spans {
		byID[string(s.GetSpanId())] = s
	}
	count, retried, paths := map[string]int{}, 0, map[string]bool{}
	for _, s := range spans {
		kind, _, _ := strings.Cut(s.GetName(), " ")
		count[kind]++
		path := ""
		for at := s; at != nil; at = byID[string(at.GetParentSpanId())] {
			word, _, _ := strings.Cut(at.GetName(), " ")
			path = word + "/" + path
			if string(at.GetTraceId()) != string(spans[0].GetTraceId()) {
				t.Fatal("a second trace")
			}
			if at.GetEndTimeUnixNano() < at.GetStartTimeUnixNano() {
				t.Fatalf("%s ends before it begins", at.GetName())
			}
		}
		paths[path] = true
		if kind != "chat" {
			continue
		}
		retried += len(s.GetEvents())
		a := otlptest.Attributes(s.GetAttributes())
		if a["gen_ai.operation.name"] != "chat" || a["gen_ai.provider.name"] != "openai" || a["gen_ai.request.model"] != "world" || a["skillopt.key"] == "" ||
			a["gen_ai.usage.input_tokens"] == "" || a["gen_ai.usage.output_tokens"] == "" || a["gen_ai.response.finish_reasons"] != "[stop]" || s.GetKind() != trace.Span_SPAN_KIND_CLIENT {
			t.Fatalf("a call has %v", a)
		}
		if a["gen_ai.input.messages"] != "" || a["gen_ai.output.messages"] != "" {
			t.Fatal("texts were sent")
		}
	}
	if count["skillopt"] != 1 || count["epoch"] != 2 || count["step"] != 5 || int64(count["chat"]) != sum.Calls.Total {
		t.Errorf("spans %v, want 1 run, 2 epochs, 5 steps with that of the seed skill, and %d calls", count, sum.Calls.Total)
	}
	var faults int64
	for _, n := range sum.Calls.Faults {
		faults += int64(n)
	}
	if faults == 0 || int64(retried) != faults {
		t.Errorf("%d failed tries in spans, %d in the summary", retried, faults)
	}
	for _, want := range []string{"skillopt/epoch/step/stage/chat/", "skillopt/epoch/stage/chat/", "skillopt/step/stage/chat/", "skillopt/stage/chat/"} {
		if !paths[want] {
			t.Errorf("no span stands at %s", want)
		}
	}
}

func checkMetrics(t *testing.T, r *otlptest.Receiver, sum *result.Summary) {
	t.Helper()
	var tokens, calls float64
	for _, p := range r.Metric("gen_ai.client.token.usage").GetHistogram().GetDataPoints() {
		tokens += p.GetSum()
	}
	for _, p := range r.Metric("gen_ai.client.operation.duration").GetHistogram().GetDataPoints() {
		calls += float64(p.GetCount())
	}
	if tokens != float64(sum.Tokens.Input+sum.Tokens.Output) || calls != float64(sum.Calls.Total) {
		t.Errorf("%v tokens and %v calls, the summary has %d and %d", tokens, calls, sum.Tokens.Input+sum.Tokens.Output, sum.Calls.Total)
	}
	var verdicts int64
	for _, p := range r.Metric("skillopt.gate.verdicts").GetSum().GetDataPoints() {
		verdicts += p.GetAsInt()
	}
	if verdicts != 4 {
		t.Errorf("%d verdicts, want one for each of 4 steps", verdicts)
	}
	for _, p := range r.Metric("skillopt.score.test_hard").GetGauge().GetDataPoints() {
		if otlptest.Attributes(p.GetAttributes())["skillopt.arm"] == "best" && p.GetAsDouble() != sum.Test.Best.Hard {
			t.Errorf("the best skill has %v on the test split, the summary says %v", p.GetAsDouble(), sum.Test.Best.Hard)
		}
	}
	if len(r.Metric("skillopt.score.test_hard").GetGauge().GetDataPoints()) < 2 || r.Metric("skillopt.score.best") == nil || r.Metric("skillopt.faults") == nil {
		t.Error("metrics are missing")
	}
	if r.Metric("skillopt.cost") != nil {
		t.Error("a cost without a price")
	}
}

// A receiver that never answers costs a warning, not the run.
func TestAReceiverThatHangs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer server.Close()
	cfg := worldConfig("http://in.process/v1")
	cfg.Train.Epochs = 1
	cfg.Telemetry.Endpoint = server.URL
	var kinds, warned []string
	trained(t, cfg, filepath.Join(t.TempDir(), "run"), append(inProcess(t), skillopt.WithEvents(func(e event.Event) {
		kinds = append(kinds, e.Kind())
		if w, ok := e.(event.Warning); ok {
			warned = append(warned, w.Text)
		}
	}))...)
	if !slices.ContainsFunc(warned, func(s string) bool {
		return strings.Contains(s, "telemetry.endpoint") && strings.Contains(s, "no answer in time")
	}) {
		t.Errorf("warned of %q, want the receiver named", warned)
	}
	if kinds[len(kinds)-1] != "run_done" {
		t.Errorf("the last event is %s", kinds[len(kinds)-1])
	}
}

// withTelemetry proves the keys of telemetry.
func withTelemetry(all map[string]effect) map[string]effect {
	see := func(key, to string, look func(*otlptest.Receiver) any) effect {
		return effect{test: func(t *testing.T) {
			before, after := received(t), received(t, "telemetry."+key+"="+to)
			if fmt.Sprint(look(before)) == fmt.Sprint(look(after)) {
				t.Errorf("telemetry.%s=%s changes nothing: %v", key, to, look(after))
			}
		}}
	}
	all["telemetry.endpoint"] = effect{test: func(t *testing.T) {
		if r := received(t, `telemetry.endpoint=""`); len(r.Headers()) != 0 {
			t.Error("telemetry was sent without an endpoint")
		}
		if r := received(t); len(r.Spans()) == 0 {
			t.Error("nothing was sent to the endpoint")
		}
	}}
	all["telemetry.headers"] = see("headers", "{X-Tenant: blue}", func(r *otlptest.Receiver) any { return r.Headers()[0].Get("X-Tenant") })
	all["telemetry.service"] = see("service", "nightly", func(r *otlptest.Receiver) any { return r.Resource()["service.name"] })
	all["telemetry.content"] = see("content", "true", func(r *otlptest.Receiver) any { return strings.Contains(r.Text(), plantedText) })
	return all
}

// received is what a receiver gets of a small run.
func received(t *testing.T, set ...string) *otlptest.Receiver {
	t.Helper()
	r := otlptest.New(t)
	s := look(t, scene{set: append([]string{"telemetry.endpoint=" + r.URL, "train.epochs=1"}, set...)})
	if s.err != nil {
		t.Fatal(s.err)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// With telemetry.content texts are sent, known secrets taken out.
func TestTelemetryContentIsScrubbed(t *testing.T) {
	t.Parallel()
	r := received(t, "telemetry.content=true", "tasks.system=Rules: {{skill}} "+"KEY "+plantedKey, "telemetry.headers={X-Api-Key: "+plantedKey+"}")
	if !strings.Contains(r.Text(), plantedText) || !strings.Contains(r.Text(), "KEY [redacted]") {
		t.Error("texts were not sent, or not scrubbed")
	}
	if strings.Contains(r.Text(), plantedKey) {
		t.Error("a known secret was sent")
	}
}
