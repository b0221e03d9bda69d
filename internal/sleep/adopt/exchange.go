package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Conflict says that somebody else has written a document during a transaction. What they wrote stays.
type Conflict struct{ File, Reason string }

func (e *Conflict) Error() string { return e.File + ": " + e.Reason }

// ErrorKind says whose business the error is.
func (*Conflict) ErrorKind() string { return "environment" }

// changedMeanwhile returns the conflict about a document that somebody else has changed.
func changedMeanwhile(file string) *Conflict {
	return &Conflict{File: file, Reason: "somebody else has changed it meanwhile; it is as they left it"}
}

// temp returns the name next to a document under which transaction n has the other text. While that is written, it has the name that part returns.
func (s spot) temp(n int) string { return fmt.Sprintf(".%s.skillopt-%d", s.name, n) }
func (s spot) part(n int) string { return s.temp(n) + ".part" }

// put makes a document what it is to be, if it is what it was: either nothing happens, or all of it.
func (s *Store) put(n int, sp spot, before string, after content) error {
	if !after.there {
		return s.remove(n, sp, before)
	}
	if err := s.writeTemp(n, sp, after); err != nil {
		return err
	}
	if before == "" {
		return s.publish(n, sp)
	}
	return s.exchange(n, sp, before)
}

// writeTemp writes a text next to the document, under its name for the transaction once it is whole.
func (s *Store) writeTemp(n int, sp spot, after content) error {
	if err := s.point("write beside"); err != nil {
		return err
	}
	perm := cmp.Or(after.mode, 0o666) // of a new file the user's mask takes away what it does
	f, err := sp.dir.OpenFile(sp.part(n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return fmt.Errorf("write next to %s: %w", sp.file, err)
	}
	_, err = f.WriteString(after.text)
	if err == nil && after.mode != 0 {
		err = f.Chmod(after.mode)
	}
	err = errors.Join(err, f.Sync(), f.Close(), s.point("written beside"))
	if err == nil {
		err = sp.dir.Rename(sp.part(n), sp.temp(n))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write next to %s: %w", sp.file, err), ignoreMissing(sp.dir.Remove(sp.part(n))))
	}
	return errors.Join(sp.sync(), s.point("beside"))
}

// ignoreMissing returns the error of removing a file, nil if the file was not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// publish gives a new document its name, unless there is one by now.
func (s *Store) publish(n int, sp spot) error {
	temp := sp.temp(n)
	err := moveNew(sp.dir, temp, sp.name)
	if errors.Is(err, errors.ErrUnsupported) {
		if err = sp.dir.Link(temp, sp.name); err == nil {
			err = errors.Join(s.point("linked"), sp.dir.Remove(temp))
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.Join(&Conflict{File: sp.file, Reason: "somebody else has made it meanwhile; it was left as it is"}, sp.dir.Remove(temp))
	case err != nil:
		return errors.Join(fmt.Errorf("write %s: %w", sp.file, err), ignoreMissing(sp.dir.Remove(temp)))
	}
	return errors.Join(s.point("published"), sp.sync())
}

// exchange gives a document its new text, and looks at what it held until then: if that is not what it is to have been, the
// exchange is taken back.
func (s *Store) exchange(n int, sp spot, before string) error {
	temp := sp.temp(n)
	now, err := sp.peek(sp.name)
	if err == nil && now.sum() != before {
		err = changedMeanwhile(sp.file)
	}
	if err = errors.Join(err, s.point("looked at")); err != nil {
		return errors.Join(err, ignoreMissing(sp.dir.Remove(temp)))
	}
	err = exchange(sp.dir, temp, sp.name)
	if errors.Is(err, errors.ErrUnsupported) { // between the look above and this there is a gap there
		return errors.Join(sp.dir.Rename(temp, sp.name), s.point("exchanged"), sp.sync())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", sp.file, err), ignoreMissing(sp.dir.Remove(temp)))
	}
	if err := s.point("exchanged"); err != nil {
		return err
	}
	out, err := sp.peek(temp)
	if err != nil || out.sum() != before {
		back := exchange(sp.dir, temp, sp.name)
		if back == nil {
			back = sp.dir.Remove(temp)
		}
		return errors.Join(changedMeanwhile(sp.file), err, back, sp.sync())
	}
	return errors.Join(sp.sync(), s.point("verified"), sp.dir.Remove(temp), sp.sync())
}

// remove takes a document away that is what it was.
func (s *Store) remove(n int, sp spot, before string) error {
	temp := sp.temp(n)
	now, err := sp.peek(sp.name)
	if err == nil && now.sum() != before {
		err = changedMeanwhile(sp.file)
	}
	if err = errors.Join(err, s.point("looked at")); err != nil {
		return err
	}
	err = moveNew(sp.dir, sp.name, temp)
	if errors.Is(err, errors.ErrUnsupported) {
		err = sp.dir.Rename(sp.name, temp)
	}
	if err = errors.Join(err, s.point("moved away")); err != nil {
		return fmt.Errorf("remove %s: %w", sp.file, err)
	}
	out, err := sp.peek(temp)
	if err != nil || out.sum() != before {
		return errors.Join(changedMeanwhile(sp.file), err, moveNew(sp.dir, temp, sp.name), sp.sync())
	}
	return errors.Join(sp.dir.Remove(temp), sp.sync())
}

// sync makes names of the folder lasting.
func (s spot) sync() error { return syncFolder(s.dir, filepath.Dir(s.file)) }
