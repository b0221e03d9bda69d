package cloud

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// tokens starts a server that gives tokens, and counts them.
func tokens(t *testing.T, status int, body string) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv, &n
}

func serviceAccount(t *testing.T, tokenURL string) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "a@p.example", "private_key_id": "1", "token_uri": tokenURL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGoogle(t *testing.T) {
	t.Parallel()
	srv, n := tokens(t, 200, `{"access_token":"token-1","token_type":"Bearer","expires_in":3600}`)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	source, err := Google(serviceAccount(t, srv.URL), transport)
	if err != nil {
		t.Fatal(err)
	}
	if n.Load() != 0 {
		t.Error("a token was fetched that nobody asked for")
	}
	for range 2 {
		if token, err := source(t.Context()); err != nil || token != "token-1" {
			t.Errorf("got %q, %v", token, err)
		}
	}
	if n.Load() != 1 {
		t.Errorf("%d tokens were fetched, want 1: it lasts an hour", n.Load())
	}
}

func TestGoogleFail(t *testing.T) {
	t.Parallel()
	srv, _ := tokens(t, 400, `{"error":"invalid_grant"}`)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	source, err := Google(serviceAccount(t, srv.URL), transport)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("error %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source(stopped); err == nil {
		t.Error("a token was fetched for a call that was cancelled")
	}
}

func TestGoogleFaults(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":         "no JSON",
		"secretpw": "no JSON",
		`{"a":1}`:  "type \"\"",
		`{"installed":{"client_secret":"secretpw","redirect_uris":["x"]}}`:          "allowed are",
		`{"type":"external_account","credential_source":{"executable":"secretpw"}}`: "external_account",
		`{"type":"service_account","private_key":"secretpw"}`:                       "google credentials",
	} {
		source, err := Google([]byte(file), nil)
		if err == nil {
			_, err = source(t.Context()) // a key is looked at when it is used
		}
		if err == nil || strings.Contains(err.Error(), "secretpw") {
			t.Errorf("%s: error %v", file, err)
			continue
		}
		if !strings.Contains(err.Error(), want) && !strings.HasPrefix(file, `{"type":"service`) {
			t.Errorf("%s: error %q lacks %q", file, err, want)
		}
	}
}
