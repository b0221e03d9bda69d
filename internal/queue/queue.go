// Package queue keeps commands that wait for each other as files of a folder. Who adds one may end before it is
// begun, and who begins one may end before it has: nothing is lost, and nothing is begun twice.
//
// It knows nothing of commands and runs, and starts no process itself.
package queue

import "time"

// States of an entry.
const (
	Waiting = "waiting"
	Begun   = "begun"
	Ended   = "ended"
)

// Entry is a command that waits, was begun or has ended.
type Entry struct {
	ID      string     `json:"id"`
	State   string     `json:"state"`
	Words   []string   `json:"words"` // of the command line, such as train my-skill --run runs/my-skill-2 --yes
	Run     string     `json:"run"`   // the folder of its run, absolute
	Title   string     `json:"title"` // what a person reads
	AddedAt time.Time  `json:"added_at"`
	BegunAt *time.Time `json:"begun_at,omitempty"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
	Exit    *int       `json:"exit,omitempty"`  // code of a command that has ended; nil: not known
	Error   string     `json:"error,omitempty"` // what it said when it failed
}
