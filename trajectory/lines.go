package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Outcomes is a list of outcomes. Files hold it as JSON with a line for each, in
// which the scores of what was not measured are null: a sum over a file that is
// read by any other program must not count them as 0.
type Outcomes []Outcome

// MarshalJSON implements json.Marshaler.
func (o Outcomes) MarshalJSON() ([]byte, error) { return o.Lines() }

// Lines returns the list as a JSON array, an outcome a line, without a final
// line break; nil is null. It fails for what JSON cannot hold: a score that is no
// number.
func (o Outcomes) Lines() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	lines := make([][]byte, len(o))
	for i := range o {
		var err error
		if lines[i], err = json.Marshal(o[i].filed()); err != nil {
			return nil, fmt.Errorf("encode the outcome of %s: %w", o[i].ID, err)
		}
	}
	return within('[', lines, ']'), nil
}

// unscored hides the scores of an outcome.
type unscored struct {
	*Outcome
	Hard *float64 `json:"hard"`
	Soft *float64 `json:"soft"`
}

// filed is what a file holds of an outcome.
func (o *Outcome) filed() any {
	if o.Status.Measured() {
		return o
	}
	return unscored{Outcome: o}
}

// Named is lists of outcomes by name: of an arm or a split.
type Named map[string][]Outcome

// Lines returns a JSON object with the lists in the order of their names. See
// Outcomes.
func (n Named) Lines() ([]byte, error) {
	if n == nil {
		return []byte("null"), nil
	}
	var members [][]byte
	for _, name := range slices.Sorted(maps.Keys(n)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encode the name %q: %w", name, err)
		}
		list, err := Outcomes(n[name]).Lines()
		if err != nil {
			return nil, err
		}
		members = append(members, slices.Concat(key, []byte(": "), list))
	}
	return within('{', members, '}'), nil
}

// within puts members between brackets, each on a line of its own.
func within(open byte, members [][]byte, end byte) []byte {
	if len(members) == 0 {
		return []byte{open, end}
	}
	return slices.Concat([]byte{open, '\n'}, bytes.Join(members, []byte(",\n")), []byte{'\n', end})
}
