package check

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/template"
)

//go:embed text/*.md
var texts embed.FS

// maxShown is how much of a text a judge is shown, in bytes.
const maxShown = 64 << 10

// maxVotes is the most votes that one check may ask for.
const maxVotes = 25

// JudgeRequest is one message to a judge, a model.
type JudgeRequest struct {
	System string `json:"system"`
	User   string `json:"user"`
	// Name and Schema ask for a reply that is one JSON object.
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	// Vote counts the same request from 1. Votes should be drawn with different
	// seeds; equal answers by design are one vote counted twice.
	Vote int `json:"vote"`
	// Usable says what is wrong with a reply, so that it can be asked for again.
	Usable func(reply string) error `json:"-"`
}

// material is a text in a request that must not be mistaken for one.
type material struct {
	begin, end string
	values     map[string]any
}

// newMaterial marks where material begins and ends. The marks are taken from the
// texts themselves, so that none of them can hold a mark: it would have to hold
// its own hash.
func newMaterial(values map[string]string) *material {
	h := sha256.New()
	for _, key := range mapOrder(values) {
		fmt.Fprintf(h, "%d %s %d %s ", len(key), key, len(values[key]), values[key])
	}
	mark := hex.EncodeToString(h.Sum(nil)[:8])
	m := &material{begin: "[[" + mark + " begin]]", end: "[[" + mark + " end]]", values: map[string]any{}}
	m.values["begin"], m.values["end"] = m.begin, m.end
	for key, value := range values {
		m.values[key] = value
	}
	return m
}

func mapOrder(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// render fills one of our texts. They are ours, so that a fault is a bug.
func (m *material) render(name string) string {
	text, err := texts.ReadFile("text/" + name)
	if err != nil {
		panic(err)
	}
	t, err := template.Parse(name, string(text))
	if err != nil {
		panic(err)
	}
	out, err := t.Render(m.values)
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(out)
}

// block wraps a text in marks.
func (m *material) block(name, text string) string {
	return m.begin + " " + name + "\n" + text + "\n" + m.end + " " + name
}

// shortenText shortens a text to what a judge is shown, and says so.
func shortenText(text string) string {
	if len(text) <= maxShown {
		return text
	}
	half := maxShown / 2
	return strings.ToValidUTF8(text[:half], "") +
		fmt.Sprintf("\n[%d bytes are left out here]\n", len(text)-2*half) +
		strings.ToValidUTF8(text[len(text)-half:], "")
}

// votes reads how many votes to ask for.
func (s *spec) votes() int {
	v := s.count("votes")
	switch {
	case v < 0:
		return 1
	case v%2 == 0 || v > maxVotes:
		s.fail("votes", "%d is not allowed; an odd number up to %d is", v, maxVotes)
	}
	return v
}

// poll sends the same request several times at once and returns the replies in
// their order. If one cannot be had, nothing was measured.
func poll(ctx context.Context, w *subject, id string, votes int, q JudgeRequest) ([]string, error) {
	replies, errs := make([]string, votes), make([]error, votes)
	var wg sync.WaitGroup
	for i := range votes {
		wg.Go(func() {
			q := q
			q.Vote = i + 1
			name := id
			if votes > 1 {
				name = fmt.Sprintf("%s/vote%d", id, i+1)
			}
			if replies[i], errs[i] = w.by.Judge(ctx, name, q); errs[i] != nil {
				errs[i] = fmt.Errorf("ask the judge (%s): %w", name, errs[i])
			} else if err := q.Usable(replies[i]); err != nil {
				errs[i] = fmt.Errorf("the judge gave no usable reply (%s): %w", name, err)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// median returns the middle of an odd number of values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// nearestTo returns the index of the value that is closest, the first of equals.
func nearestTo(values []float64, want float64) int {
	best := 0
	for i, v := range values {
		if math.Abs(v-want) < math.Abs(values[best]-want) {
			best = i
		}
	}
	return best
}
