package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/template"
)

// maxPrompt is the size of the largest prompt file, in bytes.
const maxPrompt = 1 << 20

// texts are the prompts of both views, of which a run continues with those that it began
// with; nil for a command that asks no optimizer.
type texts struct{ agent, first *prompt.Set }

// loadPrompts reads the texts of both views: a run that began with the first ones continues
// with them.
func (s *loader) loadPrompts(ctx context.Context) (err error) {
	if s.texts.agent, err = s.promptsOver(ctx, prompt.Whole()); err != nil {
		return err
	}
	if s.texts.first, err = s.promptsOver(ctx, prompt.Default()); err != nil {
		return err
	}
	if err := s.choosePrompts(); err != nil {
		return err
	}
	return s.loadTemplates()
}

// promptsOver returns built-in prompts with what the config has instead.
func (s *loader) promptsOver(ctx context.Context, builtIn *prompt.Set) (*prompt.Set, error) {
	if s.Config.Prompts == "" {
		return builtIn, nil
	}
	set, err := prompt.Load(builtIn, disk.Dir(ctx, s.Config.Prompts, maxPrompt))
	if err != nil {
		return nil, s.fileError("prompts", s.Config.Prompts, "a directory with prompts ("+strings.Join(prompt.Files(), ", ")+")", err)
	}
	return set, nil
}

// GoOn takes what follows from the defaults that a run was begun with.
func (s *Inputs) GoOn() error {
	s.Skill, s.Scope = s.Carried(s.Skill), s.Scope.WithTidy(s.Config.Edits.Tidy)
	return errors.Join(s.listTasks(context.Background()), s.choosePrompts())
}

// choosePrompts takes the texts of the view. The built-in texts are part of the identity
// too: a newer program asks in other words, and must not mix them into an old run.
func (s *Inputs) choosePrompts() (err error) {
	s.Prompts = s.texts.agent
	if s.Config.Reflect.View == config.ViewTask {
		s.Prompts = s.texts.first
	}
	later := s.Config.Train.SecondTry
	s.Contents["prompts"], err = promptsDigest(s.Prompts, askedFor(s, later, len(s.Skill.Others()) > 0))
	return err
}

// askedFor is what the settings ask the optimizer for that not every run does. others says
// that the skill has more files than SKILL.md.
func askedFor(s *Inputs, later, others bool) prompt.Asked {
	fixed := others && s.Scope.Alone() && !s.Scope.DescriptionAlone()
	files, patch := !s.Scope.Alone(), s.Config.Edits.Mode == "patch"
	return prompt.Asked{Later: later, Files: files && patch, Rewrites: files && !patch, Fixed: fixed, Description: s.Scope.Description(), Region: s.Scope.Region() != "", Remembered: len(s.Remembered.Rejected) > 0, Guide: guided(s.Config), Contrast: s.Config.Reflect.Rollouts > 1}
}

// guided reports whether analysts are told something in the user's own words.
func guided(c config.Config) bool { return strings.TrimSpace(c.Reflect.Guide) != "" }

// promptsDigest sums up the texts of a set, with or without what is asked only where a
// setting wants it.
func promptsDigest(set *prompt.Set, asked prompt.Asked) (string, error) {
	texts, err := json.Marshal(set.Digests(asked))
	if err != nil {
		return "", fmt.Errorf("digest prompts: %w", err)
	}
	return Digest(texts), nil
}

func (s *loader) loadTemplates() error {
	system, user := s.Prompts.Rollout()
	s.user = user
	s.system = system
	for _, t := range []struct {
		key, text string
		dst       **template.Template
	}{{"tasks.prompt", s.Config.Tasks.Prompt, &s.user}, {"tasks.system", s.Config.Tasks.System, &s.system}} {
		if t.text == "" {
			continue
		}
		parsed, err := template.Parse(t.key, t.text)
		if err != nil {
			return fault.Input(err)
		}
		*t.dst = parsed
	}
	return nil
}
