package anthropic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func staticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

func signedBy() *Bedrock {
	return &Bedrock{Region: "us-west-2", AccessKey: "AKIATEST", SecretKey: "secret/key", SessionToken: "session"}
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

// TestBedrockSigns compares the signature with one made anew from what arrived.
func TestBedrockSigns(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "from-environment")
	t.Setenv("AWS_ACCESS_KEY_ID", "from-environment")
	srv, got := catcher(t, "application/json", []byte(hi))
	c := newClient(t, Options{BaseURL: srv.URL, Bedrock: signedBy(), Headers: map[string]string{"X-Team": "blue", "anthropic-beta": "b-1"}})
	req := hello()
	req.Model = "us.anthropic.claude-x-v1:0"
	if res, err := c.Generate(t.Context(), req); err != nil || res.Text != "hi" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if want := "/model/us.anthropic.claude-x-v1%3A0/invoke"; got.URL.EscapedPath() != want {
		t.Errorf("path %s, want %s", got.URL.EscapedPath(), want)
	}
	want := decoded(t, `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["b-1"],"max_tokens":16000,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`)
	if diff := cmp.Diff(want, decoded(t, string(got.body))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	checkSignature(t, *got)
	if got.Header.Get("X-Amz-Security-Token") != "session" || got.Header.Get("Anthropic-Beta") != "" || got.Header.Get("X-Team") != "blue" {
		t.Errorf("headers %v", got.Header)
	}
}

func checkSignature(t *testing.T, got caught) {
	t.Helper()
	auth := got.Header.Get("Authorization")
	_, list, _ := strings.Cut(auth, "SignedHeaders=")
	list, _, _ = strings.Cut(list, ",")
	signed := strings.Split(list, ";")
	for _, name := range []string{"host", "x-amz-date", "x-team"} {
		if !strings.Contains(";"+list+";", ";"+name+";") {
			t.Errorf("header %s is not signed: %s", name, list)
		}
	}
	again, err := http.NewRequestWithContext(t.Context(), got.Method, "http://"+got.Host+got.URL.EscapedPath(), bytes.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range signed {
		if v := got.Header.Get(name); v != "" {
			again.Header.Set(name, v)
		}
	}
	at, err := time.Parse("20060102T150405Z", got.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(got.body)
	keys := aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "secret/key", SessionToken: "session"}
	if err := v4.NewSigner().SignHTTP(t.Context(), keys, again, hex.EncodeToString(sum[:]), "bedrock", "us-west-2", at); err != nil {
		t.Fatal(err)
	}
	if want := again.Header.Get("Authorization"); auth != want {
		t.Errorf("signature\n%s, want\n%s", auth, want)
	}
}

func TestBedrockBearer(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "from-environment")
	srv, got := catcher(t, "application/json", []byte(hi))
	c := newClient(t, Options{BaseURL: srv.URL, Bedrock: &Bedrock{Region: "us-west-2", BearerToken: "bedrock-key"}})
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

// TestBedrockStream reads AWS's binary framing of events.
func TestBedrockStream(t *testing.T) {
	t.Parallel()
	reply := modeltest.Reply{Text: "It is 4.", Finish: model.FinishStop, Input: 9, Output: 3}
	var whole []byte
	for _, e := range streamWire(reply) {
		_, data, _ := strings.Cut(e, "data: ")
		whole = append(whole, frame(t, "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(data)))+`"}`)...)
	}
	first := frame(t, "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(`{"type":"message_start","message":{"type":"message"}}`))+`"}`)
	tests := []struct {
		name string
		body []byte
		want model.Code
	}{
		{"whole", whole, ""},
		{"cut between frames", first, model.Truncated},
		{"cut in a frame", whole[:len(whole)-5], model.Truncated},
		{"throttled", append(first[:len(first):len(first)], frame(t, "exception", "throttlingException", `{"message":"slow"}`)...), model.RateLimit},
		{"the model fails", append(first[:len(first):len(first)], frame(t, "exception", "modelStreamErrorException", `{"message":"oh"}`)...), model.Server},
	}
	for _, tt := range tests {
		srv, got := catcher(t, "application/vnd.amazon.eventstream", tt.body)
		c := newClient(t, Options{BaseURL: srv.URL, Bedrock: signedBy(), Stream: true})
		res, err := c.Generate(t.Context(), hello())
		if model.CodeOf(err) != tt.want || tt.want == "" && (err != nil || res.Text != reply.Text) {
			t.Errorf("%s: got %+v, %v, want %q", tt.name, res, err, tt.want)
		}
		if !strings.HasSuffix(got.URL.Path, "/invoke-with-response-stream") || bytes.Contains(got.body, []byte(`"stream"`)) {
			t.Errorf("%s: path %s, body %s", tt.name, got.URL.Path, got.body)
		}
	}
}

// frame writes a message of AWS's event stream.
func frame(t *testing.T, kind, name, payload string) []byte {
	t.Helper()
	m := eventstream.Message{Payload: []byte(payload)}
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPlatformSecrets: credentials of a platform do not come back in errors.
func TestPlatformSecrets(t *testing.T) {
	t.Parallel()
	v := &Vertex{Project: "p", Region: "us-east5", Token: staticToken("google-token")}
	tests := map[string]Options{
		"AKIATEST":     {Bedrock: signedBy()},
		"secret/key":   {Bedrock: signedBy()},
		"bedrock-key":  {Bedrock: &Bedrock{Region: "us-west-2", BearerToken: "bedrock-key"}},
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
