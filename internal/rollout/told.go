package rollout

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds, in bytes, of what is kept of an agent's system message and of its tools.
const (
	maxSystem = 8 << 10
	maxTool   = 300
	maxTools  = 8 << 10
)

// shortenTold returns what is kept of what an agent gave its model. Secrets are removed before
// anything is cut: of one that lies across a cut no part is left.
func shortenTold(t trajectory.Told, hide *redact.Exact) *trajectory.Told {
	tools := strings.Split(hide.Text(t.Tools), "\n")
	for i, line := range tools {
		tools[i] = wording.Middle(line, maxTool)
	}
	return &trajectory.Told{
		System: wording.Middle(hide.Text(t.System), maxSystem), Tools: wording.Middle(strings.Join(tools, "\n"), maxTools),
	}
}
