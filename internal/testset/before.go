package testset

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/plural"
)

// Before is what a run knows of the readings of its test set before its own.
type Before struct {
	Times int      `json:"times"` // readings that are known of
	By    []Reader `json:"by,omitempty"`
	// Unknown says why there may be more, "" if there are not.
	Unknown string `json:"unknown,omitempty"`
}

// Reader is a run that has read a test set.
type Reader struct {
	Run     string `json:"run"`
	Command string `json:"command"`
	Times   int    `json:"times"`
}

// Sum counts openings by run, in the order of their first ones.
func Sum(list []Opening) Before {
	out := Before{Times: len(list)}
	at := map[string]int{}
	for _, o := range list {
		i, known := at[o.RunID]
		if !known {
			i, at[o.RunID] = len(out.By), len(out.By)
			out.By = append(out.By, Reader{Run: o.Run, Command: o.Command})
		}
		out.By[i].Times++
	}
	return out
}

// shown is how many runs are named.
const shown = 5

// Words says how often the set was read, and by whom: "read 2 times before, by a, b".
// It is "" for a set that nobody is known to have read, and nil.
func (b *Before) Words() string {
	switch {
	case b == nil || b.Times == 0 && b.Unknown == "":
		return ""
	case b.Times == 0:
		return "read before nobody knows how often: " + b.Unknown
	}
	text := "read " + plural.Of(b.Times, "time", "times") + " before, by " + b.names()
	if b.Unknown != "" {
		text = strings.Replace(text, "read ", "read at least ", 1) + "; there may be more: " + b.Unknown
	}
	return text
}

func (b *Before) names() string {
	var names []string
	for i, r := range b.By {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(b.By)-shown))
			break
		}
		if r.Times > 1 {
			r.Run += fmt.Sprintf(" (%d times)", r.Times)
		}
		names = append(names, r.Run)
	}
	return strings.Join(names, ", ")
}
