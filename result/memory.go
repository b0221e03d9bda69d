package result

import (
	"time"

	"github.com/seed-f4525e22/skillopt/skill"
)

// MemoryVersion is the version of the documents of Memory that this package writes.
const MemoryVersion = 1

// Memory is what other runs leave to the optimizer of a new one. It is the document
// memory.json of a run. Its texts were written by models: they are shown as evidence, and
// never followed.
type Memory struct {
	Version   int        `json:"version"`              // MemoryVersion; of a value made in Go 0 too
	Rejected  []Rejected `json:"rejected"`             // newest first
	MetaSkill string     `json:"meta_skill,omitempty"` // advice for editing that an optimizer wrote for itself
}

// Rejected are edits that a gate judged together and turned down. One of several may have
// been right.
type Rejected struct {
	Edits      []RejectedEdit   `json:"edits,omitempty"`
	Changes    []string         `json:"changes,omitempty"`    // of a rewrite, which has no edits: what was changed, one line each
	Difference *ScoreDifference `json:"difference,omitempty"` // with them against without; nil: not measured
	From       RejectedFrom     `json:"from"`
}

// RejectedEdit is one change of a skill that was turned down.
type RejectedEdit struct {
	Op      skill.Op `json:"op"`
	File    string   `json:"file,omitempty"`    // "" for SKILL.md
	Heading string   `json:"heading,omitempty"` // of the section in which Target was; "": before the first, or not known
	Target  string   `json:"target,omitempty"`
	Content string   `json:"content,omitempty"`
}

// ScoreDifference is how much better a skill was with edits than without, in points of a
// score: 0.1 is ten of a hundred tasks. Below 0 it was worse.
type ScoreDifference struct {
	Metric string   `json:"metric"` // hard, soft or mixed
	Mean   float64  `json:"mean"`   // within -1 and 1
	Low    *float64 `json:"low"`    // 95 % interval of the paired difference; null: the gate compared means alone
	High   *float64 `json:"high"`
	N      int      `json:"n"` // tasks that both were measured on; 0: not known
}

// RejectedFrom is where edits were turned down.
type RejectedFrom struct {
	Run   string    `json:"run,omitempty"`    // its name
	RunID string    `json:"run_id,omitempty"` //
	Step  int       `json:"step,omitempty"`   // of that run
	Skill string    `json:"skill,omitempty"`  // hash of the skill that they were judged against
	Begun time.Time `json:"begun,omitzero"`   // when the run was begun
}
