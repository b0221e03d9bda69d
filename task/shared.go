package task

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Pair names two tasks of different splits that ask the same, or almost the same.
type Pair struct {
	Task  string `json:"task"`
	Other string `json:"other"`
}

// Shared returns those of some tasks that ask the same as one of the others, and those that are
// otherwise copies of one, each with the first such.
func Shared(tasks, others []Task) (same, near []Pair) {
	asked, groups := map[[3]similar.Sum]string{}, map[string]string{}
	for i := len(others) - 1; i >= 0; i-- {
		if k := others[i].Kin; k != nil {
			asked[k.InputSums()], groups[k.Group] = others[i].ID, others[i].ID
		}
	}
	for _, t := range tasks {
		if t.Kin == nil {
			continue
		}
		if other, ok := asked[t.Kin.InputSums()]; ok {
			same = append(same, Pair{t.ID, other})
		} else if other, ok := groups[t.Kin.Group]; ok && t.Kin.Group != "" {
			near = append(near, Pair{t.ID, other})
		}
	}
	return same, near
}

// pairsShown is how many pairs are named in words.
const pairsShown = 5

// PairWords says how many tasks are as what says, and names them with their others.
func PairWords(pairs []Pair, what string) string {
	var names []string
	for _, p := range pairs[:min(len(pairs), pairsShown)] {
		names = append(names, fmt.Sprintf("%s and %s", p.Task, p.Other))
	}
	if more := len(pairs) - pairsShown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s %s (%s)", wording.Plural(len(pairs), "task is", "tasks are"), what, strings.Join(names, ", "))
}
