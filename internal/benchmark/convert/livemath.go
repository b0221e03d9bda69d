package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// mostLabels is how many choices have a letter in LiveMathematicianBench and BabyVision.
const mostLabels = 7

// LiveMath is one record of LiveMathematicianBench.
type LiveMath struct {
	ID        string
	Month     string
	No        any // as the record has it
	PaperLink string
	Theorem   string
	Sketch    string
	Types     []string
	Question  string
	Choices   []mcq.Choice
	Correct   mcq.Choice
}

// ReadLiveMath reads a record; index is its place in its file, from 0.
func ReadLiveMath(r Row, index int) (LiveMath, error) {
	inner, _ := r["mcq"].(map[string]any)
	either := func(name string) any {
		if v := first(inner, name); v != nil {
			return v
		}
		return first(r, name)
	}
	m := LiveMath{
		Month: text(r, "month"), PaperLink: text(r, "paper_link"), Theorem: text(r, "theorem"), Sketch: text(r, "sketch"), Types: theoremTypes(r["theorem_type"]),
	}
	if v := either("question"); v != nil {
		m.Question = trim(pytext.Text(v))
	}
	var err error
	if m.Choices, err = liveMathChoices(either("choices")); err != nil {
		return m, err
	}
	m.correct(either("correct_choice"))
	number, ok := r["no"]
	if !ok {
		number = index + 1
	}
	m.No, m.ID = number, pytext.Text(number)
	if m.Month != "" {
		m.ID = m.Month + ":" + m.ID
	}
	return m, nil
}

func theoremTypes(v any) []string {
	if v == nil {
		return nil
	}
	return texts(v)
}

// liveMathChoices reads choices of any shape. Those without a text are left out.
func liveMathChoices(v any) (choices []mcq.Choice, err error) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			c, err := listedChoice(item, i, "text", "content")
			if err != nil {
				return nil, err
			}
			if c.Text != "" {
				choices = append(choices, c)
			}
		}
	case map[string]any:
		for _, label := range slices.Sorted(maps.Keys(v)) {
			if t := trim(pytext.Text(v[label])); t != "" {
				choices = append(choices, mcq.Choice{Label: trim(label), Text: t})
			}
		}
	}
	return choices, nil
}

// listedChoice reads an entry of a list of choices; names are those that its text may have.
func listedChoice(item any, i int, names ...string) (mcq.Choice, error) {
	c := mcq.Choice{}
	if m, ok := item.(map[string]any); ok {
		c = mcq.Choice{Label: text(m, "label"), Text: text(m, names...)}
		if pytext.Truthy(m["label"]) {
			return c, nil
		}
	} else {
		c.Text = trim(pytext.Text(item))
	}
	if i >= mostLabels {
		return c, fmt.Errorf("choice %d has no label, and there are letters for %d only", i+1, mostLabels)
	}
	c.Label = mcq.Letter(i)
	return c, nil
}

// correct reads the right choice. One that is not among the choices is added where its text
// is given.
func (m *LiveMath) correct(v any) {
	if object, ok := v.(map[string]any); ok {
		if label, there := object["label"]; there {
			m.Correct.Label = mcq.Normal(pytext.Text(label))
		}
		m.Correct.Text = text(object, "text")
	} else if v != nil {
		m.Correct.Label = mcq.Normal(pytext.Text(v))
	}
	known := false
	for _, c := range m.Choices {
		if mcq.Normal(c.Label) == m.Correct.Label {
			known = true
		}
	}
	if m.Correct.Label == "" {
		return
	}
	if m.Correct.Text == "" {
		for _, c := range m.Choices { // the last of equals counts
			if mcq.Normal(c.Label) == m.Correct.Label {
				m.Correct.Text = c.Text
			}
		}
	}
	if !known && m.Correct.Text != "" {
		m.Choices = append(m.Choices, m.Correct)
		slices.SortStableFunc(m.Choices, func(a, b mcq.Choice) int { return cmp.Compare(rank(a.Label), rank(b.Label)) })
	}
}

// rank orders labels by their letters, all others behind them.
func rank(label string) int {
	if len(label) == 1 && label[0] >= 'A' && label[0] < 'A'+mostLabels {
		return int(label[0] - 'A')
	}
	return mostLabels
}

// ShuffleSeed returns the seed of the order of choices of an item, in decimal digits.
func ShuffleSeed(seed, id string) string {
	sum := sha256.Sum256([]byte(seed + ":" + id))
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10)
}

// Shuffled returns the record with its choices in an order of their own, by seed and id, and
// labels them again.
func (m LiveMath) Shuffled(seed string) (LiveMath, error) {
	if len(m.Choices) > mostLabels {
		return m, fmt.Errorf("there are %d choices, and letters for %d only", len(m.Choices), mostLabels)
	}
	random, err := pyrand.NewDecimal(ShuffleSeed(seed, m.ID))
	if err != nil {
		return m, fmt.Errorf("shuffle choices: %w", err)
	}
	old := slices.Clone(m.Choices)
	random.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
	right := mcq.Normal(m.Correct.Label)
	m.Choices = make([]mcq.Choice, len(old))
	for i, c := range old {
		m.Choices[i] = mcq.Choice{Label: mcq.Letter(i), Text: c.Text}
		if mcq.Normal(c.Label) == right {
			m.Correct = m.Choices[i]
		}
	}
	return m, nil
}

// LiveMathTask makes a task of a record, with its choices in the order of Options.Seed.
func LiveMathTask(r Row, o Options) (Task, error) {
	m, err := ReadLiveMath(r, o.Index)
	if err != nil {
		return Task{}, err
	}
	if m.Question == "" || len(m.Choices) == 0 || m.Correct.Label == "" {
		return Task{}, skip("it has no question, no choices or no right one")
	}
	if o.Seed != "" {
		if m, err = m.Shuffled(o.Seed); err != nil {
			return Task{}, err
		}
	}
	t := Task{ID: m.ID, Type: "math_mcq", Gold: []string{m.Correct.Label}, Fields: map[string]any{"question": m.Question}}
	if len(m.Types) > 0 {
		t.Type = m.Types[0]
	}
	choiceFields(t.Fields, m.Choices)
	set(t.Fields, map[string]string{"month": m.Month, "paper_link": m.PaperLink})
	if len(m.Types) > 1 {
		types := make([]any, len(m.Types))
		for i, name := range m.Types {
			types[i] = name
		}
		t.Fields["theorem_type"] = types
	}
	var hidden []string
	for _, part := range [][2]string{{"Theorem", m.Theorem}, {"Proof sketch", m.Sketch}} {
		if part[1] != "" {
			hidden = append(hidden, part[0]+":\n"+part[1])
		}
	}
	t.Hidden = strings.Join(hidden, "\n\n")
	return t, nil
}
