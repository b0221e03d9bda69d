package header

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

const (
	childVar = "SKILLOPT_TRUST_URL" // set for the test binary as a process of its own
	proxyVar = "SKILLOPT_TRUST_PROXY"
)

// tlsServer is a server with a certificate of its own, and the file of that.
func tlsServer(t *testing.T) (*httptest.Server, string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return srv, file
}

// connectProxy is a proxy that tunnels, and counts how often it was asked to.
func connectProxy(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var tunnels atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		tunnels.Add(1)
		to, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = to.Close() }()
		w.WriteHeader(http.StatusOK)
		from, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = from.Close() }()
		go func() {
			_, _ = io.Copy(to, buffered)
			_ = to.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(from, to)
	}))
	t.Cleanup(srv.Close)
	return srv, &tunnels
}

// get asks by the transport that all adapters have, and classifies as they do.
func get(ctx context.Context, address, proxy string) error {
	var choose func(*http.Request) (*url.URL, error)
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil {
			return err
		}
		choose = http.ProxyURL(u)
	}
	transport := NewTransport(choose)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport, CheckRedirect: StayHere}).Do(r)
	if err != nil {
		return NewEndpoint(r.URL.Host).Unsent(ctx, err)
	}
	return res.Body.Close()
}

// TestTrustedChild runs in a process of its own: what is trusted is read once.
func TestTrustedChild(t *testing.T) {
	address := os.Getenv(childVar)
	if address == "" {
		t.Skip("not a process of its own")
	}
	if err := get(t.Context(), address, os.Getenv(proxyVar)); err != nil {
		fmt.Println("CODE", model.CodeOf(err))
		return
	}
	fmt.Println("CODE fine")
}

// A certificate of one's own is refused as such, also through a proxy, and
// trusted once SSL_CERT_FILE or SSL_CERT_DIR names it.
func TestCertificates(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system's store decides here")
	}
	srv, file := tlsServer(t)
	proxy, tunnels := connectProxy(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		env  []string
		want string
	}{
		"unknown":                 {nil, "CODE certificate"},
		"by its file":             {[]string{"SSL_CERT_FILE=" + file}, "CODE fine"},
		"by its folder":           {[]string{"SSL_CERT_DIR=" + filepath.Dir(file)}, "CODE fine"},
		"unknown, by a proxy":     {[]string{proxyVar + "=" + proxy.URL}, "CODE certificate"},
		"by its file and a proxy": {[]string{proxyVar + "=" + proxy.URL, "SSL_CERT_FILE=" + file}, "CODE fine"},
	} {
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestTrustedChild$")
		cmd.Env = append([]string{childVar + "=" + srv.URL}, tc.env...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tc.want+"\n") {
			t.Errorf("%s: %v, want %s: %s", name, err, tc.want, out)
		}
	}
	if n := tunnels.Load(); n != 2 {
		t.Errorf("the proxy was asked for %d tunnels, want 2", n)
	}
}

func TestUntrusted(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		x509.UnknownAuthorityError{}, x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, x509.CertificateInvalidError{Reason: x509.Expired},
	} {
		got := NewEndpoint("h:443", "sk-secret").Unsent(t.Context(), &url.Error{Op: "Post", URL: "https://h/?key=sk-secret", Err: err})
		if model.CodeOf(got) != model.Certificate || !strings.Contains(got.Error(), "h:443") || strings.Contains(got.Error(), "sk-secret") {
			t.Errorf("%T: %v", err, got)
		}
	}
	if got := NewEndpoint("h").Unsent(t.Context(), errors.New("remote error: tls: internal error")); model.CodeOf(got) != model.Network {
		t.Errorf("another failure of TLS: %v", got)
	}
}

func TestStayHere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, from, to string
		follow           bool
	}{
		{"POST", "https://h/v1/chat", "https://h/v2/chat", true},
		{"POST", "http://h/v1", "https://h/v1", true},
		{"POST", "http://h:80/v1", "https://h:443/v1", true},
		{"POST", "http://h:8080/v1", "https://h/v1", false},
		{"POST", "https://h/v1", "http://h/v1", false},
		{"POST", "https://h/v1", "https://h:8443/v1", false},
		{"POST", "https://h/v1", "https://other/v1", false},
		{"POST", "https://h/v1", "https://me:pw@h/v1", false},
		{"GET", "https://h/v1", "https://h/login", false}, // what 301 to 303 make of it
	} {
		first, err := http.NewRequest(http.MethodPost, tc.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := http.NewRequest(tc.method, tc.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := StayHere(next, []*http.Request{first}); (err == nil) != tc.follow {
			t.Errorf("%s to %s %s: %v, followed should be %v", tc.from, tc.method, tc.to, err, tc.follow)
		}
		if err := StayHere(next, []*http.Request{first, first, first, first}); err == nil {
			t.Error("it goes round for ever")
		}
	}
}
