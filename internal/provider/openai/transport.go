package openai

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/seed-f4525e22/skillopt/model"
)

// newTransport returns a transport for many requests at once to one host: as
// many connections are kept as were ever in use (how many that may be is the
// business of the caller's limits), and a request of usual size is written at
// once. There are no timeouts besides those of connecting: a model may think
// for long, and the context of each call bounds it.
func newTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
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

// stayHere keeps the HTTP client from following redirects: the request carries
// a key, which belongs to one host. The redirect itself becomes the response.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// dress returns what gives a request its final headers and bounds its response.
// Of the SDK's headers only those that matter are kept: the others tell about
// the machine, which is nobody's business, and are a quarter of a small request.
func (c *Client) dress(tags model.Tags, cred credential) option.Middleware {
	return func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		kept := make(http.Header, 8)
		for _, name := range [...]string{"Accept", "Authorization", "Content-Type"} {
			if v := r.Header[name]; v != nil {
				kept[name] = v
			}
		}
		kept["User-Agent"] = []string{"skillopt"}
		if cred.value != "" {
			kept[cred.header] = []string{cred.prefix + cred.value}
		}
		if err := c.headers.Apply(kept, tags); err != nil {
			return nil, &unsendable{err}
		}
		r.Header = kept
		res, err := next(r)
		if err != nil {
			return nil, err
		}
		res.Body = http.MaxBytesReader(nil, res.Body, c.maxBody)
		return res, nil
	}
}

// unsendable is a request that cannot be put into HTTP as it is.
type unsendable struct{ err error }

func (e *unsendable) Error() string { return e.err.Error() }
func (e *unsendable) Unwrap() error { return e.err }
