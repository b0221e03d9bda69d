package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// asking is an agent that asks its model with some tools.
func asking(tools string) rogue {
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[` + tools + `]}`
	return rogue{
		script: fmt.Sprintf(`at=${url#http://}; exec 3<>/dev/tcp/${at%%:*}/${at##*:}
printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: %%s\r\nAuthorization: Bearer %%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%%s' "$at" "$key" '%s' >&3
cat <&3 >reply.txt; printf done`, len(body), body),
		change: func(c *config.Config) {
			c.Agent.Gateway = true
			c.Agent.Custom["wire"] = "chat"
		},
	}
}

// What of an agent's requests does not reach the model stands with the outcome, with
// the result of the run and in what is printed of it.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	t.Parallel()
	got, dir, err := asking(`{"type":"web_search"}`).run(t)
	if err != nil {
		t.Fatal(err)
	}
	want := []trajectory.LeftOut{{Kind: trajectory.HostedTool, What: "tool web_search"}}
	if diff := cmp.Diff(want, got["bad"].LeftOut); diff != "" || got["bad"].Status != score.OK {
		t.Errorf("outcome %+v (-want +got):\n%s", got["bad"], diff)
	}
	if len(got["good1"].LeftOut) > 0 {
		t.Errorf("another episode lost %v", got["good1"].LeftOut)
	}
	text, err := os.ReadFile(filepath.Join(dir, "evaluation.json"))
	var e result.Evaluation
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if diff := cmp.Diff(want, e.LeftOut); diff != "" || err != nil {
		t.Errorf("evaluation.json, %v (-want +got):\n%s", err, diff)
	}
}

// An agent that has to do without a tool of its own is not measured.
func TestALostToolIsNoScore(t *testing.T) {
	t.Parallel()
	got, _, err := asking(`{"type":"custom","custom":{"name":"apply_patch"}}`).run(t)
	if err == nil || !strings.Contains(err.Error(), "custom") || !strings.Contains(err.Error(), "agent.gateway=false") {
		t.Errorf("the run ended with %v", err)
	}
	if o, ok := got["bad"]; ok {
		t.Errorf("it was scored: %+v", o)
	}
}
