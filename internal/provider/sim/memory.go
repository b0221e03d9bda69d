package sim

import (
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// memoryLine is how an optimizer that memorizes writes down the answer to one task.
var memoryLine = pattern.New(`(?m)^- When the task is ("(?:[^"\\]|\\.)*"), the answer is ("(?:[^"\\]|\\.)*")\.$`)

// memories returns the answers to single tasks that a document holds, by the digest of the task.
func memories(doc string) map[uint64]string {
	var out map[uint64]string
	for _, m := range memoryLine.FindAllStringSubmatch(doc, -1) {
		question, err := strconv.Unquote(m[1])
		answer, err2 := strconv.Unquote(m[2])
		if err != nil || err2 != nil {
			continue
		}
		if out == nil {
			out = map[uint64]string{}
		}
		out[digest(question)] = answer
	}
	return out
}

// memorize returns the answers of failed tasks that the document does not hold yet, each as
// a line of its own that helps no other task.
func (r *reading) memorize(w *World, p prompt, examples []example) []proposal {
	var out []proposal
	for i, e := range examples {
		_, known := r.memories[digest(e.question)]
		if known || len(e.want) == 0 || w.chance(drawMemorize, p.id(), uint64(i)) >= w.limits.Memorizes {
			continue
		}
		out = append(out, proposal{text: fmt.Sprintf("- When the task is %q, the answer is %q.", e.question, e.want[0]), support: 1})
	}
	return out
}
