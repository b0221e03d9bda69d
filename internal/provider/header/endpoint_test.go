package header

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	e := NewEndpoint("h", "sk-secret", "")
	tests := map[string]string{
		"":                                     "",
		" a\r\n\tb ":                           "a b",
		"about sk-secret.":                     "about [redacted].",
		"\xff\xfe":                             "?",
		strings.Repeat("x", 301):               strings.Repeat("x", 300) + "...",
		strings.Repeat("x", 295) + "sk-secret": strings.Repeat("x", 295) + "[reda...",
	}
	for text, want := range tests {
		if got := e.Excerpt(text); got != want {
			t.Errorf("Excerpt(%q) = %q, want %q", text, got, want)
		}
	}
}

// A key is blanked however it is written, also where a message or what is read of a
// text is cut, and so is what only has the shape of one.
func TestExcerptsHoldNoPartOfAKey(t *testing.T) {
	t.Parallel()
	const key = "Tq7target+key/credential=1"
	e := NewEndpoint("h", key)
	for name, form := range map[string]string{
		"plain": key, "base64": base64.StdEncoding.EncodeToString([]byte(key)), "hex": hex.EncodeToString([]byte(key)), "url": url.QueryEscape(key),
		"shape": "sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb",
	} {
		for before := 250; before < 310; before++ {
			if got := e.Excerpt(strings.Repeat("x", before) + " " + form + " y"); strings.Contains(got, form[:6]) {
				t.Fatalf("%s: %q", name, got)
			}
		}
		// Masks are short: a text of keys may be shown up to where it was read.
		for before := range len(form) {
			whole := strings.Repeat("x", before) + strings.Repeat(form, 1+(64<<10)/len(form))
			if got := e.Excerpt(whole); name != "shape" && strings.Contains(got, form[:6]) {
				t.Fatalf("%s: %q", name, got)
			}
		}
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	e := NewEndpoint("h", "fixed")
	for i := range 6 {
		e.Learn(fmt.Sprintf("token%d", i))
		e.Learn(fmt.Sprintf("token%d", i))
	}
	e.Learn("")
	if got, want := e.Excerpt("fixed token1 token2 token5"), "[redacted] token1 [redacted] [redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// late is an error of a connection that times out.
type late struct{}

func (late) Error() string   { return "too late" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestUnsent(t *testing.T) {
	t.Parallel()
	own := &model.Error{Code: model.Auth, Endpoint: "token.example", Err: io.EOF}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"reset", errors.New("reset by peer"), "network from h: reset by peer"},
		{"with a key", errors.New("dial sk-secret"), "network from h: dial [redacted]"},
		{"the URL is left out", &url.Error{Op: "Post", URL: "http://h/?key=x", Err: io.EOF}, "network from h: EOF"},
		{"late", late{}, "timeout from h: too late"},
		{"late to connect", &net.OpError{Op: "dial", Err: late{}}, "network from h: dial: too late"},
		{"unsendable", fmt.Errorf("send: %w", &Unsendable{Err: errors.New("bad header")}), "bad_request from h: bad header"},
		{"classified", fmt.Errorf("send: %w", own), "auth from token.example: EOF"},
	}
	for _, tt := range tests {
		err := NewEndpoint("h", "sk-secret").Unsent(t.Context(), tt.err)
		if err.Error() != tt.want || model.CodeOf(err) == "" {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewEndpoint("h").Unsent(stopped, io.EOF); !errors.Is(err, context.Canceled) || model.CodeOf(err) != "" {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUnread(t *testing.T) {
	t.Parallel()
	tests := map[model.Code]error{
		model.Malformed: fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 5}),
		model.Truncated: io.ErrUnexpectedEOF,
		model.Timeout:   late{},
		model.Network:   errors.New("reset"),
	}
	for want, err := range tests {
		if got := NewEndpoint("h").Unread(t.Context(), 200, err); model.CodeOf(got) != want {
			t.Errorf("%v becomes %v, want %s", err, got, want)
		}
	}
}

func TestRedirected(t *testing.T) {
	t.Parallel()
	res := &http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://other/path?key=sk-secret"}}}
	err := NewEndpoint("h", "sk-secret").RedirectError(res)
	if model.CodeOf(err) != model.Redirect || !strings.Contains(err.Error(), "to https://other/path,") {
		t.Errorf("got %v", err)
	}
	if err := NewEndpoint("h").RedirectError(&http.Response{StatusCode: 302}); !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("got %v", err)
	}
}

func TestByStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]model.Code{
		200: "", 307: "", 400: model.BadRequest, 401: model.Auth, 402: model.Credit, 403: model.Auth, 404: model.NotFound, 405: model.NotFound,
		407: model.Auth, 408: model.Timeout, 409: model.Server, 410: model.NotFound, 413: model.ContextLength, 418: model.BadRequest,
		425: model.Overloaded, 429: model.RateLimit, 500: model.Server, 503: model.Overloaded, 504: model.Server, 529: model.Overloaded,
	} {
		if got := ByStatus(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

func TestNewPost(t *testing.T) {
	t.Parallel()
	s, err := Parse(map[string]string{"X-Run": "{{run}}", "accept": "text/html"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.NewPost(t.Context(), "http://h/p?q", []byte("{}"), model.Tags{Run: "r"}, map[string]string{"Accept": "*/*", "X-Api-Key": "k"})
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{"Accept": {"text/html"}, "Content-Type": {"application/json"}, "X-Api-Key": {"k"}, "X-Run": {"r"}, "User-Agent": {"skillopt"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	for to, run := range map[string]string{"http://h": "\n", "http://h/\n": "r"} {
		var bad *Unsendable
		if _, err := s.NewPost(t.Context(), to, nil, model.Tags{Run: run}, nil); !errors.As(err, &bad) {
			t.Errorf("%q: error %v, want an Unsendable", to, err)
		}
	}
}

func TestNewTransportUsesNoProxy(t *testing.T) {
	t.Parallel()
	if NewTransport(nil).Proxy != nil {
		t.Error("the transport takes a proxy from the environment")
	}
}

func TestParseBase(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"http://h":                 "http://h",
		"http://h/":                "http://h",
		"http://h/v1/chat":         "http://h",
		"http://h/v1/":             "http://h",
		"http://h/a?x=1#f":         "http://h/a?x=1",
		"https://h:8/v1/chat/":     "https://h:8",
		"http://h/v1/chat/v1/chat": "http://h/v1/chat",
	}
	for raw, want := range tests {
		if got, err := ParseBase(raw, "http://example", "/chat", "/v1"); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v, want %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "h:8080", "ftp://h", "http://", "http://[::1", "http://u:secretpw@h/"} {
		if _, err := ParseBase(raw, "http://example"); err == nil || strings.Contains(err.Error(), "secretpw") {
			t.Errorf("%s: error %v", raw, err)
		}
	}
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a b", "a\n", "\x7f", "\t"} {
		if err := CheckKey("api key", key); err == nil || !strings.HasPrefix(err.Error(), "api key") || strings.Contains(err.Error(), key+":") {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := CheckKey("api key", "sk-ok"); err != nil {
		t.Error(err)
	}
}

// TestWatch: silence ends a stream, bytes keep it alive.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, w := NewWatch(t.Context(), time.Minute)
		defer w.Stop()
		r, server := net.Pipe()
		defer func() { _ = server.Close() }()
		body := w.Body(r)
		go func() {
			for range 3 {
				wait(50 * time.Second)
				_, _ = server.Write([]byte("x"))
			}
		}()
		for range 3 {
			if _, err := body.Read(make([]byte, 1)); err != nil || ctx.Err() != nil {
				t.Fatalf("read: %v, %v", err, ctx.Err())
			}
		}
		wait(59 * time.Second)
		if err := w.Idle(); err != nil {
			t.Errorf("too early: %v", err)
		}
		wait(2 * time.Second)
		synctest.Wait()
		if err := w.Idle(); err == nil || ctx.Err() == nil || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("the stream lives on: %v", err)
		}
		_ = body.Close()
	})
}

func wait(d time.Duration) { <-time.After(d) }

// TestWatchStops: what ends otherwise was not idle.
func TestWatchStops(t *testing.T) {
	t.Parallel()
	ctx, w := NewWatch(t.Context(), time.Hour)
	w.Stop()
	if ctx.Err() == nil || w.Idle() != nil {
		t.Errorf("stopped: %v, idle %v", ctx.Err(), w.Idle())
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"data: x": true, "event: y": true, ": ping": true, "id: 1": true, "retry: 5": true, "": true, " \n\n": true, "\n\ndata:": true,
		`{"a":1}`: false, "\n [": false, "<html>": false, "null": false,
		strings.Repeat(" ", 5000) + "{": true, // longer than anybody looks
	}
	for text, want := range tests {
		r, events := Sniff(strings.NewReader(text))
		rest, err := io.ReadAll(r)
		if events != want || err != nil || string(rest) != text {
			t.Errorf("%.20q: %v, %v, %d of %d bytes left", text, events, err, len(rest), len(text))
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	tests := []struct {
		name string
		r    io.Reader
		want []string
		err  error
	}{
		{"none", strings.NewReader(""), nil, nil},
		{"two", strings.NewReader("data: a\n\ndata:b\n\n"), []string{"a", "b"}, nil},
		{"windows", strings.NewReader("data: a\r\n\r\n"), []string{"a"}, nil},
		{"lines", strings.NewReader("data: a\ndata: b\n\n"), []string{"a\nb"}, nil},
		{"the rest is left out", strings.NewReader("\n: hi\n\nevent: x\nid: 1\n\nevent: y\ndata: a\n\n"), []string{"y a"}, nil},
		{"cut in a line", strings.NewReader("data: a\n\ndata: b"), []string{"a"}, io.ErrUnexpectedEOF},
		{"cut before the empty line", strings.NewReader("data: a\n"), nil, io.ErrUnexpectedEOF},
		{"ends with a comment", strings.NewReader("data: a\n\n: bye\n"), []string{"a"}, nil},
		{"broken", io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), []string{"a"}, broken},
	}
	for _, tt := range tests {
		var got []string
		var last error
		for e, err := range Events(tt.r) {
			if err != nil {
				last = err
				continue
			}
			got = append(got, strings.TrimPrefix(e.Type+" "+string(e.Data), " "))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(last, tt.err) {
			t.Errorf("%s: error %v, want %v; events (-want +got):\n%s", tt.name, last, tt.err, diff)
		}
	}
	for e := range Events(strings.NewReader("data: a\n\ndata: b\n\n")) {
		if string(e.Data) != "a" {
			t.Errorf("read on after the end: %q", e.Data)
		}
		break
	}
}
