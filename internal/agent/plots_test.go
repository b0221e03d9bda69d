package agent

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
)

// The plots of a fakeModel.
const (
	plotText  = "text"
	plotTool  = "tool" // a call that writes a file, then the answer
	plotAuth  = "401"
	plotOnce  = "429 once"
	plotTwice = "429 and 500" // one after the other, then the answer
	plotCut   = "cut"         // the first answer ends in the middle
	plotFull  = "full"        // the prompt is too long
	plotBoth  = "both"        // a thought and two calls at once, then the answer
	plotHang  = "hang"
	plotStall = "stall" // a call, then no answer to its result
	plotShell = "shell" // a command that writes the file, then the answer
	plotJSON  = "json"  // an answer of the form that was asked for
)

const (
	fakeAnswer = "ANSWER 42"
	fakeFile   = "out.txt"
	fakeText   = "written by tool\n"
)

type obj = map[string]any

// fakeModel is a server that plays a part.
type fakeModel struct{ *fakemodel.Server }

func newFakeModel(t *testing.T, plot string) *fakeModel {
	t.Helper()
	f := &fakeModel{fakemodel.New(func(r *fakemodel.Request) { play(plot, r) })}
	t.Cleanup(f.Stop)
	return f
}

func play(plot string, r *fakemodel.Request) {
	switch {
	case plot == plotAuth:
		r.Refuse(http.StatusUnauthorized, "invalid api key")
	case plot == plotOnce && r.N == 1:
		r.W.Header().Set("Retry-After", "1")
		r.Refuse(http.StatusTooManyRequests, "rate limited")
	case plot == plotTwice && r.N == 1:
		r.Refuse(http.StatusTooManyRequests, "rate limited")
	case plot == plotTwice && r.N == 2:
		r.Refuse(http.StatusInternalServerError, "internal error")
	case plot == plotFull:
		r.Refuse(http.StatusBadRequest, "This model's maximum context length is 1000 tokens. prompt is too long: 2000 tokens > 1000 maximum")
	case plot == plotCut && r.N == 1:
		r.W = &cutting{ResponseWriter: r.W, left: 60}
		defer panic(http.ErrAbortHandler)
		r.Answer(answer(plot, r))
	case plot == plotHang, plot == plotStall && r.Worked:
		r.Wait()
	default:
		r.Answer(answer(plot, r))
	}
}

// answer is what a plot has the model say.
func answer(plot string, r *fakemodel.Request) fakemodel.Reply {
	a := fakemodel.Reply{Text: fakeAnswer}
	if (plot == plotTool || plot == plotStall) && !r.Worked {
		a.Text, a.Calls = "Writing the file now.", pick(r.Tools)
	}
	if plot == plotShell && !r.Worked {
		a.Text, a.Calls = "", []fakemodel.Call{{Tool: "run_shell_command", Args: obj{"command": "printf 'written by tool\\n' > " + fakeFile, "description": "write a file", "is_background": false}}}
	}
	if plot == plotBoth && !r.Worked {
		a.Text, a.Think, a.Calls = "", "THOUGHT of the model", beside(pick(r.Tools))
	}
	if plot == plotJSON {
		a.Text = `{"n":42}`
		if slices.Contains(r.Tools, "StructuredOutput") && !r.Worked { // claude has the model call it
			a.Calls = []fakemodel.Call{{Tool: "StructuredOutput", Args: obj{"n": 42}}}
		}
	}
	return a
}

// beside adds a call that writes another file.
func beside(calls []fakemodel.Call) []fakemodel.Call {
	for _, c := range calls {
		also := maps.Clone(c.Args)
		for name, v := range also {
			if text, ok := v.(string); ok {
				also[name] = strings.ReplaceAll(text, fakeFile, "second-"+fakeFile)
			}
		}
		calls = append(calls, fakemodel.Call{Tool: c.Tool, Args: also})
	}
	return calls
}

// cutting writes no more than so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	_, err := c.ResponseWriter.Write(p[:n])
	return len(p), err
}

// Flush implements http.Flusher.
func (c *cutting) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// pick chooses a tool that can write the file, whichever the agent has.
func pick(names []string) []fakemodel.Call {
	return pickShell(names, "printf 'written by tool\\n' > "+fakeFile)
}

// pickShell chooses a tool that runs a command, whichever the agent has.
func pickShell(names []string, command string) []fakemodel.Call {
	for _, t := range []struct {
		name string
		args obj
	}{
		{"bash", obj{"command": command, "description": "write the file"}},
		{"Bash", obj{"command": command, "description": "write the file"}},
		{"exec_command", obj{"cmd": command}},
		{"run_shell_command", obj{"command": command, "description": "write the file"}},
	} {
		if slices.Contains(names, t.name) {
			return []fakemodel.Call{{Tool: t.name, Args: t.args}}
		}
	}
	return nil
}
