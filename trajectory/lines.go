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
// line break. It fails for what JSON cannot hold: a score that is no number.
func (o Outcomes) Lines() ([]byte, error) {
	var b bytes.Buffer
	if err := o.write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (o Outcomes) write(b *bytes.Buffer) error {
	b.WriteByte('[')
	for i := range o {
		line, err := json.Marshal(o[i].filed())
		if err != nil {
			return fmt.Errorf("encode the outcome of %s: %w", o[i].ID, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	if len(o) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte(']')
	return nil
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
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(n)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encode the name %q: %w", name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(key)
		b.WriteString(": ")
		if err := Outcomes(n[name]).write(&b); err != nil {
			return nil, err
		}
	}
	if len(n) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
