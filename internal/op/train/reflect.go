package train

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Reflect has analysts read outcomes of the skill, as a step does, and returns what they propose.
func Reflect(ctx context.Context, cfg config.Config, outcomes []trajectory.Outcome, o session.Options) (*result.Reflection, error) {
	if mode, _ := optimize.ParseMode(cfg.Edits.Mode); mode != optimize.ModePatch {
		return nil, fault.Input(fmt.Errorf("reflect: edits.mode: found %s, allowed: %s, in which analysts propose edits", cfg.Edits.Mode, optimize.ModePatch))
	}
	text, err := json.Marshal(outcomes)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("reflect: outcomes: %w", err))
	}
	only := session.OptimizerOnly(cfg)
	only.Skill, only.SkillFiles, only.Prompts, only.Reflect, only.Edits, only.Train.Seed = cfg.Skill, cfg.SkillFiles, cfg.Prompts, cfg.Reflect, cfg.Edits, cfg.Train.Seed
	in, err := session.LoadSkill(ctx, only, o)
	if err != nil {
		return nil, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, err
	}
	var out *result.Reflection
	err = s.Do(ctx, session.Op{
		Kind: result.Reflect, Suffix: "-reflect", About: map[string]string{"outcomes": session.Digest(text)},
		Check: func() error { return s.Models.Load(model.Optimizer) },
		Work: func(ctx context.Context) (result.Status, error) {
			if out, err = reflect(ctx, s, outcomes); err != nil {
				return "", err
			}
			return result.Completed, nil
		},
	})
	return out, err
}

// reflect reflects in an open run.
func reflect(ctx context.Context, s *session.Session, outcomes []trajectory.Outcome) (*result.Reflection, error) {
	deps := loop.Deps{Skill: s.Skill, Scope: s.Scope, Ask: s.Ask, Prompts: s.Prompts, Events: s.Emit}
	r, err := loop.Reflect(ctx, training.New(s).Options(), deps, outcomes)
	if err != nil {
		return nil, err
	}
	failures, successes := r.Patches(optimize.ModePatch)
	out := &result.Reflection{RunDir: s.Run.Dir, Patches: []skill.Patch{}, Lost: len(r.Lost)}
	for _, p := range append(failures, successes...) {
		out.Patches = append(out.Patches, p.Edits())
	}
	out.Usage, _ = s.Account()
	s.Emit(event.RunDone{Status: string(result.Completed), WallS: out.WallS})
	return out, s.Run.WriteJSON("patches.json", []optimize.ReflectResult{r})
}
