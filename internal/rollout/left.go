package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// omissions are what of the requests of all episodes did not reach the model. It may be
// used concurrently.
type omissions struct{ lost sync.Map }

func (o *omissions) omit(list []trajectory.LeftOut) {
	for _, l := range list {
		o.lost.Store(l, true)
	}
}

// LeftOut returns what of the requests of all episodes did not reach the model, each thing once,
// sorted.
func (o *omissions) LeftOut() []trajectory.LeftOut {
	var all []trajectory.LeftOut
	o.lost.Range(func(key, _ any) bool {
		if l, ok := key.(trajectory.LeftOut); ok {
			all = append(all, l)
		}
		return true
	})
	slices.SortFunc(all, func(x, y trajectory.LeftOut) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.What, y.What), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// A ToolError says that an agent worked without tools of its own: the model was not
// shown them, so that what the agent did says nothing about the skill.
type ToolError struct {
	Task    string
	Tools   []trajectory.LeftOut
	Program bool // of env.command
}

func (e *ToolError) Error() string {
	var names []string
	for _, l := range e.Tools {
		names = append(names, l.String())
	}
	who, key := "agent", "agent.gateway"
	if e.Program {
		who, key = "program", "env.gateway"
	}
	return fmt.Sprintf("task %s: the %s offers its model what this one cannot get: %s; it would work without, so nothing is measured: "+
		"use a model whose provider speaks the %s's protocol, switch these tools off in the %s, or let it use its own endpoint with %s=false",
		e.Task, who, strings.Join(names, ", "), who, who, key)
}

// missingTools returns the tools of its own that an agent had to do without.
func missingTools(list []trajectory.LeftOut) []trajectory.LeftOut {
	var tools []trajectory.LeftOut
	for _, l := range list {
		if l.Kind == trajectory.ClientTool {
			tools = append(tools, l)
		}
	}
	return tools
}

// formatLeftOut returns the words for what was left out.
func formatLeftOut(list []trajectory.LeftOut) string {
	var words []string
	for _, l := range list {
		words = append(words, l.String()+" ("+l.Kind+")")
	}
	return strings.Join(words, ", ")
}
