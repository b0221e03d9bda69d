package result

import "fmt"

// Effort is what the episodes of agents took with two skills, over the tasks that both measured. It is reported, and nothing
// is decided by it.
type Effort struct {
	Type    string     `json:"type,omitempty"` // of the tasks; "": all of them
	N       int        `json:"n"`
	Turns   PairedMean `json:"turns"`   // messages and calls of tools
	Tokens  PairedMean `json:"tokens"`  // input and output
	Seconds PairedMean `json:"seconds"` // from start to end, on this machine
}

// PairedMean is a mean before and after, and the mean of the paired differences with its 95 % interval, which is null where there
// are too few pairs or all are equal.
type PairedMean struct {
	Before     float64  `json:"before"`
	After      float64  `json:"after"`
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
}

// String returns the change in words.
func (c PairedMean) String() string {
	text := fmt.Sprintf("%.4g -> %.4g (%+.3g", c.Before, c.After, c.Difference)
	if c.Low != nil {
		text += fmt.Sprintf(" [%+.3g, %+.3g]", *c.Low, *c.High)
	}
	return text + ")"
}
