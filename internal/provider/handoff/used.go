package handoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Used is a file of the folder that lists the answers that were taken, a line each: the id of the question and the digest
// of the answer. What was decided by an answer stays decided, whatever its file says later.
const Used = "used.txt"

// ChangedError says that files no longer have the answers that were taken from them.
type ChangedError struct {
	Dir     string
	Answers []string // paths in it, sorted
}

func (e *ChangedError) Error() string {
	shown := e.Answers[:min(len(e.Answers), 3)]
	more := ""
	if n := len(e.Answers) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s: the answer in %s%s is not the one that was taken; put it back as it was, or name another folder to answer again", e.Dir, strings.Join(shown, ", "), more)
}

func digestText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// readUsed reads the list. A line that is not whole was being written when the program ended, and counts for nothing.
func (c *Client) readUsed() error {
	c.used = map[string]string{}
	data, err := c.root.ReadFile(Used)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(c.dir, Used), err)
	}
	for line := range bytes.Lines(data) {
		id, digest, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if ok && len(id) == 32 && len(digest) == 32 && filepath.IsLocal(id) {
			c.used[id] = digest
		}
	}
	return nil
}

// checkAnswers fails if a file no longer has the answer that was taken from it. A file that is gone says nothing.
func (c *Client) checkAnswers() error {
	var changed []string
	for id, digest := range c.used {
		text, there, err := c.answer(id)
		var bad *badAnswer
		if err != nil && !errors.As(err, &bad) {
			return err
		}
		if there && (bad != nil || digestText(text) != digest) {
			changed = append(changed, answerPath(id))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	return &ChangedError{Dir: c.dir, Answers: changed}
}

// take notes that an answer is taken.
func (c *Client) take(id, text string) error {
	digest := digestText(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch before, known := c.used[id]; {
	case known && before != digest:
		return &ChangedError{Dir: c.dir, Answers: []string{answerPath(id)}}
	case known:
		return nil
	}
	f, err := c.root.OpenFile(Used, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, werr := fmt.Fprintf(f, "%s %s\n", id, digest)
		err = errors.Join(werr, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(c.dir, Used), err)
	}
	c.used[id] = digest
	return nil
}
