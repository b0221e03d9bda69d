package modeltest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// testKey is long and unlike any other text, so that a leak is seen.
const testKey = "sk-test-7f3c9a51e2b84d06"

func question(text string) model.Request {
	return model.Request{Model: "m-1", Messages: []model.Message{{Role: model.User, Content: text}}}
}

// sent makes one call and returns what the server saw of it.
func sent(t *testing.T, h Harness, s Settings, req model.Request) Seen {
	t.Helper()
	srv := reply(t, h, Reply{Text: "fine", Finish: model.FinishStop})
	s.URL = srv.URL
	if _, err := h.New(t, s).Generate(t.Context(), req); err != nil {
		t.Fatalf("Generate: %v", err)
	}
	return srv.only(t)
}

func testRequests(t *testing.T, h Harness) {
	t.Run("conversation", func(t *testing.T) { testConversation(t, h) })
	t.Run("sampling", func(t *testing.T) { testSampling(t, h) })
	t.Run("defaults", func(t *testing.T) { testDefaults(t, h) })
	t.Run("schema", func(t *testing.T) { testSchema(t, h) })
	t.Run("headers", func(t *testing.T) { testHeaders(t, h) })
	t.Run("key", func(t *testing.T) { testKeys(t, h) })
}

func testConversation(t *testing.T, h Harness) {
	tests := map[string][]model.Message{
		"user": {{Role: model.User, Content: "What is 2+2?"}},
		"system and user": {
			{Role: model.System, Content: "# Skill\r\nUse <answer> & \"quotes\" \\ \t tabs."},
			{Role: model.User, Content: "Füße, 水, 🙂, \u2028, \u0007"},
		},
		"re-ask": {
			{Role: model.System, Content: "s"},
			{Role: model.User, Content: "u1"},
			{Role: model.Assistant, Content: "a1"},
			{Role: model.User, Content: "u2"},
		},
	}
	for name, messages := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := sent(t, h, Settings{Key: testKey}, model.Request{Model: "m-1", Messages: messages})
			if diff := cmp.Diff(messages, seen.Messages); diff != "" {
				t.Errorf("messages (-sent +seen):\n%s", diff)
			}
			if seen.Model != "m-1" {
				t.Errorf("model = %q, want m-1", seen.Model)
			}
		})
	}
}

func testSampling(t *testing.T, h Harness) {
	t.Parallel()
	zero, p, seed := 0.0, 0.25, int64(1)<<31-1
	req := question("q")
	req.Sampling = model.Sampling{Temperature: &zero, TopP: &p, MaxTokens: 321, ReasoningEffort: "low", Seed: &seed}
	seen := sent(t, h, Settings{}, req)
	if diff := cmp.Diff(&zero, seen.Temperature); diff != "" {
		t.Errorf("temperature (-sent +seen): a zero must be sent too\n%s", diff)
	}
	if diff := cmp.Diff(&p, seen.TopP); !h.Lacks.TopP && diff != "" {
		t.Errorf("top_p (-sent +seen):\n%s", diff)
	}
	if seen.MaxTokens != 321 {
		t.Errorf("max tokens = %d, want 321", seen.MaxTokens)
	}
	if !h.Lacks.Effort && seen.Effort != "low" {
		t.Errorf("reasoning effort = %q, want low", seen.Effort)
	}
	if diff := cmp.Diff(&seed, seen.Seed); !h.Lacks.Seed && diff != "" {
		t.Errorf("seed (-sent +seen):\n%s", diff)
	}
}

func testDefaults(t *testing.T, h Harness) {
	t.Parallel()
	seen := sent(t, h, Settings{}, question("q"))
	if seen.Temperature != nil || seen.TopP != nil || seen.Seed != nil || seen.Effort != "" || seen.Schema != nil {
		t.Errorf("what was not set was sent: %+v", seen)
	}
	if !h.Lacks.TokenDefault && seen.MaxTokens != 0 {
		t.Errorf("max tokens = %d, want it absent", seen.MaxTokens)
	}
}

func testSchema(t *testing.T, h Harness) {
	if h.Lacks.Schema {
		t.Skip("the protocol has no schemas")
	}
	schema := `{"type":"object","properties":{"edits":{"type":"array","items":{"type":"string"}}},"required":["edits"]}`
	req := question("q")
	req.Schema = &model.Schema{Name: "patch", JSON: json.RawMessage(schema)}
	t.Run("sent", func(t *testing.T) {
		t.Parallel()
		var got, want any
		if err := json.Unmarshal(sent(t, h, Settings{Structured: true}, req).Schema, &got); err != nil {
			t.Fatalf("the server saw no schema: %v", err)
		}
		if err := json.Unmarshal([]byte(schema), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("schema (-sent +seen):\n%s", diff)
		}
	})
	t.Run("not for a server without", func(t *testing.T) {
		t.Parallel()
		if seen := sent(t, h, Settings{}, req); seen.Schema != nil {
			t.Errorf("schema %s was sent", seen.Schema)
		}
	})
	t.Run("not without one", func(t *testing.T) {
		t.Parallel()
		if seen := sent(t, h, Settings{Structured: true}, question("q")); seen.Schema != nil {
			t.Errorf("schema %s was sent", seen.Schema)
		}
	})
}

func testHeaders(t *testing.T, h Harness) {
	t.Parallel()
	req := question("q")
	req.Tags = model.Tags{Stage: model.StageAnalystError, Role: model.Optimizer, Run: "codewords-3"}
	seen := sent(t, h, Settings{Headers: map[string]string{
		"X-Stage": "{{stage}}",
		"x-tag":   "{{run}}/{{role}}",
		"X-Team":  "blue",
	}}, req)
	want := map[string]string{"X-Stage": "analyst_error", "X-Tag": "codewords-3/optimizer", "X-Team": "blue"}
	for name, value := range want {
		if got := seen.Header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("header %s = %q, want %q once", name, got, value)
		}
	}
}

func testKeys(t *testing.T, h Harness) {
	t.Run("sent", func(t *testing.T) {
		t.Parallel()
		if seen := sent(t, h, Settings{Key: testKey}, question("q")); seen.Key != testKey {
			t.Errorf("the server saw key %q, want %q", seen.Key, testKey)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if seen := sent(t, h, Settings{}, question("q")); seen.Key != "" || seen.Header.Get("Authorization") != "" {
			t.Errorf("without a key the server saw one: %q", seen.Key)
		}
	})
	t.Run("not for another host", func(t *testing.T) { testRedirect(t, h) })
	t.Run("elsewhere on its host", func(t *testing.T) { testMoved(t, h) })
	t.Run("not for a stranger", func(t *testing.T) { testTrust(t, h) })
}

// testRedirect has a server redirect to another one, which must see nothing.
func testRedirect(t *testing.T, h Harness) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			other := reply(t, h, Reply{Text: "stolen", Finish: model.FinishStop})
			srv := newServer(t, h, func(w http.ResponseWriter, r *http.Request, _ Seen) {
				http.Redirect(w, r, other.URL+r.URL.Path, status)
			})
			_, err := srv.client(t).Generate(t.Context(), question("q"))
			if code := model.CodeOf(err); code != model.Redirect {
				t.Errorf("error %v, want one of the class %s", err, model.Redirect)
			}
			if n := other.count(); n > 0 {
				t.Errorf("the other host got %d requests", n)
			}
		})
	}
}
