package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Outcomes is a list of outcomes. Files hold it as JSON with a line for each.
type Outcomes []Outcome

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
		line, err := json.Marshal(&o[i])
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
