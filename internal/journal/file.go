package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// files is what lies at a journal's path before it is opened.
type files struct {
	path string
	size int64 // of the database, 0 if there is none
	log  int64 // of the write-ahead log, 0 if there is none
	open bool  // its mark knows of no clean end
	live bool  // an index of the log lies next to it: somebody may have it open
}

// look sizes up the files at path without opening them.
func look(path string) (files, error) {
	f := files{path: path}
	var err error
	if f.size, err = readFileSize(path); err != nil {
		return f, err
	}
	if f.log, err = readFileSize(path + "-wal"); err != nil {
		return f, err
	}
	_, err = os.Stat(path + "-shm")
	f.live = err == nil
	return f, readable(path, f)
}

// readable reports why the file may not be read, in words that SQLite has not.
func readable(path string, f files) error {
	if f.fresh() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	return errors.Join(fewTables(path, file), file.Close())
}

// mostTables is several times the tables and indexes of a journal.
const mostTables = 64

// fewTables refuses a file with more tables and indexes than any journal has, before SQLite reads
// them: that takes as long as the square of their number. Those of a journal fit on its first page.
// What is no database, or of another format, others name.
func fewTables(path string, file io.ReaderAt) error {
	const leaf = 13 // the kind of a page that holds all rows of its table
	var page [108]byte
	if _, err := file.ReadAt(page[:], 0); err != nil || !bytes.HasPrefix(page[:], []byte("SQLite format 3\x00")) {
		return nil
	}
	if v := binary.BigEndian.Uint32(page[60:]); v != 0 && v != version {
		return nil
	}
	if page[100] == leaf && binary.BigEndian.Uint16(page[103:]) <= mostTables {
		return nil
	}
	return &CorruptError{Path: path, Reason: fmt.Sprintf("it has more than %d tables and indexes, or its list of them is damaged", mostTables)}
}

func readFileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open journal: %w", err)
	}
	if info.IsDir() {
		return 0, fmt.Errorf("open journal %s: it is a directory", path)
	}
	return info.Size(), nil
}

func (f files) fresh() bool { return f.size == 0 }

// unclean reports whether the last writer ended without Close.
func (f files) unclean() bool { return f.log > 0 }

// plausible refuses what SQLite would silently take for a new database.
func (f files) plausible(opts Options) error {
	if !f.fresh() {
		return nil
	}
	if f.unclean() {
		return &CorruptError{Path: f.path, Reason: "it is empty or missing, and its write-ahead log is not"}
	}
	if opts.Existing || opts.ReadOnly {
		return fmt.Errorf("open journal %s: %w", f.path, ErrMissing)
	}
	return nil
}

// How a file is opened.
const (
	// FULL makes every commit wait for the disk, so that an acknowledged entry
	// survives a loss of power.
	readWrite = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=wal_autocheckpoint(2000)&_pragma=journal_size_limit(33554432)"
	readShared    = "?mode=ro&_pragma=busy_timeout(5000)"
	readImmutable = "?mode=ro&immutable=1"
)

// readOnly chooses how to read: a file that no one has open needs no locks and
// no index of its log, and so can be read in a directory without write access.
func readOnly(f files) string {
	if f.unclean() || f.live {
		return readShared
	}
	return readImmutable
}
