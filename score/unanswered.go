package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unanswered counts measured outcomes in which the target could not show what it can: a
// provider or the model refused a request, or the deadline of the task passed.
type Unanswered struct {
	Refused   map[string]int `json:"refused,omitempty"` // by cause: content_filter, context_length, refusal
	Deadlines int            `json:"deadlines,omitempty"`
}

// Deadline is the cause of an outcome whose deadline passed.
const Deadline = "deadline"

// Refusals returns the causes for which a provider or a model refuses a request.
func Refusals() []string { return []string{"content_filter", "context_length", "refusal"} }

// Add counts an outcome with a cause. A cause that is none of these counts for nothing.
func (u *Unanswered) Add(cause string) {
	switch {
	case cause == Deadline:
		u.Deadlines++
	case slices.Contains(Refusals(), cause):
		u.Refused = maps.Clone(u.Refused) // results share what they count
		if u.Refused == nil {
			u.Refused = map[string]int{}
		}
		u.Refused[cause]++
	}
}

// NumRefused returns how many were refused, whatever the cause.
func (u Unanswered) NumRefused() int {
	n := 0
	for _, of := range u.Refused {
		n += of
	}
	return n
}

// Words says it in a few words, "" where there are none.
func (u Unanswered) Words() string {
	var parts []string
	if n := u.NumRefused(); n > 0 {
		var causes []string
		for _, cause := range slices.Sorted(maps.Keys(u.Refused)) {
			causes = append(causes, fmt.Sprintf("%s %d", cause, u.Refused[cause]))
		}
		parts = append(parts, fmt.Sprintf("%d refused (%s)", n, strings.Join(causes, ", ")))
	}
	if u.Deadlines > 0 {
		parts = append(parts, fmt.Sprintf("%d past the deadline", u.Deadlines))
	}
	return strings.Join(parts, ", ")
}

// After adds the words to those of a score.
func (u Unanswered) After(text string) string {
	if words := u.Words(); words != "" {
		return text + ", " + words
	}
	return text
}
