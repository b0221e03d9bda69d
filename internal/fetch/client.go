package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/page"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
)

func (b Bounds) withDefaults() Bounds {
	fill(&b.Files, 10_000)
	fill(&b.FileBytes, 64<<30)
	fill(&b.TotalBytes, 512<<30)
	fill(&b.Tries, 6)
	fill(&b.Connect, 30*time.Second)
	fill(&b.Silence, time.Minute)
	fill(&b.MostWait, 10*time.Minute)
	return b
}

func fill[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// client asks servers. It is for one goroutine.
type client struct {
	o          Options
	hf, github *url.URL
	trusted    map[string]bool // hosts with ports
	network    http.RoundTripper
	close      func()
	tell       func(Event)
}

func newClient(o Options) (*client, error) {
	o.Bounds = o.Bounds.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	c := &client{o: o, trusted: map[string]bool{}, network: o.Transport, close: func() {}, tell: func(Event) {}}
	var err error
	if c.hf, err = c.base(o.HFBase, "https://huggingface.co"); err != nil {
		return nil, err
	}
	if c.github, err = c.base(o.GitHubBase, "https://api.github.com"); err != nil {
		return nil, err
	}
	for _, host := range o.Trusted {
		for _, scheme := range []string{"http", "https"} {
			c.trusted[hostPort(&url.URL{Scheme: scheme, Host: host})] = true
		}
	}
	if c.network == nil {
		n := newNetwork(c)
		c.network, c.close = n, n.close
	}
	return c, nil
}

// base reads an address below which something is asked for. One that somebody has given is
// trusted.
func (c *client) base(given, usual string) (*url.URL, error) {
	if given == "" {
		return url.Parse(usual + "/")
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, &Error{Msg: fmt.Sprintf("%s is no address of a server: https://host is needed", plainURL(given)), Err: ErrSource}
	}
	c.trusted[hostPort(u)] = true
	return u.JoinPath("/"), nil
}

// hostPort returns the host of an address with its port.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// network is the real one. An address is looked at when it is connected to, so that a name
// cannot mean one address when it is looked at and another one then.
type network struct {
	proxy            func(*http.Request) (*url.URL, error)
	direct, throughP *http.Transport
}

func newNetwork(c *client) *network {
	open := &net.Dialer{Timeout: c.o.Bounds.Connect}
	transport := func() *http.Transport {
		return &http.Transport{
			TLSHandshakeTimeout: c.o.Bounds.Connect, ResponseHeaderTimeout: c.o.Bounds.Connect, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 1 << 20, ForceAttemptHTTP2: true, DialContext: open.DialContext,
		}
	}
	n := &network{proxy: c.o.Proxy, direct: transport(), throughP: transport()}
	n.direct.DialContext = page.Dialer(c.o.Bounds.Connect, slices.Collect(maps.Keys(c.trusted))...)
	n.throughP.Proxy = c.o.Proxy
	return n
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.proxy != nil {
		via, err := n.proxy(r)
		if err != nil {
			return nil, err
		}
		if via != nil {
			return n.throughP.RoundTrip(r)
		}
	}
	return n.direct.RoundTrip(r)
}

func (n *network) close() {
	n.direct.CloseIdleConnections()
	n.throughP.CloseIdleConnections()
}

// request is one question to a server.
type request struct {
	url    *url.URL
	token  string   // "": none
	base   *url.URL // whose host gets the token
	header http.Header
	source Source // for errors
	origin string // the same: of the file, "" for a list
}

func (r request) name() string {
	if r.origin != "" {
		return r.origin
	}
	return r.source.String()
}

// errTry wraps what may be otherwise the next time.
var errTry = errors.New("try again")

// ask sends a request until there is an answer that is one, and has use read it. What use
// returns ends it, unless it wraps errTry.
func (c *client) ask(ctx context.Context, r request, use func(*http.Response) error) error {
	for try := 1; ; try++ {
		pause, err := c.sendOnce(ctx, r, use)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("fetch %s: %w", r.name(), context.Cause(ctx))
		case !errors.Is(err, errTry):
			return err
		case try >= c.o.Bounds.Tries:
			return c.finalError(r, try, err)
		case pause > c.o.Bounds.MostWait:
			return &Error{Origin: r.name(), Err: ErrBusy, Msg: fmt.Sprintf("%s asks to wait %s: fetch again then; what is here stays", r.url.Host, pause.Round(time.Second))}
		}
		if pause == 0 {
			pause = backoff(try)
		}
		c.tell(Event{Kind: Waiting, File: File{Origin: r.name()}, Total: -1, Wait: pause, Err: err})
		if err := c.o.Wait(ctx, pause); err != nil {
			return fmt.Errorf("fetch %s: %w", r.name(), err)
		}
	}
}

// backoff returns how long to wait after a try that failed, when no one says: 1 s, 2 s, 4 s and so
// on.
func backoff(try int) time.Duration { return min(time.Second<<min(try-1, 10), time.Minute) }

// finalError returns the error of a request that is given up.
func (c *client) finalError(r request, tries int, err error) error {
	kind := ErrTransport
	for _, k := range []error{ErrBusy, ErrCut} {
		if errors.Is(err, k) {
			kind = k
		}
	}
	var own *Error
	if errors.As(err, &own) {
		return &Error{Origin: own.Origin, Path: own.Path, Msg: own.Msg, Err: errors.Join(kind, own.Err)}
	}
	return &Error{Origin: r.name(), Err: errors.Join(kind, err), Msg: fmt.Sprintf("%s is not reached, in %d tries: %v", r.url.Host, tries, reason(err))}
}

// reason returns what the last of joined errors says, without what may be secret in addresses.
func reason(err error) string {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			break
		}
		list := joined.Unwrap()
		err = list[len(list)-1]
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return err.Error()
}

// sendOnce sends a request and follows where it is sent on to. pause is how long the server asks
// to wait.
func (c *client) sendOnce(ctx context.Context, r request, use func(*http.Response) error) (pause time.Duration, err error) {
	ctx, watch := header.NewWatch(ctx, c.o.Bounds.Silence)
	defer watch.Stop()
	res, err := c.follow(ctx, r)
	if err != nil {
		return 0, err
	}
	res.Body = watch.Body(res.Body)
	defer func() { _ = res.Body.Close() }() // what was wanted of it is read
	if pause, err := c.judge(r, res); err != nil {
		return pause, err
	}
	if err = use(res); err != nil && watch.Idle() != nil {
		err = errors.Join(err, watch.Idle())
	}
	return 0, err
}

// mostRedirects is how often a request is sent on.
const mostRedirects = 8

// follow sends a request, without the token wherever it is sent on to: what a redirect names
// is no longer the host that the token is for, whichever host it is.
func (c *client) follow(ctx context.Context, r request) (*http.Response, error) {
	at, seen := r.url, map[string]bool{}
	for range mostRedirects {
		if err := c.checkAddress(r, at, len(seen) > 0); err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, &Error{Origin: r.name(), Err: ErrSource, Msg: "an address that is none"}
		}
		for name, values := range r.header {
			req.Header[name] = values
		}
		req.Header.Set("User-Agent", "skillopt")
		if r.token != "" && len(seen) == 0 && at.Scheme == r.base.Scheme && at.Host == r.base.Host {
			req.Header.Set("Authorization", "Bearer "+r.token)
		}
		res, err := c.network.RoundTrip(req)
		if err != nil {
			return nil, c.networkError(r, at, err)
		}
		if res.StatusCode < 300 || res.StatusCode > 399 || res.StatusCode == http.StatusNotModified {
			return res, nil
		}
		next, err := res.Location()
		_ = res.Body.Close() // nothing is wanted of it
		if err != nil {
			return nil, &Error{Origin: r.name(), Err: ErrRedirect, Msg: fmt.Sprintf("%s sends elsewhere (status %d) and does not say where", at.Host, res.StatusCode)}
		}
		seen[at.String()] = true
		if seen[next.String()] {
			return nil, &Error{Origin: r.name(), Err: ErrRedirect, Msg: fmt.Sprintf("it is sent round in a circle, by %s again", plainURL(next.String()))}
		}
		at = next
	}
	return nil, &Error{Origin: r.name(), Err: ErrRedirect, Msg: fmt.Sprintf("it is sent on more than %d times, the last time to %s", mostRedirects, plainURL(at.String()))}
}

// checkAddress refuses addresses that are not spoken to.
func (c *client) checkAddress(r request, u *url.URL, sentOn bool) error {
	kind, what := ErrSource, "its address"
	if sentOn {
		kind, what = ErrRedirect, "it is sent on to an address that"
	}
	bad := func(why string) error {
		return &Error{Origin: r.name(), Err: kind, Msg: fmt.Sprintf("%s %s: %s", what, why, plainURL(u.String()))}
	}
	ip, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]"))
	local := err == nil && !page.Public(ip) || strings.EqualFold(u.Hostname(), "localhost") || strings.HasSuffix(strings.ToLower(u.Hostname()), ".localhost")
	switch {
	case u.User != nil:
		return bad("has a user in it")
	case u.Scheme != "https" && u.Scheme != "http":
		return bad("is neither https nor http")
	case c.trusted[hostPort(u)]:
		return nil
	case u.Scheme != "https":
		return bad("is plain HTTP, by which anybody on the way can change what comes")
	case local:
		return bad("is private")
	}
	return nil
}

// networkError returns an error for what the network says.
func (c *client) networkError(r request, at *url.URL, err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, page.ErrPrivate):
		return &Error{Origin: r.name(), Err: errors.Join(ErrRedirect, page.ErrPrivate), Msg: fmt.Sprintf("%s has an address that is private, which is not spoken to", at.Host)}
	case errors.As(err, &certificate):
		return &Error{Origin: r.name(), Err: errors.Join(ErrTransport, err), Msg: fmt.Sprintf("the certificate of %s is not valid: %v", at.Host, certificate.Err)}
	}
	return errors.Join(errTry, err)
}

// judge makes errors of answers that are none.
func (c *client) judge(r request, res *http.Response) (pause time.Duration, err error) {
	bad := func(kind error, format string, args ...any) error {
		return &Error{Origin: r.name(), Err: kind, Msg: fmt.Sprintf(format, args...)}
	}
	switch s := res.StatusCode; {
	case s == http.StatusOK, s == http.StatusPartialContent, s == http.StatusRequestedRangeNotSatisfiable && r.header.Get("Range") != "":
		return 0, nil
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500, s == http.StatusForbidden && isRateLimited(res.Header):
		_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
		return header.Wait(res.Header, c.o.Now()), errors.Join(errTry, bad(ErrBusy, "%s does not answer (status %d), in %d tries: fetch again later; what is here stays", r.url.Host, s, c.o.Bounds.Tries))
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return 0, bad(ErrGated, "%s", accessHelp(r, s))
	case s == http.StatusNotFound, s == http.StatusGone:
		return 0, bad(ErrNotFound, "%s does not have it (status %d): is it spelled as there, and was it taken away?", r.url.Host, s)
	default:
		return 0, bad(ErrAnswer, "%s answers with status %d", r.url.Host, s)
	}
}

// isRateLimited reports whether a 403 is one of GitHub's for too many requests.
func isRateLimited(h http.Header) bool {
	return h.Get("X-Ratelimit-Remaining") == "0" || h.Get("Retry-After") != ""
}

// accessHelp says what helps where a server wants to know who asks.
func accessHelp(r request, status int) string {
	switch {
	case r.source.HF != "" && r.token == "":
		return fmt.Sprintf("Hugging Face gives it only to known users (status %d): agree to its licence at https://huggingface.co/datasets/%s, make a token that may read at https://huggingface.co/settings/tokens, and set HF_TOKEN to it; or there is no data set of this name", status, r.source.HF)
	case r.source.HF != "":
		return fmt.Sprintf("the token in HF_TOKEN may not read it (status %d): agree to its licence at https://huggingface.co/datasets/%s with the account of the token", status, r.source.HF)
	case r.source.GitHub != "" && r.token == "":
		return fmt.Sprintf("GitHub gives it only to known users (status %d): set GITHUB_TOKEN", status)
	case r.source.GitHub != "":
		return fmt.Sprintf("the token in GITHUB_TOKEN may not read it (status %d)", status)
	}
	return fmt.Sprintf("%s does not give it away (status %d): download it by hand", r.url.Host, status)
}
