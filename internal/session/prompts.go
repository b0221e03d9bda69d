package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/template"
)

// maxPrompt is the size of the largest prompt file, in bytes.
const maxPrompt = 1 << 20

// loadPrompts reads the texts of the view. The built-in ones are part of the identity too: a
// program that asks in other words must not mix them into a run.
func (s *loader) loadPrompts(ctx context.Context) (err error) {
	builtIn := prompt.Whole()
	if s.Config.Reflect.View == config.ViewTask {
		builtIn = prompt.Default()
	}
	if s.Prompts, err = s.promptsOver(ctx, builtIn); err != nil {
		return err
	}
	texts, err := json.Marshal(s.Prompts.Digests())
	if err != nil {
		return fmt.Errorf("digest prompts: %w", err)
	}
	s.Contents["prompts"] = Digest(texts)
	return s.loadTemplates()
}

// promptsOver returns built-in prompts with what the config has instead.
func (s *loader) promptsOver(ctx context.Context, builtIn *prompt.Set) (*prompt.Set, error) {
	if s.Config.Prompts == "" {
		return builtIn, nil
	}
	set, err := prompt.Load(builtIn, s.Loaded.Guard.Dir(ctx, s.Config.Prompts, maxPrompt))
	if err != nil {
		return nil, s.fileError("prompts", s.Config.Prompts, "a directory with prompts ("+strings.Join(prompt.Files(), ", ")+")", err)
	}
	return set, nil
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
