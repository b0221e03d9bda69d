package wiring

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// A server of one's own gets a bound on its replies, unless max_tokens is one, or a smaller
// one is all that its context leaves.
func TestLocalServersAreBounded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		configured, asked int
		context           int // of the server, in tokens; 0: any
		finish            string
		sent              []int // max_tokens of each request, 0: none
		told              bool
	}{
		"done":                     {finish: "stop", sent: []int{8192}},
		"cut":                      {finish: "length", sent: []int{8192}, told: true},
		"set by the user":          {configured: 40, finish: "length", sent: []int{0}},
		"set by the request":       {asked: 7, finish: "length", sent: []int{7}},
		"more than the context":    {context: 4096, finish: "stop", sent: []int{8192, 0}},
		"named by another server":  {context: 512, finish: "stop", sent: []int{8192, 0}},
		"cut where the context is": {context: 4096, finish: "length", sent: []int{8192, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []int
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					MaxTokens int `json:"max_tokens"`
				}
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				sent = append(sent, body.MaxTokens)
				w.Header().Set("Content-Type", "application/json")
				if tc.context > 0 && body.MaxTokens > tc.context {
					w.WriteHeader(http.StatusBadRequest)
					why := "max_tokens is too large: This model's maximum context length is 4096 tokens"
					if tc.context == 512 {
						why = "`inputs` tokens + `max_new_tokens` must be <= 512"
					}
					_, _ = io.WriteString(w, `{"error":{"message":"`+why+`"}}`)
					return
				}
				_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"`+tc.finish+`","message":{"content":"x"}}]}`)
			}))
			t.Cleanup(srv.Close)
			m := config.Model{Provider: "compatible", Model: "m", BaseURL: srv.URL + "/v1", MaxTokens: tc.configured}
			b, err := Client(model.Target, m, func(string) (string, bool) { return "", false }, Clouds{})
			if err != nil {
				t.Fatal(err)
			}
			var told string
			b.Hear(func(text string) { told += text })
			req := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "q"}}, Sampling: model.Sampling{MaxTokens: tc.asked}}
			if resp, err := b.Client.Generate(t.Context(), req); err != nil || resp.Text != "x" {
				t.Errorf("answered %+v, %v", resp, err)
			}
			if diff := cmp.Diff(tc.sent, sent); diff != "" {
				t.Errorf("max_tokens sent (-want +got):\n%s", diff)
			}
			if strings.Contains(told, "models.target: a reply was cut: without max_tokens") != tc.told {
				t.Errorf("told %q", told)
			}
			if !b.Local {
				t.Error("not taken for a server on this machine")
			}
		})
	}
}

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"http://localhost:8080/v1": true, "http://127.0.0.1:1/v1": true, "http://[::1]:1": true, "http://10.2.3.4/v1": true,
		"http://192.168.0.7:8000/v1": true, "http://gpu-1:8000/v1": true, "http://box.local/v1": true, "http://[fd00::1]/v1": true,
		"https://api.openai.com/v1": false, "http://8.8.8.8/v1": false, "https://local.example.com": false,
	} {
		if got := isPrivate(base); got != want {
			t.Errorf("isPrivate(%s) = %v, want %v", base, got, want)
		}
	}
}
