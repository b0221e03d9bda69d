package adopt

import (
	"slices"
	"strings"
)

// ListAdopted returns the adoptions of a document that hold, in order.
func (s *Store) ListAdopted(project, id string) ([]Record, error) {
	history, err := s.History()
	var out []Record
	for _, r := range history {
		if r.Kind == Adopted && r.Project == project && !takenBack(history, r.N) && slices.ContainsFunc(r.Files, func(c Changed) bool { return c.Target == id }) {
			out = append(out, r)
		}
	}
	return out, err
}

// ListPending returns the transactions of which nothing is known yet: their process is at work, or the next command settles them.
func (s *Store) ListPending() ([]Record, error) { return s.listPending() }

// Without returns what a document that holds live would hold if an adoption were taken back. It writes nothing. Changed has the
// lines that would go and, after them, those that would come back; it is empty if nothing of the adoption is in the document.
func (s *Store) Without(of Record, id, live string) (text string, changed []string, err error) {
	i := slices.IndexFunc(of.Files, func(c Changed) bool { return c.Target == id })
	if i < 0 {
		return "", nil, &Refused{File: id, Reason: "it was not part of the adoption"}
	}
	if slices.ContainsFunc(of.Files, func(c Changed) bool { return strings.HasPrefix(c.Target, id+"/") }) {
		return "", nil, &Refused{File: id, Reason: "other files of its folder were adopted with it"}
	}
	c := of.Files[i]
	before, err := s.readCopy(of.N, backupFile(i), c.Before)
	if err != nil {
		return "", nil, err
	}
	switch {
	case content{there: true, text: live}.sum() == c.After:
		text = before.text
	case c.Whole:
		return "", nil, &Refused{File: c.File(), Reason: "it has changed since it was adopted as a whole"}
	default:
		after, err := s.readCopy(of.N, afterFile(i), c.After)
		if err != nil {
			return "", nil, err
		}
		if text, err = withoutRules(live, before.text, after.text, &Taken{}); err != nil {
			return "", nil, err
		}
	}
	if c.Whole {
		return text, append(less(lines(live), lines(text)), less(lines(text), lines(live))...), nil
	}
	with, err := readRegion(live)
	if err != nil {
		return "", nil, err
	}
	rest, err := readRegion(text)
	if err != nil {
		return "", nil, err
	}
	return text, append(less(lines(with), lines(rest)), less(lines(rest), lines(with))...), nil
}
