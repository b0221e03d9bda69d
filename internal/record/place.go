package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
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

// ParsePlace parses a key of the record: [eN[/sN]/]AT[/TASK/sampleN][/attemptN][/turnN]. A key with a line
// break, which no run writes, is a place as it is. Readers of a record call it for each entry.
func ParsePlace(key string) Place {
	if strings.ContainsRune(key, '\n') {
		return Place{At: key}
	}
	var p Place
	rest := key
	rest, p.Turn, _ = cutNumber(rest, "/turn")
	rest, p.Attempt, _ = cutNumber(rest, "/attempt")
	if of, sample, ok := cutNumber(rest, "/sample"); ok {
		if at := strings.LastIndexByte(of, '/'); at >= 0 && at < len(of)-1 {
			rest, p.Task, p.Sample = of[:at], unescapeID(of[at+1:]), sample
		}
	}
	if p.At = rest; p.At == "" {
		p.At = key
	}
	epoch, within, ok := numberBefore(rest, "e")
	if !ok {
		return p
	}
	p.Epoch, p.At = epoch, within
	if step, of, ok := numberBefore(within, "s"); ok {
		p.Step, p.At = step, of
	}
	return p
}

// cutNumber cuts a word with a number off the end of a key; ok is false if it does not end so.
func cutNumber(key, word string) (rest string, n int, ok bool) {
	end := len(key)
	for end > 0 && key[end-1] >= '0' && key[end-1] <= '9' {
		end--
	}
	if end == len(key) || !strings.HasSuffix(key[:end], word) {
		return key, 0, false
	}
	return key[:end-len(word)], number(key[end:]), true
}

// numberBefore takes a word with a number, and the slash behind it, off the beginning of a key.
func numberBefore(key, word string) (n int, rest string, ok bool) {
	digits, rest, ok := strings.Cut(key, "/")
	digits, is := strings.CutPrefix(digits, word)
	if !ok || !is || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, "", false
	}
	return number(digits), rest, true
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

var splitsOfCuts = pattern.New(`^([a-z]+),.*?(?:, certified on ([a-z]+))?(?:, rules of .*)?$`)

// cutsOnTest reports whether test tasks are among those that judge the rules of an ablation or
// pruning, or certify it. Where that cannot be known they are.
func (r *Run) cutsOnTest() bool {
	m := splitsOfCuts.FindStringSubmatch(r.Manifest.About("ablate") + r.Manifest.About("prune"))
	return m == nil || slices.ContainsFunc(m[1:], func(split string) bool { return split == "test" || split == "all" })
}

// compares returns the split of a comparison; of all of them it is test, which is among them.
func (r *Run) compares() string {
	if split := r.Manifest.About("compare"); split != "all" {
		return split
	}
	return "test"
}

// number returns the number that digits say, 0 for none; what no int holds is no number of a run.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// escapeID encodes an id for use within a key, and unescapeID decodes it.
func escapeID(id string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(id)
}

func unescapeID(id string) string {
	if !strings.Contains(id, "%") {
		return id
	}
	return strings.NewReplacer("%2F", "/", "%25", "%").Replace(id)
}
