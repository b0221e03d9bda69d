package record

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Place is where in a run something was asked, as its key in the record says.
type Place struct {
	Step  int    `json:"step"`            // 0: before the first step, or after the last
	Epoch int    `json:"epoch,omitempty"` // 0: outside of epochs
	At    string `json:"at"`              // what of the step it belongs to, such as gate/cand; final/test/best

	Task    string `json:"task,omitempty"` // id; "": no task is asked
	Sample  int    `json:"sample"`
	Attempt int    `json:"attempt,omitempty"` // from 0: asked again after a reply that could not be used
	Turn    int    `json:"turn,omitempty"`    // of a conversation, from 1
}

var (
	callOfTask = regexp.MustCompile(`^(.*)/([^/]+)/sample(\d+)(?:/attempt(\d+))?(?:/turn(\d+))?$`)
	callOfNone = regexp.MustCompile(`^(.*?)(?:/attempt(\d+))?(?:/turn(\d+))?$`)
	inEpoch    = regexp.MustCompile(`^e(\d+)(?:/s(\d+))?/(.*)$`)
)

// PlaceOf takes a key of the record apart.
func PlaceOf(key string) Place {
	var p Place
	rest := key
	if m := callOfTask.FindStringSubmatch(key); m != nil {
		rest, p.Task = m[1], unescaped(m[2])
		p.Sample, p.Attempt, p.Turn = number(m[3]), number(m[4]), number(m[5])
	} else if m := callOfNone.FindStringSubmatch(key); m != nil {
		rest, p.Attempt, p.Turn = m[1], number(m[2]), number(m[3])
	}
	if p.At = rest; p.At == "" {
		p.At = key
	}
	if m := inEpoch.FindStringSubmatch(rest); m != nil {
		p.Epoch, p.Step, p.At = number(m[1]), number(m[2]), m[3]
	}
	return p
}

// OfTest reports whether test tasks are asked at a place of the run. An ablation or pruning
// asks the tasks of all its splits at the same places: they count as test tasks if any are.
func (r *Run) OfTest(p Place) bool {
	switch {
	case strings.HasPrefix(p.At, comparePrefix):
		return r.compares() == "test"
	case strings.HasPrefix(p.At, textPrefix):
		return r.cutsOnTest()
	}
	return strings.HasPrefix(p.At, "final/test") || strings.HasPrefix(p.At, "eval/test") || strings.Contains(p.At, "triggers/test")
}

const (
	comparePrefix = "compare/" // begins the places of a comparison
	textPrefix    = "text/"    // those of an ablation or pruning: behind it is the hash of a skill
)

var splitsOfCuts = regexp.MustCompile(`^([a-z]+),.*?(?:, certified on ([a-z]+))?(?:, rules of .*)?$`)

// cutsOnTest reports whether test tasks are among those that judge the rules of an ablation or
// pruning, or certify it. Where that cannot be told they are.
func (r *Run) cutsOnTest() bool {
	m := splitsOfCuts.FindStringSubmatch(r.Manifest.About("ablate") + r.Manifest.About("prune"))
	return m == nil || slices.ContainsFunc(m[1:], func(split string) bool { return split == "test" || split == "all" })
}

// compares is the split of a comparison; of all of them it is test, which is among them.
func (r *Run) compares() string {
	if split := r.Manifest.About("compare"); split != "all" {
		return split
	}
	return "test"
}

// number is what digits say, 0 for none; what no int holds is no number of a run.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// escaped is an id within a key, and unescaped the reverse.
func escaped(id string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(id)
}

func unescaped(id string) string {
	return strings.NewReplacer("%2F", "/", "%25", "%").Replace(id)
}
