package adopt

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Origin says where a line of a learned region comes from.
type Origin struct {
	Line int    `json:"line"` // of the document, from 1
	Text string `json:"text"`
	N    int    `json:"n"` // of the adoption that brought it; 0: none that is known, such as a person
	// Night, Claim and Rule are those of the adoption.
	Night string `json:"night,omitempty"`
	Claim string `json:"claim,omitempty"`
	Rule  *Rule  `json:"rule,omitempty"`
}

// Blame returns for each line of a document's learned region the adoption that brought it: the last one not taken back, whose
// text has the line where what was there before had not.
func (s *Store) Blame(project, target, text string) ([]Origin, error) {
	history, err := s.History()
	if err != nil {
		return nil, err
	}
	from, to, err := skill.LearnedRange(text)
	if err != nil {
		return nil, err
	}
	out := []Origin{}
	number := strings.Count(text[:from], "\n")
	for line := range strings.Lines(text[from:to]) {
		number++
		if rule := strings.TrimSpace(line); rule != "" {
			out = append(out, Origin{Line: number, Text: rule})
		}
	}
	left := len(out)
	for _, r := range slices.Backward(history) {
		if left == 0 { // what is older is not read
			break
		}
		if r.Kind != Adopted || r.Project != project || takenBack(history, r.N) {
			continue
		}
		added, err := s.findAdditions(r, target)
		if err != nil {
			return nil, err
		}
		for _, a := range added {
			for i := range out {
				if o := &out[i]; o.N == 0 && slices.Contains(a.lines, o.Text) {
					o.N, o.Night, o.Claim, o.Rule = r.N, r.Night, a.file.Claim, findRule(a.file.Rules, o.Text)
					left--
				}
			}
		}
	}
	return out, nil
}

// Owner finds the project and the id of a document by its file: what was written there was adopted as that.
func (s *Store) Owner(file string) (project, target string, err error) {
	history, err := s.History()
	if err != nil {
		return "", "", err
	}
	for _, r := range slices.Backward(history) {
		for _, c := range r.Files {
			if c.File() == file {
				return r.Project, c.Target, nil
			}
		}
	}
	return "", "", &Refused{File: file, Reason: "nothing was adopted into it"}
}

// addition is what an adoption added to a document.
type addition struct {
	file  Changed
	lines []string
}

func (s *Store) findAdditions(r Record, target string) ([]addition, error) {
	var out []addition
	for i, c := range r.Files {
		if c.Target != target {
			continue
		}
		var sides [2]string
		for k, name := range []string{backupFile(i), afterFile(i)} {
			kept, err := s.readCopy(r.N, name, []string{c.Before, c.After}[k])
			if err != nil {
				return nil, err
			}
			if sides[k], err = readRegion(kept.text); err != nil {
				return nil, err
			}
		}
		out = append(out, addition{file: c, lines: less(lines(sides[1]), lines(sides[0]))})
	}
	return out, nil
}

func findRule(rules []Rule, text string) *Rule {
	if i := slices.IndexFunc(rules, func(r Rule) bool { return strings.TrimSpace(r.Text) == text }); i >= 0 {
		return &rules[i]
	}
	return nil
}

// Some returns a text whose learned region holds what the region of base holds and those of the lines added by proposed
// that are kept. keep has their numbers among the added lines, from 1.
func Some(base, proposed string, keep []int) (string, error) {
	was, err := readRegion(base)
	if err != nil {
		return "", err
	}
	is, err := readRegion(proposed)
	if err != nil {
		return "", err
	}
	if was != "" && !strings.HasSuffix(was, "\n") {
		was += "\n"
	}
	for i, rule := range less(lines(is), lines(was)) {
		if slices.Contains(keep, i+1) {
			was += rule + "\n"
		}
	}
	return withLearned(base, was)
}

// Added returns the lines that a proposed text adds to the learned region. [Some] keeps them by their numbers.
func Added(base, proposed string) ([]string, error) {
	was, err := readRegion(base)
	if err != nil {
		return nil, err
	}
	is, err := readRegion(proposed)
	if err != nil {
		return nil, err
	}
	return less(lines(is), lines(was)), nil
}
