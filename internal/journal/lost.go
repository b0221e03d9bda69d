package journal

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// LostEnd says that entries that were recorded are gone from the end of a journal,
// or may be. What is there is whole, and can be gone on with.
type LostEnd struct {
	Path    string
	Last    int64  // number of the last entry that is there
	Key     string // of that entry, "" if there is none
	Entries int64  // how many are gone after it, 0 when that is not known
	LostKey string // of the last one that is gone, "" when that is not known
	Reason  string // what it shows in
}

func (l *LostEnd) String() string {
	there := "no entry is there"
	if l.Last > 0 {
		there = fmt.Sprintf("the last one that is there is entry %d (%s)", l.Last, l.Key)
	}
	if l.Entries == 0 {
		return fmt.Sprintf("the end of the record %s may be lost: %s; how many entries is not known, %s; what is gone is asked for, and paid for, again", l.Path, l.Reason, there)
	}
	gone := fmt.Sprintf("entry %d", l.Last+1)
	if l.Entries > 1 {
		gone = fmt.Sprintf("entries %d to %d", l.Last+1, l.Last+l.Entries)
	}
	if l.LostKey != "" {
		gone += fmt.Sprintf(", up to %s,", l.LostKey)
	}
	return fmt.Sprintf("the end of the record %s is lost: %s (%s) were recorded and are gone: %s; %s; what is gone is asked for, and paid for, again",
		l.Path, gone, wording.Plural(l.Entries, "entry", "entries"), l.Reason, there)
}

// Lost says what is missing at the end of the journal, nil if nothing is known to
// be. It does not change while the journal is open, and is said again by a later
// Open until something is recorded.
func (j *Journal) Lost() *LostEnd { return j.lost }

// isMine reports whether a mark speaks of this journal.
func (j *Journal) isMine(m marked) bool { return m.known && m.RunID == j.meta[MetaRunID] }

// loss compares a journal that was read with its mark and its log. A mark of
// another run, or one that knows of less than the journal, proves nothing.
func (j *Journal) loss(m marked, log *logScan) *LostEnd {
	found := &LostEnd{Path: j.path, Last: j.seq, Key: j.lastKey}
	mine := j.isMine(m)
	switch {
	case mine && m.Entry > j.seq:
		found.Entries, found.LostKey = m.Entry-j.seq, m.Key
		found.Reason = "its mark (" + j.path + markSuffix + ") knows of them, its write-ahead log has not got them"
	case mine && m.Entry == j.seq:
		return nil
	case log.damage() != "":
		found.Reason = log.damage()
	case m.broken:
		found.Reason = "its mark (" + j.path + markSuffix + ") cannot be read"
	default:
		return nil
	}
	return found
}
