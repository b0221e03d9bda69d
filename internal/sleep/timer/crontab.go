package timer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// The lines around an entry of a crontab.
const (
	beginMark = "# >>> " + prefix
	endMark   = "# <<< " + prefix
)

var (
	beginLine = pattern.New(`^# >>> skillopt-sleep-([0-9a-f]{16}) ("(?:[^"\\]|\\.)*") >>>$`)
	endLine   = pattern.New(`^# <<< skillopt-sleep-([0-9a-f]{16}) <<<$`)
	ownLine   = pattern.New(`^\s*#+\s*(>>>|<<<)\s*skillopt-sleep`)
)

// block is an entry in a crontab, by where it lies.
type block struct {
	id, profile string
	from, to    int
}

// blocks finds the entries of a crontab. Markers that are not as they were written are a
// *ForeignError.
func blocks(tab []byte) ([]block, error) {
	var out []block
	var open *block
	at, number, inside := 0, 0, 0
	bad := func(what string) error {
		return &ForeignError{Where: fmt.Sprintf("crontab, line %d", number), What: what, Help: "repair the lines that begin with # >>> skillopt-sleep and # <<< skillopt-sleep, or delete them with the line between (crontab -e)"}
	}
	for line := range bytes.Lines(tab) {
		number++
		text := strings.TrimSuffix(string(line), "\n")
		begin, end := beginLine.FindStringSubmatch(text), endLine.FindStringSubmatch(text)
		switch {
		case begin != nil && open != nil:
			return nil, bad("an entry of skillopt begins within another one")
		case begin != nil:
			open, inside = &block{id: begin[1], from: at}, 0
			if err := json.Unmarshal([]byte(begin[2]), &open.profile); err != nil {
				return nil, bad("the marker of an entry of skillopt cannot be read")
			}
			for _, b := range out {
				if b.id == open.id {
					return nil, bad("a second entry " + b.id)
				}
			}
		case end != nil && (open == nil || open.id != end[1]):
			return nil, bad("an entry of skillopt ends that has not begun")
		case end != nil && inside != 1:
			return nil, bad(fmt.Sprintf("between the markers of an entry of skillopt are %d lines, and there was one", inside))
		case end != nil:
			open.to = at + len(line)
			out, open = append(out, *open), nil
		case ownLine.MatchString(text):
			return nil, bad("a marker of skillopt is not as it was written")
		default:
			inside++
		}
		at += len(line)
	}
	if open != nil {
		return nil, bad("an entry of skillopt begins and does not end")
	}
	return out, nil
}

// withBlock puts a block into a crontab, where it replaces the one with its id. All other lines stay
// byte for byte; a last line without an end gets one, since cron needs it.
func withBlock(tab []byte, id, text string) ([]byte, error) {
	list, err := blocks(tab)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		if b.id == id {
			return bytes.Join([][]byte{tab[:b.from], []byte(text), tab[b.to:]}, nil), nil
		}
	}
	out := bytes.Clone(tab)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return append(out, text...), nil
}

// withoutBlock takes a block out of a crontab; false: it has none of that id.
func withoutBlock(tab []byte, id string) ([]byte, bool, error) {
	list, err := blocks(tab)
	if err != nil {
		return nil, false, err
	}
	for _, b := range list {
		if b.id == id {
			return bytes.Join([][]byte{tab[:b.from], tab[b.to:]}, nil), true, nil
		}
	}
	return tab, false, nil
}
