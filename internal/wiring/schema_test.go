package wiring

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// A server at an address of the user's own is asked for a schema by the form of
// the provider that the config names. One that refuses it is told of once.
func TestSchemaElsewhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		structured string
		refuses    bool
		sent       int // requests with a schema
		told       bool
	}{"taken": {"auto", false, 2, false}, "refused": {"auto", true, 1, true}, "off": {"off", true, 0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(body), `"json_schema"`) {
					if sent++; tc.refuses {
						w.WriteHeader(http.StatusBadRequest)
						_, _ = io.WriteString(w, `{"error":{"message":"not supported","param":"response_format"}}`)
						return
					}
				}
				_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}]}`)
			}))
			t.Cleanup(srv.Close)
			none := ""
			m := config.Model{Provider: "openai", Model: "m", BaseURL: srv.URL + "/v1", APIKeyEnv: &none, Structured: tc.structured}
			b, err := Client(model.Optimizer, m, func(string) (string, bool) { return "", false }, Clouds{})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			b.Hear(func(text string) { told = append(told, text) })
			req := model.Request{
				Model: "m", Messages: []model.Message{{Role: model.User, Content: "q"}}, Schema: &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object"}`)},
			}
			for range 2 {
				if _, err := b.Client.Generate(t.Context(), req); err != nil {
					t.Error(err)
				}
			}
			if sent != tc.sent || len(told) > 0 != tc.told {
				t.Errorf("%d requests with a schema, told %q", sent, told)
			}
			if tc.told && !strings.HasPrefix(told[0], "models.optimizer: ") {
				t.Errorf("told %q", told)
			}
		})
	}
}
