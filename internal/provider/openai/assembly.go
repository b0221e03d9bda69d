package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// assembly puts the parts of an answer together.
type assembly struct {
	req    *model.Request
	parts  []model.Part
	more   bool // more than text
	calls  int
	broken error // the first call that cannot be used
	ids    map[string]bool
}

func (a *assembly) text(s string) {
	if s != "" {
		a.parts = append(a.parts, model.Part{Text: s})
	}
}

func (a *assembly) addReasoning(r *model.Reasoning) {
	if r != nil {
		a.parts = append(a.parts, model.Part{Reasoning: r})
		a.more = true
	}
}

// call adds a call whose arguments are text.
func (a *assembly) call(id, name, arguments string) {
	args := json.RawMessage(strings.TrimSpace(arguments))
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	switch {
	case !json.Valid(args):
		a.refuse(fmt.Errorf("the arguments of the call of %q are no JSON", name))
		return
	case args[0] != '{':
		a.refuse(fmt.Errorf("the arguments of the call of %q are no object", name))
		return
	case name == "":
		a.refuse(errors.New("a call names no tool"))
		return
	}
	a.calls++
	a.parts = append(a.parts, model.Part{Call: &model.ToolCall{ID: a.id(id), Name: name, Arguments: args}})
	a.more = true
}

func (a *assembly) refuse(err error) {
	if a.broken == nil {
		a.broken = err
	}
}

// id returns the id of a call, or makes one up that the conversation does not
// have yet.
func (a *assembly) id(given string) string {
	if a.ids == nil {
		a.ids = map[string]bool{}
		for _, m := range a.req.Messages {
			for _, p := range m.Parts {
				if p.Call != nil {
					a.ids[p.Call.ID] = true
				}
			}
		}
	}
	id := given
	for n := len(a.ids) + 1; id == "" || given == "" && a.ids[id]; n++ {
		id = "made_up_" + strconv.Itoa(n)
	}
	a.ids[id] = true
	return id
}

// finish completes r. A call that was cut off with the answer is left out: the
// answer says that it was cut. One that is broken otherwise is an error.
func (a *assembly) finish(r model.Response) (model.Response, error) {
	if a.broken != nil && r.Finish != model.FinishLength && r.Finish != model.FinishFilter {
		return model.Response{}, a.broken
	}
	if a.calls > 0 && r.Finish == model.FinishStop {
		r.Finish = model.FinishTools
	}
	if a.more {
		r.Parts = a.parts
	}
	return r, nil
}
