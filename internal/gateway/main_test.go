package gateway

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// The client of Gemini starts a goroutine of its own when it is loaded, and
// net/http waits half a second when it closes a connection whose request was not
// read to its end, so that the answer arrives.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// testGateway serves until the end of the test.
func testGateway(t testing.TB, o Options) *Gateway {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func open(t testing.TB, g *Gateway, s Session) *Handle {
	t.Helper()
	h, err := g.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// always is a client with one answer; it keeps what it was asked.
type always struct {
	resp model.Response
	err  error

	mu   sync.Mutex
	last model.Request
}

func (a *always) Generate(_ context.Context, req model.Request) (model.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = req
	return a.resp, a.err
}

func (a *always) asked() model.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// agent is an HTTP client whose connections end with the test.
func agent(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func says(s string) model.Client { return modeltest.Always(s) }
