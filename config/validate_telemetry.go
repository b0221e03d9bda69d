package config

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	receivers   = "the URL of an OTLP/HTTP receiver, such as http://localhost:4318, without user, query or fragment"
	headerNames = "names of HTTP headers, with values of one line"
)

// telemetry checks where traces and metrics go. An address is not repeated when it
// holds a user: the password may be next to it.
func (d *decoder) telemetry(t Telemetry) {
	if t.Endpoint != "" {
		u, err := url.Parse(t.Endpoint)
		switch {
		case err != nil:
			d.fail("telemetry.endpoint", "no URL", receivers, "")
		case u.User != nil || u.RawQuery != "":
			d.fail("telemetry.endpoint", "a URL with a user or a query", receivers, "put credentials into telemetry.headers")
		case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "":
			d.fail("telemetry.endpoint", strconv.Quote(t.Endpoint), receivers, "")
		}
	}
	for _, name := range sortedKeys(anyMap(t.Headers)) {
		if !headerName(name) || strings.ContainsAny(t.Headers[name], "\r\n") {
			d.fail("telemetry.headers", strconv.Quote(name), headerNames, "")
		}
	}
	if t.Service == "" {
		d.fail("telemetry.service", `""`, "a name", "")
	}
}

// headerName reports whether net/http would send a header of this name.
func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) && !strings.EqualFold(name, "Host") && http.CanonicalHeaderKey(name) != "Content-Length"
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
