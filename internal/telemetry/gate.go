package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// health counts what happened to what was reported.
type health struct {
	mu     sync.Mutex
	ended  int // spans
	sent   int // spans
	failed int // requests
	last   error
}

func (h *health) spanEnded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended++
}

func (h *health) noteExport(spans int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.failed++
		h.last = err
		return
	}
	h.sent += spans
}

// warnings says in one line what did not arrive, if anything.
func (h *health) warnings(o Options, closing error) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = closing
	}
	lost := h.ended - h.sent
	if h.failed == 0 && lost == 0 && closing == nil {
		return nil
	}
	text := fmt.Sprintf("telemetry.endpoint %s: %s of telemetry failed", o.Endpoint, wording.Plural(h.failed, "request", "requests"))
	if lost > 0 {
		text += fmt.Sprintf(", %d of %s lost", lost, wording.Plural(h.ended, "span", "spans"))
	}
	if h.last != nil {
		text += ": " + reason(h.last)
	}
	return []string{o.Hide(text + "; the run itself is not touched by it")}
}

// reason returns the last part of an error, without the address that is named before.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// counting counts the spans that are passed to a processor, which drops some
// without a word when its queue is full.
type counting struct {
	sdktrace.SpanProcessor
	health *health
}

func (c counting) OnEnd(s sdktrace.ReadOnlySpan) {
	c.health.spanEnded()
	c.SpanProcessor.OnEnd(s)
}

// spanGate wraps the exporter of spans. It ends requests when life does,
// keeps failures, which the SDK would write to the terminal, and undoes what
// variables of the environment add to the resource.
type spanGate struct {
	sdktrace.SpanExporter
	life   context.Context
	res    *resource.Resource
	health *health
}

func (g *spanGate) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, release := linkContext(ctx, g.life)
	defer release()
	out := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		out[i] = plainSpan{s, g.res}
	}
	g.health.noteExport(len(spans), g.SpanExporter.ExportSpans(ctx, out))
	return nil
}

// plainSpan is a span with the resource that was asked for.
type plainSpan struct {
	sdktrace.ReadOnlySpan
	res *resource.Resource
}

func (s plainSpan) Resource() *resource.Resource { return s.res }

// valueGate is the same for metrics.
type valueGate struct {
	sdkmetric.Exporter
	life   context.Context
	res    *resource.Resource
	health *health
}

func (g *valueGate) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	ctx, release := linkContext(ctx, g.life)
	defer release()
	rm.Resource = g.res
	g.health.noteExport(0, g.Exporter.Export(ctx, rm))
	return nil
}

// linkContext returns ctx so that it ends with life too.
func linkContext(ctx, life context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	undo := context.AfterFunc(life, cancel)
	return ctx, func() { undo(); cancel() }
}
