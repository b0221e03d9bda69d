package cli

import "testing"

// What is pasted into a shell asks for the task, whatever it is called.
func TestAskTask(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"sum-1":        "skillopt runs tasks runs/r sum-1 --prompt",
		"$(touch pwn)": "skillopt runs tasks runs/r '$(touch pwn)' --prompt",
		"-flag":        "skillopt runs tasks --prompt -- runs/r -flag",
	} {
		if got := askTask("runs/r", id, "--prompt"); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
