package gateway

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// decoded is what a golden file holds.
type decoded struct {
	Request model.Request `json:"request"`
	Asked   string        `json:"asked,omitempty"`
	Stream  bool          `json:"stream,omitempty"`
	Usage   bool          `json:"usage,omitempty"`
	Stop    []string      `json:"stop,omitempty"`
	LeftOut []string      `json:"left_out,omitempty"`
	Tools   []string      `json:"spaced_tools,omitempty"`
}

// TestAgentsRequests reads bodies as real agents send them, their long texts
// replaced; the part of the name before the first dash is the wire. Those named
// "rich" were written by hand and hold what the others do not.
func TestAgentsRequests(t *testing.T) {
	t.Parallel()
	codecs := map[string]codec{"chat": chatCodec(), "responses": responsesCodec(), "messages": messagesCodec(), "gemini": geminiCodec()}
	files, err := filepath.Glob(filepath.Join("testdata", "agents", "*.json"))
	if err != nil || len(files) < 20 && !*update {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".want.json") {
			continue
		}
		base := strings.TrimSuffix(filepath.Base(name), ".json")
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			wire, _, _ := strings.Cut(base, "-")
			q, err := codecs[wire].decode(inbound{body: body, model: "from-path", stream: wire == "gemini"})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(name, ".json")+".want.json", q)
		})
	}
}

func golden(t *testing.T, name string, q agentRequest) {
	t.Helper()
	d := decoded{Request: q.req, Asked: q.asked, Stream: q.stream, Usage: q.usage, Stop: q.stop, LeftOut: Whats(q.leftOut)}
	for _, tool := range q.req.Tools {
		if s, ok := q.tools[tool.Name]; ok {
			d.Tools = append(d.Tools, s.space+" / "+s.name)
		}
	}
	got, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
