package run

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Steering is what others than the process that works on a run have asked of it, and
// which of their ceilings are in force. A manifest without it is of a program that does
// not listen.
type Steering struct {
	// Held are ceilings that are in force instead of the configuration's, by key:
	// limits.usd, limits.tokens, limits.calls, limits.time.
	Held map[string]Held `json:"held,omitempty"`

	// Answers say what happened to requests, of the last KeptAnswers, the oldest first. A
	// request that is listed here is not carried out again.
	Answers []Answer `json:"answers,omitempty"`
}

// KeptAnswers is how many answers a manifest has at most.
const KeptAnswers = 64

// Held is a ceiling that somebody set while the run was at work, or between its sessions.
type Held struct {
	Value json.RawMessage `json:"value"` // as the configuration has it: 30, null, "2h0m0s"
	Was   json.RawMessage `json:"was"`   // what the configuration said then
	Asked time.Time       `json:"asked_at"`
	From  string          `json:"from"` // command, browser
}

// Answer says what happened to a request.
type Answer struct {
	Request string                     `json:"request"` // its id
	What    string                     `json:"what,omitempty"`
	Limits  map[string]json.RawMessage `json:"limits,omitempty"` // that were asked for, by their names without "limits."
	From    string                     `json:"from,omitempty"`
	Asked   time.Time                  `json:"asked_at,omitzero"`
	At      time.Time                  `json:"at"`                // of the answer
	Refused string                     `json:"refused,omitempty"` // why it was not carried out
	Note    string                     `json:"note,omitempty"`    // what of it holds otherwise
}

// Answered finds the answer to a request.
func (s *Steering) Answered(request string) (Answer, bool) {
	if s == nil {
		return Answer{}, false
	}
	i := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.Request == request })
	if i < 0 {
		return Answer{}, false
	}
	return s.Answers[i], true
}

// Steering returns what the manifest says of it now. The caller must not change what it holds.
func (r *Run) Steering() Steering {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steering
}

// Steer replaces what the manifest says of steering. It is on the disk when Steer returns
// without an error, and not changed with one. It may be called while the run works.
func (r *Run) Steer(s Steering) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(s.Answers); n > KeptAnswers {
		s.Answers = slices.Clone(s.Answers[n-KeptAnswers:])
	}
	before := r.steering
	r.steering = s
	err := r.writeManifest()
	if err != nil {
		r.steering = before
	}
	return err
}

// writeManifest needs the lock.
func (r *Run) writeManifest() error {
	m := r.Manifest
	m.Steering = &r.steering
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", ManifestFile, err)
	}
	return disk.WriteFile(filepath.Join(r.Dir, ManifestFile), append(data, '\n'), 0o644)
}
