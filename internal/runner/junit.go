package runner

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of what a report can fill.
const (
	mostTests   = 200_000
	mostName    = 1 << 10
	mostMessage = 8 << 10
	mostReport  = 256 << 20
	mostOutput  = 64 << 10
	mostNesting = 100
)

// unit is a test case of JUnit XML.
type unit struct {
	File  string `xml:"file,attr"`
	Class string `xml:"classname,attr"`
	Name  string `xml:"name,attr"`
	Time  string `xml:"time,attr"`

	Failures []problem `xml:"failure"`
	Errors   []problem `xml:"error"`
	Skipped  *problem  `xml:"skipped"`

	Properties []property `xml:"properties>property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// parseJUnit reads the test cases of a report up to where it is cut or broken, which the error says, each by the name that name
// gives it. A name of "" is none of a test.
func parseJUnit(r io.Reader, name func(unit) string) (results, error) {
	out := results{}
	d := xml.NewDecoder(io.LimitReader(r, mostReport))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // what is not UTF-8 is refused then
	for depth := 0; ; {
		token, err := d.Token()
		switch e := token.(type) {
		case xml.StartElement:
			if depth++; e.Name.Local == "testcase" {
				var u unit
				if err = d.DecodeElement(&u, &e); err == nil {
					depth--
					out.add(name(u), u.test())
				}
			} else if depth > mostNesting {
				err = fmt.Errorf("more than %d elements in each other", mostNesting)
			}
		case xml.EndElement:
			depth--
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("read a report of tests: %w", err)
		}
	}
}

// test returns what a test case says.
func (u unit) test() Test {
	t := Test{Status: Passed, Took: seconds(u.Time)}
	if u.Skipped != nil {
		t.Status, t.Message = Skipped, u.Skipped.all()
	}
	for _, p := range append(u.Errors, u.Failures...) {
		t.Status, t.Message = Failed, p.all()
	}
	return t
}

// all returns the message with the text, one of them when they say the same.
func (p problem) all() string {
	text := strings.TrimSpace(p.Text)
	if strings.Contains(text, strings.TrimSpace(p.Message)) {
		return text
	}
	return strings.TrimSpace(p.Message + "\n" + text)
}

func seconds(text string) time.Duration {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s < 0 || s > 1e6 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// results are tests by name, within bounds.
type results map[string]Test

// add notes a test. Of one that is named twice the worse counts, so that a pass is one of all of them.
func (r results) add(name string, t Test) {
	if name == "" || len(name) > mostName {
		return
	}
	t.Message = wording.Middle(t.Message, mostMessage)
	was, twice := r[name]
	if twice && (was.Status == Failed || t.Status == Passed) || !twice && len(r) >= mostTests {
		return
	}
	r[name] = t
}
