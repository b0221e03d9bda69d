package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/model"
)

// TestAnEmptyBucketIsReported: limits that a server grants come with its answers,
// long before a refusal.
func TestAnEmptyBucketIsReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "11")
		w.Header().Set("X-Ratelimit-Reset-Tokens", "3s")
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":7,"completion_tokens":5}}`)
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c, err := openai.New(openai.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resp, err := c.Generate(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "q"}}})
	if err != nil || resp.Text != "yes" || resp.Pause != 3*time.Second {
		t.Errorf("got %+v, %v; want a pause of 3s", resp, err)
	}
}
