package gateway

import (
	"net"
	"net/http"
	"strings"
)

// operation is what a path asks for.
type operation int

const (
	opGenerate operation = iota
	opCount
	opModels
	opModel
)

// route is a path that the gateway serves.
type route struct {
	method string
	path   string // behind the version; that of Gemini ends with its method
	codec  codec
	op     operation
	stream bool
}

func routes() []route {
	chat, responses, messages, gemini := chatCodec(), responsesCodec(), messagesCodec(), geminiCodec()
	return []route{
		{method: http.MethodPost, path: "/chat/completions", codec: chat},
		{method: http.MethodPost, path: "/responses", codec: responses},
		{method: http.MethodPost, path: "/responses/input_tokens", codec: responses, op: opCount},
		{method: http.MethodPost, path: "/messages", codec: messages},
		{method: http.MethodPost, path: "/messages/count_tokens", codec: messages, op: opCount},
		{method: http.MethodPost, path: ":generateContent", codec: gemini},
		{method: http.MethodPost, path: ":streamGenerateContent", codec: gemini, stream: true},
		{method: http.MethodPost, path: ":countTokens", codec: gemini, op: opCount},
	}
}

// call is a route with what its path holds.
type target struct {
	route
	model string
}

// find returns the route of a request. Agents append paths to a base URL with or
// without a version.
func (g *Gateway) find(r *http.Request) (target, bool) {
	path, gemini := trimVersions(r.URL.Path)
	name, isModel := strings.CutPrefix(path, "/models/")
	for _, rt := range g.routes {
		if rt.method != r.Method {
			continue
		}
		if rt.path == path {
			return target{route: rt}, true
		}
		if at := strings.LastIndexByte(name, ':'); isModel && at > 0 && name[at:] == rt.path {
			return target{route: rt, model: name[:at]}, true
		}
	}
	codec := g.speaker(r, path, gemini)
	switch {
	case r.Method != http.MethodGet:
	case path == "/models":
		return target{route: route{codec: codec, op: opModels}}, true
	case isModel && name != "":
		return target{route: route{codec: codec, op: opModel}, model: name}, true
	}
	return target{route: route{codec: codec}}, false
}

// trimVersions returns a path without the versions at its front, and reports whether one of them is Gemini's.
func trimVersions(path string) (string, bool) {
	gemini := false
	for {
		switch {
		case strings.HasPrefix(path, "/v1/"):
			path = path[len("/v1"):]
		case strings.HasPrefix(path, "/v1beta/"), strings.HasPrefix(path, "/v1alpha/"):
			path, gemini = path[strings.IndexByte(path[1:], '/')+1:], true
		default:
			return path, gemini
		}
	}
}

// speaker returns the wire of a request whose path belongs to several wires or to none.
func (g *Gateway) speaker(r *http.Request, path string, gemini bool) codec {
	switch {
	case gemini || r.Header.Get("X-Goog-Api-Key") != "":
		return geminiCodec()
	case r.Header.Get("Anthropic-Version") != "" || strings.HasPrefix(path, "/messages"):
		return messagesCodec()
	case strings.HasPrefix(path, "/responses"):
		return responsesCodec()
	}
	return chatCodec()
}

// requestKey returns the credential of a request, wherever the wires have it.
func requestKey(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		if token = strings.TrimSpace(token); token != "" { // some clients always send the header
			return token
		}
	}
	for _, name := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if v := r.Header.Get(name); v != "" {
			return v
		}
	}
	return r.URL.Query().Get("key")
}

// local reports whether a request names this machine. A page in a browser that
// has its own name resolve to 127.0.0.1 does not.
func local(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return loopback(host)
}
