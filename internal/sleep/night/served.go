package night

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The name of a model in a profile is often an alias, behind which its vendor puts another model one day. What a server
// calls the model that answered shows this; its fingerprints, which change from answer to answer, do not count.

// servedIn returns the names of the models that answered in a run of the night, as their server named them, in order. It
// returns none if the server named none, or if there are no answers.
func servedIn(dir string) ([]string, error) {
	data, err := readFile(dir, "outcomes.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read who answered: %w", err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, fmt.Errorf("read who answered in %s: %w", dir, err)
	}
	var out []string
	for _, part := range parts {
		var passes [][]trajectory.Outcome
		if json.Unmarshal(part, &passes) != nil { // of a run that scores, and does not compare
			passes = make([][]trajectory.Outcome, 1)
			if err := json.Unmarshal(part, &passes[0]); err != nil {
				return nil, fmt.Errorf("read who answered in %s: %w", dir, err)
			}
		}
		for _, o := range slices.Concat(passes...) {
			if name, _, _ := strings.Cut(o.Served, " "); name != "" {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// othersAnswer reports whether none of the models that answered before answers now. Where either is not known, nothing is said.
func othersAnswer(before, now []string) bool {
	return len(before) > 0 && len(now) > 0 && !slices.ContainsFunc(before, func(name string) bool { return slices.Contains(now, name) })
}

// answeredBy notes who answered in a run, and warns once if it is another model than in the nights before.
func (n *night) answeredBy(dir string) ([]string, error) {
	names, err := servedIn(dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	first := n.report.Served == nil
	n.report.Served = slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.report.Served, names))))
	if first && othersAnswer(n.served, names) {
		text := fmt.Sprintf("models.target is answered by %s now, and was by %s: what is continued begins again, and scores of both are not compared", strings.Join(names, ", "), strings.Join(n.served, ", "))
		n.note(text)
		n.Events(event.Warning{Text: text})
	}
	return names, nil
}

// lastServed returns the models that answered in the newest of earlier nights of which that is known.
func lastServed(nights []bank.Night, current string) []string {
	for _, row := range nights {
		var r struct {
			Served []string `json:"served"`
		}
		if row.ID != current && json.Unmarshal(row.Data, &r) == nil && len(r.Served) > 0 {
			return r.Served
		}
	}
	return nil
}
