// Package plant makes small faults in texts of programs, as people make them by mistake:
// by the syntax tree for Go, by tokens outside of comments and strings for other
// languages. It is pure.
//
// It knows nothing about repositories, builds and tests: whether a text with a fault
// builds, and which tests notice it, is found out elsewhere.
package plant

// The kinds of faults.
const (
	Condition = "condition"
	Operator  = "operator"
	Bound     = "bound"
	Dropped   = "dropped line"
	Argument  = "argument"
	Error     = "unreturned error"
)

// Fault is one change of a text, in one place.
type Fault struct {
	Path     string
	Line     int    // of the change, from 1
	Function string // where it is: "Type.Method", "outer.inner"; never ""
	Kind     string
	Old, New []byte // the whole text before and after. Old is that which Plan was given
}

// Plan returns faults for a text, the first of each function before the second of any, in an
// order that seed and path decide. Texts that are generated, too large or in a language that
// it does not know have none. It fails for Go that does not parse.
func Plan(path string, text []byte, seed int64) ([]Fault, error) { return nil, nil }

// Fix returns the lines that undo the fault, as a diff has them: "-" and the line of the
// fault, "+" and the line that was there. It is what symptom.Source has as Diff.
func (f Fault) Fix() string { return "" }

// Function is a function of a text, with the lines from First to Last.
type Function struct {
	Name        string
	First, Last int
}

// Functions returns the functions of a text in their order, inner ones after those that they are
// in. A text in a language that Plan does not know has none.
func Functions(path string, text []byte) []Function { return nil }

// Touched returns the names of the innermost functions that hold the lines, sorted, each once.
func Touched(functions []Function, lines []int) []string { return nil }
