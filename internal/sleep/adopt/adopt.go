package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// Request asks for texts to be written into documents of a project: all of them, or none.
type Request struct {
	Project string // absolute
	Night   string // that proposed them
	Items   []Item
	// Branch, of the project's repository, gets a commit, and the files are not written; "": the files are written. A branch
	// that exists is continued, a new one begins with what is checked out.
	Branch string `json:",omitempty"`
}

// change is a document on its way from one content to another.
type change struct {
	place  Place
	before content
	after  content
	note   Changed
}

// Adopt writes texts into documents. It returns the receipt. Errors are *Refused, *Busy, *Conflict and *Damaged, and those of
// the disk; with any of them the documents are as before, but for what others wrote meanwhile. A transaction of before
// that was cut short is finished or undone first.
func (s *Store) Adopt(ctx context.Context, q Request) (r Record, err error) {
	if len(q.Items) == 0 {
		return Record{}, &Refused{File: q.Project, Reason: "nothing was named to be written"}
	}
	held := locks{}
	defer func() { err = errors.Join(err, held.release()) }()
	places, err := s.places(q)
	if err != nil {
		return Record{}, err
	}
	if q.Branch != "" {
		return branching{s}.adopt(ctx, held, q, places)
	}
	if err := s.take(ctx, held, places, true); err != nil {
		return Record{}, err
	}
	if err := s.recover(ctx, held); err != nil {
		return Record{}, err
	}
	if err := s.notYet(q); err != nil {
		return Record{}, err
	}
	changes, err := s.plan(q, places)
	if err != nil {
		return Record{}, err
	}
	return s.commit(Record{Kind: Adopted, Project: q.Project, Night: q.Night}, changes)
}

// Planned is what would be written into a document.
type Planned struct {
	Place  Place
	Live   string // what it holds
	New    bool   // there is no file
	Text   string // what it would hold
	Merged bool   // it has changed outside of its learned region since the text was made
}

// Plan says what [Store.Adopt] would write, by the same rules, and writes nothing.
func (s *Store) Plan(ctx context.Context, q Request) ([]Planned, error) {
	places, err := s.places(q)
	if err != nil {
		return nil, err
	}
	if err := s.notYet(q); err != nil {
		return nil, err
	}
	var changes []change
	if q.Branch == "" {
		changes, err = s.plan(q, places)
	} else {
		changes, err = branching{s}.planBranch(ctx, q, places)
	}
	if err != nil {
		return nil, err
	}
	var out []Planned
	for _, c := range changes {
		out = append(out, Planned{Place: c.place, Live: c.before.text, New: !c.before.there, Text: c.after.text, Merged: c.note.Merged})
	}
	return out, nil
}

// places finds the documents of a request. Two of them may not be one file.
func (s *Store) places(q Request) ([]Place, error) {
	var out []Place
	seen := map[string]string{}
	for _, it := range q.Items {
		p, err := s.find(q.Project, it.Target)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[p.key()]; ok {
			return nil, &Refused{File: p.File(), Reason: fmt.Sprintf("%s and %s are one file", other, it.Target)}
		}
		seen[p.key()] = it.Target
		out = append(out, p)
	}
	return out, nil
}

// notYet fails where a text of the night is in a document already.
func (s *Store) notYet(q Request) error {
	history, err := s.History()
	if err != nil {
		return err
	}
	for _, it := range q.Items {
		if r, ok := findNightAdoption(history, q, it.Target); ok {
			return &Refused{File: it.Target, Reason: fmt.Sprintf("what night %s proposes was adopted already, as number %d", q.Night, r.N)}
		}
	}
	return nil
}

// findNightAdoption returns the adoption of a night's text for a document that was not taken back: into the files, or on the same branch.
func findNightAdoption(history []Record, q Request, target string) (Record, bool) {
	for _, r := range slices.Backward(history) {
		if r.Kind == Adopted && r.Project == q.Project && r.Night == q.Night && r.branch() == q.Branch && !takenBack(history, r.N) &&
			slices.ContainsFunc(r.Files, func(c Changed) bool { return c.Target == target }) {
			return r, true
		}
	}
	return Record{}, false
}

func takenBack(history []Record, n int) bool {
	return slices.ContainsFunc(history, func(r Record) bool { return r.Kind == RolledBack && r.Of == n })
}

// plan reads the documents and settles what each is to hold.
func (s *Store) plan(q Request, places []Place) ([]change, error) {
	var out []change
	var infos []fs.FileInfo
	for i, it := range q.Items {
		live, err := current(places[i])
		if err != nil {
			return nil, err
		}
		for j, other := range infos {
			if live.there && other != nil && sameFile(other, live.info) {
				return nil, &Refused{File: places[i].File(), Reason: "it and " + places[j].File() + " are one file"}
			}
		}
		infos = append(infos, live.info)
		c, err := planChange(it, places[i], live)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// planChange returns the change of a document, with what it is to hold.
func planChange(it Item, p Place, live content) (change, error) {
	text, merged, err := it.merge(p, live)
	if err != nil {
		return change{}, err
	}
	if len(text) > target.MaxDocument {
		return change{}, &Refused{File: p.File(), Reason: fmt.Sprintf("it would have %d bytes, and %d are allowed", len(text), target.MaxDocument)}
	}
	return change{
		place: p, before: live, after: content{there: true, text: text, mode: live.mode},
		note: Changed{Merged: merged, Whole: it.Whole, Claim: it.Claim, Reason: it.Reason, Rules: it.Rules},
	}, nil
}

// current reads a document where it lies now.
func current(p Place) (c content, err error) {
	sp, missing, err := at(p)
	if err != nil || len(missing) > 0 {
		return content{}, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	return sp.document()
}

// commit carries out a transaction, whose documents are locked. Where it fails it is undone.
func (s *Store) commit(r Record, changes []change) (Record, error) {
	r, err := s.begin(withFiles(r, changes))
	if err == nil {
		err = cmp.Or(s.point("intent"), s.note(r, intentFile))
	}
	if err != nil {
		return r, err
	}
	if err = s.carryOut(r, changes); err == nil {
		r, err = s.finish(r)
	}
	if err == nil {
		return r, nil
	}
	if errors.Is(err, errKilled) {
		return r, err
	}
	return r, errors.Join(err, s.undo(r, "it failed: "+err.Error()))
}

// withFiles returns a record with what happens to documents.
func withFiles(r Record, changes []change) Record {
	for _, c := range changes {
		n := c.note
		n.Target, n.Root, n.Path, n.Before, n.After, n.Mode = c.place.ID, c.place.Root, c.place.Path, c.before.sum(), c.after.sum(), c.after.mode
		if n.Rules == nil {
			n.Rules = []Rule{}
		}
		r.Files = append(r.Files, n)
	}
	return r
}

// errKilled is what a test's point returns to leave a transaction as if the process had ended.
var errKilled = errors.New("killed")

func (s *Store) carryOut(r Record, changes []change) error {
	if err := s.point("intended"); err != nil {
		return err
	}
	if err := keepAll(s, r.N, changes); err != nil {
		return err
	}
	for _, c := range changes {
		sp, err := s.make(r.N, c.place)
		if err != nil {
			return err
		}
		if err := errors.Join(s.put(r.N, sp, c.before.sum(), c.after), sp.close()); err != nil {
			return err
		}
	}
	return s.verify(r)
}

func keepAll(s *Store, n int, changes []change) error {
	for i, c := range changes {
		if err := cmp.Or(s.keep(n, i, c), s.point("kept")); err != nil {
			return err
		}
	}
	return nil
}

// keep writes what a document held, and what it is to hold, into the folder of the transaction. Neither is ever written again.
func (s *ledger) keep(n, i int, c change) error {
	for name, text := range map[string]content{backupFile(i): c.before, afterFile(i): c.after} {
		if !text.there {
			continue
		}
		if err := disk.WriteFile(filepath.Join(s.folder(n), name), []byte(text.text), 0o400); err != nil {
			return fmt.Errorf("keep what %s holds: %w", c.place.File(), err)
		}
	}
	return nil
}

// readCopy returns what was kept of a document.
func (s *ledger) readCopy(n int, name, sum string) (content, error) {
	if sum == "" {
		return content{}, nil
	}
	data, err := readOwn(s.folder(n), name)
	if err != nil {
		return content{}, fmt.Errorf("read what was kept: %w", err)
	}
	if target.Digest(string(data)) != sum {
		return content{}, &Damaged{File: filepath.Join(s.folder(n), name), Reason: "it is not what was kept"}
	}
	return content{there: true, text: string(data)}, nil
}

// verify fails if a document does not hold what it is to hold.
func (s *Store) verify(r Record) error {
	for _, c := range r.Files {
		now, err := current(c.place())
		var refused *Refused
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if err != nil || now.sum() != c.After {
			return changedMeanwhile(c.File())
		}
	}
	return s.point("all verified")
}

// finish writes the receipt: from then on it is done.
func (s *Store) finish(r Record) (Record, error) {
	r.Ended = s.now().UTC()
	if err := s.note(r, receiptFile); err != nil {
		return r, fmt.Errorf("write the receipt: %w", err)
	}
	return r, s.point("receipt")
}
