//go:build cloud

package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/cloud"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// onAmazon returns a platform that signs as Amazon wants it.
func onAmazon() *Bedrock {
	b := signedBy()
	b.Amazon = cloud.NewAmazon()
	return b
}

// TestBedrockSigns compares the signature with one made again from what arrived.
func TestBedrockSigns(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "from-environment")
	t.Setenv("AWS_ACCESS_KEY_ID", "from-environment")
	srv, got := catcher(t, "application/json", []byte(hi))
	c := newClient(t, Options{BaseURL: srv.URL, Bedrock: onAmazon(), Headers: map[string]string{"X-Team": "blue", "anthropic-beta": "b-1"}})
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
		c := newClient(t, Options{BaseURL: srv.URL, Bedrock: onAmazon(), Stream: true})
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
