package history

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// record is a commit as it is printed.
type record struct {
	Commit
	parents int
	large   bool // it changes more than is kept, or a path is too long
}

// parser reads what [log] prints: fields that end with a NUL. The first one of a commit begins with a byte 1; those of a path that it
// changes are two, what changed and the name.
type parser struct {
	each func(record) error

	buf  []byte // of the field, no more than is kept
	cut  bool   // there was more
	at   field
	now  record
	diff string // what changed, of a path whose name comes next
}

type field int

const (
	hashField field = iota
	parentsField
	treeField
	timeField
	subjectField
	bodyField
	endField  // empty
	nextField // another path, or another commit
	nameField
)

const (
	maxField   = 16 << 10
	lastSecond = 253402300799 // of the year 9999
)

// Write takes what comes.
func (p *parser) Write(b []byte) (int, error) {
	taken := len(b)
	for len(b) > 0 {
		part, rest, ended := bytes.Cut(b, []byte{0})
		room := min(len(part), maxField-len(p.buf))
		p.buf, p.cut = append(p.buf, part[:room]...), p.cut || room < len(part)
		if b = rest; !ended {
			return taken, nil
		}
		if err := p.take(string(p.buf)); err != nil {
			return 0, err
		}
		p.buf, p.cut = p.buf[:0], false
	}
	return taken, nil
}

var errOdd = &git.Unfit{Reason: "git printed a log that cannot be read"}

// object is the hash of something.
var object = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// take takes a field.
func (p *parser) take(text string) error {
	switch p.at {
	case hashField, nextField:
		return p.begin(text)
	case nameField:
		return p.name(text)
	case endField:
		if text != "" {
			return errOdd
		}
	default:
		if err := p.header(text); err != nil {
			return err
		}
	}
	p.at++
	return nil
}

// begin takes the first field of a commit or of a path.
func (p *parser) begin(text string) error {
	id, commit := strings.CutPrefix(text, "\x01")
	if !commit && p.at == nextField {
		p.diff, p.at = strings.TrimPrefix(text, "\n"), nameField
		return nil
	}
	if !commit || !object.MatchString(id) {
		return errOdd
	}
	if p.at == nextField {
		if err := p.each(p.now); err != nil {
			return err
		}
	}
	p.now, p.at = record{Commit: Commit{Hash: id}}, parentsField
	return nil
}

// header takes a field of what is known of a commit itself.
func (p *parser) header(text string) error {
	switch p.at {
	case parentsField:
		parents := strings.Fields(text)
		if p.now.parents = len(parents); p.now.parents > 0 {
			p.now.Parent = parents[0]
		}
		if p.now.parents == 1 && !object.MatchString(p.now.Parent) {
			return errOdd
		}
	case treeField:
		if p.now.Tree = text; !object.MatchString(text) {
			return errOdd
		}
	case timeField:
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > lastSecond {
			seconds = 0 // what is in the commit is no time
		}
		p.now.Time = time.Unix(seconds, 0).UTC()
	case subjectField:
		p.now.Subject = strings.ToValidUTF8(text, "\uFFFD")
	default:
		p.now.Body = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return nil
}

// name takes the name of a path.
func (p *parser) name(text string) error {
	path, ok := git.ParsePath(p.diff, text)
	if !ok {
		return errOdd
	}
	p.at = nextField
	if p.large(); !p.now.large {
		p.now.Paths = append(p.now.Paths, path)
	}
	return nil
}

// large notes that a commit changes more than is kept.
func (p *parser) large() {
	if p.cut || len(p.now.Paths) == maxPaths {
		p.now.large, p.now.Paths = true, nil
	}
}

// end takes the last commit.
func (p *parser) end() error {
	switch {
	case p.at == hashField && len(p.buf) == 0: // there is none
		return nil
	case p.at != nextField || len(p.buf) > 0:
		return errOdd
	}
	return p.each(p.now)
}
