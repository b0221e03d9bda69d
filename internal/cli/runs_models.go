package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// showModels prints a line for each model, and for the agent.
func showModels(out io.Writer, list []record.Participant) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range list {
		fmt.Fprintf(w, "  %s\t%s\n", p.Role, oneLine(p.String()))
	}
	return w.Flush()
}
