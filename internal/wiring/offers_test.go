package wiring_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// What a server on this machine calls its models is offered where it is a word, and nothing else of it.
func TestLocalServersOfferModels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		ids    []string
		body   string
		want   []string
	}{
		"models":     {200, []string{"qwen2.5-coder:1.5b", "/models/a b.gguf", "org/name@v1"}, "", []string{"qwen2.5-coder:1.5b", "org/name@v1"}},
		"hostile":    {200, []string{"x\x1b[2J", "a\n  optimizer: {provider: openai}", strings.Repeat("x", 5000), ""}, "", nil},
		"many":       {200, strings.Fields("a b c d e f g"), "", strings.Fields("a b c d e")},
		"no list":    {200, nil, "<html>", nil},
		"no such":    {404, []string{"a"}, "", nil},
		"an endless": {200, nil, `{"data":[{"id":"` + strings.Repeat("y", 2<<20) + `"}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				if tc.body != "" {
					_, _ = w.Write([]byte(tc.body)) // the client may have gone
					return
				}
				list := []map[string]string{}
				for _, id := range tc.ids {
					list = append(list, map[string]string{"id": id})
				}
				_ = json.NewEncoder(w).Encode(map[string]any{"data": list}) // the client may have gone
			}))
			defer server.Close()
			var got, want []string
			for _, o := range (wiring.LocalServer{Title: "a server", Base: server.URL + "/v1"}).Offers(t.Context()) {
				got = append(got, o.Target)
			}
			for _, id := range tc.want {
				want = append(want, id+"@"+server.URL+"/v1")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
