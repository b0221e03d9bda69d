package run

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
)

// MB is a million bytes, as computers count.
const MB = 1 << 20

// bound is what is read of a file of a run at most, depending on what the file is: many times what the
// largest runs write. A run directory may come from somebody else.
type bound struct {
	size int64 // bytes
	room int64 // bytes that it may take in memory
}

func fileBound(name string) bound {
	base := path.Base(name)
	switch {
	case base == ManifestFile:
		return bound{8 * MB, 12 * MB}
	case base == SummaryFile:
		return bound{8 * MB, 16 * MB}
	case base == HistoryFile, base == "candidates.json":
		return bound{16 * MB, 24 * MB}
	case base == "patches.json", base == "merged_patch.json", base == "ranked_edits.json", base == "edit_apply_report.json":
		return bound{4 * MB, 12 * MB} // what a step has proposed
	case path.Ext(base) == ".json" && path.Dir(name) != ".":
		return bound{16 * MB, 24 * MB} // what a step has measured
	case path.Ext(base) == ".json":
		return bound{24 * MB, 40 * MB} // results
	case base == BestFile, base == "candidate_skill.md":
		return bound{1 * MB, 1 * MB} // four times what a document may have
	}
	return bound{8 * MB, 8 * MB} // files of skills, as much as all of one may have
}

// Most returns how many bytes are read of a file of a run at most.
func Most(name string) int64 { return fileBound(name).size }

// A SizeError says that a file of a run is larger than what is read of it, or takes more room
// than its size suggests. It wraps disk.ErrTooLarge.
type SizeError struct {
	File  string
	Size  int64 // bytes
	Room  int64 // bytes that it would take in memory; 0: that is not what is wrong
	Limit int64 // of the size, or of the room
}

func (e *SizeError) Error() string {
	if e.Room > 0 {
		return fmt.Sprintf("%s has %s that would take %s of memory, and %s is the most for a file of that size: no program of this kind wrote it; the same command, on the run, writes it again", e.File, formatSize(e.Size), formatSize(e.Room), formatSize(e.Limit))
	}
	return fmt.Sprintf("%s has %s, and the most that is read of such a file is %s: look at it with other programs; if it was changed, the same command, on the run, writes it again", e.File, formatSize(e.Size), formatSize(e.Limit))
}

func (e *SizeError) Unwrap() error { return disk.ErrTooLarge }

// ErrorKind says whose business the error is.
func (*SizeError) ErrorKind() string { return string(fault.BadInput) }

// formatSize writes a number of bytes for readers.
func formatSize(n int64) string {
	if n >= MB {
		return fmt.Sprintf("%.0f MB", float64(n)/MB)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Decode decodes a JSON file of a run. One that would take much more memory than files of runs
// do is a *SizeError, and is not begun: a few bytes may represent an element of hundreds.
func Decode(name string, data []byte, v any) error {
	most := min(fileBound(name).room, MB+8*int64(len(data)))
	if room := boundRoom(data, reflect.TypeOf(v)); room > most {
		return &SizeError{File: name, Size: int64(len(data)), Room: room, Limit: most}
	}
	return json.Unmarshal(data, v)
}
