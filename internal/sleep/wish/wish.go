// Package wish has what is known of a task that somebody's session has shown: what was asked,
// how it is known what is expected, and what its workspace is made of. A wish is
// what a user wanted, in whatever words: the same input and the same expected outcome.
//
// It is data, and knows nothing about models, stores of sessions, the bank or nights.
package wish

import (
	"time"

	"github.com/seed-f4525e22/skillopt/task"
)

// Trust says how it is known what is expected.
type Trust string

// The kinds of trust, the strongest first.
const (
	ByCommand    Trust = "command"    // a command failed in the session, and passed later
	ByFiles      Trust = "files"      // files that the user accepted
	ByCorrection Trust = "correction" // what was corrected, and what was taken after that
	ByRubric     Trust = "rubric"     // words alone, for a judge
	ByPerson     Trust = "person"     // a person wrote or reviewed it in a file: no session has shown it
)

// Rank returns the place of a kind of trust, from 0 for the strongest.
func (t Trust) Rank() int {
	switch t {
	case ByCommand:
		return 0
	case ByFiles:
		return 1
	case ByCorrection:
		return 2
	}
	return 3
}

// Ref is a turn of a session.
type Ref struct {
	Source  string `json:"source"`
	Session string `json:"session"`
	Turn    string `json:"turn"`
}

// Place is where a task is carried out. The zero value is a chat: there are no files.
type Place struct {
	Commit string   `json:"commit,omitempty"` // of the project's repository, whole hash
	Files  []string `json:"files,omitempty"`  // that the session read or changed, relative to the project, with slashes
	Folder string   `json:"folder,omitempty"` // of the session below the project, with slashes; "": the project's own
	From   string   `json:"from,omitempty"`   // the turn of the session in which it was asked first; "": not known
	// Way is how it was decided whether the task can be carried out, and where; another way decides again. "": not
	// decided.
	Way string `json:"way,omitempty"`
}

// Chat reports whether a task needs no files.
func (p Place) Chat() bool { return p.Commit == "" }

// Task is a task that a session has shown. Its texts hold no secrets.
type Task struct {
	// Task is the task as the engine takes it: id, prompt, gold, checks, data. No one has
	// reviewed it unless the bank says so.
	Task task.Task `json:"task"`

	Trust   Trust     `json:"trust"`
	Project string    `json:"project"`         // folder, absolute
	Skill   string    `json:"skill,omitempty"` // the one at work; "": none, or it is not known which
	Seen    []Ref     `json:"seen"`            // where it was shown, in the order of time
	At      time.Time `json:"at"`              // when it was shown last, UTC
	Place   Place     `json:"place"`

	// Input and Outcome are what makes two tasks one wish: digests of what was to be worked on, and of
	// what is expected, that do not depend on the words of the request.
	Input   string `json:"input"`
	Outcome string `json:"outcome"`

	// Held says why no one may use the task before a person has looked at it; "": it is not held.
	Held string `json:"held,omitempty"`
	// Unfit says why it cannot be carried out again, such as "dirty tree: src/a.go"; "": it can.
	Unfit string `json:"unfit,omitempty"`
}

// Side is the part of the bank in which a cluster of tasks lies.
type Side string

// The sides. Only the opening of a test moves a cluster: from test to open.
const (
	Open Side = "open" // for training and selection
	Test Side = "test" // put aside, unread
)
