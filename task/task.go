// Package task holds what a skill is trained on: tasks, their splits, and the
// environments that carry them out.
//
// It knows nothing about models' vendors, scoring rules or the training loop.
// Lint of checks goes through the Checker interface, which others implement.
package task

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Task is one item of a data set.
type Task struct {
	ID     string          `json:"id"`
	Type   string          `json:"type,omitempty"`
	Prompt string          `json:"prompt,omitempty"` // what the target is asked, before templates
	Gold   []string        `json:"gold,omitempty"`   // accepted answers, never shown to the target
	Hidden string          `json:"hidden,omitempty"` // reference text, for analysts only
	Checks json.RawMessage `json:"checks,omitempty"` // this task's own checks; absent: those of the set
	Split  Split           `json:"split,omitempty"`
	// Trigger makes it a trigger task, "" one that is scored by gold or checks.
	Trigger Trigger        `json:"trigger,omitempty"`
	Data    map[string]any `json:"data,omitempty"` // every other field, for templates

	// Unreviewed says that a model drafted the task and no one has accepted it
	// (reviewed: false in a file): what is measured on it is exploratory. It is no
	// part of what the task asks, so it changes neither id nor digest.
	Unreviewed bool `json:"-"`

	// RawGold is the field that Gold was read from, as it is in the file, where
	// that is not what GoldJSON makes of Gold: a number, a list with one answer. It is
	// no part of the task's JSON. Code that changes Gold sets it to nil.
	RawGold json.RawMessage `json:"-"`

	// Kin is the task as it is compared with others of its set; nil: it has not been. It is no part
	// of the task's JSON.
	Kin *similar.Kin `json:"-"`

	// Where the task was read, for messages: "tasks.jsonl:12".
	Origin string `json:"-"`
}

// New returns a task with its accepted answers. Its id is that of the same task in a file without ids.
func New(prompt string, gold ...string) Task {
	f := fields{"prompt": prompt}
	if len(gold) > 0 {
		f["gold"] = plainGold(gold)
	}
	return Task{ID: f.contentID(), Prompt: prompt, Gold: gold}
}

// Split names a part of a data set.
type Split string

const (
	Train     Split = "train"
	Selection Split = "selection"
	Test      Split = "test"
)

// Env carries out one task with one skill. Implement it to train on a world of
// your own.
type Env interface {
	// Rollout carries out t with s. client is the target model; what is sent
	// through it is metered and counted to this rollout. An error means that
	// nothing was measured (never a score of 0); a failure of the agent within
	// the task's limits is an Outcome with Status agent_error. Rollout may be
	// called concurrently and must end when ctx does.
	Rollout(ctx context.Context, t Task, s skill.Skill, client model.Client) (trajectory.Outcome, error)
}

// Cluster returns the value of a field of the task by which tasks belong together,
// such as the document that they are about; "" for a task that belongs with no other:
// it has no such field, or nothing in it.
func (t Task) Cluster(field string) string {
	if v := t.Fields()[field]; v != nil && field != "" {
		return fmt.Sprint(v)
	}
	return ""
}

// GoldJSON returns the accepted answers as they are in the file: text, a number, true
// or false, an object, a list of these, or null where there are none. Of a task that
// was made in code one answer is text, several are a list.
func (t Task) GoldJSON() json.RawMessage {
	if t.RawGold != nil {
		return t.RawGold
	}
	return plainGold(t.Gold)
}

// Fields returns what templates may show to the target: every field of Data,
// and id, type and prompt where the task has them. Gold, hidden text and checks
// are not among them. The map is fresh; nested values are shared.
func (t Task) Fields() map[string]any {
	fields := make(map[string]any, len(t.Data)+3)
	maps.Copy(fields, t.Data)
	fields["id"] = t.ID
	if t.Type != "" {
		fields["type"] = t.Type
	}
	if t.Prompt != "" {
		fields["prompt"] = t.Prompt
	}
	return fields
}
