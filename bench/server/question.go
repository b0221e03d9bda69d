package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// The stages that are answered, as the header X-Stage names them.
const (
	stageRollout    = "rollout"
	stageError      = "analyst_error"
	stageSuccess    = "analyst_success"
	stageMerge      = "merge"
	stageMergeFinal = "merge_final"
	stageRanking    = "ranking"
	stageSlow       = "slow_update"
	stageMeta       = "meta_skill"
	stageReflection = "reflection" // of GEPA: a new document, out of examples good and bad
)

// question is what a model is asked.
type question struct {
	model, system, user string
}

func newQuestion(name string, messages []model.Message) question {
	q := question{model: name}
	for _, m := range messages {
		if m.Role == model.System {
			q.system += m.Content + "\n"
		} else {
			q.user += m.Content + "\n"
		}
	}
	return q
}

// hash names the question: equal ones have equal names.
func (q question) hash() string { return fmt.Sprintf("%016x", hash(q.model, q.system, q.user)) }

// stage returns the stage of a question whose client does not name it, found by the
// headings that trainers of this family share; "" if there is none.
func (q question) stage() string {
	if strings.Contains(q.model, "target") {
		return stageRollout
	}
	for _, mark := range []struct{ text, stage string }{
		{"## Failed Trajectories", stageError},
		{"## Successful Trajectories", stageSuccess},
		{"## Two pre-merged", stageMergeFinal},
		{"## Patches to merge", stageMerge},
		{"## Previous Slow Update Guidance", stageSlow},
		{"## Previous Optimizer Meta Skill", stageMeta},
		{"[0] op=", stageRanking},
		{"# Example 1\n", stageReflection},
	} {
		if strings.Contains(q.user, mark.text) {
			return mark.stage
		}
	}
	return ""
}

// skill returns the current skill: what is between its heading and the next known one.
// A question without the heading counts as a whole.
func (q question) skill() string {
	_, text, found := strings.Cut(q.user, "## Current Skill")
	if !found {
		return q.user
	}
	for _, next := range []string{
		"\n## Failed", "\n## Successful", "\n## Patches to", "\n## Two pre", "\n## Edit", "\n## What The Change", "\n## Candidates",
	} {
		text, _, _ = strings.Cut(text, next)
	}
	return text
}

var budgetText = regexp.MustCompile(`(?i)(?:L=|budget=|at most )(\d+)`)

// budget returns how many edits are allowed; 4 if the question does not say.
func (q question) budget() int {
	m := budgetText.FindStringSubmatch(q.user)
	if m == nil {
		return 4
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 4
	}
	return n
}

// sight is one task that a reader of trajectories meets.
type sight struct{ id, kind string }

// sights returns the tasks that a text names, each once, in order.
func sights(text string) []sight {
	var out []sight
	seen := map[string]bool{}
	for _, m := range itemText.FindAllStringSubmatch(text, -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			out = append(out, sight{id: m[1], kind: m[2]})
		}
	}
	return out
}

// trajectories returns the tasks below the heading of trajectories.
func (q question) trajectories() []sight {
	text := q.user
	if i := strings.Index(text, "Trajectories"); i >= 0 {
		text = text[i:]
	}
	return sights(text)
}

var exampleText = regexp.MustCompile(`(?m)^# Example \d+\n`)

// reflection splits the question of a reflection into the document, in its first fence,
// and the examples that follow.
func (q question) reflection() (document string, examples []string) {
	_, rest, _ := strings.Cut(q.user, "```\n")
	document, rest, _ = strings.Cut(rest, "\n```")
	at := exampleText.FindAllStringIndex(rest, -1)
	for i, span := range at {
		end := len(rest)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		examples = append(examples, rest[span[1]:end])
	}
	return document, examples
}
