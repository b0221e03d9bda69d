package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestFmtTrajectory(t *testing.T) {
	t.Parallel()
	run(t, "fmt_trajectory", func(in, out map[string]any) string {
		return cmp.Diff(out["ok"], any(trajectory.Format(trajectory.ParseTurns(in["conversation"]))))
	})
}
