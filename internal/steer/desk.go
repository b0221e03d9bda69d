package steer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Bounds of one look: entries that it goes through, and that it removes. What is beyond
// comes in later looks, since what is no request is removed.
const (
	mostEntries = 16 << 10
	mostRemoved = 1 << 10
)

// leftover is the age at which a file that was being written counts as forgotten.
const leftover = time.Minute

// Desk reads the requests to one run directory. It is for one goroutine.
type Desk struct {
	dir string
	now func() time.Time

	stuck map[string]bool // entries that cannot be removed, or were not to be read again
	told  bool            // that the folder is none
}

// NewDesk returns a desk for a run directory. Nothing is opened yet.
func NewDesk(dir string, now func() time.Time) *Desk {
	return &Desk{dir: dir, now: now, stuck: map[string]bool{}}
}

// Found is a file that is named as a request.
type Found struct {
	ID      string
	Request Request
	Refused string // why it is none, or not to be carried out
}

// Look is what was found at the desk.
type Look struct {
	Found   []Found // in the order of their ids, MaxPending at most
	Removed int     // entries that were no requests, or too many
	Problem string  // of the folder as a whole, reported once
}

// Look reads what is pending. Requests stay until Done. A folder that is not there holds
// nothing. Its error is one of the disk.
func (d *Desk) Look() (out Look, err error) {
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folder, problem, err := d.open(root)
	if folder == nil {
		out.Problem = problem
		return out, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	of, err := root.Stat(".")
	if err != nil {
		return out, err
	}
	entries, err := list(folder)
	if err != nil {
		return out, err
	}
	var named []string
	for _, e := range entries {
		switch id, ok := parseID(e.Name()); {
		case d.stuck[e.Name()]:
		case ok:
			named = append(named, id)
		case out.Removed < mostRemoved:
			out.Removed += d.clear(folder, e)
		}
	}
	slices.Sort(named)
	for len(named) > MaxPending && out.Removed < mostRemoved {
		out.Removed += d.remove(folder, named[0]+suffix)
		named = named[1:]
	}
	for _, id := range named[max(0, len(named)-MaxPending):] {
		r, err := d.read(folder, id, of)
		f := Found{ID: id, Request: r}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it was taken back
		case err != nil:
			f.Refused = err.Error()
		}
		out.Found = append(out.Found, f)
	}
	return out, nil
}

// open opens the folder of requests, which is a folder and no link.
func (d *Desk) open(root *os.Root) (folder *os.Root, problem string, err error) {
	info, err := root.Lstat(Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case !info.IsDir():
		if !d.told {
			d.told, problem = true, "requests to this run are not read: "+errNoFolder.Error()
		}
		return nil, problem, nil
	}
	folder, err = root.OpenRoot(Folder)
	return folder, "", err
}

func list(folder *os.Root) (entries []fs.DirEntry, err error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	entries, err = f.ReadDir(mostEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// clear removes an entry that is no request, unless it is one that is being written.
func (d *Desk) clear(folder *os.Root, e fs.DirEntry) int {
	if strings.HasPrefix(e.Name(), ".") {
		info, err := folder.Lstat(e.Name())
		if err != nil || info.Mode().IsRegular() && d.now().Sub(info.ModTime()) < leftover {
			return 0
		}
	}
	return d.remove(folder, e.Name())
}

// remove removes an entry, or notes that it cannot be. It returns how many were removed.
func (d *Desk) remove(folder *os.Root, name string) int {
	switch err := folder.Remove(name); {
	case err == nil:
		return 1
	case !errors.Is(err, fs.ErrNotExist):
		d.stuck[name] = true
	}
	return 0
}

// read reads the request of an id: a regular file, no link, of somebody who may ask.
func (d *Desk) read(folder *os.Root, id string, dir fs.FileInfo) (r Request, err error) {
	info, err := folder.Lstat(id + suffix)
	switch {
	case err != nil:
		return r, err
	case !info.Mode().IsRegular():
		return r, errors.New("it is no regular file")
	}
	f, err := folder.OpenFile(id+suffix, os.O_RDONLY|noWait, 0)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	opened, err := f.Stat()
	switch {
	case err != nil:
		return r, err
	case !os.SameFile(info, opened):
		return r, errors.New("it changed while it was read")
	case !mayAsk(opened, dir):
		return r, errors.New("its owner is neither that of the run directory, nor who runs it, nor root")
	case opened.Size() > MaxBytes:
		return r, fmt.Errorf("it has %d bytes, at most %d are read", opened.Size(), MaxBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return r, err
	}
	return decode(id, data)
}

// Done removes a request that was answered. One that cannot be removed is not found again.
func (d *Desk) Done(id string) {
	root, err := os.OpenRoot(d.dir)
	if err == nil {
		err = cmp.Or(withdraw(root, id), root.Close())
	}
	if err != nil {
		d.stuck[id+suffix] = true
	}
}

// withdraw removes a request, if it is there.
func withdraw(root *os.Root, id string) (err error) {
	info, err := root.Lstat(Folder)
	if err == nil && !info.IsDir() {
		return errNoFolder
	}
	if err == nil {
		err = root.Remove(Folder + "/" + id + suffix)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
