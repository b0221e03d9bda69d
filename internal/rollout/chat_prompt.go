package rollout

import (
	"fmt"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bounds of what is kept of rendered messages.
const (
	keptSystems = 64       // system messages
	keptPrompts = 32 << 20 // bytes of prompts
)

// ChatPrompt words what a chat target is asked. It is safe for concurrent use and
// must not be changed once it was used.
type ChatPrompt struct {
	System *template.Template // over the fields of the task and {{skill}}
	User   *template.Template // over the fields of the task
	Images *Images
	Extras map[string]any
	// Bare leaves the system message out for an empty skill.
	Bare bool
	// Marked puts pictures where the text marks them by {image#1} and so on; else they follow it.
	Marked bool

	once   sync.Once
	shared bool // the system message depends on the skill alone

	mu     sync.Mutex
	system map[string]string // skill text -> shared system message

	prompts kept
}

// kept are texts that are rendered again and again, and kept by many outcomes: the
// prompt of a task is one text in memory however often the task is carried out.
type kept struct {
	mu    sync.Mutex
	texts map[string]string // by the id of the task
	bytes int
}

// one returns text, as the one that was rendered before if it is the same.
func (k *kept) one(id, text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, ok := k.texts[id]
	if ok && before == text {
		return before
	}
	if k.texts == nil || k.bytes+len(text) > keptPrompts {
		k.texts, k.bytes, before = map[string]string{}, 0, ""
	}
	k.texts[id] = text
	k.bytes += len(text) - len(before)
	return text
}

func (q *ChatPrompt) messages(t task.Task, s skill.Skill) ([]model.Message, error) {
	fields := promptFields(t, s, q.Extras)
	user, err := prompt(q.User, t, fields)
	if err != nil {
		return nil, err
	}
	user = q.prompts.one(t.ID, user)
	system, err := q.systemText(fields, s)
	if err != nil {
		return nil, fmt.Errorf("render tasks.system for task %s (%s): %w", t.ID, t.Origin, err)
	}
	asked, err := q.newUserMessage(t, user)
	if err != nil || system == "" {
		return []model.Message{asked}, err
	}
	return []model.Message{{Role: model.System, Content: system}, asked}, nil
}

// promptFields returns what a prompt may name: the fields of the task and, where it has none of
// that name, the skill and the extras. The lint of tasks follows the same rule.
func promptFields(t task.Task, s skill.Skill, extras map[string]any) map[string]any {
	fields := t.Fields()
	given := map[string]any{"skill": skillText(s), "prompt": ""} // a task may be all that its world says of it
	if len(extras) > 0 {
		given["extras"] = extras
	}
	for name, v := range given {
		if _, own := fields[name]; !own {
			fields[name] = v
		}
	}
	return fields
}

func prompt(wording *template.Template, t task.Task, fields map[string]any) (string, error) {
	text, err := wording.Render(fields)
	if err != nil {
		return "", fmt.Errorf("render tasks.prompt for task %s (%s): %w", t.ID, t.Origin, err)
	}
	return text, nil
}

// newUserMessage returns the user's message: the text, and the pictures of the task.
func (q *ChatPrompt) newUserMessage(t task.Task, text string) (model.Message, error) {
	images, err := q.Images.of(t)
	if err != nil || len(images) == 0 {
		return model.Message{Role: model.User, Content: text}, err
	}
	if q.Marked {
		return model.Message{Role: model.User, Parts: insertImages(text, images)}, nil
	}
	m := model.Message{Role: model.User, Parts: []model.Part{{Text: text}}}
	for i := range images {
		m.Parts = append(m.Parts, model.Part{Image: &images[i]})
	}
	return m, nil
}

// SystemMessage returns the system message of a task as a target with the skill s gets it, with
// mark instead of the skill; "" if it gets none, or it cannot be worded.
func (q *ChatPrompt) SystemMessage(t task.Task, s skill.Skill, mark string) string {
	if q.Bare && strings.TrimSpace(skillText(s)) == "" {
		return ""
	}
	fields := promptFields(t, s, q.Extras)
	if _, own := t.Fields()["skill"]; !own {
		fields["skill"] = mark
	}
	text, err := q.System.Render(fields)
	if err != nil {
		return "" // as the rollout has said
	}
	return text
}

// Texts returns the system message and the prompt of a task, without a skill.
func (q *ChatPrompt) Texts(t task.Task) (system, user string, err error) {
	user, err = prompt(q.User, t, promptFields(t, skill.New(""), q.Extras))
	return q.SystemMessage(t, skill.New(""), ""), user, err
}

// systemText renders the system message. One that depends on the skill alone is
// rendered once a skill: a batch shares it, and so do provider caches.
func (q *ChatPrompt) systemText(fields map[string]any, s skill.Skill) (string, error) {
	text := skillText(s)
	if q.Bare && strings.TrimSpace(text) == "" {
		return "", nil
	}
	q.once.Do(func() { q.shared = q.System.Check("skill") == nil })
	if !q.shared {
		fields["skill"] = text
		return q.System.Render(fields)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if out, ok := q.system[text]; ok {
		return out, nil
	}
	out, err := q.System.Render(map[string]any{"skill": text})
	if err != nil {
		return "", err
	}
	if q.system == nil || len(q.system) > keptSystems {
		q.system = map[string]string{}
	}
	q.system[text] = out
	return out, nil
}
