package optimize

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// AppendixThreshold is the number of notes above which the appendix is
// compacted. A list that long is no longer read; half of it is kept.
const AppendixThreshold = 20

// AppendixInput is what the appendix stage works on.
type AppendixInput struct {
	Ask       Ask
	Prompts   *prompt.Set
	Skill     skill.Skill // usually the candidate of Update
	Notes     []string    // new notes, see ReflectResult.Notes
	Scope     skill.Scope // notes lie within its region
	Threshold int         // notes above which the appendix is compacted; 0 = AppendixThreshold
}

// AppendixResult is a skill with its notes renewed.
type AppendixResult struct {
	Skill     skill.Skill `json:"-"`
	Changed   bool        `json:"changed"`
	Added     []string    `json:"added"`     // notes that were not there in other words
	Notes     []string    `json:"notes"`     // all notes of the skill afterwards
	Compacted bool        `json:"compacted"` // one call merged and dropped notes
	Calls     int         `json:"calls"`
	Lost      []string    `json:"lost,omitempty"` // keys of requests without a usable reply: nothing was dropped
}

// Appendix adds notes to the appendix of a skill, without repeats, and has them
// compacted by one call when they have become too many. A skill with nothing
// new to note stays as it is.
func Appendix(ctx context.Context, in AppendixInput) (AppendixResult, error) {
	had := skill.Notes(in.Skill.Text())
	all := skill.DedupeNotes(append(append([]string{}, had...), plainNotes(in.Notes)...))
	added := newNotes(had, all)
	if len(added) == 0 {
		return AppendixResult{Skill: in.Skill, Added: added, Notes: had}, nil
	}
	result := AppendixResult{Added: added, Notes: all}
	threshold := in.Threshold
	if threshold <= 0 {
		threshold = AppendixThreshold
	}
	if len(all) > threshold {
		if err := in.compact(ctx, &result, max(1, threshold/2)); err != nil {
			return AppendixResult{}, err
		}
	}
	result.Skill = in.Scope.WithNotes(in.Skill, result.Notes)
	result.Changed = result.Skill.Text() != in.Skill.Text()
	return result, nil
}

// plainNotes returns notes as a skill may hold them.
func plainNotes(notes []string) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = skill.Plain(n)
	}
	return out
}

func newNotes(had, all []string) []string {
	known := map[string]bool{}
	for _, n := range had {
		known[skill.NoteKey(n)] = true
	}
	added := []string{}
	for _, n := range all {
		if !known[skill.NoteKey(n)] {
			added = append(added, n)
		}
	}
	return added
}

// compact replaces the notes of a result by at most limit.
func (in AppendixInput) compact(ctx context.Context, r *AppendixResult, limit int) error {
	text, err := in.Prompts.Compact(prompt.CompactInput{Notes: "- " + strings.Join(r.Notes, "\n- "), Limit: limit})
	if err != nil {
		return fmt.Errorf("appendix question: %w", err)
	}
	q := Request{
		// The appendix is rewritten as a whole, so its call counts as a rewrite.
		Key: "appendix", Stage: model.StageRewrite, System: text.System, User: text.User,
		Schema: compactSchema(),
		Accept: func(reply string) error {
			_, err := parseCompact(reply)
			return err
		},
	}
	r.Calls = 1
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		r.Lost = []string{q.Key}
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask %s: %w", q.Key, err)
	}
	notes, err := parseCompact(reply)
	if err != nil {
		return err
	}
	r.Notes = notes[:min(len(notes), limit)]
	r.Compacted = true
	return nil
}

func parseCompact(reply string) ([]string, error) {
	object, err := jsonx.Object(reply)
	if err != nil {
		return nil, fmt.Errorf("appendix reply: %w", err)
	}
	notes := skill.DedupeNotes(plainNotes(Notes(object)))
	if len(notes) == 0 {
		return nil, errors.New(`appendix reply: the field "appendix_notes" holds no note`)
	}
	return notes, nil
}
