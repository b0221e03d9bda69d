package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-f4525e22/skillopt/event"
)

// span is an open span with the context that its children are made in; the zero
// span is none.
type span struct {
	ctx context.Context
	trace.Span
}

func (t *Telemetry) open(parent context.Context, name string, at time.Time, attrs ...attribute.KeyValue) span {
	ctx, s := t.tracer.Start(parent, name, trace.WithTimestamp(at), trace.WithAttributes(attrs...))
	return span{ctx, s}
}

// shut ends a span, if it is one.
func (s *span) shut(at time.Time) {
	if s.Span != nil {
		s.End(trace.WithTimestamp(at))
	}
	*s = span{}
}

// current returns the context of the innermost span that is open: the parent of what begins now.
func (t *Telemetry) current() context.Context {
	for _, s := range []span{t.stage, t.step, t.epoch, t.run} {
		if s.Span != nil {
			return s.ctx
		}
	}
	return context.Background()
}

// Event takes what a run reports.
func (t *Telemetry) Event(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run.Span == nil {
		return // it has ended
	}
	at := t.o.Now()
	switch e := e.(type) {
	case event.RunStarted:
		t.run.SetAttributes(attribute.String("skillopt.run.id", e.RunID), attribute.Bool("skillopt.resumed", e.Resumed),
			attribute.Int("skillopt.recorded", e.Recorded), attribute.Int("skillopt.tasks.train", e.Train),
			attribute.Int("skillopt.tasks.selection", e.Selection), attribute.Int("skillopt.tasks.test", e.Test),
			attribute.Int("skillopt.steps", e.Steps))
	case event.StageStarted:
		t.stageStarted(e, at)
	case event.StepDone:
		t.stepDone(e, at)
	case event.EpochDone:
		t.stage.shut(at)
		t.step.shut(at)
		if t.epoch.Span != nil {
			t.epoch.SetAttributes(attribute.String("skillopt.slow_update", e.SlowUpdate), attribute.Bool("skillopt.meta_skill", e.MetaSkill))
		}
		t.epoch.shut(at)
		t.over = e.Epoch
	case event.TestDone:
		t.recordTest(e, at)
	case event.Waiting:
		t.run.AddEvent("waiting", trace.WithTimestamp(at), trace.WithAttributes(
			attribute.String("gen_ai.request.model", e.Model), attribute.Float64("skillopt.failing", e.FailingS)))
	case event.RunDone:
		t.finish(e.Status, at)
	}
}

func (t *Telemetry) stageStarted(e event.StageStarted, at time.Time) {
	t.stage.shut(at)
	// Not every epoch reports its end: the first has none to be compared with.
	if t.epoch.Span != nil && e.Epoch > t.number {
		t.step.shut(at)
		t.epoch.shut(at)
	}
	if e.Epoch > t.over && t.epoch.Span == nil {
		t.number = e.Epoch
		t.epoch = t.open(t.run.ctx, "epoch", at, attribute.Int("skillopt.epoch", e.Epoch))
	}
	if e.Step > t.done && t.step.Span == nil {
		t.step = t.open(t.current(), "step", at, attribute.Int("skillopt.epoch", e.Epoch), attribute.Int("skillopt.step", e.Step))
	}
	t.stage = t.open(t.current(), "stage "+e.Stage, at, attribute.String("skillopt.stage", e.Stage),
		attribute.Int("skillopt.epoch", e.Epoch), attribute.Int("skillopt.step", e.Step))
}

func (t *Telemetry) stepDone(e event.StepDone, at time.Time) {
	t.stage.shut(at)
	t.done = max(t.done, e.Step)
	attrs := []attribute.KeyValue{attribute.String("skillopt.action", e.Action), attribute.Int("skillopt.best_step", e.BestStep)}
	if e.Step > 0 {
		attrs = append(attrs, attribute.Int("skillopt.edits", e.Edits), attribute.Int("skillopt.edit_budget", e.Budget))
		t.meter.verdict(t.run.ctx, e.Action)
	}
	for _, s := range []struct {
		name  string
		value *float64
	}{{"rollout", e.Rollout}, {"candidate", e.Candidate}, {"current", e.Current}, {"best", e.Best}} {
		if s.value == nil {
			continue // what was not measured is absent
		}
		attrs = append(attrs, attribute.Float64("skillopt.score."+s.name, *s.value))
		t.meter.scores[s.name].Record(t.run.ctx, *s.value)
	}
	if t.step.Span != nil {
		t.step.SetAttributes(attrs...)
	}
	t.step.shut(at)
}

func (t *Telemetry) recordTest(e event.TestDone, at time.Time) {
	arm := attribute.String("skillopt.arm", e.Arm)
	t.run.AddEvent("test", trace.WithTimestamp(at), trace.WithAttributes(arm,
		attribute.Float64("skillopt.score.hard", e.Hard), attribute.Float64("skillopt.score.soft", e.Soft), attribute.Int("skillopt.tasks", e.N)))
	t.meter.recordTest(t.run.ctx, e.Hard, e.Soft, arm)
}

// finish ends all spans of the run. It needs the lock.
func (t *Telemetry) finish(status string, at time.Time) {
	if t.run.Span == nil {
		return
	}
	if status != "" {
		t.run.SetAttributes(attribute.String("skillopt.status", status))
	}
	if status == "failed" {
		t.run.SetStatus(codes.Error, "") // the reason may hold what no receiver should see
	}
	for _, s := range []*span{&t.stage, &t.step, &t.epoch, &t.run} {
		s.shut(at)
	}
}

func (t *Telemetry) end(status string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finish(status, at)
}
