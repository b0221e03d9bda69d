// Package otlptest is a receiver of OTLP/HTTP for tests: it decodes what arrives
// and keeps it.
//
// It knows nothing about who sends.
package otlptest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver keeps what it was sent. Its methods may be called concurrently.
type Receiver struct {
	URL string

	mu       sync.Mutex
	spans    []*trace.Span
	metrics  map[string]*metrics.Metric
	resource map[string]string
	headers  []http.Header
	text     strings.Builder
	errs     []error
}

// New starts a receiver that ends with the test.
func New(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{metrics: map[string]*metrics.Metric{}, resource: map[string]string{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := read(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, req.Header.Clone())
	if err == nil {
		err = r.take(req.URL.Path, body)
	}
	if err != nil {
		r.errs = append(r.errs, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func read(req *http.Request) ([]byte, error) {
	if req.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(req.Body)
	}
	unpacked, err := gzip.NewReader(req.Body)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return io.ReadAll(unpacked)
}

// take decodes a request. It needs the lock.
func (r *Receiver) take(path string, body []byte) error {
	switch {
	case strings.HasSuffix(path, "/v1/traces"):
		var got trace.TracesData
		if err := proto.Unmarshal(body, &got); err != nil {
			return err
		}
		fmt.Fprintln(&r.text, got.String())
		for _, rs := range got.GetResourceSpans() {
			r.describe(rs.GetResource().GetAttributes())
			for _, ss := range rs.GetScopeSpans() {
				r.spans = append(r.spans, ss.GetSpans()...)
			}
		}
	case strings.HasSuffix(path, "/v1/metrics"):
		var got metrics.MetricsData
		if err := proto.Unmarshal(body, &got); err != nil {
			return err
		}
		fmt.Fprintln(&r.text, got.String())
		for _, rm := range got.GetResourceMetrics() {
			r.describe(rm.GetResource().GetAttributes())
			for _, sm := range rm.GetScopeMetrics() {
				for _, m := range sm.GetMetrics() {
					r.metrics[m.GetName()] = m
				}
			}
		}
	default:
		return fmt.Errorf("nobody sends to %s", path)
	}
	return nil
}

func (r *Receiver) describe(attrs []*common.KeyValue) {
	for key, value := range Attributes(attrs) {
		r.resource[key] = value
	}
}

// Spans returns the spans that have arrived.
func (r *Receiver) Spans() []*trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*trace.Span(nil), r.spans...)
}

// Metric returns the newest state of a metric, nil if it never came.
func (r *Receiver) Metric(name string) *metrics.Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics[name]
}

// Resource returns the attributes of the sender.
func (r *Receiver) Resource() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]string{}
	for key, value := range r.resource {
		out[key] = value
	}
	return out
}

// Headers returns those of the requests, in the order in which they came.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.headers...)
}

// Text is all that arrived, as text to search.
func (r *Receiver) Text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Err returns the first request that could not be read.
func (r *Receiver) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errs) > 0 {
		return r.errs[0]
	}
	return nil
}

// Attributes returns attributes as texts; a list has its elements in brackets.
func Attributes(attrs []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range attrs {
		out[kv.GetKey()] = value(kv.GetValue())
	}
	return out
}

func value(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *common.AnyValue_ArrayValue:
		var parts []string
		for _, e := range v.ArrayValue.GetValues() {
			parts = append(parts, value(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return ""
}
