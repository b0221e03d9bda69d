package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/page"
)

// served answers every request in one way.
func served(kind, body string, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil // nothing is guessed
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		for i := 0; i+1 < len(more); i += 2 {
			w.Header().Set(more[i], more[i+1])
		}
		_, _ = io.WriteString(w, body)
	}
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

func status(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
}

func TestGet(t *testing.T) {
	t.Parallel()
	const notRead = ", and pages are read of text/html, application/xhtml+xml, text/plain and application/json"
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    page.Page
	}{
		"html":               {served("text/html; charset=utf-8", "<title>A &amp; B</title><p>One<b>two</b><p>three"), page.Page{Text: "A & B\nOnetwo\nthree"}},
		"xhtml":              {served("application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body>x&#8217;s<br/>y</body></html>`), page.Page{Text: "x\u2019s\ny"}},
		"plain text":         {served("text/plain", "a <b>\t c\r\n\r\n\r\nd \n"), page.Page{Text: "a <b> c\nd"}},
		"json":               {served("application/json", `{"a": [1,  2]}`), page.Page{Text: `{"a": [1, 2]}`}},
		"kind is not said":   {served("", "<!doctype html><p>x"), page.Page{Text: "x"}},
		"odd letters":        {served("TEXT/HTML", "x"), page.Page{Text: "x"}},
		"latin by header":    {served("text/plain; charset=iso-8859-1", "caf\xe9"), page.Page{Text: "café"}},
		"latin by meta":      {served("text/html", `<meta charset="windows-1252"><p>caf`+"\xe9 \x80"), page.Page{Text: "café €"}},
		"japanese":           {served("text/html; charset=Shift_JIS", "\x93\xfa\x96\x7b"), page.Page{Text: "日本"}},
		"utf-16":             {served("text/plain", "\xff\xfeh\x00i\x00"), page.Page{Text: "hi"}},
		"broken utf-8":       {served("text/plain; charset=utf-8", "a\xffb\xc3"), page.Page{Text: "a\ufffdb\ufffd"}},
		"unknown characters": {served("text/plain; charset=klingon", "abc"), page.Page{Text: "abc"}},
		"steers a terminal":  {served("text/plain", "a\x1b[31mb\x00\u202ec\U000e0041"), page.Page{Text: "a[31mbc"}},
		"packed":             {served("text/plain", packed("hello"), "Content-Encoding", "gzip"), page.Page{Text: "hello"}},
		"long":               {served("text/plain", strings.Repeat("é", page.MaxText+7)), page.Page{Text: strings.Repeat("é", page.MaxText), Omitted: 7}},
		"bomb":               {served("text/plain", packed(strings.Repeat("0", 64<<20)), "Content-Encoding", "gzip"), page.Page{Text: strings.Repeat("0", page.MaxText), Omitted: page.MaxBody - page.MaxText, Cut: true}},
		"blank":              {served("text/html", "<script>x</script> "), page.Page{Failure: "it holds no text"}},
		"nothing":            {served("text/html", ""), page.Page{Failure: "it holds no text"}},
		"picture":            {served("image/png", "x"), page.Page{Failure: "it is image/png" + notRead}},
		"program":            {served("application/octet-stream", "x"), page.Page{Failure: "it is application/octet-stream" + notRead}},
		"kind that steers":   {served("text/x"+strings.Repeat("y", 100), "x"), page.Page{Failure: "it is of an odd kind" + notRead}},
		"kind that tells":    {served("```/ignore-what-was-said", "x"), page.Page{Failure: "it is of an odd kind" + notRead}},
		"broken kind":        {served(";;", "x"), page.Page{Failure: "what it holds is not said"}},
		"odd packing":        {served("text/plain", "x", "Content-Encoding", "br"), page.Page{Failure: "it is packed in a way that is not read"}},
		"packed twice":       {served("text/plain", "x", "Content-Encoding", "gzip, gzip"), page.Page{Failure: "it is packed in a way that is not read"}},
		"not really packed":  {served("text/plain", "plain text for sure", "Content-Encoding", "gzip"), page.Page{Failure: "it is packed in a way that is not read"}},
		"missing":            {status(404), page.Page{Failure: "its host answered 404 Not Found"}},
		"refused":            {status(403), page.Page{Failure: "its host answered 403 Forbidden"}},
		"no content":         {status(204), page.Page{Failure: "its host answered 204 No Content"}},
		"invented status":    {status(799), page.Page{Failure: "its host answered 799"}},
		"large headers":      {served("text/plain", "x", "X", strings.Repeat("y", 100<<10)), page.Page{Failure: "its host could not be reached, or broke off"}},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		}, page.Page{Failure: "its host could not be reached, or broke off"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			tt.want.Address = s.URL + "/x"
			got, err := page.New(page.Options{Trusted: []string{s.Listener.Addr().String()}}).Get(t.Context(), tt.want.Address)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !utf8.ValidString(got.Text) {
				t.Error("the text is not UTF-8")
			}
		})
	}
}

// Nothing leads to an address that is none of the internet, and nothing but the address is
// told to those that are.
func TestRedirects(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached <- struct{}{}
		_, _ = io.WriteString(w, "secret")
	}))
	defer secret.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(secret.URL, "http://"), ":")
	headers := make(chan http.Header, 8)
	mux := http.NewServeMux()
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		_, _ = io.WriteString(w, "the end")
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Location", r.URL.Query().Get("at"))
		w.WriteHeader(http.StatusFound)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	to := func(at string) string { return s.URL + "/to?at=" + url.QueryEscape(at) }
	const private = "its address is none of the public internet"
	for name, tt := range map[string]struct{ address, text, failure string }{
		"one":             {to("/end"), "the end", ""},
		"three":           {to(to(to("/end"))), "the end", ""},
		"four":            {to(to(to(to("/end")))), "", "it was redirected more than 3 times"},
		"circle":          {s.URL + "/to?at=", "", ""},
		"loopback":        {to(secret.URL), "", private},
		"behind another":  {to(to(secret.URL)), "", private},
		"by name":         {to("http://localhost:" + port), "", private},
		"mapped":          {to("http://[::ffff:127.0.0.1]:" + port), "", private},
		"own network":     {to("http://192.168.0.1/"), "", private},
		"metadata":        {to("http://169.254.169.254/latest/meta-data/"), "", private},
		"directly":        {secret.URL, "", private},
		"a file":          {to("file:///etc/passwd"), "", "its address is neither https nor http"},
		"another scheme":  {"ftp://example.org/", "", "its address is neither https nor http"},
		"a login":         {"http://me:key@example.org/", "", "its address holds a user name"},
		"to a login":      {to("http://me:key@" + strings.TrimPrefix(s.URL, "http://") + "/end"), "", "its address holds a user name"},
		"no host":         {"http:///x", "", "its host was not found"},
		"no address":      {"http://%zz", "", "its address cannot be read"},
		"control in it":   {"http://a\x7f/", "", "its address cannot be read"},
		"port of another": {"http://127.0.0.1:1/", "", private},
	} {
		got, err := page.New(page.Options{Trusted: []string{s.Listener.Addr().String()}}).Get(t.Context(), tt.address)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case name == "circle":
			if got.Failure == "" {
				t.Error("a circle ends in a page")
			}
		case got.Text != tt.text || got.Failure != tt.failure:
			t.Errorf("%s: %+v", name, got)
		}
	}
	select {
	case <-reached:
		t.Error("a private server was reached")
	default:
	}
	for range len(headers) {
		h := <-headers
		for _, name := range []string{"Cookie", "Referer", "Authorization", "Proxy-Authorization"} {
			if h.Get(name) != "" {
				t.Errorf("%s: %s was sent", name, h.Get(name))
			}
		}
		if h.Get("User-Agent") != "skillopt" {
			t.Errorf("User-Agent: %s", h.Get("User-Agent"))
		}
	}
}

func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(served("text/plain", "x"))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	got, err := page.New(page.Options{Trusted: []string{s.Listener.Addr().String()}}).Get(t.Context(), s.URL)
	if err != nil || got.Failure != "its host could not prove who it is" {
		t.Errorf("%+v, %v", got, err)
	}
}

// slow is a server that sends a byte now and then, for ever.
type slow struct {
	each time.Duration
	ctx  context.Context
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(slow{s.each, r.Context()}), Request: r}, nil
}

func (s slow) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.each):
		p[0] = 'x'
		return 1, nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// A page has 20 seconds in all, however it dawdles, and a run that ends does not wait for it.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := page.New(page.Options{Transport: slow{each: time.Second}}).Get(t.Context(), "http://example.org/")
		if took := time.Since(began); err != nil || took != page.MaxTime || got.Failure != "it did not arrive within 20 seconds" {
			t.Errorf("after %s: %+v, %v", took, got, err)
		}
		over := errors.New("the run ends")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, over)
		defer cancel()
		began = time.Now()
		got, err = page.New(page.Options{Transport: slow{each: time.Second}}).Get(ctx, "http://example.org/")
		if took := time.Since(began); !errors.Is(err, over) || took != 3*time.Second || got != (page.Page{}) {
			t.Errorf("after %s: %+v, %v", took, got, err)
		}
	})
}
