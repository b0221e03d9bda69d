package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-f4525e22/skillopt/internal/caller"
)

// instruments are the metrics of a run.
type instruments struct {
	tokens   metric.Int64Histogram
	duration metric.Float64Histogram
	cost     metric.Float64Counter
	faults   metric.Int64Counter
	verdicts metric.Int64Counter
	scores   map[string]metric.Float64Gauge
}

// The boundaries of the GenAI semantic conventions.
var (
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

func newInstruments(m metric.Meter) (instruments, error) {
	i := instruments{scores: map[string]metric.Float64Gauge{}}
	var errs [5]error
	i.tokens, errs[0] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of a request or of an answer"), metric.WithExplicitBucketBoundaries(tokenBounds...))
	i.duration, errs[1] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("How long a request or an episode took"), metric.WithExplicitBucketBoundaries(durationBounds...))
	i.cost, errs[2] = m.Float64Counter("skillopt.cost", metric.WithUnit("USD"), metric.WithDescription("What calls with a known price have cost"))
	i.faults, errs[3] = m.Int64Counter("skillopt.faults", metric.WithUnit("{try}"), metric.WithDescription("Tries of requests that failed"))
	i.verdicts, errs[4] = m.Int64Counter("skillopt.gate.verdicts", metric.WithUnit("{step}"), metric.WithDescription("Results of steps"))
	err := errors.Join(errs[:]...)
	for name, text := range map[string]string{
		"rollout": "Mean hard score of the train batch of the last step", "candidate": "Score of the last candidate", "current": "Score of the current skill",
		"best": "Score of the best skill", "test_hard": "Mean hard score on the test split", "test_soft": "Mean soft score on the test split",
	} {
		g, gerr := m.Float64Gauge("skillopt.score."+name, metric.WithUnit("1"), metric.WithDescription(text))
		i.scores[name], err = g, errors.Join(err, gerr)
	}
	return i, err
}

func (i *instruments) verdict(ctx context.Context, action string) {
	i.verdicts.Add(ctx, 1, metric.WithAttributes(attribute.String("skillopt.action", action)))
}

func (i *instruments) recordTest(ctx context.Context, hard, soft float64, arm attribute.KeyValue) {
	i.scores["test_hard"].Record(ctx, hard, metric.WithAttributes(arm))
	i.scores["test_soft"].Record(ctx, soft, metric.WithAttributes(arm))
}

// operation records how long an operation took and, if it was answered, its
// tokens. One that failed took from its first try until it was given up.
func (i *instruments) operation(ctx context.Context, e caller.Ended, tokens [2]int64, began time.Time, attrs []attribute.KeyValue) {
	took := e.Took
	if e.Err != nil {
		took = e.At.Sub(began)
	}
	i.duration.Record(ctx, took.Seconds(), metric.WithAttributes(attrs...))
	for n, kind := range []string{"input", "output"} {
		if tokens[n] > 0 {
			i.tokens.Record(ctx, tokens[n], metric.WithAttributes(append([]attribute.KeyValue{attribute.String("gen_ai.token.type", kind)}, attrs...)...))
		}
	}
}
