// Package remember reads, checks and writes what other runs leave to the optimizer of a new
// one: result.Memory.
//
// Such a document is foreign: it is read strictly, within bounds, and the result is without
// secrets and without characters that steer a terminal. The package is pure. It knows
// nothing about runs, about how a memory is made of them, or about prompts.
package remember

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Bounds of a memory.
const (
	MaxFile     = 1 << 20 // bytes of its document
	MaxRejected = 200     // entries
	MaxEdits    = 64      // edits or changes of an entry
	MaxText     = 16_384  // bytes of a target or content
	MaxName     = 512     // bytes of a name, heading or change
	MaxMeta     = 32_768  // bytes of the meta skill
)

// Decode reads a document. A field that is not known, a version that is not ours, text
// behind the document and what is beyond the bounds are errors that name the place.
func Decode(data []byte, mask func(string) string) (result.Memory, error) {
	var m result.Memory
	if len(data) > MaxFile {
		return m, fault.Input(tooLong("the file", len(data), MaxFile))
	}
	var head struct {
		Version json.Number `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err == nil && head.Version != "" && head.Version != json.Number(fmt.Sprint(result.MemoryVersion)) {
		return m, fault.Input(fmt.Errorf("version: found %s, allowed is %d", head.Version, result.MemoryVersion))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fault.Input(fmt.Errorf("no memory that a run has recorded: %w", err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, fault.Input(errors.New("there is more after the document: allowed is one JSON object"))
	}
	if m.Version == 0 {
		return m, fault.Input(fmt.Errorf("version: missing, allowed is %d", result.MemoryVersion))
	}
	return Clean(m, mask)
}

// Encode writes a document, indented, with a line feed at its end.
func Encode(m result.Memory) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("write the memory: %w", err)
	}
	return b.Bytes(), nil
}

// Digest represents all that a memory says.
func Digest(m result.Memory) (string, error) {
	data, err := Encode(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16], nil
}

// Empty reports whether a memory says nothing.
func Empty(m result.Memory) bool { return len(m.Rejected) == 0 && m.MetaSkill == "" }

// Clean returns a copy of a memory without secrets and steering characters, checked against
// the bounds. mask takes the secrets out of a text.
func Clean(m result.Memory, mask func(string) string) (result.Memory, error) {
	c := cleaner{mask: mask}
	out := result.Memory{Version: result.MemoryVersion, MetaSkill: c.text("meta_skill", m.MetaSkill, MaxMeta), Rejected: []result.Rejected{}}
	if m.Version != 0 && m.Version != result.MemoryVersion {
		c.fail("version: found %d, allowed is %d", m.Version, result.MemoryVersion)
	}
	if n := len(m.Rejected); n > MaxRejected {
		c.fail("rejected: %d entries, at most %d are allowed", n, MaxRejected)
		return result.Memory{}, fault.Input(errors.Join(c.faults...))
	}
	for i, e := range m.Rejected {
		out.Rejected = append(out.Rejected, c.entry(fmt.Sprintf("rejected[%d]", i), e))
	}
	if len(c.faults) > 0 {
		return result.Memory{}, fault.Input(errors.Join(c.faults...))
	}
	return out, nil
}

// cleaner gathers what is wrong.
type cleaner struct {
	mask   func(string) string
	faults []error
}

// mostFaults is how many are reported.
const mostFaults = 10

func (c *cleaner) fail(format string, args ...any) {
	if len(c.faults) < mostFaults {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

// text returns a text without what is not to be passed on.
func (c *cleaner) text(at, text string, most int) string {
	switch {
	case len(text) > most:
		c.fail("%w", tooLong(at, len(text), most))
		return ""
	case !utf8.ValidString(text):
		c.fail("%s: no valid UTF-8", at)
		return ""
	}
	return wording.Plain(c.mask(text))
}

func (c *cleaner) entry(at string, e result.Rejected) result.Rejected {
	out := result.Rejected{Difference: c.difference(at+".difference", e.Difference), From: e.From}
	if n := len(e.Edits) + len(e.Changes); n == 0 || n > MaxEdits {
		c.fail("%s: %d edits and changes, allowed are 1 to %d", at, n, MaxEdits)
		return out
	}
	for i, edit := range e.Edits {
		out.Edits = append(out.Edits, c.edit(fmt.Sprintf("%s.edits[%d]", at, i), edit))
	}
	for i, change := range e.Changes {
		out.Changes = append(out.Changes, c.text(fmt.Sprintf("%s.changes[%d]", at, i), change, MaxText))
	}
	out.From.Run, out.From.RunID = c.text(at+".from.run", e.From.Run, MaxName), c.text(at+".from.run_id", e.From.RunID, MaxName)
	out.From.Skill = c.text(at+".from.skill", e.From.Skill, MaxName)
	if e.From.Step < 0 {
		c.fail("%s.from.step: found %d, allowed are 0 and more", at, e.From.Step)
	}
	return out
}

func (c *cleaner) edit(at string, e result.RejectedEdit) result.RejectedEdit {
	if !slices.Contains(ops(), e.Op) {
		c.fail("%s.op: found %q, allowed are %s", at, clipText(string(e.Op)), strings.Trim(fmt.Sprint(ops()), "[]"))
	}
	return result.RejectedEdit{
		Op: e.Op, File: c.text(at+".file", e.File, MaxName), Heading: c.text(at+".heading", e.Heading, MaxName),
		Target: c.text(at+".target", e.Target, MaxText), Content: c.text(at+".content", e.Content, MaxText),
	}
}

// ops returns the kinds of edits that there are.
func ops() []skill.Op {
	return []skill.Op{skill.Append, skill.InsertAfter, skill.Replace, skill.Delete, skill.Move, skill.Describe}
}

func (c *cleaner) difference(at string, d *result.ScoreDifference) *result.ScoreDifference {
	if d == nil {
		return nil
	}
	out := *d
	bad := func(f float64) bool { return !(f >= -1 && f <= 1) } // NaN too
	if !slices.Contains([]string{"hard", "soft", "mixed"}, d.Metric) {
		c.fail("%s.metric: found %q, allowed are hard, soft and mixed", at, clipText(d.Metric))
	}
	if bad(d.Mean) {
		c.fail("%s.mean: found %v, allowed is -1 to 1", at, d.Mean)
	}
	if (d.Low == nil) != (d.High == nil) || d.Low != nil && !(*d.Low <= *d.High) {
		c.fail("%s: low and high are the ends of an interval, or both null", at)
	}
	if d.N < 0 {
		c.fail("%s.n: found %d, allowed are 0 and more", at, d.N)
	}
	return &out
}

// clipText returns the beginning of a text, for a message.
func clipText(text string) string { return wording.Plain(text[:min(len(text), 40)]) }

func tooLong(at string, n, most int) error {
	return fmt.Errorf("%s: %d bytes, at most %d are allowed", at, n, most)
}

// MergeEntries returns one memory of the entries of several runs: newest first, by when the run was
// begun, then by step, and no two that say the same, of which the newest stays. Those beyond the
// bounds are left out, the oldest first; left says how many.
func MergeEntries(entries []result.Rejected, meta string) (m result.Memory, left int) {
	m = result.Memory{Version: result.MemoryVersion, Rejected: []result.Rejected{}, MetaSkill: meta}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b result.Rejected) int {
		return cmp.Or(b.From.Begun.Compare(a.From.Begun), cmp.Compare(a.From.RunID, b.From.RunID), cmp.Compare(b.From.Step, a.From.Step))
	})
	seen := map[string]bool{}
	head, err := Encode(m)
	size := len(head) + len("\n  ")
	if err != nil {
		size = MaxFile
	}
	for _, e := range entries {
		key := Key(e)
		if seen[key] {
			continue
		}
		seen[key] = true
		size += weight(e)
		if left > 0 || len(m.Rejected) == MaxRejected || size > MaxFile {
			left++
			continue
		}
		m.Rejected = append(m.Rejected, e)
	}
	return m, left
}

// weight returns how many bytes an entry takes in a document, at most.
func weight(e result.Rejected) int {
	const indent = 4
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat(" ", indent), "  ")
	if err := enc.Encode(e); err != nil { // a number that JSON has not, which Clean refuses
		return MaxFile
	}
	return b.Len() + indent + len(",\n")
}

// Key returns a text that is equal for entries that say the same: the same changes, whatever the
// space in them and their order.
func Key(e result.Rejected) string {
	var parts []string
	folded := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, edit := range e.Edits {
		parts = append(parts, fmt.Sprintf("%q %q %q %q", edit.Op, edit.File, folded(edit.Target), folded(edit.Content)))
	}
	for _, change := range e.Changes {
		parts = append(parts, fmt.Sprintf("%q", folded(change)))
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
