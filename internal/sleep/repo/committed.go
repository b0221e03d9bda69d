package repo

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"time"
)

// Commit is a commit that was made in a folder.
type Commit struct {
	Hash string
	At   time.Time
}

// FindCommit returns the first commit that was made after a time in the repository that dir lies in, while what is checked
// out was not changed otherwise: none where something else came first, such as a checkout, a pull or a reset. false: there is
// none, or it cannot be found out.
func FindCommit(ctx context.Context, dir string, after time.Time) (Commit, bool, error) {
	_, f, err := openLog(ctx, dir)
	if err != nil || f == nil {
		return Commit{}, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return next(f, after)
}

// next reads the log from a time on.
func next(r io.Reader, after time.Time) (Commit, bool, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		m := entry.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil || time.Unix(seconds, 0).Before(after) {
			continue
		}
		if !strings.HasPrefix(m[4], "commit: ") && !strings.HasPrefix(m[4], "commit (initial): ") {
			return Commit{}, false, nil
		}
		return Commit{Hash: m[2], At: time.Unix(seconds, 0).UTC()}, true, nil
	}
	return Commit{}, false, lines.Err()
}
