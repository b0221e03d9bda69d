package result

import (
	"time"
)

// Listing is the runs below folders.
type Listing struct {
	Folders []Folder `json:"folders"`
	Runs    []RunRow `json:"runs"` // oldest first
}

// Folder is a folder whose runs are listed.
type Folder struct {
	Name  string `json:"name"` // short, and of no two the same
	Path  string `json:"path"`
	Error string `json:"error,omitempty"` // why it cannot be read
}

// RunRow is a run as a list shows it.
type RunRow struct {
	ID         string     `json:"id,omitempty"` // by which the server knows it: FOLDER:NAME
	Dir        string     `json:"run_dir"`
	Name       string     `json:"name"`               // of the directory
	Named      string     `json:"begun_as,omitempty"` // name that it was begun under
	RunID      string     `json:"run_id,omitempty"`
	Kind       Kind       `json:"kind"`
	Status     string     `json:"status"`              // that of the run; killed, damaged, unreadable, newer
	Replays    bool       `json:"replays,omitempty"`   // its answers came from a cassette
	Reason     string     `json:"reason,omitempty"`    // why it did not complete, or cannot be read
	Resumable  bool       `json:"resumable,omitempty"` // the same command continues it
	Copy       bool       `json:"copy,omitempty"`      // it was made elsewhere, or may not be written: nothing can be steered
	Simulated  bool       `json:"simulated,omitempty"`
	Unreviewed bool       `json:"exploratory,omitempty"`   // its tasks are drafts that no one has reviewed
	Tuned      *Tuned     `json:"tuned_by_hand,omitempty"` // of an evaluation: its skill was edited by hand
	ForkedOf   string     `json:"forked_of,omitempty"`     // id of the run whose record it began with
	Continues  string     `json:"continues,omitempty"`     // id of the run whose best skill it began with
	Skill      string     `json:"skill,omitempty"`         // name of the skill
	Models     []string   `json:"models,omitempty"`
	CreatedAt  *time.Time `json:"created_at"` // null: not known
	EndedAt    *time.Time `json:"ended_at"`   // null: it has not, or that is not known
	Steps      int        `json:"steps"`
	OfSteps    int        `json:"of_steps,omitempty"`

	RunScore

	// Change is by how much it is better than the seed skill on the same split.
	Change    *float64 `json:"change"`
	Certified *bool    `json:"certified"` // null: no certificate was asked for, or there is none yet

	Calls   int64    `json:"calls"`
	CostUSD *float64 `json:"cost_usd"` // null: a model has no price, or is simulated

	Notes Notes `json:"notes"`

	Night   *NightRow `json:"night,omitempty"`    // of a night, which is no run: it has no steps, scores and calls of its own
	OfNight string    `json:"of_night,omitempty"` // the ID of the night that has begun the run, if that is listed
}

// NightRow is what a list shows of a night alone.
type NightRow struct {
	Project  string       `json:"project"`  // its folder
	Outcomes []NightCount `json:"outcomes"` // of its documents, in their order
	Tokens   int64        `json:"tokens"`   // input and output of its runs
}

// NightCount is how many documents of a night had an outcome.
type NightCount struct {
	Outcome NightOutcome `json:"outcome"` // "": not begun
	N       int          `json:"n"`
}

// Notes are what people have written to a run, in NAME.notes.json next to it.
type Notes struct {
	Text string   `json:"text,omitempty"` // at most 64 KB
	Tags []string `json:"tags,omitempty"` // at most 32 of 64 characters
}

// Build says which program it is.
type Build struct {
	Edition  string `json:"edition"` // cloud, or plain: without the SDKs of clouds
	Go       string `json:"go"`      // version of the language
	Platform string `json:"platform"`
	Version  string `json:"version"`
}
