package transcript_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a call that failed would have done was not done.
func TestFailedCallsHaveNoEffect(t *testing.T) {
	t.Parallel()
	got, _ := readClaude(t, claudeHome(t, map[string]string{
		"a.jsonl": claudeLine("user", 1, `"go"`, "") +
			claudeLine("assistant", 2, `[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"/p/no.txt"}},{"type":"tool_use","id":"b","name":"Edit","input":{"file_path":"/p/yes.txt"}},{"type":"tool_use","id":"c","name":"Skill","input":{"skill":"none"}},{"type":"tool_use","id":"d","name":"Edit","input":{"file_path":"/p/unknown.txt"}}]`, "") +
			claudeLine("user", 3, `[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"x"},{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"no such skill"}]`, ""),
	}))
	turn := got[0].Turns[0]
	if diff := cmp.Diff([]string{"yes.txt", "unknown.txt"}, turn.Files); diff != "" || turn.Skill != "" {
		t.Errorf("%s skill %q", diff, turn.Skill)
	}
}
