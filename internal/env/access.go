package env

import (
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Access is the model that a program may use for one task.
type Access struct {
	Model Model // as the line of the task names it
	// Bind has the key of a process count for this task until Unbind, or until the caller that
	// opened the access ends it: a program may know no other key than the one of its
	// variables. It is called before a process is handed the task.
	Bind   func(key string) error
	Unbind func(key string)
}

// Model is how the line of a task names a model: servers by the protocols of OpenAI and
// of Anthropic, and the key of the task, which is refused when the task is done.
type Model struct {
	Name             string `json:"name"`
	BaseURL          string `json:"base_url"`           // of OpenAI's protocols, up to /v1
	AnthropicBaseURL string `json:"anthropic_base_url"` // the root of the same server
	APIKey           string `json:"api_key"`
}

func (a *Access) model() *Model {
	if a == nil {
		return nil
	}
	return &a.Model
}

// hide takes the key of the task out of what is said of it: no one else can use it, and
// it is another one each time.
func (a *Access) hide() *redact.Exact {
	if a == nil {
		return nil
	}
	return redact.NewExact(a.Model.APIKey)
}

// bind has the key of a process count for the task.
func (a *Access) bind(p *process) error {
	if a == nil || p.key == "" {
		return nil
	}
	return a.Bind(p.key)
}

// unbind has it count for nothing: the task is answered.
func (a *Access) unbind(p *process) {
	if a != nil && p.key != "" {
		a.Unbind(p.key)
	}
}

// hidden returns an error of a task without the task's key.
func hidden(err error, hide *redact.Exact) error {
	var fault *Error
	if errors.As(err, &fault) {
		fault.Detail, fault.Stderr = hide.Text(fault.Detail), hide.Text(fault.Stderr)
	}
	return err
}
