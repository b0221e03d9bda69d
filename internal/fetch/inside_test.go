package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/page"
)

func TestNextPage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`<https://x/a?cursor=1>; rel="next"`:                 "https://x/a?cursor=1",
		`<https://x/a>; rel="prev", <https://x/b>; rel=next`: "https://x/b",
		`</c>; title="x"; REL="Next"`:                        "/c",
		`<https://x/a>; rel="last"`:                          "",
		``:                                                   "", `<`: "", `>;rel=next`: "", `<>; rel=next`: "",
	} {
		if got := nextPage([]string{header}); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
}

func TestContentRange(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][3]any{
		"bytes 5-9/10": {int64(5), int64(10), true}, "bytes 0-1/*": {int64(0), int64(-1), true}, "bytes */7": {int64(-1), int64(7), true},
		"": {nil, nil, false}, "bytes x-1/2": {nil, nil, false}, "items 0-1/2": {nil, nil, false}, "bytes 1-2": {nil, nil, false}, "bytes 0-1/x": {nil, nil, false},
	} {
		from, size, err := contentRange(header)
		if (err == nil) != want[2].(bool) || err == nil && (from != want[0] || size != want[1]) {
			t.Errorf("%q: %d, %d, %v", header, from, size, err)
		}
	}
}

// TestFullDisk: what could not be written is said with the room that is needed.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	file := File{Origin: "o", Path: "p", Size: 5}
	d := &download{fetcher: &fetcher{client: &client{}, dir: "data"}, file: file, out: full, sums: newSums(file)}
	err = d.copy(t.Context(), strings.NewReader("12345"), 5)
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "fetch o: no space left on device after 0 bytes of 5: make room in data and fetch again; what is here is kept" {
		t.Errorf("got %v", err)
	}
}

// TestPrivateAddressesAreNotConnectedTo, whatever a name said when it was looked at, but those
// of trusted hosts and of a proxy.
func TestPrivateAddressesAreNotConnectedTo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Host+r.URL.Path) // of a request to a proxy this is where it is to go
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func(o Options, address string) (string, error) {
		c, err := newClient(o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.network.RoundTrip(req)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(res.Body)
		return string(body), errors.Join(err, res.Body.Close())
	}
	if _, err := get(Options{}, server.URL); !errors.Is(err, page.ErrPrivate) {
		t.Errorf("connected: %v", err)
	}
	if got, err := get(Options{Trusted: []string{at.Host}}, server.URL+"/x"); err != nil || got != at.Host+"/x" {
		t.Errorf("trusted: %q, %v", got, err)
	}
	proxy := func(*http.Request) (*url.URL, error) { return at, nil }
	if got, err := get(Options{Proxy: proxy}, "http://hub.example/y"); err != nil || got != "hub.example/y" {
		t.Errorf("by a proxy: %q, %v", got, err)
	}
	none := func(*http.Request) (*url.URL, error) { return nil, nil }
	if _, err := get(Options{Proxy: none}, server.URL); !errors.Is(err, page.ErrPrivate) {
		t.Errorf("by no proxy: %v", err)
	}
}
