package bank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// holderFile says who has the lock. It is next to the lock, since a locked file cannot be read
// everywhere.
const holderFile = "holder.json"

// Holder is who has a bank open for writing. A zero one is not known.
type Holder struct {
	Process int       `json:"process"`
	Since   time.Time `json:"since"`
	Doing   string    `json:"doing"` // a command, "" if it is not given
}

func (h Holder) String() string {
	if h.Process == 0 {
		return ""
	}
	text := fmt.Sprintf("process %d", h.Process)
	if h.Doing != "" {
		text = h.Doing + ", " + text
	}
	return text + ", since " + h.Since.Local().Format("2006-01-02 15:04")
}

// NoteCommand notes what a bank is open for, for a program that finds it locked.
func NoteCommand(b *Bank, what string) error { return noteHolder(b.dir, what) }

func noteHolder(dir, what string) error {
	data, err := json.Marshal(Holder{Process: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Doing: what})
	if err != nil {
		return fmt.Errorf("note who has the lock: %w", err)
	}
	return disk.Replace(filepath.Join(dir, holderFile), append(data, '\n'), 0o600)
}

// release deletes the note, while the lock is still held.
func release(dir string) error {
	if err := os.Remove(filepath.Join(dir, holderFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete who has the lock: %w", err)
	}
	return nil
}

// readHolder reads the note. What cannot be read is not known.
func readHolder(dir string) Holder {
	var h Holder
	data, err := disk.Read(context.Background(), filepath.Join(dir, holderFile), 64<<10)
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}
