package optimize

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds of the digest of earlier steps.
const (
	maxPatterns = 10
	maxTaskIDs  = 8
	maxTried    = 300 // code points of an edit that was tried in vain
)

// Pattern is a kind of failure and the tasks that showed it.
type Pattern struct {
	Pattern string   `json:"pattern"` // the fail reason up to its first colon
	Count   int      `json:"count"`
	TaskIDs []string `json:"task_ids"`
}

// FailurePatterns groups the failed among measured outcomes by the class of
// their fail reason, in order of first appearance.
func FailurePatterns(outcomes []trajectory.Outcome) []Pattern {
	patterns := []Pattern{}
	at := map[string]int{}
	for _, o := range outcomes {
		if !o.Status.Measured() || o.Hard >= failedBelow {
			continue
		}
		class, _, _ := strings.Cut(o.FailReason, ":")
		class = trimSpace(class)
		i, ok := at[class]
		if !ok {
			i = len(patterns)
			at[class] = i
			patterns = append(patterns, Pattern{Pattern: class})
		}
		patterns[i].Count++
		patterns[i].TaskIDs = append(patterns[i].TaskIDs, o.ID)
	}
	return patterns
}

// StepNote is what later steps of an epoch learn about one step.
type StepNote struct {
	Step      int           `json:"step"`
	Action    string        `json:"action"` // what the gate decided: "accept", "reject", "skip_no_change" ...
	Failed    int           `json:"failed"` // measured rollouts that failed
	Total     int           `json:"total"`  // measured rollouts
	Patterns  []Pattern     `json:"patterns,omitempty"`
	Diagnoses []FailureType `json:"diagnoses,omitempty"` // what analysts found

	// Of a rejection: what was tried, and the scores of the incumbent and of
	// the candidate, nil if unmeasured.
	Rejected []skill.Edit `json:"rejected,omitempty"`
	Tried    []string     `json:"tried,omitempty"` // in the rewrite modes: what was changed, one line each
	Before   *float64     `json:"before,omitempty"`
	After    *float64     `json:"after,omitempty"`
}

// StepBuffer renders the earlier steps of an epoch for analysts, "" if there
// are none.
func StepBuffer(notes []StepNote) string {
	var b strings.Builder
	for i, n := range notes {
		if i > 0 {
			b.WriteString("\n")
		}
		n.write(&b)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (n StepNote) write(b *strings.Builder) {
	n.writeFindings(b)
	n.writeRejected(b)
}

// writeFindings writes what was found in the rollouts of a step.
func (n StepNote) writeFindings(b *strings.Builder) {
	fmt.Fprintf(b, "### Step %d: %s, %d of %d tasks failed\n", n.Step, n.Action, n.Failed, n.Total)
	for _, p := range n.Patterns[:min(len(n.Patterns), maxPatterns)] {
		name := p.Pattern
		if name == "" {
			name = "no reason given"
		}
		fmt.Fprintf(b, "- %s: %d (%s)\n", oneLine(name, maxTargetLine), p.Count, idList(p.TaskIDs))
	}
	if more := len(n.Patterns) - maxPatterns; more > 0 {
		fmt.Fprintf(b, "- and %d more kinds of failure\n", more)
	}
	for _, d := range n.Diagnoses[:min(len(n.Diagnoses), maxPatterns)] {
		fmt.Fprintf(b, "- diagnosed: %s\n", d)
	}
}

func (n StepNote) writeRejected(b *strings.Builder) {
	if len(n.Rejected)+len(n.Tried) == 0 {
		return
	}
	fmt.Fprintf(b, "Tried and rejected (score %s before, %s after):\n", scoreText(n.Before), scoreText(n.After))
	for _, e := range n.Rejected {
		writeEdit(b, e)
	}
	for _, t := range n.Tried {
		fmt.Fprintf(b, "- %s\n", oneLine(t, maxTried))
	}
}

func idList(ids []string) string {
	list := strings.Join(ids[:min(len(ids), maxTaskIDs)], ", ")
	if more := len(ids) - maxTaskIDs; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

func scoreText(score *float64) string {
	if score == nil {
		return "unmeasured"
	}
	return strconv.FormatFloat(*score, 'f', 4, 64)
}
