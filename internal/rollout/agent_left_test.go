package rollout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Only tools of the agent's own end a run.
func TestLackingTools(t *testing.T) {
	t.Parallel()
	list := []trajectory.LeftOut{
		{Kind: trajectory.HostedTool, What: "tool web_search", Name: "web_search"},
		{Kind: trajectory.ClientTool, What: "tool local_shell"},
		{Kind: trajectory.Field, What: "top_k"},
	}
	if diff := cmp.Diff(list[1:2], missingTools(list)); diff != "" {
		t.Error(diff)
	}
	if missingTools(list[:1]) != nil {
		t.Error("a tool of the vendor is the agent's own")
	}
	if got := formatLeftOut(list[:2]); got != "tool web_search web_search (hosted tool), tool local_shell (client tool)" {
		t.Errorf("told as %q", got)
	}
	err := &ToolError{Task: "one", Tools: list[1:2]}
	for _, part := range []string{"task one", "tool local_shell", "agent.gateway=false"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
