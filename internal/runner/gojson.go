package runner

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// goEvent is a line of go test -json.
type goEvent struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// goTests reads what go test -json prints, line by line.
type goTests struct {
	results results
	output  map[string]string // of tests that run
	unbuilt string
	printed tail
}

func (g *goTests) line(line []byte) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
		e = goEvent{Action: "build-output", Output: string(line) + "\n"} // what is no event is a message of go itself
	}
	g.printed.add([]byte(e.Output))
	name := e.Package + "." + e.Test
	switch status := map[string]Status{"pass": Passed, "fail": Failed, "skip": Skipped}[e.Action]; {
	case status != "" && e.Test != "":
		t := Test{Status: status, Took: time.Duration(e.Elapsed * float64(time.Second))}
		if status != Passed {
			t.Message = g.output[name]
		}
		delete(g.output, name)
		g.results.add(name, t)
	case e.Action == "build-output", e.Test == "" && (strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]")):
		if len(g.unbuilt) < mostOutput {
			g.unbuilt += e.Output
		}
	case e.Action == "output" && e.Test != "" && !goMarks.MatchString(e.Output) && len(g.output[name]) < 4*mostMessage && len(g.output) < mostTests:
		g.output[name] += e.Output
	}
}

// goMarks are lines that say how a test goes, not what it says.
var goMarks = pattern.New(`^\s*(===|---) `)

// lines passes on whole lines of what is written to it. What is longer than a line may be is cut.
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
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		l.rest = append(l.rest, line[:min(len(line), mostLine-len(l.rest))]...)
		if !whole {
			return n, nil
		}
		l.flush()
		b = rest
	}
}

// flush passes on what is left without an end of line.
func (l *lines) flush() {
	if len(l.rest) > 0 && l.each != nil {
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
