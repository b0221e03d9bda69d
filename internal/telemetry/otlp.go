package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// receiver is where OTLP is sent to over HTTP.
type receiver struct {
	client  *http.Client
	base    string // the URL without /v1/...
	headers map[string]string
}

// send sends a message, again while the receiver is busy and there is time.
func (r receiver) send(ctx context.Context, path string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(message); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		again, err := r.post(ctx, path, packed.Bytes())
		if !again {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
}

// post makes one request; again says that the receiver may take it later.
func (r receiver) post(ctx context.Context, path string, packed []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+path, bytes.NewReader(packed))
	if err != nil {
		return false, err
	}
	for name, value := range r.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "gzip")
	res, err := r.client.Do(req)
	if err != nil {
		return false, err
	}
	defer func() { _ = res.Body.Close() }() // what matters of it is read
	const most = 64 << 10
	answer, _ := io.ReadAll(io.LimitReader(res.Body, most)) // one that is cut says less
	switch res.StatusCode {
	case http.StatusOK:
		return false, parseRejection(answer)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the receiver answered %s", res.Status)
}

// parseRejection returns what an answer says of data that the receiver did not take; nil if it took
// all.
func parseRejection(answer []byte) error {
	var count uint64
	var why []byte
	for part := range fields(answer, 1) {
		for n := range fields(part, 1) {
			count, _ = protowire.ConsumeVarint(n)
		}
		for text := range fields(part, 2) {
			why = text
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("the receiver rejected %d: %s", count, why)
}

// fields gives the values of a field of a message, those of a number as they are written.
func fields(message []byte, number protowire.Number) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(message) > 0 {
			num, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				return
			}
			message = message[n:]
			if n = protowire.ConsumeFieldValue(num, kind, message); n < 0 {
				return
			}
			value := message[:n]
			if kind == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
			if num == number && !yield(value) {
				return
			}
			message = message[n:]
		}
	}
}

// wire is a message of protocol buffers in the making. Fields without a value are left out.
type wire []byte

func (w *wire) bytes(number protowire.Number, b []byte) {
	if len(b) > 0 {
		*w = protowire.AppendBytes(protowire.AppendTag(*w, number, protowire.BytesType), b)
	}
}

func (w *wire) text(number protowire.Number, s string) { w.bytes(number, []byte(s)) }

// message adds a message, also one without fields.
func (w *wire) message(number protowire.Number, fill func(m *wire)) {
	var m wire
	fill(&m)
	*w = protowire.AppendBytes(protowire.AppendTag(*w, number, protowire.BytesType), m)
}

func (w *wire) number(number protowire.Number, n uint64) {
	if n != 0 {
		*w = protowire.AppendVarint(protowire.AppendTag(*w, number, protowire.VarintType), n)
	}
}

// fixed64 adds eight bytes, also of 0.
func (w *wire) fixed64(number protowire.Number, n uint64) {
	*w = protowire.AppendFixed64(protowire.AppendTag(*w, number, protowire.Fixed64Type), n)
}

func (w *wire) double(number protowire.Number, f float64) { w.fixed64(number, math.Float64bits(f)) }

func (w *wire) time(number protowire.Number, t time.Time) {
	if !t.IsZero() {
		w.fixed64(number, uint64(t.UnixNano()))
	}
}

func (w *wire) attributes(number protowire.Number, list []attribute.KeyValue) {
	for _, a := range list {
		w.message(number, func(m *wire) {
			m.text(1, string(a.Key))
			m.message(2, func(v *wire) { v.value(a.Value) })
		})
	}
}

// value fills in an AnyValue.
func (w *wire) value(v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, 2, protowire.VarintType), protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, 3, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.FLOAT64:
		w.double(4, v.AsFloat64())
	case attribute.STRINGSLICE:
		w.message(5, func(list *wire) {
			for _, s := range v.AsStringSlice() {
				list.message(1, func(m *wire) { m.value(attribute.StringValue(s)) })
			}
		})
	default:
		*w = protowire.AppendString(protowire.AppendTag(*w, 1, protowire.BytesType), v.String())
	}
}

// request returns a request with all items of one resource and our one scope.
func request(res *resource.Resource, version string, items func(scope *wire)) []byte {
	var w wire
	w.message(1, func(of *wire) {
		of.message(1, func(m *wire) { m.attributes(1, res.Attributes()) })
		of.message(2, func(scope *wire) {
			scope.message(1, func(m *wire) { m.text(1, Scope); m.text(2, version) })
			items(scope)
		})
	})
	return w
}

// spanExporter implements the SDK's exporter of spans.
type spanExporter struct {
	receiver
	version string
}

func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return e.send(ctx, "/v1/traces", request(spans[0].Resource(), e.version, func(scope *wire) {
		for _, s := range spans {
			scope.message(2, func(m *wire) { m.span(s) })
		}
	}))
}

func (spanExporter) Shutdown(context.Context) error { return nil }

// span fills in a Span.
func (w *wire) span(s sdktrace.ReadOnlySpan) {
	is, parent := s.SpanContext(), s.Parent()
	id, own := is.TraceID(), is.SpanID()
	w.bytes(1, id[:])
	w.bytes(2, own[:])
	w.text(3, is.TraceState().String())
	if above := parent.SpanID(); above.IsValid() {
		w.bytes(4, above[:])
	}
	w.text(5, s.Name())
	w.number(6, uint64(s.SpanKind()))
	w.time(7, s.StartTime())
	w.time(8, s.EndTime())
	w.attributes(9, s.Attributes())
	w.number(10, uint64(s.DroppedAttributes()))
	for _, e := range s.Events() {
		w.message(11, func(m *wire) {
			m.time(1, e.Time)
			m.text(2, e.Name)
			m.attributes(3, e.Attributes)
		})
	}
	w.number(12, uint64(s.DroppedEvents()))
	w.message(15, func(m *wire) {
		m.text(2, s.Status().Description)
		m.number(3, map[codes.Code]uint64{codes.Ok: 1, codes.Error: 2}[s.Status().Code])
	})
	const knowsRemote = 0x100 // no parent of ours is in another process
	*w = protowire.AppendFixed32(protowire.AppendTag(*w, 16, protowire.Fixed32Type), uint32(is.TraceFlags())|knowsRemote)
}

// valueExporter implements the SDK's exporter of metrics: all of them are cumulative.
type valueExporter struct {
	receiver
	version string
}

func (valueExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

func (valueExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (e valueExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	return e.send(ctx, "/v1/metrics", request(rm.Resource, e.version, func(scope *wire) {
		for _, s := range rm.ScopeMetrics {
			for _, m := range s.Metrics {
				scope.message(2, func(w *wire) { w.metric(m) })
			}
		}
	}))
}

func (valueExporter) ForceFlush(context.Context) error { return nil }
func (valueExporter) Shutdown(context.Context) error   { return nil }

// metric fills in a Metric, of one of the kinds that instruments has.
func (w *wire) metric(m metricdata.Metrics) {
	w.text(1, m.Name)
	w.text(2, m.Description)
	w.text(3, m.Unit)
	switch d := m.Data.(type) {
	case metricdata.Gauge[float64]:
		w.message(5, func(g *wire) { points(g, d.DataPoints) })
	case metricdata.Sum[float64]:
		w.sum(func(s *wire) { points(s, d.DataPoints) })
	case metricdata.Sum[int64]:
		w.sum(func(s *wire) { points(s, d.DataPoints) })
	case metricdata.Histogram[float64]:
		w.message(9, func(h *wire) { histogram(h, d.DataPoints) })
	case metricdata.Histogram[int64]:
		w.message(9, func(h *wire) { histogram(h, d.DataPoints) })
	}
}

// cumulative is the temporality of what is counted from the beginning.
const cumulative = 2

func (w *wire) sum(fill func(s *wire)) {
	w.message(7, func(s *wire) {
		fill(s)
		s.number(2, cumulative)
		s.number(3, 1) // it only grows
	})
}

func points[N int64 | float64](w *wire, list []metricdata.DataPoint[N]) {
	for _, p := range list {
		w.message(1, func(m *wire) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			switch n := any(p.Value).(type) {
			case float64:
				m.double(4, n)
			case int64:
				m.fixed64(6, uint64(n))
			}
			m.attributes(7, p.Attributes.ToSlice())
		})
	}
}

func histogram[N int64 | float64](w *wire, list []metricdata.HistogramDataPoint[N]) {
	for _, p := range list {
		w.message(1, func(m *wire) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			m.fixed64(4, p.Count)
			m.double(5, float64(p.Sum))
			var counts, bounds []byte
			for _, n := range p.BucketCounts {
				counts = protowire.AppendFixed64(counts, n)
			}
			for _, f := range p.Bounds {
				bounds = protowire.AppendFixed64(bounds, math.Float64bits(f))
			}
			m.bytes(6, counts)
			m.bytes(7, bounds)
			m.attributes(9, p.Attributes.ToSlice())
			if n, ok := p.Min.Value(); ok {
				m.double(11, float64(n))
			}
			if n, ok := p.Max.Value(); ok {
				m.double(12, float64(n))
			}
		})
	}
	w.number(2, cumulative)
}
