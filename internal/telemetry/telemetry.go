package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/seed-f4525e22/skillopt"

// What is held and how long is waited. The queue holds about 10 MB without
// content.
const (
	queueSize     = 16384
	batchSize     = 512
	batchEvery    = time.Second
	metricsEvery  = 15 * time.Second
	sendTimeout   = 5 * time.Second
	flushDeadline = 3 * time.Second
)

// Options say what is sent and where to.
type Options struct {
	Endpoint string            // URL of the receiver; /v1/traces and /v1/metrics are put behind it
	Headers  map[string]string // of each request
	Service  string            // service.name
	Version  string            // service.version

	Command   string            // what runs: train, eval, compare, ablate, prune, noise, draft, gateway
	RunID     string            // names the run directory
	Resumed   bool              // the run continues
	Recorded  int               // results that the record holds already
	Providers map[string]string // by role: models.ROLE.provider
	Agent     string            // the agent that carries out tasks, "" = none
	Simulated bool              // a role is played by the simulated world

	Content bool                // send messages and answers
	Hide    func(string) string // takes known secrets out of every text; nil = there are none

	Proxy    func(*http.Request) (*url.URL, error) // nil = none
	Deadline time.Duration                         // of Close; 0 = 3 s
	Now      func() time.Time                      // nil = time.Now
}

// Telemetry follows one run. Its methods may be called concurrently.
type Telemetry struct {
	o      Options
	health *health
	stop   context.CancelFunc // of every request under way
	idle   func()
	traces *sdktrace.TracerProvider
	meters *sdkmetric.MeterProvider
	tracer trace.Tracer
	meter  instruments

	mu       sync.Mutex
	run      span
	epoch    span
	step     span
	stage    span
	number   int // of the epoch that is open
	over     int // the last epoch that is done
	done     int // the last step that is decided
	episodes map[episode]context.Context

	once sync.Once
}

// New begins to follow a run; nothing is sent before there is something to report.
// The caller calls Close.
func New(o Options) (*Telemetry, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	if o.Deadline == 0 {
		o.Deadline = flushDeadline
	}
	life, stop := context.WithCancel(context.Background())
	t := &Telemetry{o: o, stop: stop, health: &health{}, episodes: map[episode]context.Context{}, done: -1}
	if o.Command != "train" {
		t.done = 0 // the others have no steps, not even one for the seed skill
	}
	if err := t.connect(life); err != nil {
		stop()
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t.run = t.open(context.Background(), "skillopt "+o.Command, o.Now(),
		attribute.String("skillopt.command", o.Command), attribute.Bool("skillopt.simulated", o.Simulated), attribute.String("skillopt.run.id", o.RunID),
		attribute.Bool("skillopt.resumed", o.Resumed), attribute.Int("skillopt.recorded", o.Recorded))
	return t, nil
}

// connect builds the pipelines. Every option that a variable could set is given.
func (t *Telemetry) connect(life context.Context) error {
	o := t.o
	transport := &http.Transport{Proxy: o.Proxy, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	t.idle = transport.CloseIdleConnections
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the headers are for this receiver alone
	}}
	to := receiver{client: client, base: strings.TrimRight(o.Endpoint, "/"), headers: maps.Clone(o.Headers)}
	return t.provide(life, spanExporter{to, o.Version}, valueExporter{to, o.Version})
}

func (t *Telemetry) provide(life context.Context, spans sdktrace.SpanExporter, values sdkmetric.Exporter) error {
	attrs := []attribute.KeyValue{attribute.String("service.name", t.o.Hide(t.o.Service)), attribute.String("telemetry.sdk.language", "go")}
	if t.o.Version != "" {
		attrs = append(attrs, attribute.String("service.version", t.o.Version))
	}
	res := resource.NewSchemaless(attrs...)
	t.traces = sdktrace.NewTracerProvider(
		sdktrace.WithResource(res), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: -1, AttributeCountLimit: 64, EventCountLimit: 128, LinkCountLimit: 8,
			AttributePerEventCountLimit: 16, AttributePerLinkCountLimit: 16,
		}),
		sdktrace.WithSpanProcessor(counting{sdktrace.NewBatchSpanProcessor(&spanGate{SpanExporter: spans, life: life, res: res, health: t.health},
			sdktrace.WithMaxQueueSize(queueSize), sdktrace.WithMaxExportBatchSize(batchSize),
			sdktrace.WithBatchTimeout(batchEvery), sdktrace.WithExportTimeout(2*sendTimeout)), t.health}),
	)
	t.tracer = t.traces.Tracer(Scope, trace.WithInstrumentationVersion(t.o.Version))
	reader := sdkmetric.NewPeriodicReader(&valueGate{Exporter: values, life: life, res: res, health: t.health},
		sdkmetric.WithInterval(metricsEvery), sdkmetric.WithTimeout(2*sendTimeout))
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader))
	var err error
	t.meter, err = newInstruments(t.meters.Meter(Scope))
	return err
}

// Close ends what is open, sends what is left within the deadline, and returns
// what the user should know. status is how the run ended, for one that has not
// reported it by an event; "" is not known. A second call does nothing.
func (t *Telemetry) Close(status string) []string {
	var warnings []string
	t.once.Do(func() {
		t.end(status, t.o.Now())
		// Beyond the deadline every request is cut short, so that what follows ends at
		// once and no goroutine is left behind.
		timer := time.AfterFunc(t.o.Deadline, t.stop)
		defer timer.Stop()
		var wg sync.WaitGroup
		var errs [2]error
		wg.Go(func() { errs[0] = t.traces.Shutdown(context.Background()) })
		wg.Go(func() { errs[1] = t.meters.Shutdown(context.Background()) })
		wg.Wait()
		t.stop()
		t.idle()
		warnings = t.health.warnings(t.o, errors.Join(errs[:]...))
	})
	return warnings
}
