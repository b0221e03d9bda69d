package header

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

// Endpoint is one server as the errors about it need it: its host, and what must
// not be in messages. It is safe for concurrent use.
type Endpoint struct {
	host  string
	fixed []string
	scrub atomic.Pointer[scrubber]

	mu     sync.Mutex
	recent []string // of the credentials that change, the last
}

// NewEndpoint returns the endpoint of a host. The secrets are blanked in all
// texts of errors; empty ones are left out.
func NewEndpoint(host string, secrets ...string) *Endpoint {
	e := &Endpoint{host: host, fixed: secrets}
	e.scrub.Store(newScrubber(secrets))
	return e
}

// Learn adds a credential that is in use for a while, such as a token that
// lasts an hour. The last four are blanked.
func (e *Endpoint) Learn(secret string) {
	const kept = 4
	e.mu.Lock()
	defer e.mu.Unlock()
	if secret == "" || slices.Contains(e.recent, secret) {
		return
	}
	e.recent = append(e.recent, secret)
	if len(e.recent) > kept {
		e.recent = e.recent[1:]
	}
	e.scrub.Store(newScrubber(slices.Concat(e.fixed, e.recent)))
}

// Learned returns the credentials that Learn has added and that are still blanked.
func (e *Endpoint) Learned() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.recent)
}

// scrubber takes credentials out of a server's words: those of the endpoint however
// they are written, the shortest ones as they are, and what has the shape of a key.
type scrubber struct {
	short *strings.Replacer
	known *redact.Redactor
}

func newScrubber(secrets []string) *scrubber {
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, redact.Mask)
		}
	}
	return &scrubber{short: strings.NewReplacer(pairs...), known: redact.New(secrets...)}
}

func (s *scrubber) text(text string) string { return s.short.Replace(s.known.Text(text)) }

// Host returns the host.
func (e *Endpoint) Host() string { return e.host }

// Fault returns a classified error of this endpoint; status 0 means that there
// was none. The text of err is shown as it is.
func (e *Endpoint) Fault(code model.Code, status int, err error) *model.Error {
	return &model.Error{Code: code, Status: status, Endpoint: e.host, Err: err}
}

// Unsent classifies a request that got no response. What is an Unsendable
// becomes a BadRequest.
func (e *Endpoint) Unsent(ctx context.Context, err error) error {
	if over := model.Interrupted(ctx, e.host); over != nil {
		return over
	}
	var bad *Unsendable
	if errors.As(err, &bad) {
		return e.Fault(model.BadRequest, 0, e.Clean(bad.Err))
	}
	var own *model.Error
	if errors.As(err, &own) {
		return own
	}
	// The URL in net/http's error may hold a credential in its query.
	var about *url.Error
	if errors.As(err, &about) {
		err = about.Err
	}
	if isUntrusted(err) {
		return e.Fault(model.Certificate, 0, fmt.Errorf("the certificate of %s is not trusted: %w; %s", e.host, e.Clean(err), trustAdvice))
	}
	return e.Fault(transportCode(err), 0, e.Clean(err))
}

// Unread classifies a body that broke off.
func (e *Endpoint) Unread(ctx context.Context, status int, err error) error {
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return e.Fault(model.Malformed, status, fmt.Errorf("the body is larger than %d bytes", big.Limit))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return e.Fault(model.Truncated, status, fmt.Errorf("the body ends early: %w", err))
	}
	if over := model.Interrupted(ctx, e.host); over != nil {
		return over
	}
	return e.Fault(transportCode(err), status, fmt.Errorf("read the body: %w", e.Clean(err)))
}

// Clean returns err as it is unless its text holds a credential; then it returns
// an error with the text alone, the credential blanked.
func (e *Endpoint) Clean(err error) error {
	if text := err.Error(); e.scrub.Load().text(text) != text || strings.ContainsAny(text, "\r\n") {
		return errors.New(e.Excerpt(text))
	}
	return err
}

// Excerpt makes text from a server fit for a message: one line, not long,
// without credentials. They are blanked before the text is cut, so that none is cut
// in two and shown in part; of a text that is too long to be read as a whole the end
// is left out that may be the beginning of one.
func (e *Endpoint) Excerpt(text string) string {
	const read, shown = 64 << 10, 300
	scrub := e.scrub.Load()
	whole := strings.Join(strings.Fields(text[:min(len(text), read)]), " ")
	if len(text) > read {
		whole = whole[:scrub.known.Ready(whole)]
	}
	whole = scrub.text(whole)
	if len(whole) > shown {
		whole = whole[:shown] + "..."
	}
	return strings.ToValidUTF8(whole, "?")
}

// transportCode distinguishes a slow network from a broken one. A connection that could
// not be made in time is broken.
func transportCode(err error) model.Code {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return model.Network
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return model.Timeout
	}
	return model.Network
}

// ByStatus gives the class of an HTTP status when nothing else is known; "" for
// one that is no error. A 409 asks for a repeat, not for a change.
func ByStatus(status int) model.Code {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusPaymentRequired:
		return model.Credit
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return model.NotFound
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	case http.StatusRequestTimeout:
		return model.Timeout
	case http.StatusTooManyRequests:
		return model.RateLimit
	case http.StatusServiceUnavailable, 529, http.StatusTooEarly:
		return model.Overloaded
	case http.StatusConflict:
		return model.Server
	}
	switch {
	case status >= 500:
		return model.Server
	case status >= 400:
		return model.BadRequest
	}
	return ""
}

// Unsendable is a request that cannot be put into HTTP as it is.
type Unsendable struct{ Err error }

func (u *Unsendable) Error() string { return u.Err.Error() }
func (u *Unsendable) Unwrap() error { return u.Err }

// NewPost returns a POST of a JSON body with the adapter's own headers, by their canonical
// names, and then the user's. The error is an *Unsendable.
func (s *Set) NewPost(ctx context.Context, to string, body []byte, tags model.Tags, own map[string]string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, &Unsendable{Err: err}
	}
	r.Header["Content-Type"], r.Header["User-Agent"] = []string{"application/json"}, []string{"skillopt"}
	for name, value := range own {
		r.Header[name] = []string{value}
	}
	if err := s.Apply(r.Header, tags); err != nil {
		return nil, &Unsendable{Err: err}
	}
	return r, nil
}

// Send makes a request and returns a response whose status is good and whose body gives at
// most that many bytes. Any other is an error: refused classifies one with an error status.
func (e *Endpoint) Send(client *http.Client, r *http.Request, most int64, refused func(*http.Response) error) (*http.Response, error) {
	res, err := client.Do(r)
	if err != nil {
		return nil, e.Unsent(r.Context(), err)
	}
	res.Body = http.MaxBytesReader(nil, res.Body, most)
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }() // its error changes nothing
	if res.StatusCode < http.StatusBadRequest {
		return nil, e.RedirectError(res)
	}
	return nil, refused(res)
}

// NewTransport returns a transport for many requests at once to one host: as
// many connections are kept as were ever in use (how many that may be is the
// business of the caller's limits). There are no timeouts apart from those of
// connecting: a model may think for long, and the context of each call bounds
// it. proxy is as in http.Transport; nil uses none, not the environment's.
func NewTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
		ForceAttemptHTTP2:   true,
		// With HTTP/2 a dead connection would hold every request until its
		// deadline; pings find it.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     90 * time.Second,
		WriteBufferSize:     32 << 10,
		ReadBufferSize:      8 << 10,
		// Answers are short; compression would cost more time than it saves.
		DisableCompression: true,
	}
}

// ParseBase reads the address of a server. It takes a final slash and the given
// endings of the path off, which users copy along, each once and in this order;
// a query is kept. The error shows no password.
func ParseBase(raw, example string, endings ...string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("base url %q: not a URL: %w", raw, errors.Unwrap(err))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("base url %q: want http:// or https:// and a host, such as %s", raw, example)
	case u.User != nil:
		return nil, fmt.Errorf("base url of %s: user and password are not allowed in it: use the key or a header", u.Host)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	for _, ending := range endings {
		u.Path = strings.TrimSuffix(u.Path, ending)
	}
	u.RawPath, u.Fragment = "", ""
	return u, nil
}

// CheckKey refuses a credential that HTTP cannot carry. The error names what it
// is, and does not show it.
func CheckKey(what, key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%s: holds a space, a line break or another control character: check how it was set", what)
	}
	return nil
}
