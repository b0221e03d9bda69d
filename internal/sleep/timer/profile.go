package timer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Format is that of a Profile.
const Format = 1

// Profile is what an entry is started with: a file that says of a command line and its
// surroundings all that a scheduler does not know. It holds no secrets.
type Profile struct {
	Format  int               `json:"skillopt_timer"` // by which the file is known
	ID      string            `json:"id"`
	Kind    Kind              `json:"kind"`
	At      At                `json:"at"`
	Written time.Time         `json:"written"` // what was due before does not count
	Program string            `json:"program"`
	Profile string            `json:"profile"` // that of the user, whose settings hold as they are when the entry is started
	Folder  string            `json:"folder"`  // relative paths among the flags start from it
	Flags   json.RawMessage   `json:"flags"`
	Env     map[string]string `json:"env"`
}

// maxProfile bounds the file.
const maxProfile = 1 << 20

// ReadProfile reads the file at path; false: it is another file, or none. Since it says what is run and with which
// variables, one that another user owns, or that others can read or write, is refused.
func ReadProfile(ctx context.Context, path string) (*Profile, bool, error) {
	if !strings.EqualFold(filepath.Ext(path), ".json") {
		return nil, false, nil
	}
	data, err := disk.Read(ctx, path, maxProfile)
	if err != nil {
		return nil, false, nil // the code that reads it as another file reports it
	}
	var format struct {
		Format *int `json:"skillopt_timer"`
	}
	if json.Unmarshal(data, &format) != nil || format.Format == nil {
		return nil, false, nil
	}
	if err := private(path); err != nil {
		return nil, false, err
	}
	if *format.Format != Format {
		return nil, false, &InputError{What: path, Why: fmt.Sprintf("it has format %d, and this program knows %d; write it again by `skillopt sleep schedule`", *format.Format, Format)}
	}
	p := &Profile{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, false, &InputError{What: path, Why: fmt.Sprintf("it cannot be read: %v; write it again by `skillopt sleep schedule`", err)}
	}
	return p, true, nil
}

// private refuses a file that is not the user's alone.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	switch {
	case !isOwned(info):
		return &InputError{What: path, Why: "another user owns it, and it says what is run; write your own by `skillopt sleep schedule`"}
	case info.Mode().Perm()&0o077 != 0:
		return &InputError{What: path, Why: "others can read or write it, and it says what is run; if it is as you have written it: chmod 600"}
	}
	return nil
}

// Write writes the file for the user alone.
func (p *Profile) Write(path string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the profile of a timer: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of timers: %w", err)
	}
	return disk.WriteFile(path, append(data, '\n'), 0o600)
}

// State is when an entry was last started, and its result.
type State struct {
	Day     string    `json:"day"`     // the newest that was carried out, "" for none
	Started time.Time `json:"started"` // the last time that it was
	Ended   time.Time `json:"ended"`   // zero: it is at work, or was killed
	Process int       `json:"process"`
	Failed  string    `json:"failed"`  // why it could not do its work, "" if it did
	Skipped string    `json:"skipped"` // why it was last started and did nothing, "" if it did something since
}

// ReadState reads the file at path; none is the zero State, as is one that cannot be read: what it holds
// is only the last day.
func ReadState(ctx context.Context, path string) (State, error) {
	data, err := disk.Read(ctx, path, maxProfile)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read when a timer was last started: %w", err)
	}
	var s State
	if json.Unmarshal(data, &s) != nil {
		return State{}, nil
	}
	return s, nil
}

// Write writes the file for the user alone.
func (s State) Write(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write when a timer was last started: %w", err)
	}
	return disk.WriteFile(path, append(data, '\n'), 0o600)
}

// Shorten keeps the end of a log that has grown beyond what anybody reads. A process that adds to it keeps
// adding at its end.
func Shorten(path string, most, keep int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("shorten a log: %w", err)
	}
	err = shorten(f, most, keep)
	return errors.Join(err, f.Close())
}

func shorten(f *os.File, most, keep int64) error {
	info, err := f.Stat()
	if err != nil || info.Size() <= most || !info.Mode().IsRegular() {
		return err
	}
	tail := make([]byte, keep)
	if _, err := f.ReadAt(tail, info.Size()-keep); err != nil {
		return fmt.Errorf("shorten a log: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("shorten a log: %w", err)
	}
	_, err = f.WriteAt(tail, 0)
	return err
}
