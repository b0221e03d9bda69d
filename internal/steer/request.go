package steer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Folder is the folder of a run directory in which requests are put.
const Folder = "control"

// What a request can ask for.
const (
	Stop    = "stop"     // finish what is in flight, and end
	StopNow = "stop_now" // end at once
	Limit   = "limit"    // continue under other ceilings
)

// Format is the version of the files.
const Format = 1

// Bounds of what is read.
const (
	MaxBytes   = 4 << 10 // of a request
	MaxPending = 64      // requests; of more, the newest are read
	maxFrom    = 32      // characters
)

// Request is what somebody asks of a run. Its file is Folder/ID.json.
type Request struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`   // a UUID of version 7: they are carried out in this order
	What   string    `json:"what"` // Stop, StopNow, Limit
	Limits Limits    `json:"limits,omitempty"`
	From   string    `json:"from"` // command, browser, or whatever asks
	Asked  time.Time `json:"asked_at"`
}

// newRequest checks what a request is to say and gives it an id.
func newRequest(what string, l Limits, from string, at time.Time) (Request, error) {
	r := Request{Format: Format, What: what, Limits: l, From: from, Asked: at.UTC().Truncate(time.Millisecond)}
	id, err := uuid.NewV7()
	if err != nil {
		return r, fmt.Errorf("name a request: %w", err)
	}
	r.ID = id.String()
	return r, r.check()
}

// check reports what keeps a request from being one.
func (r Request) check() error {
	switch {
	case r.Format == 0:
		return errors.New("it has no format")
	case r.Format != Format:
		return fmt.Errorf("it has format %d, and this program reads format %d", r.Format, Format)
	case r.What != Stop && r.What != StopNow && r.What != Limit:
		return fmt.Errorf("it asks for something unknown; allowed: %s, %s, %s", Stop, StopNow, Limit)
	case r.What != Limit && r.Limits != nil:
		return fmt.Errorf("it has ceilings, and asks for %s", r.What)
	case r.What == Limit:
		if err := r.Limits.check(); err != nil {
			return err
		}
	}
	if n := len(r.From); n == 0 || n > maxFrom || strings.ContainsFunc(r.From, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("from: want 1 to %d printable characters", maxFrom)
	}
	if r.Asked.IsZero() {
		return errors.New("it does not say when it was asked")
	}
	return nil
}

func (r Request) file() string { return r.ID + suffix }

const suffix = ".json"

// parseID returns the id by which a file of requests is named.
func parseID(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", false
	}
	parsed, err := uuid.Parse(id)
	return id, err == nil && parsed.String() == id && parsed.Version() == 7
}

// decode reads a request from the file of an id, strictly.
func decode(id string, data []byte) (Request, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var r Request
	if err := d.Decode(&r); err != nil {
		var other struct{ Format int }
		if json.Unmarshal(data, &other) == nil && other.Format != 0 && other.Format != Format {
			return r, Request{Format: other.Format}.check()
		}
		return r, errors.New("it is no request: " + formatError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("it is no request: something follows it")
	}
	if r.ID != id {
		return r, errors.New("its id is not its name")
	}
	return r, r.check()
}

// formatError returns the text of an error of decoding on one line, of bounded length.
func formatError(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	return string(text[:min(len(text), 160)])
}

// put writes a request next to its place and renames it: a reader finds all of it or
// nothing. Links are not followed out of the run directory, and control itself is none.
func put(dir string, r Request) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := makeFolder(root); err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a request: %w", err)
	}
	return disk.WriteIn(root, path.Join(Folder, r.file()), append(data, '\n'), 0o644)
}

// errNoFolder says that control is something else.
var errNoFolder = errors.New(Folder + " is no folder of this run directory; remove it, or see what it is")

// makeFolder makes the folder of requests, writable for whom the run directory is.
func makeFolder(root *os.Root) error {
	info, err := root.Lstat(Folder)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return errNoFolder
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	of, err := root.Stat(".")
	if err != nil {
		return err
	}
	if err := root.Mkdir(Folder, of.Mode().Perm()); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	give(root, of)
	return nil
}
