// Package repo reports what was checked out in a folder at a time. It reads the log that git keeps
// of HEAD, as a file: no process is started, so that no hook, filter or monitor of the repository
// can run, and nothing is fetched.
//
// It knows nothing about sessions.
package repo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Checkout is what was checked out.
type Checkout struct {
	Commit string // hexadecimal
	Branch string // "": none, or not known
}

const (
	maxLog  = 256 << 20
	maxLine = 64 << 10
	maxUp   = 64 // parents that are looked at for a repository
)

// At returns what was checked out at a time in the repository that dir lies in. false: it cannot
// be known, since there is no repository, no log, or the log begins later.
func At(ctx context.Context, dir string, at time.Time) (Checkout, bool, error) {
	folder, f, err := openLog(ctx, dir)
	if err != nil || f == nil {
		return Checkout{}, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	now, found, err := follow(f, at)
	switch {
	case err != nil || !found:
		return Checkout{}, false, err
	case !now.told:
		now.Branch = head(ctx, folder)
	}
	return now.Checkout, true, nil
}

// openLog opens the log of what was checked out in the repository that dir lies in, and names its folder. nil: there is no
// repository, or no log.
func openLog(ctx context.Context, dir string) (folder string, f *disk.File, err error) {
	folder, found := gitDir(ctx, dir)
	if !found {
		return "", nil, nil
	}
	f, err = disk.Open(ctx, filepath.Join(folder, "logs", "HEAD"), maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil, nil
	}
	return folder, f, err
}

// head returns the branch that is checked out now, "" for none.
func head(ctx context.Context, folder string) string {
	data, err := disk.Read(ctx, filepath.Join(folder, "HEAD"), 4<<10)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
	if err != nil || !ok {
		return ""
	}
	return name
}

// gitDir finds the folder of the repository of dir: .git, or what a file .git names, as in a
// linked working tree.
func gitDir(ctx context.Context, dir string) (string, bool) {
	for range maxUp {
		at := filepath.Join(dir, ".git")
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, true
		case err == nil:
			data, err := disk.Read(ctx, at, 4<<10)
			name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
			if err != nil || !ok {
				return "", false
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			return name, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}

// entry is a line of the log: old and new commit, who, seconds since 1970 and zone, what was done.
var entry = pattern.New(`^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d+) [+-]\d{4}(?:\t(.*))?$`)

// moved is what the log says of a change of the branch: the old and the new one.
var moved = pattern.New(`^(?:checkout: moving from (\S+) to (\S+)|Branch: renamed refs/heads/(\S+) to refs/heads/(\S+))$`)

// place is a checkout. told: the log says of its branch what there is to say; else it was the
// same from the beginning of the log until now.
type place struct {
	Checkout
	told bool
}

// follow reads the log up to a time. The last change of branch before that time shows where it led
// to; without one, the first change after that time shows where it came from.
func follow(r io.Reader, at time.Time) (now place, found bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		m := entry.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil {
			continue
		}
		change := moved.FindStringSubmatch(m[4])
		if time.Unix(seconds, 0).After(at) { // none breaks off: a clock that was set back orders entries otherwise
			if change != nil && !now.told {
				now.Branch, now.told = branch(change[1]+change[3]), true
			}
			continue
		}
		now.Commit, found = m[2], true
		if change != nil {
			now.Branch, now.told = branch(change[2]+change[4]), true
		}
	}
	return now, found, lines.Err()
}

// branch returns the branch that the log names, "" where that is a commit and no branch.
func branch(name string) string {
	if commit.MatchString(name) || name == "HEAD" || strings.ContainsAny(name, "~^:@") {
		return ""
	}
	return name
}

var commit = pattern.New(`^[0-9a-f]{7,64}$`)
