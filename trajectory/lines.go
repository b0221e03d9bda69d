package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
func (o Outcomes) Lines() ([]byte, error) { return encodeLines(o) }

// WriteLines writes what Lines returns, a line at a time.
func (o Outcomes) WriteLines(w io.Writer) error {
	if o == nil {
		_, err := io.WriteString(w, "null")
		return err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	return writeMembers(w, "[]", len(o), func(i int) error {
		line.Reset()
		if err := enc.Encode(o[i].fileValue()); err != nil {
			return fmt.Errorf("encode the outcome of %s: %w", o[i].ID, err)
		}
		_, err := w.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		return err
	})
}

// encodeLines returns what a list writes.
func encodeLines(list interface{ WriteLines(w io.Writer) error }) ([]byte, error) {
	var b bytes.Buffer
	if err := list.WriteLines(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unscored hides the scores of an outcome.
type unscored struct {
	*Outcome
	Hard *float64 `json:"hard"`
	Soft *float64 `json:"soft"`
}

// fileValue returns what a file holds of an outcome.
func (o *Outcome) fileValue() any {
	if o.Status.Measured() {
		return o
	}
	return unscored{Outcome: o}
}

// Named is lists of outcomes by name: of an arm or a split.
type Named map[string][]Outcome

// Lines returns a JSON object with the lists in the order of their names. See
// Outcomes.
func (n Named) Lines() ([]byte, error) { return encodeLines(n) }

// WriteLines writes what Lines returns, a line at a time.
func (n Named) WriteLines(w io.Writer) error {
	if n == nil {
		_, err := io.WriteString(w, "null")
		return err
	}
	names := slices.Sorted(maps.Keys(n))
	return writeMembers(w, "{}", len(names), func(i int) error {
		key, err := json.Marshal(names[i])
		if err != nil {
			return fmt.Errorf("encode the name %q: %w", names[i], err)
		}
		if _, err := w.Write(append(key, ": "...)); err != nil {
			return err
		}
		return Outcomes(n[names[i]]).WriteLines(w)
	})
}

// writeMembers writes n members between two brackets, each on a line of its own.
func writeMembers(w io.Writer, brackets string, n int, member func(i int) error) error {
	if n == 0 {
		_, err := io.WriteString(w, brackets)
		return err
	}
	before := brackets[:1] + "\n"
	for i := range n {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if err := member(i); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err := io.WriteString(w, "\n"+brackets[1:])
	return err
}
