package yamlx

import (
	"bytes"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

const (
	// maxMarks bounds what can begin a token. Texts hold some as well.
	maxMarks = 60_000
	// maxBlank bounds the bytes of texts in block style, each multiplied by the most
	// blank lines in a row that it holds: the library copies a text once for each blank
	// line at its end.
	maxBlank = 32 << 20
)

// blockHeader is a line that begins a text in block style.
var blockHeader = pattern.New(`[|>][-+0-9]*[ \t]*(?:#.*)?$`)

// measureText looks at the lines of a text, in one pass.
func measureText(data []byte) error {
	if len(data) > MaxBytes {
		return &Error{Msg: fmt.Sprintf("larger than %d KB, which is the most that is read of YAML", MaxBytes>>10)}
	}
	var m marker
	for len(data) > 0 {
		var row []byte
		row, data = cutLine(data)
		if err := m.add(row); err != nil {
			return err
		}
	}
	return nil
}

// cutLine cuts off the first line. The library takes a carriage return for the end of
// one as well.
func cutLine(data []byte) (row, rest []byte) {
	i := bytes.IndexAny(data, "\r\n")
	if i < 0 {
		return data, nil
	}
	row, rest = data[:i], data[i+1:]
	if data[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return row, rest
}

// marker counts while the lines of a text go by.
type marker struct {
	line  int
	marks int
	depth int // brackets that are open, those of texts counted as well
	block int // bytes since the last header of a text in block style
	blank int // blank lines in a row
	most  int // of those since the header
	past  int // the cost of the texts before
}

func (m *marker) add(row []byte) error {
	m.line++
	m.marks += 1 + marksIn(row)
	m.depth += bytes.Count(row, []byte("[")) + bytes.Count(row, []byte("{")) - bytes.Count(row, []byte("]")) - bytes.Count(row, []byte("}"))
	m.block += len(row) + 1
	if m.blank++; len(bytes.TrimSpace(row)) > 0 {
		m.blank = 0
	}
	m.most = max(m.most, m.blank)
	if blockHeader.Regexp().Match(row) {
		m.past, m.block, m.most = m.past+m.block*m.most, 0, 0
	}
	switch {
	case m.marks > maxMarks && m.depth > MaxDepth:
		return tooDeep(m.line)
	case m.marks > maxMarks:
		return tooMany(m.line)
	case m.past+m.block*m.most > maxBlank:
		return &Error{Line: m.line, Msg: "too many blank lines in a row for a text of this length"}
	}
	return nil
}

func tooMany(line int) error {
	return &Error{Line: line, Msg: fmt.Sprintf("more lists, keys and values than are read of YAML (about %d)", maxMarks)}
}

func tooDeep(line int) error {
	return &Error{Line: line, Msg: fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
}

// marksIn counts the bytes of a line that may begin a token.
func marksIn(row []byte) int {
	n := 0
	for i, c := range row {
		switch c {
		case '[', ']', '{', '}', ',', '&', '*', '!', '%', '|', '>', '"', '\'', '@', '`':
			n++
		case ':', '-', '?':
			if i+1 == len(row) || row[i+1] <= ' ' || bytes.IndexByte([]byte("[]{},\"'"), row[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}
