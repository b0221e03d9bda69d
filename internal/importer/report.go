package importer

import (
	"cmp"
	"slices"
	"strings"
)

// State says what happened to a key of the source.
type State string

// The states, from the best to the worst.
const (
	Taken         State = "taken"          // it is in our configuration
	NotNeeded     State = "not_needed"     // nothing is lost without it
	NoCounterpart State = "no_counterpart" // nothing here does that
	Unusable      State = "unusable"       // its value is not allowed here
	Unknown       State = "unknown"        // SkillOpt does not know it
)

// Row is one key of the source.
type Row struct {
	Key   string   `json:"key,omitempty"` // as the source has it, such as train.num_epochs
	State State    `json:"state"`
	To    []string `json:"to,omitempty"` // the keys that it became
	Note  string   `json:"note,omitempty"`
}

// Report says what happened to a configuration. It names every key of the source
// once, and holds no secret.
type Report struct {
	Rows []Row `json:"keys"` // by key
	// Added are keys of ours that the source does not say, where its default is
	// not ours. Key is empty.
	Added []Row `json:"added"`
}

// Of returns the rows in one state.
func (r Report) Of(s State) []Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.State != s })
}

// weight orders states by how much they say: a key that is taken in one place
// is taken, whatever other places say of it.
func (s State) weight() int {
	return slices.Index([]State{Unknown, NotNeeded, NoCounterpart, Unusable, Taken}, s)
}

// merge joins what two places say of one key.
func (r Row) merge(other Row) Row {
	if r.State != other.State {
		if r.State.weight() < other.State.weight() {
			return other
		}
		return r
	}
	for _, to := range other.To {
		if !slices.Contains(r.To, to) {
			r.To = append(slices.Clone(r.To), to)
		}
	}
	if !strings.Contains(r.Note, other.Note) {
		r.Note = strings.TrimPrefix(r.Note+"; "+other.Note, "; ")
	}
	return r
}

func byKey(rows []Row) []Row {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), slices.Compare(a.To, b.To))
	})
	return rows
}
