package header

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed-f4525e22/skillopt/model"
)

// mostRedirects is how many redirects of one request are followed.
const mostRedirects = 3

// StayHere has an HTTP client follow only redirects that send the same request to
// the same server again (307 and 308 within a host): the request carries a
// key, which belongs to one host, and a body, which 301 to 303 would drop. Any
// other redirect becomes the response.
func StayHere(next *http.Request, before []*http.Request) error {
	first := before[0]
	if len(before) > mostRedirects || next.Method != first.Method || !sameServer(first.URL, next.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

// sameServer reports whether a key for one address may be sent to another: one of
// the same scheme, host and port, or the same host by TLS at the usual ports.
func sameServer(from, to *url.URL) bool {
	if to.User != nil {
		return false
	}
	if from.Scheme == to.Scheme && from.Host == to.Host {
		return true
	}
	usual := func(u *url.URL, port string) bool { return u.Port() == "" || u.Port() == port }
	return from.Scheme == "http" && to.Scheme == "https" && from.Hostname() == to.Hostname() && usual(from, "80") && usual(to, "443")
}

// RedirectError returns the error of a redirect that was not followed (see StayHere). It names
// where to, without what may be secret there: user, query and fragment.
func (e *Endpoint) RedirectError(res *http.Response) error {
	where := "elsewhere"
	if to, err := res.Location(); err == nil {
		where = "to " + to.Scheme + "://" + to.Host + to.EscapedPath()
	}
	return e.Fault(model.Redirect, res.StatusCode,
		fmt.Errorf("the server redirects %s, which is not followed, so that the key stays with its host: set base_url to the final address", e.Excerpt(where)))
}
