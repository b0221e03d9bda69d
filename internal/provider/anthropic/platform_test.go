package anthropic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func staticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// unsigned leaves requests and streams as they are.
type unsigned struct{}

func (unsigned) Sign(*http.Request, []byte, string, string, string, string) error { return nil }
func (unsigned) Events(body io.Reader) io.Reader                                  { return body }

func signedBy() *Bedrock {
	return &Bedrock{Region: "us-west-2", AccessKey: "AKIATEST", SecretKey: "secret/key", SessionToken: "session", Amazon: unsigned{}}
}

// caught is a request as a server got it.
type caught struct {
	*http.Request

	body []byte
}

// catcher starts a server that keeps its last request and answers with body.
func catcher(t *testing.T, contentType string, body []byte) (*httptest.Server, *caught) {
	t.Helper()
	var got caught
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = caught{r, b}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}))
	t.Cleanup(srv.Close)
	return srv, &got
}

func TestBedrockBearer(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "from-environment")
	srv, got := catcher(t, "application/json", []byte(hi))
	c := newClient(t, Options{BaseURL: srv.URL, Bedrock: &Bedrock{Region: "us-west-2", BearerToken: "bedrock-key", Amazon: unsigned{}}})
	if _, err := c.Generate(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if auth := got.Header.Get("Authorization"); auth != "Bearer bedrock-key" || got.Header.Get("X-Amz-Date") != "" {
		t.Errorf("headers %v", got.Header)
	}
}

func TestPlatformAddresses(t *testing.T) {
	t.Parallel()
	vertexIn := func(region string) Options {
		return Options{Vertex: &Vertex{Project: "p", Region: region, Token: staticToken("t")}}
	}
	tests := map[string]Options{
		"https://bedrock-runtime.us-west-2.amazonaws.com/model/m/invoke":                                                             {Bedrock: signedBy()},
		"https://bedrock-runtime.us-west-2.amazonaws.com/model/m/invoke-with-response-stream":                                        {Bedrock: signedBy(), Stream: true},
		"https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:rawPredict":       vertexIn("us-east5"),
		"https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/m:rawPredict":                  vertexIn("global"),
		"https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/m:rawPredict":               vertexIn("eu"),
		"http://127.0.0.1:1/v1/projects/p/locations/us/publishers/anthropic/models/m:rawPredict":                                     {BaseURL: "http://127.0.0.1:1/", Vertex: vertexIn("us").Vertex},
		"https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:streamRawPredict": {Vertex: vertexIn("us-east5").Vertex, Stream: true},
	}
	for want, o := range tests {
		var got *http.Request
		var body string
		o.Transport = recorded(&got, &body)
		if _, err := newClient(t, o).Generate(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		if got.URL.String() != want {
			t.Errorf("called %s, want %s", got.URL, want)
		}
	}
}

func TestVertex(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere")
	t.Setenv("GOOGLE_API_USE_CLIENT_CERTIFICATE", "true")
	srv, got := catcher(t, "application/json", []byte(hi))
	c := newClient(t, Options{BaseURL: srv.URL, Vertex: &Vertex{Project: "p", Region: "us-east5", Token: staticToken("google-token")}})
	if _, err := c.Generate(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if auth := got.Header.Get("Authorization"); auth != "Bearer google-token" {
		t.Errorf("authorization %q", auth)
	}
	want := decoded(t, `{"anthropic_version":"vertex-2023-10-16","max_tokens":16000,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`)
	if diff := cmp.Diff(want, decoded(t, string(got.body))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// TestVertexToken: a token that cannot be had is a failure of its own, and the
// deadline of the call holds for it too.
func TestVertexToken(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	fails := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "", err }
	}
	tests := []struct {
		name  string
		token func(context.Context) (string, error)
		want  model.Code
	}{
		{"refused", fails(errors.New("invalid_grant\nsee there")), model.Auth},
		{"classified", fails(&model.Error{Code: model.Network, Endpoint: "oauth2.googleapis.com", Err: io.EOF}), model.Network},
		{"hangs", waits, model.Timeout},
	}
	for _, tt := range tests {
		c := newClient(t, Options{
			Vertex:    &Vertex{Project: "p", Region: "us-east5", Token: tt.token},
			Transport: modeltest.RoundTrip(func(*http.Request) (*http.Response, error) { t.Error("a request was sent"); return nil, io.EOF }),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := c.Generate(ctx, hello())
		cancel()
		if model.CodeOf(err) != tt.want || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestPlatformSecrets: credentials of a platform do not come back in errors.
func TestPlatformSecrets(t *testing.T) {
	t.Parallel()
	v := &Vertex{Project: "p", Region: "us-east5", Token: staticToken("google-token")}
	tests := map[string]Options{
		"AKIATEST":     {Bedrock: signedBy()},
		"secret/key":   {Bedrock: signedBy()},
		"bedrock-key":  {Bedrock: &Bedrock{Region: "us-west-2", BearerToken: "bedrock-key", Amazon: unsigned{}}},
		"google-token": {Vertex: v},
	}
	for secret, o := range tests {
		o.Transport = modeltest.Canned(403, `{"message":"who is `+secret+`?"}`)
		_, err := newClient(t, o).Generate(t.Context(), hello())
		if err == nil || !strings.Contains(err.Error(), "who is") || strings.Contains(err.Error(), secret) {
			t.Errorf("error %v tells %s", err, secret)
		}
	}
}
