package skillopt_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

// newFolder makes a folder for the runs of an example.
func newFolder() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "skillopt-*")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// startServer starts a server that speaks Chat Completions, and makes a folder. gpt-5-mini writes amounts in its own
// way until its skill has another one, and gpt-5 proposes that rule.
func startServer() (url, dir string, stop func()) {
	dir, remove := newFolder()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Model    string
			Messages []struct{ Content string }
		}
		_ = json.NewDecoder(r.Body).Decode(&req)
		const edits = `"reasoning": "amounts have a form", "edits": [{"op": "append", "content": "- Write amounts as EUR 12.00."}]`
		text := fmt.Sprintf(`{%s, "patch": {%s}}`, edits, edits)
		if req.Model == "gpt-5-mini" {
			n := 0
			_, _ = fmt.Sscanf(req.Messages[len(req.Messages)-1].Content, "What do %d lamps", &n)
			text = fmt.Sprintf("%d euros", 12*n)
			if strings.Contains(req.Messages[0].Content, "EUR 12.00") {
				text = fmt.Sprintf("EUR %d.00", 12*n)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop",
		}}})
	}))
	return server.URL, dir, func() { server.Close(); remove() }
}
