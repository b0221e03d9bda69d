// Package page fetches pages of the web as text for a model to read. No one vouches for
// what an address leads to: connections go to the internet alone, wherever a redirect
// points, and time, size and kind of what is read are bounded. Nothing but the address is
// sent: no cookies, no keys, no proxy.
//
// It knows nothing of tasks and models, and of who may say which pages are fetched.
package page

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of a page.
const (
	MaxText      = 6000             // characters of its text that are kept
	MaxBody      = 2 << 20          // bytes of it that are read, once they are unpacked
	MaxTime      = 20 * time.Second // from the first request to the end of the text
	MaxRedirects = 3
	maxHeader    = 64 << 10
)

// Page is what was fetched from an address, in the form in which it is recorded.
type Page struct {
	Address string `json:"address"`
	Text    string `json:"text,omitempty"`    // plain, in lines without white space around them
	Omitted int    `json:"omitted,omitempty"` // characters of what was read that are behind Text
	Cut     bool   `json:"cut,omitempty"`     // the page continues after what was read
	Failure string `json:"failure,omitempty"` // why there is no text, in words
}

// Options are the circumstances of fetching. The zero value is the real network.
type Options struct {
	Trusted   []string          // hosts, each with its port, that may have addresses apart from those of the internet
	Transport http.RoundTripper // replaces the network; nil: the real one
}

// Client fetches pages. It is safe for concurrent use.
type Client struct{ http *http.Client }

// New returns a client. It keeps no connections.
func New(o Options) *Client {
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			DialContext: Dialer(MaxTime, o.Trusted...), TLSHandshakeTimeout: MaxTime, ResponseHeaderTimeout: MaxTime,
			MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		}
	}
	return &Client{http: &http.Client{Transport: transport, CheckRedirect: checkRedirect}}
}

// fault is why a page cannot be fetched, in words that say nothing of this machine.
type fault string

func (f fault) Error() string { return string(f) }

const (
	faultTime     fault = "it did not arrive within 20 seconds"
	faultPrivate  fault = "its address is none of the public internet"
	faultScheme   fault = "its address is neither https nor http"
	faultUser     fault = "its address holds a user name"
	faultRedirect fault = "it was redirected more than 3 times"
	faultHost     fault = "its host was not found"
	faultTLS      fault = "its host could not prove who it is"
	faultNetwork  fault = "its host could not be reached, or broke off"
	faultPacked   fault = "it is packed in a way that is not read"
	faultEmpty    fault = "it holds no text"
)

// checkRedirect decides whether a redirect is followed. It drops the Referer.
func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if len(via) > MaxRedirects {
		return faultRedirect
	}
	return checkAddress(r.URL)
}

// checkAddress refuses what an address may not be, as far as it can be seen by itself.
func checkAddress(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return faultScheme
	case u.User != nil: // it would be sent as a login
		return faultUser
	case u.Hostname() == "":
		return faultHost
	}
	return nil
}

// Get fetches a page. Whatever keeps it from being read is given in the page; the error is
// that of ctx.
func (c *Client) Get(ctx context.Context, address string) (Page, error) {
	within, cancel := context.WithTimeoutCause(ctx, MaxTime, faultTime)
	defer cancel()
	p, err := c.get(within, address)
	if ctx.Err() != nil {
		return Page{}, context.Cause(ctx)
	}
	if err != nil {
		p = Page{Failure: toFault(within, err).Error()}
	}
	p.Address = address
	return p, nil
}

func (c *Client) get(ctx context.Context, address string) (Page, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Page{}, fault("its address cannot be read")
	}
	if err := checkAddress(u); err != nil {
		return Page{}, err
	}
	u.Fragment, u.RawFragment = "", ""
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, fault("its address cannot be read")
	}
	r.Header.Set("User-Agent", "skillopt")
	r.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain, application/json")
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := c.http.Do(r)
	if err != nil {
		return Page{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read only
	if resp.StatusCode != http.StatusOK {
		return Page{}, fault(strings.TrimSpace(fmt.Sprintf("its host answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
	}
	return read(resp)
}

// read makes text of an answer.
func read(resp *http.Response) (Page, error) {
	body, err := unpackBody(resp)
	if err != nil {
		return Page{}, err
	}
	data, err := io.ReadAll(io.LimitReader(body, MaxBody+1))
	if err != nil {
		return Page{}, err
	}
	p := Page{Cut: len(data) > MaxBody}
	data = data[:min(len(data), MaxBody)]
	declared := cmp.Or(resp.Header.Get("Content-Type"), http.DetectContentType(data))
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return Page{}, fault("what it holds is not said")
	}
	text := func(s string) string { return s }
	switch kind {
	case "text/html", "application/xhtml+xml":
		text = extractText
	case "text/plain", "application/json":
	default:
		return Page{}, fault(fmt.Sprintf("it is %s, and pages are read of text/html, application/xhtml+xml, text/plain and application/json", kindName(kind)))
	}
	p.Text, p.Omitted = fitText(text(decodeBody(data, declared)))
	if p.Text == "" {
		return Page{}, faultEmpty
	}
	return p, nil
}

var usualKind = pattern.New(`^[a-z]{1,20}/[a-z0-9.+-]{1,60}$`)

// kindName returns a kind of content for a message: a name can be any text.
func kindName(kind string) string {
	if usualKind.MatchString(kind) {
		return kind
	}
	return "of an odd kind"
}

// unpackBody returns the body of an answer. We unpack it ourselves, so that what a server packs
// otherwise than it was asked to is not taken for text.
func unpackBody(resp *http.Response) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, errors.Join(faultPacked, err)
		}
		return z, nil
	}
	return nil, faultPacked
}

// decodeBody returns a body as UTF-8, according to what its header or its beginning says of its characters.
func decodeBody(data []byte, declared string) string {
	if e, _, _ := charset.DetermineEncoding(data, declared); e != nil {
		if text, err := e.NewDecoder().Bytes(data); err == nil {
			data = text
		}
	}
	return wording.Plain(strings.ToValidUTF8(string(data), string(utf8.RuneError)))
}

// fitText squeezes white space, and cuts a text to what is kept of it.
func fitText(text string) (kept string, omitted int) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		if words == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(words)
	}
	text = b.String()
	kept = excerpt(text, MaxText)
	omitted = utf8.RuneCountInString(text[len(kept):])
	return strings.TrimSpace(kept), omitted
}

// excerpt returns the beginning of a text, of at most that many characters.
func excerpt(text string, most int) string {
	n := 0
	for at := range text {
		if n == most {
			return text[:at]
		}
		n++
	}
	return text
}

// toFault says why a page could not be fetched without a word of this machine, its resolver or its
// addresses: a model reads it.
func toFault(ctx context.Context, err error) fault {
	var told fault
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &told):
		return told
	case ctx.Err() != nil:
		return faultTime
	case errors.Is(err, ErrPrivate):
		return faultPrivate
	case errors.As(err, &name):
		return faultHost
	case errors.As(err, &cert):
		return faultTLS
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return faultPacked
	}
	return faultNetwork
}
