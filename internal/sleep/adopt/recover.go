package adopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Recover finishes or undoes what was cut short, unless the process that began it is still at work. It is called
// before anything else is done. It returns a *Conflict for what somebody else wrote meanwhile, once.
func (s *Store) Recover(ctx context.Context) (err error) {
	if _, err := os.Lstat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	held := locks{}
	defer func() { err = errors.Join(err, held.release()) }()
	return s.recover(ctx, held)
}

// recover carries out Recover for a process that has locks already.
func (s *Store) recover(ctx context.Context, held locks) error {
	list, problems := s.listPending()
	for _, r := range list {
		var places []Place
		for _, c := range r.Files {
			places = append(places, c.place())
		}
		if r.Branch != nil {
			places = []Place{r.Branch.lock()}
		}
		var busy *Busy
		switch err := s.take(ctx, held, places, false); {
		case errors.As(err, &busy):
			continue // its process is at work
		case err != nil:
			return errors.Join(problems, err)
		}
		// It may have ended while its locks were waited for.
		if s.has(r.N, receiptFile) || s.has(r.N, undoneFile) {
			continue
		}
		problems = errors.Join(problems, s.settle(ctx, r))
	}
	return problems
}

// settle finishes a transaction if all of its documents are as it wanted them, and else undoes it.
func (s *Store) settle(ctx context.Context, r Record) error {
	if r.Branch != nil {
		return branching{s}.settle(ctx, r)
	}
	if err := s.same(r); err != nil {
		return err
	}
	done, conflicts := true, false
	for _, c := range r.Files {
		sum, err := s.tidy(r.N, c)
		var other *Conflict
		if conflicts = conflicts || errors.As(err, &other); err != nil && other == nil {
			return err
		}
		done = done && sum == c.After
	}
	if done && !conflicts {
		_, err := s.finish(r)
		return err
	}
	return s.undo(r, "it was cut short")
}

// same fails where a document is no longer found where the intent says that it lies: nothing is written only because
// an intent says so.
func (s *Store) same(r Record) error {
	for _, c := range r.Files {
		p, err := s.find(r.Project, c.Target)
		if err != nil {
			return &Refused{File: c.File(), Reason: fmt.Sprintf("number %d was cut short, and the document cannot be found any more (%v); what it held lies in %s", r.N, err, s.folder(r.N))}
		}
		if p.File() != c.File() {
			return &Refused{File: c.File(), Reason: fmt.Sprintf("number %d was cut short, and the document is now %s; what it held lies in %s", r.N, p.File(), s.folder(r.N))}
		}
	}
	return nil
}

// tidy removes what a transaction left next to a document, and returns the digest of what the document holds. What
// somebody else wrote in the moment of the exchange is put back in its place, which is a *Conflict.
func (s *Store) tidy(n int, c Changed) (sum string, err error) {
	sp, missing, err := at(c.place())
	if err != nil || len(missing) > 0 {
		return "", err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	if err := ignoreMissing(sp.dir.Remove(sp.part(n))); err != nil {
		return "", fmt.Errorf("tidy up next to %s: %w", c.File(), err)
	}
	live, err := sp.peek(sp.name)
	if err != nil {
		return "", err
	}
	beside, err := sp.peek(sp.temp(n))
	if err != nil {
		return "", err
	}
	switch {
	case !beside.there:
		return live.sum(), nil
	case beside.sum() == c.Before, beside.sum() == c.After:
		return live.sum(), errors.Join(sp.dir.Remove(sp.temp(n)), sp.sync())
	case live.sum() != c.After:
		return live.sum(), &Conflict{File: c.File(), Reason: "somebody else has written it twice meanwhile; what they wrote first is kept as " + filepath.Join(filepath.Dir(c.File()), sp.temp(n))}
	}
	return beside.sum(), errors.Join(changedMeanwhile(c.File()), sp.giveBack(n, live))
}

// giveBack puts what lies next to a document into its place.
func (s spot) giveBack(n int, live content) error {
	if !live.there {
		return errors.Join(moveNew(s.dir, s.temp(n), s.name), s.sync())
	}
	if err := exchange(s.dir, s.temp(n), s.name); err != nil {
		return fmt.Errorf("put back %s: %w", s.file, err)
	}
	out, err := s.peek(s.temp(n))
	if err == nil && out.sum() == live.sum() {
		err = s.dir.Remove(s.temp(n))
	}
	return errors.Join(err, s.sync())
}

// undo makes documents what they were, where they are as the transaction wanted them. What somebody else wrote stays. The first error of the
// disk leaves the intent as it is, for the next command.
func (s *Store) undo(r Record, why string) error {
	r.Undone = []string{why}
	var conflicts error
	for i, c := range slices.Backward(r.Files) {
		err := s.undoOne(r.N, i, c)
		var other *Conflict
		if errors.As(err, &other) {
			conflicts = errors.Join(conflicts, &Conflict{File: other.File, Reason: other.Reason + "; what it held before lies in " + s.Backup(r, i)})
			r.Undone = append(r.Undone, other.Error())
			continue
		}
		if err != nil {
			return errors.Join(conflicts, fmt.Errorf("undo number %d, which the next command tries again: %w", r.N, err))
		}
	}
	if err := s.unmake(r); err != nil {
		return errors.Join(conflicts, err)
	}
	r.Ended = s.now().UTC()
	return errors.Join(conflicts, s.note(r, undoneFile), s.point("undone"))
}

func (s *Store) undoOne(n, i int, c Changed) error {
	sum, err := s.tidy(n, c)
	if err != nil {
		return err
	}
	switch sum {
	case c.Before:
		return nil
	case c.After:
	default:
		return changedMeanwhile(c.File())
	}
	before, err := s.readCopy(n, backupFile(i), c.Before)
	if err != nil {
		return err
	}
	sp, missing, err := at(c.place())
	if err != nil || len(missing) > 0 {
		return err
	}
	before.mode = c.Mode
	return errors.Join(s.put(n, sp, c.After, before), sp.close())
}

// made is a folder that a transaction made for a document.
type made struct {
	Root string `json:"root"`
	Path string `json:"path"`
	ID   string `json:"id"` // of the folder on its machine
}

// make opens the folder of a document, and makes it where it is not there. Each folder that is made is noted before it gets its name.
func (s *Store) make(n int, p Place) (spot, error) {
	sp, missing, err := at(p)
	if err != nil || len(missing) == 0 {
		return sp, err
	}
	for _, dir := range missing {
		if err := s.makeFolder(n, p, dir); err != nil {
			return spot{}, err
		}
	}
	sp, missing, err = at(p)
	if err == nil && len(missing) > 0 {
		err = &Conflict{File: p.File(), Reason: "somebody else has removed its folder meanwhile"}
	}
	return sp, err
}

func (s *Store) makeFolder(n int, p Place, dir string) (err error) {
	sp, missing, err := at(Place{ID: p.ID, Root: p.Root, Path: dir})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return &Conflict{File: p.File(), Reason: "somebody else has removed its folder meanwhile"}
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	if err := sp.dir.Mkdir(sp.temp(n), 0o777); err != nil { // the user's mask takes away what it does
		return fmt.Errorf("make the folder of %s: %w", p.File(), err)
	}
	info, err := sp.dir.Lstat(sp.temp(n))
	if err != nil {
		return fmt.Errorf("make the folder of %s: %w", p.File(), err)
	}
	list, err := s.madeBy(n)
	if err != nil {
		return err
	}
	data, err := json.Marshal(append(list, made{Root: p.Root, Path: dir, ID: folderIdentity(info)}))
	if err != nil {
		return fmt.Errorf("note a folder: %w", err)
	}
	if err := errors.Join(s.point("folder"), disk.WriteFile(filepath.Join(s.folder(n), madeFile), data, 0o600), s.point("folder noted")); err != nil {
		return errors.Join(err, ignoreMissing(sp.dir.Remove(sp.temp(n))))
	}
	err = moveNew(sp.dir, sp.temp(n), sp.name)
	if errors.Is(err, errors.ErrUnsupported) {
		err = sp.dir.Rename(sp.temp(n), sp.name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make the folder of %s: %w", p.File(), err), ignoreMissing(sp.dir.Remove(sp.temp(n))))
	}
	return errors.Join(sp.sync(), s.point("folder made"))
}

func (s *ledger) madeBy(n int) ([]made, error) {
	data, err := readOwn(s.folder(n), madeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which folders were made: %w", err)
	}
	var list []made
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &Damaged{File: filepath.Join(s.folder(n), madeFile), Reason: "it cannot be read: " + err.Error()}
	}
	return list, nil
}

// unmake removes folders that a transaction made, if they are the same and nothing is in them.
func (s *ledger) unmake(r Record) error {
	for _, c := range r.Files {
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			if err := removeUnnamed(r.N, Place{Root: c.Root, Path: dir}); err != nil {
				return err
			}
		}
	}
	list, err := s.madeBy(r.N)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(list) {
		// The list is not signed: only folders above a document of the record are looked at.
		ours := slices.ContainsFunc(r.Files, func(c Changed) bool {
			return c.Root == m.Root && len(c.Path) > len(m.Path) && path.Dir(c.Path) != "." && c.Path[:len(m.Path)+1] == m.Path+"/"
		})
		if !ours || m.ID == "" {
			continue
		}
		if err := removeFolder(r.N, m); err != nil {
			return err
		}
	}
	return nil
}

// removeUnnamed removes a folder that was made and had not got its name yet.
func removeUnnamed(n int, p Place) (err error) {
	sp, missing, err := at(p)
	if err != nil || len(missing) > 0 {
		return err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	if info, err := sp.dir.Lstat(sp.temp(n)); err == nil && info.IsDir() {
		_ = sp.dir.Remove(sp.temp(n)) // one that is not empty is somebody else's
	}
	return nil
}

func removeFolder(n int, m made) (err error) {
	sp, missing, err := at(Place{Root: m.Root, Path: m.Path})
	if err != nil || len(missing) > 0 {
		return err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	for _, name := range []string{sp.temp(n), sp.name} {
		info, err := sp.dir.Lstat(name)
		if err != nil || !info.IsDir() || folderIdentity(info) != m.ID {
			continue // it is not there, or another one
		}
		_ = sp.dir.Remove(name) // one that is not empty stays
	}
	return sp.sync()
}
