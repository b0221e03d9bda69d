package adopt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// sameFile reports whether two names are one file.
var sameFile = os.SameFile

// ErrNothing says that there is nothing to take back.
var ErrNothing = errors.New("nothing to take back")

// Taken says what happened to a document that was taken back.
type Taken struct {
	Target  string   `json:"target"`
	Exact   bool     `json:"exact"`   // byte for byte what it held before
	Removed []string `json:"removed"` // rules that were taken out of its learned region
	Missing []string `json:"missing"` // rules that were not there any more
	Back    []string `json:"back"`    // rules that the adoption had removed, and that are there again
}

// Rollback takes the transaction n back, 0 for the last adoption of the project not taken back: byte for byte where a document is as it was
// adopted, else its rules are taken out of the learned region one by one. ErrNothing: it was taken back already, or
// there is none.
func (s *Store) Rollback(ctx context.Context, project string, n int) (r Record, out []Taken, err error) {
	held := locks{}
	defer func() { err = errors.Join(err, held.release()) }()
	if err := s.recover(ctx, held); err != nil {
		return Record{}, nil, err
	}
	of, err := s.FindAdoption(project, n)
	if err != nil {
		return Record{}, nil, err
	}
	var places []Place
	for _, c := range of.Files {
		p, err := s.find(project, c.Target)
		if err != nil {
			return Record{}, nil, err
		}
		if p.File() != c.File() {
			return Record{}, nil, &Refused{File: c.File(), Reason: "it was adopted there, and the document is now " + p.File()}
		}
		places = append(places, p)
	}
	if of.Branch != nil {
		return branching{s}.rollback(ctx, held, of, places)
	}
	if err := s.take(ctx, held, places, true); err != nil {
		return Record{}, nil, err
	}
	if of, err = s.FindAdoption(project, of.N); err != nil { // it may have been taken back meanwhile
		return Record{}, nil, err
	}
	var changes []change
	for i, c := range of.Files {
		ch, taken, err := s.takeBack(of, i, c, places[i])
		if err != nil {
			return Record{}, nil, err
		}
		out = append(out, taken)
		if ch.before.sum() != ch.after.sum() {
			changes = append(changes, ch)
		}
	}
	r, err = s.commit(Record{Kind: RolledBack, Of: of.N, Project: project, Night: of.Night, Files: []Changed{}}, changes)
	return r, out, err
}

// FindAdoption finds an adoption that can be taken back: by its number, or with 0 the last one; of a project, or with "" of
// any. ErrNothing: it was taken back already, or there is none.
func (s *Store) FindAdoption(project string, n int) (Record, error) {
	history, err := s.History()
	if err != nil {
		return Record{}, err
	}
	for _, r := range slices.Backward(history) {
		switch {
		case project != "" && r.Project != project || n != 0 && r.N != n:
			continue
		case r.Kind == RolledBack && n != 0:
			return Record{}, &Refused{File: fmt.Sprintf("number %d", n), Reason: fmt.Sprintf("it is itself a rollback, of number %d", r.Of)}
		case r.Kind == RolledBack:
			continue
		case takenBack(history, r.N) && n != 0:
			return Record{}, fmt.Errorf("number %d was taken back already: %w", n, ErrNothing)
		case takenBack(history, r.N):
			continue
		}
		return r, nil
	}
	if n != 0 {
		return Record{}, &Refused{File: fmt.Sprintf("number %d", n), Reason: "there is no adoption of this number"}
	}
	return Record{}, fmt.Errorf("no adoption is in force: %w", ErrNothing)
}

// takeBack settles what a document is to hold once an adoption is taken back.
func (s *Store) takeBack(of Record, i int, c Changed, p Place) (change, Taken, error) {
	live, err := current(p)
	if err != nil {
		return change{}, Taken{}, err
	}
	return s.takeBackFrom(of, i, c, p, live)
}

// takeBackFrom carries out takeBack for a document that holds something.
func (s *Store) takeBackFrom(of Record, i int, c Changed, p Place, live content) (change, Taken, error) {
	out := Taken{Target: c.Target, Removed: []string{}, Missing: []string{}, Back: []string{}}
	before, err := s.readCopy(of.N, backupFile(i), c.Before)
	if err != nil {
		return change{}, out, err
	}
	before.mode = live.mode
	ch := change{place: p, before: live, after: before, note: Changed{Whole: c.Whole}}
	if live.sum() == c.After {
		out.Exact = true
		return ch, out, nil
	}
	if c.Whole {
		return ch, out, &Refused{File: c.File(), Reason: "it has changed since it was adopted as a whole; what it held before lies in " + s.Backup(of, i)}
	}
	if !live.there {
		return ch, out, &Refused{File: c.File(), Reason: "it was deleted since; what it held before lies in " + s.Backup(of, i)}
	}
	after, err := s.readCopy(of.N, afterFile(i), c.After)
	if err != nil {
		return ch, out, err
	}
	ch.after = live
	ch.after.text, err = withoutRules(live.text, before.text, after.text, &out)
	if err != nil {
		return ch, out, &Refused{File: c.File(), Reason: err.Error()}
	}
	return ch, out, nil
}

// withoutRules takes those lines out of the learned region of a text that an adoption added, and puts those back that
// it removed.
func withoutRules(live, before, after string, out *Taken) (string, error) {
	was, err := readRegion(before)
	if err != nil {
		return "", err
	}
	then, err := readRegion(after)
	if err != nil {
		return "", err
	}
	now, err := skill.LearnedText(live)
	if errors.Is(err, skill.ErrNoRegion) {
		out.Missing = lines(then)
		return live, nil
	}
	if err != nil {
		return "", err
	}
	added, removed := less(lines(then), lines(was)), less(lines(was), lines(then))
	var kept strings.Builder
	for line := range strings.Lines(now) {
		rule := strings.TrimSpace(line)
		if i := slices.Index(added, rule); i >= 0 {
			added = slices.Delete(added, i, i+1)
			out.Removed = append(out.Removed, rule)
			continue
		}
		kept.WriteString(line)
	}
	out.Missing = append(out.Missing, added...)
	for _, rule := range less(removed, lines(now)) {
		out.Back = append(out.Back, rule)
		if s := kept.String(); s != "" && !strings.HasSuffix(s, "\n") {
			kept.WriteByte('\n')
		}
		kept.WriteString(rule + "\n")
	}
	return withLearned(live, kept.String())
}

// less returns the lines of a that b does not have, each counted.
func less(a, b []string) []string {
	b = slices.Clone(b)
	var out []string
	for _, line := range a {
		if i := slices.Index(b, line); i >= 0 {
			b = slices.Delete(b, i, i+1)
			continue
		}
		out = append(out, line)
	}
	return out
}
