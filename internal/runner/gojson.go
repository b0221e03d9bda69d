package runner

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// goEvent is a line of go test -json.
type goEvent struct {
	Action     string
	Package    string
	ImportPath string // of what was built
	Test       string
	Output     string
	Elapsed    float64
}

// goTests reads what go test -json prints, line by line.
type goTests struct {
	results results
	output  map[string]*strings.Builder // of tests that run
	unbuilt strings.Builder
	printed tail
}

func newGoTests() *goTests {
	return &goTests{results: results{}, output: map[string]*strings.Builder{}}
}

func (g *goTests) line(line []byte) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
		g.says(string(line) + "\n") // what is no event is a message of go itself
		return
	}
	name := e.Package + "." + e.Test
	g.printed.add([]byte(e.Output))
	switch e.Action {
	case "build-output":
		g.says(e.Output)
	case "output":
		g.outputs(e, name)
	case "pass":
		g.ends(e, name, Passed)
	case "fail":
		g.ends(e, name, Failed)
	case "skip":
		g.ends(e, name, Skipped)
	}
}

func (g *goTests) says(text string) {
	if g.unbuilt.Len() < mostOutput {
		g.unbuilt.WriteString(text)
	}
}

func (g *goTests) outputs(e goEvent, name string) {
	if e.Test == "" {
		if strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]") {
			g.says(e.Output)
		}
		return
	}
	if line := strings.TrimSpace(e.Output); strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
		return
	}
	b := g.output[name]
	if b == nil && len(g.output) < mostTests {
		b = &strings.Builder{}
		g.output[name] = b
	}
	if b != nil && b.Len() < 4*mostMessage {
		b.WriteString(e.Output)
	}
}

func (g *goTests) ends(e goEvent, name string, status Status) {
	if e.Test == "" {
		return
	}
	t := Test{Status: status, Took: time.Duration(e.Elapsed * float64(time.Second))}
	if b := g.output[name]; b != nil && status != Passed {
		t.Message = b.String()
	}
	delete(g.output, name)
	g.results.add(name, t)
}

// lines hands on whole lines of what is written to it. What is longer than a line may be is cut.
type lines struct {
	each func([]byte)
	rest []byte
	tail tail
}

const mostLine = 1 << 20

// Write never fails.
func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	l.tail.add(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.keep(b)
			return n, nil
		}
		l.keep(b[:i])
		l.flush()
		b = b[i+1:]
	}
}

func (l *lines) keep(b []byte) {
	l.rest = append(l.rest, b[:min(len(b), mostLine-len(l.rest))]...)
}

// flush hands on what is left without an end of line.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.each(bytes.TrimSuffix(l.rest, []byte("\r")))
	}
	l.rest = l.rest[:0]
}

// tail keeps the end of a text.
type tail struct{ buf []byte }

func (t *tail) add(b []byte) {
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - mostOutput; over > mostOutput {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) String() string {
	return strings.ToValidUTF8(string(t.buf[max(0, len(t.buf)-mostOutput):]), "\uFFFD")
}
