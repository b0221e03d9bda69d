package adopt

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Format is that of a Record.
const Format = 3

// Kind says what a transaction did.
type Kind string

// The kinds.
const (
	Adopted    Kind = "adopted"
	RolledBack Kind = "rolled_back"
)

// Record is a transaction: its intent, and with Ended its receipt.
type Record struct {
	Format  int       `json:"format"`
	N       int       `json:"n"` // counts the transactions of a store, from 1
	Kind    Kind      `json:"kind"`
	Of      int       `json:"of,omitempty"` // the one that was taken back
	Project string    `json:"project"`
	Night   string    `json:"night"`
	Version string    `json:"version"` // of the program
	Began   time.Time `json:"began_at"`
	Ended   time.Time `json:"ended_at,omitzero"`
	Files   []Changed `json:"files"`
	Branch  *Branched `json:"branch,omitempty"` // nil: the files themselves were written
	// Undone says why the transaction had no effect, and what was left as somebody else had written it.
	Undone []string `json:"undone,omitempty"`

	HMAC string `json:"hmac"` // over all of the above
}

// branch returns the branch that the transaction was committed to, "" if there is none.
func (r Record) branch() string {
	if r.Branch == nil {
		return ""
	}
	return r.Branch.Name
}

// Changed is a document of a transaction.
type Changed struct {
	Target string      `json:"target"`
	Root   string      `json:"root"`
	Path   string      `json:"path"`
	Before string      `json:"before"` // SHA-256; "": there was no file
	After  string      `json:"after"`  // SHA-256; "": there is no file
	Mode   fs.FileMode `json:"mode"`   // permission bits that it has afterwards; 0: those of a new file
	Merged bool        `json:"merged"` // it had changed outside of its learned region since the text was made
	Whole  bool        `json:"whole"`  // not the learned region alone
	Claim  string      `json:"claim"`  // what the user learned that the text is, such as certified
	Reason string      `json:"reason"`
	Rules  []Rule      `json:"rules"`
}

// place returns where the document lay.
func (c Changed) place() Place { return Place{ID: c.Target, Root: c.Root, Path: c.Path} }

// File returns the path of the document.
func (c Changed) File() string { return c.place().File() }

// Rule is a line of a text, and what it rests on.
type Rule struct {
	Text    string          `json:"text"`
	Grounds json.RawMessage `json:"grounds,omitempty"` // as the caller gives it
}

// ledger is what is noted of transactions, in a folder of the user's: a folder each.
type ledger struct {
	dir     string
	key     []byte
	version string
	now     func() time.Time
}

// Names in the folder of a transaction.
const (
	intentFile  = "intent.json"
	receiptFile = "receipt.json" // it is done
	undoneFile  = "undone.json"  // it was undone
	madeFile    = "made.json"    // folders that it made
)

// maxRecord bounds what is read of a transaction.
const maxRecord = 4 << 20

func backupFile(i int) string { return strconv.Itoa(i) + ".before" }
func afterFile(i int) string  { return strconv.Itoa(i) + ".after" }

// folder returns the folder in which a transaction is noted.
func (s *ledger) folder(n int) string { return filepath.Join(s.dir, fmt.Sprintf("%06d", n)) }

// Backup returns the file that has what a document held before.
func (s *Store) Backup(r Record, i int) string { return s.backup(r, i) }

func (s *ledger) backup(r Record, i int) string { return filepath.Join(s.folder(r.N), backupFile(i)) }

func (s *ledger) sign(r Record) (string, error) {
	r.HMAC = ""
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("sign a record: %w", err)
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte("skillopt adoption\n"))
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// note writes a record, whole or not at all.
func (s *ledger) note(r Record, name string) (err error) {
	if r.HMAC, err = s.sign(r); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return disk.WriteFile(filepath.Join(s.folder(r.N), name), append(data, '\n'), 0o600)
}

// read reads a record. fs.ErrNotExist: there is none of the name.
func (s *ledger) read(n int, name string) (Record, error) {
	full := filepath.Join(s.folder(n), name)
	data, err := readOwn(s.folder(n), name)
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, &Damaged{File: full, Reason: "it cannot be read: " + err.Error()}
	}
	if r.Format != Format {
		return Record{}, &Damaged{File: full, Reason: fmt.Sprintf("it has format %d, and this program reads format %d", r.Format, Format)}
	}
	want, err := s.sign(r)
	if err != nil {
		return Record{}, err
	}
	if r.N != n || !hmac.Equal([]byte(want), []byte(r.HMAC)) {
		return Record{}, &Damaged{File: full, Reason: "it is not as this program has written it"}
	}
	return r, nil
}

// Damaged is a record that cannot be believed.
type Damaged struct{ File, Reason string }

func (e *Damaged) Error() string {
	return e.File + ": " + e.Reason + "; what the documents held before is next to it (*.before): compare, then delete the folder"
}

// ErrorKind says whose business the error is.
func (*Damaged) ErrorKind() string { return "bad_input" }

// readOwn reads a file of a transaction. fs.ErrNotExist: there is none of the name.
func readOwn(dir, name string) ([]byte, error) {
	data, err := disk.ReadOwn(context.Background(), dir, name, maxRecord)
	var odd *disk.Error
	if errors.As(err, &odd) {
		return nil, &Damaged{File: filepath.Join(dir, name), Reason: odd.Reason()}
	}
	return data, err
}

// numbers returns the numbers of all transactions, in order.
func (s *ledger) numbers() ([]int, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list what was adopted: %w", err)
	}
	var out []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// History returns the receipts, in order. Records that cannot be believed are reported next to those that can.
func (s *Store) History() ([]Record, error) { return s.receipts() }

func (s *ledger) receipts() ([]Record, error) {
	list, err := s.numbers()
	if err != nil {
		return nil, err
	}
	var out []Record
	var problems error
	for _, n := range list {
		r, err := s.read(n, receiptFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = errors.Join(problems, err)
		default:
			out = append(out, r)
		}
	}
	return out, problems
}

// Forget deletes what is noted of projects, copies of their documents included, also of transactions that were undone. keep: it
// deletes nothing, and returns the folders that it would delete.
func (s *Store) Forget(project func(string) bool, keep bool) (folders []string, err error) {
	list, err := s.numbers()
	if err != nil {
		return nil, err
	}
	for _, n := range list {
		r, err := s.read(n, intentFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended before it began
		}
		if err != nil {
			return folders, err
		}
		if !project(r.Project) {
			continue
		}
		folders = append(folders, s.folder(n))
		if keep {
			continue
		}
		if err := os.RemoveAll(s.folder(n)); err != nil {
			return folders, fmt.Errorf("delete what was adopted: %w", err)
		}
	}
	return folders, nil
}

// listPending returns the intents of which nothing is known yet.
func (s *ledger) listPending() ([]Record, error) {
	list, err := s.numbers()
	if err != nil {
		return nil, err
	}
	var out []Record
	var problems error
	for _, n := range list {
		if s.has(n, receiptFile) || s.has(n, undoneFile) || !s.has(n, intentFile) {
			continue
		}
		r, err := s.read(n, intentFile)
		if err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		out = append(out, r)
	}
	return out, problems
}

func (s *ledger) has(n int, name string) bool {
	_, err := os.Lstat(filepath.Join(s.folder(n), name))
	return err == nil
}

// begin gives a record its number and folder.
func (s *ledger) begin(r Record) (Record, error) {
	list, err := s.numbers()
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return r, fmt.Errorf("make the folder of what is adopted: %w", err)
	}
	r.N = 1
	if len(list) > 0 {
		r.N = list[len(list)-1] + 1
	}
	for {
		err := os.Mkdir(s.folder(r.N), 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return r, fmt.Errorf("make the folder of the transaction: %w", err)
		}
		r.N++
	}
	r.Format, r.Version, r.Began = Format, s.version, s.now().UTC()
	return r, nil
}
