package modeltest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// RoundTrip is a transport that is a function, for tests without a server.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Canned answers everything with one body of JSON.
func Canned(status int, body string) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: r,
		}, nil
	}
}

// breakBody answers with a body that fails after its first bytes.
func breakBody(status int, err error) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		res, _ := Canned(status, "")(r) // it has no error
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"a`), failing{err}))
		return res, nil
	}
}

type failing struct{ err error }

func (r failing) Read([]byte) (int, error) { return 0, r.err }

// slow is an error of the net package that says that time ran out.
type slow struct{ text string }

func (s slow) Error() string { return s.text }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

// TestTransport breaks requests below HTTP, in ways that no server can choose.
// build returns a client that proves itself with the key and sends its requests
// through the transport; stream says whether it asks for streams.
func TestTransport(t *testing.T, build func(t *testing.T, key string, stream bool, transport http.RoundTripper) model.Client) {
	const key = "sk-secret-of-the-transport"
	fails := func(err error) RoundTrip {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	late, reset := slow{"read: i/o timeout with " + key}, errors.New("connection reset by peer, "+key)
	tests := []struct {
		name      string
		transport RoundTrip
		want      model.Code
		status    int
	}{
		{"time out", fails(late), model.Timeout, 0},
		{"time out in the body", breakBody(200, late), model.Timeout, 200},
		{"reset", fails(reset), model.Network, 0},
		{"reset in the body", breakBody(200, reset), model.Network, 200},
		{"cut in the body", breakBody(200, io.ErrUnexpectedEOF), model.Truncated, 200},
		{"cut in the body of an error", breakBody(503, io.ErrUnexpectedEOF), model.Overloaded, 503},
		{"cut in the body of a refusal", breakBody(401, io.ErrUnexpectedEOF), model.Auth, 401},
	}
	for _, tt := range tests {
		for name, stream := range map[string]bool{"": false, " of a stream": true} {
			t.Run(tt.name+name, func(t *testing.T) {
				t.Parallel()
				_, err := build(t, key, stream, tt.transport).Generate(t.Context(), question("q"))
				var got *model.Error
				if !errors.As(err, &got) || got.Code != tt.want || got.Status != tt.status {
					t.Fatalf("error %v, want %s and status %d", err, tt.want, tt.status)
				}
				if strings.Contains(err.Error(), key) {
					t.Errorf("error %q shows the key", err)
				}
			})
		}
	}
}
