package draft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// Misjudged is why a trigger task falls that its author takes for the other kind.
const Misjudged Reason = "were taken for the other kind by their own author, who did not see which was meant"

// Doubts about a trigger task that is kept.
const (
	doubtKind     = "its author took it for the other kind at first"
	doubtUnjudged = "its author did not say again of which kind it is"
)

// opinion is what an author says of a prompt without seeing the kind that it is meant to be.
type opinion int

const (
	unsaid opinion = iota
	agreed
	opposed
)

// judge has the author say of prompts whether they should load the skill, without their
// kinds, and keeps those of which it says what it meant: at the second time, with a doubt.
func (d *triggerDrafter) judge(ctx context.Context, round int, calls []triggerCall, found [][]triggerCandidate) error {
	first, err := d.opinions(ctx, fmt.Sprintf("t%d/first", round), calls, found)
	if err != nil {
		return err
	}
	disputed := make([][]triggerCandidate, len(found))
	for i := range found {
		for n, c := range found[i] {
			if first[i][n] == opposed {
				disputed[i] = append(disputed[i], c)
			}
		}
	}
	again, err := d.opinions(ctx, fmt.Sprintf("t%d/again", round), calls, disputed)
	if err != nil {
		return err
	}
	for i := range found {
		d.decide(found[i], first[i], again[i])
	}
	return nil
}

// decide keeps the prompts of a call that hold. again are the second opinions on those that
// the first ones oppose.
func (d *triggerDrafter) decide(found []triggerCandidate, first, again []opinion) {
	for n, c := range found {
		switch first[n] {
		case unsaid:
			c.doubts = append(c.doubts, doubtUnjudged)
		case opposed:
			second := again[0]
			if again = again[1:]; second != agreed {
				d.fall(c, Misjudged, fmt.Sprintf("meant as %s", c.kind))
				continue
			}
			c.doubts = append(c.doubts, doubtKind)
		}
		d.kept = append(d.kept, c)
	}
}

// opinions asks about the prompts of each call, and returns one for each. A reply that is
// lost says nothing of any.
func (d *triggerDrafter) opinions(ctx context.Context, key string, calls []triggerCall, found [][]triggerCandidate) ([][]opinion, error) {
	out := make([][]opinion, len(found))
	var asked []int // calls that have prompts to ask about
	for i := range found {
		out[i] = make([]opinion, len(found[i]))
		if len(found[i]) > 0 {
			asked = append(asked, i)
		}
	}
	err := d.each(ctx, model.StageDraftCheck, len(asked), func(ctx context.Context, n int) error {
		i := asked[n]
		q, err := d.request(calls[i].file, d.shufflePrompts(found[i], i))
		if err != nil {
			return err
		}
		q.Key = fmt.Sprintf("%s/c%d", key, i+1)
		text, err := d.Ask(ctx, q)
		if errors.Is(err, ErrLost) {
			return nil
		}
		if err != nil {
			return err
		}
		said, err := readOpinions(text)
		if err != nil {
			return err
		}
		for place, at := range d.order(len(found[i]), i) {
			out[i][at] = said.of(place+1, found[i][at].kind)
		}
		return nil
	})
	return out, err
}

// order returns the order in which the prompts of a call are asked about, with both kinds mixed:
// prompt order[0] comes first.
func (d *triggerDrafter) order(n, call int) []int {
	return rand.New(rand.NewPCG(uint64(d.Seed), uint64(call))).Perm(n)
}

// shufflePrompts returns the prompts of a call in the order in which they are asked about.
func (d *triggerDrafter) shufflePrompts(found []triggerCandidate, call int) []string {
	out := make([]string, len(found))
	for place, at := range d.order(len(found), call) {
		out[place] = found[at].prompt
	}
	return out
}

// request asks which of some prompts should load the skill.
func (d *triggerDrafter) request(file int, prompts []string) (Request, error) {
	type entry struct {
		N      int    `json:"n"`
		Prompt string `json:"prompt"`
	}
	list := make([]entry, len(prompts))
	for i, p := range prompts {
		list[i] = entry{i + 1, p}
	}
	requests, err := lines(list)
	if err != nil {
		return Request{}, err
	}
	q := Request{Stage: model.StageDraftCheck, Schema: opinionSchema(), Accept: func(text string) error {
		_, err := readOpinions(text)
		return err
	}}
	if q.System, err = d.prompts.check.Render(nil); err != nil {
		return Request{}, err
	}
	q.User, err = d.prompts.requests.Render(map[string]any{"files": d.formatFiles(file), "requests": strings.TrimSpace(string(requests))})
	return q, err
}

// opinionSchema describes opinions for servers with structured output.
func opinionSchema() *model.Schema {
	return &model.Schema{Name: "opinions", JSON: json.RawMessage(`{"type":"object","properties":{"opinions":{"type":"array","items":{` +
		`"type":"object","properties":{"n":{"type":"integer"},"load":{"type":"boolean"}},"required":["n","load"],"additionalProperties":false}}},` +
		`"required":["opinions"],"additionalProperties":false}`)}
}

// said are opinions by the numbers of prompts: should they load the skill? One that is given
// both ways says nothing.
type said map[int]map[bool]bool

// of returns the opinion on the prompt with a number, meant to be of a kind.
func (s said) of(n int, kind task.Trigger) opinion {
	if len(s[n]) != 1 {
		return unsaid
	}
	if s[n][kind == task.TriggerShould] {
		return agreed
	}
	return opposed
}

// readOpinions reads opinions. Entries that say nothing are left out; the error says that
// none does.
func readOpinions(text string) (said, error) {
	reply, err := jsonx.UniqueObject(text)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	list, ok := reply["opinions"].([]any)
	if !ok || len(list) > maxTriggerList {
		return nil, fmt.Errorf(`draft: the field "opinions" is no list of at most %d entries`, maxTriggerList)
	}
	out := said{}
	for _, v := range list {
		m, _ := v.(map[string]any)
		n, numbered := whole(m["n"])
		load := strings.ToLower(scalarText(m["load"]))
		if !numbered || load != "true" && load != "false" {
			continue
		}
		if out[n] == nil {
			out[n] = map[bool]bool{}
		}
		out[n][load == "true"] = true
	}
	if len(out) == 0 {
		return nil, errors.New(`draft: no entry of "opinions" has a number n and a load that is true or false`)
	}
	return out, nil
}
