// Package skillenv has the messages of skill-env/1: JSON-RPC 2.0, one object a line, between this program and an
// environment that plays episodes.
//
// It knows nothing of processes, models or scores.
package skillenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/model"
)

// Protocol is the name of the protocol, with its version.
const Protocol = "skill-env/1"

// MaxLine is the longest line, in bytes.
const MaxLine = 16 << 20

// The methods. Generate is asked by the environment, the others by this program.
const (
	Initialize = "initialize"
	Tasks      = "tasks"
	Start      = "start"
	Act        = "act"
	Close      = "close"
	Shutdown   = "shutdown"
	Generate   = "generate"
)

// Codes of errors, as JSON-RPC has them; Failed is our own.
const (
	UnknownMethod = -32601
	BadParams     = -32602
	Failed        = -32000
)

// The kinds of errors.
const (
	Infra = "infra" // nothing was measured
	Agent = "agent" // the target has failed at the task: a score of 0
)

// Message is a line. One with a method is a request, one without an answer.
type Message struct {
	Version string          `json:"jsonrpc"` // "2.0"
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is the answer to a request that could not be carried out.
type Error struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    ErrorData `json:"data,omitzero"`
}

// ErrorData says what an error means for the score.
type ErrorData struct {
	Kind string `json:"kind,omitempty"` // Infra or Agent; "" = Infra
}

func (e *Error) Error() string { return e.Message }

// Begin is the parameters of initialize.
type Begin struct {
	Protocol string         `json:"protocol"`
	Config   map[string]any `json:"config"` // extras of the configuration
}

// Info is what an environment says of itself.
type Info struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Plays      bool   `json:"plays,omitempty"`      // it asks the target by itself, and answers start with the end of the episode
	Pure       bool   `json:"pure,omitempty"`       // equal tasks, seeds and commands give equal answers
	Tasks      bool   `json:"tasks,omitempty"`      // it has tasks of its own
	Concurrent int    `json:"concurrent,omitempty"` // episodes at a time; 0 = 1
}

// TaskList is the answer to tasks.
type TaskList struct {
	Tasks []json.RawMessage `json:"tasks"` // each as a line of a file of tasks
}

// Opening is the parameters of start.
type Opening struct {
	Episode string `json:"episode"`
	Task    Task   `json:"task"`
	Seed    int64  `json:"seed"`
	Skill   string `json:"skill,omitempty"` // for an environment that plays
}

// Task is all of a task: the environment is the user's own and may score by gold and hidden text.
type Task struct {
	ID     string          `json:"id"`
	Type   string          `json:"type,omitempty"`
	Prompt string          `json:"prompt,omitempty"`
	Gold   json.RawMessage `json:"gold,omitempty"` // as it is in the task
	Hidden string          `json:"hidden,omitempty"`
	Data   map[string]any  `json:"data,omitempty"`
}

// Action is the parameters of act, and with the episode alone those of close.
type Action struct {
	Episode string `json:"episode"`
	Command string `json:"command,omitempty"`
	Call    *Call  `json:"call,omitempty"` // instead of a command, where start gave tools
}

// Call is one call of a tool.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Observation is the answer to start and act.
type Observation struct {
	Text    string       `json:"text"`
	Choices []string     `json:"choices,omitempty"` // commands that are possible now
	Tools   []model.Tool `json:"tools,omitempty"`   // of start
	Done    bool         `json:"done,omitempty"`
	Score   *float64     `json:"score,omitempty"` // 0 to 1, if the episode ended now; null = unknown
	Failure string       `json:"failure,omitempty"`
}

// Question is the parameters of generate.
type Question struct {
	Episode   string `json:"episode"`
	Role      string `json:"role,omitempty"` // target, the default, or judge
	Messages  []Said `json:"messages"`
	MaxTokens int    `json:"max_tokens,omitempty"`
}

// Said is a message to or of a model.
type Said struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Reply is the answer to generate.
type Reply struct {
	Text   string       `json:"text"`
	Finish model.Finish `json:"finish"` // stop, or length where it was cut
}

// Read reads what a line holds into v. Unknown keys and keys that are twice are refused: a misspelt one would be a lost
// score, and of two scores none is known.
func Read(data []byte, v any) error {
	if twice := jsonx.FindRepeat(data, 1); twice != nil {
		return errors.New(twice.String())
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the object")
	}
	return nil
}

// Line returns a message as a line.
func Line(m Message) ([]byte, error) {
	m.Version = "2.0"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	if b.Len() > MaxLine {
		return nil, fmt.Errorf("a line of %d MB, at most %d MB are allowed", b.Len()>>20, MaxLine>>20)
	}
	return b.Bytes(), nil
}

// Value returns a value as it is in a message, without escapes for HTML.
func Value(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
