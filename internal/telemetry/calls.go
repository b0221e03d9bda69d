package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
)

// episode is a try of an episode: its requests have its key.
type episode struct {
	key string
	try int
}

// providers are the names of the conventions, where they differ from ours.
var providers = map[string]string{
	"azure": "azure.ai.openai", "bedrock": "aws.bedrock", "gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "mistral": "mistral_ai", "xai": "x_ai",
}

// Observe follows a request or an episode; it is for caller.Options.
func (t *Telemetry) Observe(a caller.Activity) caller.Observation {
	t.mu.Lock()
	defer t.mu.Unlock()
	parent := t.current()
	place := episode{a.Key, a.Try}
	if inner, ok := t.episodes[place]; ok && !a.Episode {
		parent = inner
	}
	name, kind, attrs := t.describe(a)
	ctx, s := t.tracer.Start(parent, name, trace.WithTimestamp(a.At), trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	if a.Episode {
		t.episodes[place] = ctx
	}
	return &observation{t: t, a: a, ctx: ctx, span: s}
}

// describe names a span.
func (t *Telemetry) describe(a caller.Activity) (string, trace.SpanKind, []attribute.KeyValue) {
	attrs := append(t.common(a),
		attribute.String("skillopt.key", t.o.Hide(a.Key)), attribute.String("skillopt.stage", a.Stage), attribute.Int("skillopt.try", a.Try))
	switch {
	case a.Episode && t.o.Agent == "":
		return "episode", trace.SpanKindInternal, attrs
	case a.Episode:
		return "invoke_agent " + t.o.Agent, trace.SpanKindInternal, append(attrs, attribute.String("gen_ai.agent.name", t.o.Agent))
	}
	r := a.Request
	if r.Temperature != nil {
		attrs = append(attrs, attribute.Float64("gen_ai.request.temperature", *r.Temperature))
	}
	if r.TopP != nil {
		attrs = append(attrs, attribute.Float64("gen_ai.request.top_p", *r.TopP))
	}
	if r.MaxTokens > 0 {
		attrs = append(attrs, attribute.Int("gen_ai.request.max_tokens", r.MaxTokens))
	}
	if r.Seed != nil {
		attrs = append(attrs, attribute.Int64("gen_ai.request.seed", *r.Seed))
	}
	if r.Schema != nil {
		attrs = append(attrs, attribute.String("gen_ai.output.type", "json"))
	}
	if t.o.Content {
		attrs = append(attrs, attribute.String("gen_ai.input.messages", t.messages(r.Messages)))
	}
	return "chat " + t.o.Hide(r.Model), trace.SpanKindClient, attrs
}

// common returns the attributes that spans and metrics share: few values each.
func (t *Telemetry) common(a caller.Activity) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String("skillopt.role", a.Role)}
	if !a.Episode || t.o.Agent != "" {
		operation := "chat"
		if a.Episode {
			operation = "invoke_agent"
		}
		attrs = append(attrs, attribute.String("gen_ai.operation.name", operation), attribute.String("gen_ai.provider.name", t.provider(a.Role)))
	}
	if a.Request.Model != "" {
		attrs = append(attrs, attribute.String("gen_ai.request.model", t.o.Hide(a.Request.Model)))
	}
	return attrs
}

func (t *Telemetry) provider(role string) string {
	p := t.o.Providers[role]
	if name, ok := providers[p]; ok {
		return name
	}
	if p == "" {
		return "_OTHER" // a client of the program that uses the library
	}
	return p
}

// observation is a request or an episode under way.
type observation struct {
	t    *Telemetry
	a    caller.Activity
	ctx  context.Context
	span trace.Span
}

// Failed implements caller.Observation.
func (o *observation) Failed(at time.Time, code model.Code) {
	kind := attribute.String("error.type", string(code))
	o.span.AddEvent("failed try", trace.WithTimestamp(at), trace.WithAttributes(kind))
	o.t.meter.faults.Add(o.ctx, 1, metric.WithAttributes(kind, attribute.String("skillopt.role", o.a.Role)))
}

// Ended implements caller.Observation.
func (o *observation) Ended(e caller.Ended) {
	t := o.t
	if o.a.Episode {
		t.mu.Lock()
		delete(t.episodes, episode{o.a.Key, o.a.Try})
		t.mu.Unlock()
	}
	resp := e.Response
	in, out := resp.Usage.Input+e.Usage.Input, resp.Usage.Output+e.Usage.Output
	shared := t.common(o.a)
	if resp.Model != "" {
		shared = append(shared, attribute.String("gen_ai.response.model", t.o.Hide(resp.Model)))
	}
	var own []attribute.KeyValue
	if in > 0 || out > 0 {
		own = append(own, attribute.Int64("gen_ai.usage.input_tokens", in), attribute.Int64("gen_ai.usage.output_tokens", out))
	}
	if cached := resp.Usage.Cached + e.Usage.Cached; cached > 0 {
		own = append(own, attribute.Int64("gen_ai.usage.cache_read.input_tokens", cached))
	}
	if resp.Finish != "" {
		own = append(own, attribute.StringSlice("gen_ai.response.finish_reasons", []string{finish(resp.Finish)}))
	}
	if t.o.Content && !o.a.Episode && e.Err == nil && e.Limit == "" {
		own = append(own, attribute.String("gen_ai.output.messages", t.answer(resp)))
	}
	if kind := errorType(e); kind != "" {
		shared = append(shared, attribute.String("error.type", kind))
		o.span.SetStatus(codes.Error, "") // its text may hold what no receiver should see
	}
	if e.Cost != nil && !t.o.Simulated {
		usd := float64(*e.Cost) / 1e9
		own = append(own, attribute.Float64("skillopt.cost", usd))
		t.meter.cost.Add(o.ctx, usd, metric.WithAttributes(attribute.String("skillopt.role", o.a.Role), attribute.String("gen_ai.request.model", t.o.Hide(o.a.Request.Model))))
	}
	t.meter.operation(o.ctx, e, [2]int64{in, out}, o.a.At, shared)
	o.span.SetAttributes(append(shared, own...)...)
	o.span.End(trace.WithTimestamp(e.At))
}

// finish names why an answer ended as the conventions do.
func finish(f model.Finish) string {
	switch f {
	case model.FinishFilter:
		return "content_filter"
	case model.FinishTools:
		return "tool_calls"
	}
	return string(f)
}

// errorType classifies what went wrong, "" if nothing did.
func errorType(e caller.Ended) string {
	switch {
	case e.Limit != "":
		return string(e.Limit)
	case e.Err == nil:
		return ""
	case model.CodeOf(e.Err) != "":
		return string(model.CodeOf(e.Err))
	case errors.Is(e.Err, caller.ErrStopping), errors.Is(e.Err, context.Canceled):
		return "cancelled"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return string(model.Timeout)
	}
	return "_OTHER"
}
