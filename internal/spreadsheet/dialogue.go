package spreadsheet

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/world"
)

// dialogue is an episode in which replies are programs.
type dialogue struct{ bench }

// Start shows the workbook.
func (d *dialogue) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: preview(d.input) + `

## What to write
Write one program in Python that makes this change. It has two variables already: INPUT_PATH, the workbook to read, and OUTPUT_PATH, where it saves the changed one. The rows above are only the first ones: read how far the data reach from the workbook itself. Leave everything else in it as it is. Reply with the whole program in a block that begins with ` + "```python."}, nil
}

// Act runs the program in a reply.
func (d *dialogue) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	if a.Call != nil {
		return world.Observation{Failed: true, Text: fmt.Sprintf("There is no tool %q here. Reply with a program in a block that begins with ```python.", a.Call.Name)}, nil
	}
	code, failure := program(a.Text), ""
	if strings.TrimSpace(code) == "" {
		failure = "the reply has no program"
	} else {
		var err error
		if failure, err = d.try(ctx, code, d.cases[0]); err != nil {
			return world.Observation{}, err
		}
	}
	switch {
	case failure == "":
		return world.Observation{Done: true}, d.rest(ctx, code)
	case a.Last || d.world.Mode == Single:
		return world.Observation{Failure: "exec: " + lastLine(failure)}, nil
	case strings.TrimSpace(code) == "":
		return world.Observation{Text: "Your reply has no program. Reply with the whole program in a block that begins with ```python.", Failed: true}, nil
	}
	return world.Observation{Failed: true, Text: "The program did not do its work:\n\n" + failure + "\n\nReply with the whole program again, corrected, in a block that begins with ```python."}, nil
}
