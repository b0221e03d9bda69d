package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// door counts the keys that are bound.
type door struct {
	mu    sync.Mutex
	made  int
	bound []string
	now   []string
	fails error
}

func (d *door) keyed() (string, []string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made++
	key := fmt.Sprintf("the-key-of-process-%d", d.made)
	return key, []string{"MODEL_KEY=" + key}, d.fails
}

func (d *door) access(name string) *Access {
	return &Access{
		Model: Model{Name: name, BaseURL: "http://here/v1", AnthropicBaseURL: "http://here", APIKey: "the-key-of-task-" + name},
		Bind: func(key string) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if slices.Contains(d.now, key) {
				return errors.New("it is bound already")
			}
			d.bound, d.now = append(d.bound, key), append(d.now, key)
			return nil
		},
		Unbind: func(key string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.now = slices.DeleteFunc(d.now, func(k string) bool { return k == key })
		},
	}
}

// A task names its model, a process has a key of its own that counts for the task which
// it has, and neither key is in what is made of its answer.
func TestAccess(t *testing.T) {
	t.Parallel()
	d := &door{}
	e := newTestEnv(t, func(o *Options) { o.Keyed = d.keyed })
	ask := func(name, prompt string) (string, error) {
		out, _, err := e.Answer(t.Context(), task.Task{ID: "t1", Prompt: prompt}, skill.Skill{}, d.access(name))
		return out.Answer, err
	}
	text, err := ask("a", "echo")
	var r request
	if err != nil || json.Unmarshal([]byte(text), &r) != nil || r.Model == nil {
		t.Fatalf("%s, %v", text, err)
	}
	if diff := cmp.Diff(Model{Name: "a", BaseURL: "http://here/v1", AnthropicBaseURL: "http://here", APIKey: "[redacted]"}, *r.Model); diff != "" {
		t.Errorf("the line of the task (-want +got):\n%s", diff)
	}
	if text, err = ask("b", "environ"); err != nil || !strings.Contains(text, "MODEL_KEY=[redacted]") {
		t.Errorf("%s, %v", text, err)
	}
	_, err = ask("the-name", "say {\"the-key-of-task-the-name the-key-of-process-1\"")
	if err == nil || strings.Contains(err.Error(), "the-key") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"the-key-of-process-1", "the-key-of-process-1", "the-key-of-process-1"}, d.bound); diff != "" {
		t.Errorf("bound (-want +got):\n%s", diff)
	}
	d.fails = errors.New("no more keys")
	if _, err = ask("c", "echo"); err == nil || !strings.Contains(err.Error(), "no more keys") {
		t.Errorf("error %v", err)
	}
}
