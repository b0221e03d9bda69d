package handoff

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// MaxAnswer is the size, in bytes, above which a file is no answer.
const MaxAnswer = 1 << 20

func head(id string) string { return "answer-to: " + id }
func tail(id string) string { return "end-of-answer: " + id }

// badAnswer is a file that is there and is not, or not yet, an answer.
type badAnswer struct{ reason string }

func (e *badAnswer) Error() string { return e.reason }

// answer reads the answer to a question. there is false if there is no file; a
// file that is no answer is a *badAnswer.
func (c *Client) answer(id string) (text string, there bool, err error) {
	name := answerPath(id)
	info, err := c.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return "", true, &badAnswer{"it is not a regular file"}
	}
	f, err := c.root.Open(name)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxAnswer+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	text, err = parseAnswer(id, data)
	return text, true, err
}

// parseAnswer returns the text between the first and the last line of a file.
func parseAnswer(id string, data []byte) (string, error) {
	if len(data) > MaxAnswer {
		return "", &badAnswer{fmt.Sprintf("it is larger than %d bytes", MaxAnswer)}
	}
	if !utf8.Valid(data) {
		return "", &badAnswer{"it is not UTF-8"}
	}
	all := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	first, rest, _ := strings.Cut(strings.TrimSpace(all), "\n")
	switch to, ok := strings.CutPrefix(strings.TrimSpace(first), head("")); {
	case !ok:
		return "", &badAnswer{fmt.Sprintf("its first line is not %q", head(id))}
	case strings.TrimSpace(to) != id:
		return "", &badAnswer{fmt.Sprintf("it answers another question: its first line is not %q", head(id))}
	}
	at := strings.LastIndexByte(rest, '\n')
	if strings.TrimSpace(rest[at+1:]) != tail(id) {
		return "", &badAnswer{fmt.Sprintf("it is not finished: its last line is not %q", tail(id))}
	}
	text := strings.TrimSpace(rest[:max(at, 0)])
	if text == "" {
		return "", &badAnswer{"there is nothing between its first and its last line"}
	}
	return text, nil
}
