package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// MaxBytes is the largest world file that is read.
const MaxBytes = yamlx.MaxBytes

// A Problem is one fault of a world file.
type Problem struct {
	File string
	Line int    // 1-based, 0 when the fault has no place
	Key  string // path of the key, such as "rules[2].transform.kind"; "" for a fault of syntax
	Msg  string // what was found and what is allowed
}

func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Msg)
	return b.String()
}

// Error is everything that is wrong with a world file, at once.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// The shape of a world file. docs/environments.md describes the keys.
type (
	worldFile struct {
		Name   string                       `yaml:"name"`
		Seed   uint64                       `yaml:"seed"`
		Reply  string                       `yaml:"reply"`
		Unsure string                       `yaml:"unsure"`
		Loads  string                       `yaml:"loads"`
		Leaves string                       `yaml:"leaves"`
		Rates  rates                        `yaml:"rates"`
		Tables map[string]map[string]string `yaml:"tables"`
		Kinds  []kindFile                   `yaml:"kinds"`
		Rules  []ruleFile                   `yaml:"rules"`
		Notes  []string                     `yaml:"notes"`
		Draft  []string                     `yaml:"draft"`

		Optimizer Limits       `yaml:"optimizer"`
		Triggers  triggersFile `yaml:"triggers"`
	}
	triggersFile struct {
		Should    []string `yaml:"should"`
		ShouldNot []string `yaml:"should_not"`
	}
	kindFile struct {
		Type   string            `yaml:"type"`
		Match  string            `yaml:"match"`
		Find   map[string]string `yaml:"find"`
		Answer string            `yaml:"answer"`
		Acts   []actFile         `yaml:"acts"`
	}
	actFile struct {
		Tool      string            `yaml:"tool"`
		Arguments map[string]string `yaml:"arguments"`
		Shell     string            `yaml:"shell"`
	}
	ruleFile struct {
		ID        string        `yaml:"id"`
		TaskTypes []string      `yaml:"task_types"`
		When      string        `yaml:"when"`
		Harmful   bool          `yaml:"harmful"`
		States    []any         `yaml:"states"`
		Say       []string      `yaml:"say"`
		Transform transformFile `yaml:"transform"`
	}
	transformFile struct {
		Kind    string   `yaml:"kind"`
		From    []string `yaml:"from"`
		To      string   `yaml:"to"`
		Text    string   `yaml:"text"`
		Digits  *int     `yaml:"digits"`
		Factor  *float64 `yaml:"factor"`
		Pattern string   `yaml:"pattern"`
		With    string   `yaml:"with"`
		By      string   `yaml:"by"`
		Desc    bool     `yaml:"descending"`
		Table   string   `yaml:"table"`
	}
)

// rates are how often things go wrong. All but latency and examples are probabilities.
type rates struct {
	Noise     float64 `yaml:"noise"`      // tasks that can never be solved
	Flip      float64 `yaml:"flip"`       // answers in which the target forgets the skill
	Harm      float64 `yaml:"harm"`       // failure analyses with a harmful proposal
	Fooled    float64 `yaml:"fooled"`     // harmful proposals that ranking takes for good ones
	Note      float64 `yaml:"note"`       // success analyses with a harmless note
	Malformed float64 `yaml:"malformed"`  // optimizer replies that are not JSON
	Empty     float64 `yaml:"empty"`      // replies without text
	Errors    float64 `yaml:"errors"`     // requests that fail in transport
	LatencyMS float64 `yaml:"latency_ms"` // time to answer, of both roles
	Jitter    float64 `yaml:"jitter"`     // spread of the latency: a factor in [1-jitter, 1+jitter]
	Examples  int     `yaml:"examples"`   // worked examples that show the target a rule; 0: it learns of none
}

// Load loads a world as LoadContext does, but nothing ends it.
func Load(path string) (*World, error) { return LoadContext(context.Background(), path) }

// LoadContext reads the world file at path. A fault of its content is an *Error.
func LoadContext(ctx context.Context, path string) (*World, error) {
	data, err := disk.Read(ctx, path, MaxBytes)
	var own *disk.Error
	if errors.As(err, &own) {
		return nil, &Error{[]Problem{{File: path, Msg: own.Reason()}}}
	}
	if err != nil {
		return nil, fmt.Errorf("read world: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a world from the content of a world file. name is what errors
// call it. Every error is an *Error, with all faults that were found.
func Parse(name string, data []byte) (*World, error) {
	tree, f, err := decode(data)
	if err != nil {
		return nil, &Error{[]Problem{yamlProblem(name, err)}}
	}
	c := compiler{name: name, tree: tree, file: f}
	w := c.world()
	if len(c.problems) > 0 {
		return nil, &Error{c.problems}
	}
	w.print = digest(string(data))
	return w, nil
}

// decode reads YAML strictly.
func decode(data []byte) (tree yamlx.File, f worldFile, err error) {
	tree, err = yamlx.DecodeStrict(data, &f)
	return tree, f, err
}

// yamlProblem takes line and message out of an error.
func yamlProblem(file string, err error) Problem {
	var at *yamlx.Error
	if !errors.As(err, &at) {
		return Problem{File: file, Msg: err.Error()}
	}
	p := Problem{File: file, Line: at.Line, Msg: at.Msg}
	if strings.HasPrefix(at.Msg, "unknown field") {
		p.Msg += "; docs/environments.md lists the keys of a world file"
	}
	return p
}

// findLine returns the line of the value at the path, or of the nearest one above
// it that exists.
func findLine(tree yamlx.File, path string) int {
	for path != "" {
		if node, ok := tree.At(path); ok {
			return node.Line()
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return 0
}
