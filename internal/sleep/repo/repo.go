// Package repo tells what was checked out in a folder at a time. It reads the log that git keeps
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
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

// Checkout is what was checked out.
type Checkout struct {
	Commit string // hexadecimal
	Branch string // ""; not known
}

const (
	maxLog  = 256 << 20
	maxLine = 64 << 10
	maxUp   = 64 // parents that are looked at for a repository
)

// At returns what was checked out at a time in the repository that dir lies in. false: it cannot
// be told, since there is no repository, no log, or the log begins later.
func At(ctx context.Context, dir string, at time.Time) (Checkout, bool, error) {
	folder, found := gitDir(ctx, dir)
	if !found {
		return Checkout{}, false, nil
	}
	f, err := userfile.Open(ctx, filepath.Join(folder, "logs", "HEAD"), maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkout{}, false, nil
	}
	if err != nil {
		return Checkout{}, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return follow(f, at)
}

// gitDir finds the folder of the repository of dir: .git, or what a file .git names, as in a
// working tree beside the main one.
func gitDir(ctx context.Context, dir string) (string, bool) {
	for range maxUp {
		at := filepath.Join(dir, ".git")
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, true
		case err == nil:
			data, err := userfile.Read(ctx, at, 4<<10)
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
var entry = regexp.MustCompile(`^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d+) [+-]\d{4}(?:\t(.*))?$`)

var moved = regexp.MustCompile(`^checkout: moving from \S+ to (\S+)$`)

// follow reads the log up to a time.
func follow(r io.Reader, at time.Time) (Checkout, bool, error) {
	var now Checkout
	found := false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		m := entry.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil || time.Unix(seconds, 0).After(at) {
			continue // a clock that was set back orders entries otherwise
		}
		now.Commit, found = m[2], true
		if to := moved.FindStringSubmatch(m[4]); to != nil {
			now.Branch = to[1]
			if commit.MatchString(to[1]) {
				now.Branch = "" // detached
			}
		}
	}
	return now, found, lines.Err()
}

var commit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
