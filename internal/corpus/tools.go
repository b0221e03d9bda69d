package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// Bounds of what the tools return.
const (
	maxArguments = 1 << 10 // bytes of the arguments of a call
	maxHits      = 50      // of glob
	maxMatches   = 20      // of grep
	maxRead      = 4000    // characters of read
	maxLine      = 1000    // bytes of a line that grep shows
	usualLines   = 80      // of read
)

// tools returns the tools of ModeTools.
func tools() []model.Tool {
	return []model.Tool{
		{
			Name: "glob", Description: "List the documents whose name or path matches a pattern, such as *1998* or reports/*.txt. At most 50 are listed.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","description":"* means any part of a name, ** any folders"}},"required":["pattern"],"additionalProperties":false}`),
		},
		{
			Name: "grep", Description: "Find the lines of one document that contain a text, in any letter case. It is no regular expression. At most 20 lines come back, each with its number.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","description":"the text to find"},"path":{"type":"string","description":"of the document, as glob lists it"}},"required":["pattern","path"],"additionalProperties":false}`),
		},
		{
			Name: "read", Description: "Read lines of one document. At most 4000 characters come back.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"of the document, as glob lists it"},"start":{"type":"integer","description":"the first line, from 1; 1 if absent"},"limit":{"type":"integer","description":"how many lines; 80 if absent"}},"required":["path"],"additionalProperties":false}`),
		},
	}
}

// arguments are those of all tools; each takes some of them.
type arguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Start   int    `json:"start"`
	Limit   int    `json:"limit"`
}

// misuse is what the target did wrong, as it is answered.
type misuse string

func (m misuse) Error() string { return string(m) }

// use carries out a call. An error means that the machine failed.
func (e *episode) use(ctx context.Context, call *model.ToolCall) (world.Observation, error) {
	text, err := e.carryOut(ctx, call)
	var wrong misuse
	switch {
	case errors.As(err, &wrong):
		return world.Observation{Text: wording.Plain(string(wrong)), Failed: true}, nil
	case err != nil:
		return world.Observation{}, fmt.Errorf("tool %s of task %s: %w", call.Name, e.task.ID, err)
	}
	return world.Observation{Text: wording.Plain(text)}, nil
}

func (e *episode) carryOut(ctx context.Context, call *model.ToolCall) (string, error) {
	a, err := parseArguments(call.Arguments)
	if err != nil {
		return "", err
	}
	switch call.Name {
	case "glob":
		return e.glob(a)
	case "grep":
		return e.grep(ctx, a)
	case "read":
		return e.read(ctx, a)
	}
	return "", misuse(fmt.Sprintf("There is no tool %q. There are glob, grep and read.", wording.Cut(call.Name, 60)))
}

// parseArguments reads one JSON object.
func parseArguments(raw json.RawMessage) (a arguments, err error) {
	if len(raw) > maxArguments {
		return a, misuse("The arguments are too long; at most 1 KB is read.")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil && !errors.Is(err, io.EOF) {
		return a, misuse(fmt.Sprintf("The arguments cannot be read (%s). One JSON object is expected. Texts are pattern and path; whole numbers are start and limit.", strings.TrimPrefix(err.Error(), "json: ")))
	}
	return a, nil
}

// glob lists documents by their name or path.
func (e *episode) glob(a arguments) (string, error) {
	if a.Pattern == "" {
		a.Pattern = "*"
	}
	if err := disk.ValidPattern(a.Pattern); err != nil {
		return "", misuse(fmt.Sprintf("The pattern cannot be used: %v. Write it like *1998* or reports/*.txt.", err))
	}
	var hits []string
	for _, name := range e.files {
		if !disk.Match(a.Pattern, name) && !disk.Match(a.Pattern, path.Base(name)) {
			continue
		}
		if len(hits) == maxHits {
			hits = append(hits, "[There are more: a closer pattern finds them.]")
			break
		}
		hits = append(hits, name)
	}
	if hits == nil {
		return "[no matches]", nil
	}
	return strings.Join(hits, "\n"), nil
}

// grep returns the lines that contain a text.
func (e *episode) grep(ctx context.Context, a arguments) (string, error) {
	if a.Pattern == "" {
		return "", misuse("pattern is missing: the text to find.")
	}
	text, err := e.document(ctx, a.Path)
	if err != nil {
		return "", err
	}
	want := strings.ToLower(a.Pattern)
	var hits []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		at := strings.Index(strings.ToLower(line), want)
		if at < 0 {
			continue
		}
		if len(hits) == maxMatches {
			hits = append(hits, "[There are more: a longer text finds fewer.]")
			break
		}
		hits = append(hits, fmt.Sprintf("%d: %s", n, cutAround(strings.TrimRight(line, "\r\n"), at)))
	}
	if hits == nil {
		return "[no matches]", nil
	}
	return strings.Join(hits, "\n"), nil
}

// cutAround returns the part of a long line in which a match is.
func cutAround(line string, at int) string {
	if len(line) <= maxLine {
		return line
	}
	from := max(0, min(at-maxLine/4, len(line)-maxLine))
	part := strings.ToValidUTF8(line[from:from+maxLine], "")
	if from > 0 {
		part = "..." + part
	}
	return part + "..."
}

// read returns lines of a document.
func (e *episode) read(ctx context.Context, a arguments) (string, error) {
	text, err := e.document(ctx, a.Path)
	if err != nil {
		return "", err
	}
	start, limit := max(a.Start, 1), a.Limit
	if limit < 1 {
		limit = usualLines
	}
	from, last, n := len(text), len(text), 0
	for at := 0; at < len(text); {
		if n++; n == start {
			from = at
		}
		if at = endLine(text, at); n >= start && n-start == limit-1 {
			last = at
			break
		}
	}
	if from == len(text) {
		return fmt.Sprintf("[the document has %s]", wording.Plural(n, "line", "lines")), nil
	}
	part, whole := firstRunes(text[from:last], maxRead)
	if !whole {
		part += fmt.Sprintf("\n[cut after %d characters, in line %d]", maxRead, start+strings.Count(part, "\n"))
	}
	return part, nil
}

// endLine returns where the line after the one at a place begins.
func endLine(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// firstRunes returns the first characters of a text, and whether those are all.
func firstRunes(text string, most int) (part string, whole bool) {
	n := 0
	for at := range text {
		if n == most {
			return text[:at], false
		}
		n++
	}
	return text, true
}

// document reads one that the task may read. What the target can do something about is a misuse.
func (e *episode) document(ctx context.Context, name string) (string, error) {
	if _, may := slices.BinarySearch(e.files, path.Clean(name)); !may || name == "" {
		return "", misuse(fmt.Sprintf("There is no document %q. glob lists those that there are.", wording.Cut(name, 200)))
	}
	at := path.Join(e.corpus.docs, path.Clean(name))
	if info, err := e.corpus.root.Lstat(at); err == nil && !info.Mode().IsRegular() {
		return "", misuse(fmt.Sprintf("The document %s is no file any more.", name))
	}
	data, err := disk.ReadIn(ctx, e.corpus.root, at, maxText)
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		return "", misuse(fmt.Sprintf("The document %s is larger than %s and cannot be read.", name, disk.Size(maxText)))
	case errors.Is(err, fs.ErrNotExist):
		return "", misuse(fmt.Sprintf("The document %s is no file any more.", name))
	case err != nil:
		return "", err
	case bytes.IndexByte(data, 0) >= 0:
		return "", misuse(fmt.Sprintf("The document %s is no text.", name))
	case utf8.Valid(data):
		return string(data), nil
	}
	return strings.ToValidUTF8(string(data), string(utf8.RuneError)), nil
}
