package caller

import "testing"

func TestFirstAttempt(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		stepKey("e1/s1/rollout/a/sample0", 0, 0):                true,
		stepKey("e1/s1/rollout/a/sample0", 0, 12):               true,
		stepKey("e1/s1/rollout/a/sample0", 1, 0):                false,
		stepKey("e1/s1/rollout/a/sample0", 10, 0):               false,
		stepKey("e1/s1/rollout/x/attempt0/turn3/sample0", 1, 0): false, // an id may look like anything
		stepKey("e1/s1/rollout/x/attempt1/turn3/sample0", 0, 0): true,
		"attempt0": false,
		"":         false,
	} {
		if got := FirstAttempt(key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
