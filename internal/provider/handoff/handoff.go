// Package handoff lets somebody else be the model: every question is written to
// a file, and its answer is read from another one, which a person or an agent
// writes whenever they like. A question without an answer fails with
// model.Waiting; the caller continues with all that does not depend on it and
// then ends. The next run asks the same questions and finds the answers.
//
// It knows nothing about runs, scores or who answers.
package handoff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/model"
)

// Names in a folder.
const (
	Readme    = "README.md"  // what is to be done
	Index     = "index.json" // the questions that are open now
	Questions = "questions"
	Answers   = "answers"
)

// Format is that of the index.
const Format = "skillopt.handoff/1"

// WaitingError says that a question is written and its answer is not there, or
// is none.
type WaitingError struct {
	ID       string // of the question: a hash of all that the answer depends on
	Dir      string // the folder
	Question string // path of the question in it
	Answer   string // path in it at which the answer is expected
	Problem  string // what is wrong with the file at Answer, "" if there is none
}

func (e *WaitingError) Error() string {
	at := filepath.Join(e.Dir, filepath.FromSlash(e.Answer))
	if e.Problem != "" {
		return fmt.Sprintf("%s is not used: %s", at, e.Problem)
	}
	return fmt.Sprintf("the question %s has no answer yet: write it to %s as %s says, and run the same command again",
		filepath.Join(e.Dir, filepath.FromSlash(e.Question)), at, Readme)
}

// Entry is an entry of the index.
type Entry struct {
	ID       string `json:"id"`
	Stage    string `json:"stage,omitempty"` // what it is for
	Role     string `json:"role,omitempty"`  // as whom to answer: target, optimizer or judge
	Question string `json:"question"`        // file with the question
	Answer   string `json:"answer"`          // file for the answer
	Problem  string `json:"problem,omitempty"`
}

// Client writes questions and reads answers. It is safe for concurrent use.
type Client struct {
	dir  string
	root *os.Root

	mu      sync.Mutex
	open    map[string]Entry
	used    map[string]string // digests of answers that were taken, by question
	changed int               // counts changes of open

	publishing sync.Mutex
	published  int // changes that the index has
}

var _ model.Client = (*Client)(nil)

// New opens the folder at dir, or creates it, and writes what is to be done into
// it. An answer that was taken and has changed since is a *ChangedError. The caller closes the client.
func New(dir string) (*Client, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("handoff: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("handoff: %w", err)
	}
	c := &Client{dir: dir, root: root, open: make(map[string]Entry), changed: 1}
	err = errors.Join(root.MkdirAll(Questions, 0o755), root.MkdirAll(Answers, 0o755))
	if err == nil {
		err = c.readUsed()
	}
	if err == nil {
		err = c.checkAnswers()
	}
	if err == nil {
		err = c.write(Readme, []byte(readme))
	}
	if err == nil {
		err = c.publish()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("handoff: %w", err), root.Close())
	}
	return c, nil
}

// Close releases the folder.
func (c *Client) Close() error { return c.root.Close() }

// Generate implements model.Client. A question without a usable answer fails
// with model.Waiting around a *WaitingError, once it is written. Equal requests
// are one question. Nothing is known of the tokens that an answer took.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if over := model.Interrupted(ctx, c.dir); over != nil {
		return model.Response{}, over
	}
	q, err := newQuestion(req)
	if err != nil {
		return model.Response{}, c.fault(model.BadRequest, err)
	}
	text, there, err := c.answer(q.id)
	var bad *badAnswer
	switch {
	case errors.As(err, &bad):
	case err != nil:
		return model.Response{}, c.fault(model.BadRequest, err)
	case there:
		if err := errors.Join(c.take(q.id, text), c.settle(q.id)); err != nil {
			return model.Response{}, c.fault(model.BadRequest, err)
		}
		return model.Response{Text: text, Finish: model.FinishStop, Model: req.Model}, nil
	}
	waiting := &WaitingError{ID: q.id, Dir: c.dir, Question: q.path(), Answer: answerPath(q.id)}
	if bad != nil {
		waiting.Problem = bad.reason
	}
	if err := c.put(q, waiting.Problem); err != nil {
		return model.Response{}, c.fault(model.BadRequest, err)
	}
	return model.Response{}, c.fault(model.Waiting, waiting)
}

// fault returns a failure as an error of the client's folder. A retry does not fix a failure of the folder.
func (c *Client) fault(code model.Code, err error) error {
	return &model.Error{Code: code, Endpoint: c.dir, Err: err}
}

// put writes a question and enters it into the index.
func (c *Client) put(q question, problem string) error {
	entry := Entry{ID: q.id, Stage: q.tags.Stage, Role: q.tags.Role, Question: q.path(), Answer: answerPath(q.id), Problem: problem}
	c.mu.Lock()
	before, asked := c.open[q.id]
	c.open[q.id] = entry
	if before != entry {
		c.changed++
	}
	c.mu.Unlock()
	if !asked {
		for name, data := range q.images() {
			if err := c.write(path.Join(Questions, name), data); err != nil {
				return err
			}
		}
		if err := c.write(q.path(), q.render()); err != nil {
			return err
		}
	}
	return c.publish()
}

// settle takes a question off the index.
func (c *Client) settle(id string) error {
	c.mu.Lock()
	_, asked := c.open[id]
	if asked {
		delete(c.open, id)
		c.changed++
	}
	c.mu.Unlock()
	if !asked {
		return nil
	}
	return c.publish()
}

// Open returns the questions that were asked since New and have no usable
// answer, sorted by id.
func (c *Client) Open() []Entry {
	all, _ := c.snapshot()
	return all
}

func (c *Client) snapshot() ([]Entry, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Entry, 0, len(c.open))
	for _, q := range c.open {
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return all, c.changed
}

// publish brings the index up to date. Of many who come at the same time, one
// writes for all that wait behind it.
func (c *Client) publish() error {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	all, changed := c.snapshot()
	if changed == c.published {
		return nil
	}
	data, err := renderIndex(all)
	if err == nil {
		err = c.write(Index, data)
	}
	if err == nil {
		c.published = changed
	}
	return err
}

// write replaces a file as a whole.
func (c *Client) write(name string, data []byte) error {
	return disk.WriteIn(c.root, name, data, 0o644)
}
