package importer

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// convertTraining converts what needs no more than another name.
func (c *converter) convertTraining() {
	c.add("protocol", "skillopt", "its numbers hold for what is not written down")
	c.direct("num_epochs", "train.epochs", "")
	c.direct("batch_size", "train.batch_size", "")
	c.direct("accumulation", "train.accumulation", "")
	c.direct("seed", "train.seed", "")
	c.direct("minibatch_size", "reflect.minibatch_size", "")
	c.direct("failure_only", "reflect.failure_only", "")
	c.direct("eval_test", "eval.test", "")
	c.fallback("use_meta_skill", "meta_skill.enabled", false)
	if n, ok := number(c.in["merge_batch_size"]); ok && n < 2 {
		c.take("merge_batch_size", "aggregate.fan_in", int64(2), "below 2 acts as 2")
	} else {
		c.direct("merge_batch_size", "aggregate.fan_in", "")
	}
}

// fallback takes a key over, or adds what SkillOpt does where its source leaves the key out.
func (c *converter) fallback(flat, to string, def any) {
	if c.direct(flat, to, ""); !c.set(flat) {
		c.add(to, def, "SkillOpt's fallback for a source that leaves "+flat+" out")
	}
}

// schedule converts what a step may change.
func (c *converter) schedule() {
	mode := optimize.ModePatch
	if c.set("skill_update_mode") {
		var ok bool
		if mode, ok = optimize.ParseMode(c.text("skill_update_mode")); ok {
			c.take("skill_update_mode", "edits.mode", string(mode), "")
		} else {
			c.note("skill_update_mode", Unusable, "edits.mode: found "+c.show(c.in["skill_update_mode"])+", allowed: patch, rewrite_from_suggestions, full_rewrite_minibatch")
		}
	}
	for _, flat := range []string{"rewrite_reasoning_effort", "rewrite_max_completion_tokens"} {
		if mode == optimize.ModePatch {
			c.note(flat, NotNeeded, "nothing is rewritten in mode patch")
		}
	}
	c.budget()
	c.budgetControl(mode)
	c.skillAware(mode)
}

// skillAware converts reflection on lapses. SkillOpt keeps the notes of all analysts
// unless configured otherwise, and compacts them only when configured to.
func (c *converter) skillAware(mode optimize.Mode) {
	const reflection = "use_skill_aware_reflection"
	details := []string{"skill_aware_appendix_source", "skill_aware_consolidate_threshold"}
	all := func(state State, note string) {
		for _, flat := range details {
			c.note(flat, state, note)
		}
	}
	on := c.yes(reflection, false)
	switch {
	case on && mode != optimize.ModePatch:
		c.note(reflection, NoCounterpart, "only with edits.mode patch")
		all(NoCounterpart, reflection+" is not taken over")
		return
	case !c.direct(reflection, "reflect.skill_aware", "") && on:
		all(NoCounterpart, reflection+" is not taken over")
		return
	case !on:
		all(NotNeeded, reflection+" is off")
		return
	}
	for i, of := range []func() (State, string){c.noteSource, c.noteThreshold} {
		state, note := of()
		if _, there := c.in[details[i]]; !there && state != NotNeeded {
			c.note(reflection, Taken, note, "reflect.skill_aware") // the default there is not ours
		}
		c.note(details[i], state, note)
	}
}

// noteSource says whose notes are kept: here those of analysts of failures.
func (c *converter) noteSource() (State, string) {
	switch {
	case c.in["skill_aware_appendix_source"] == "failure_only":
		return NotNeeded, "only analysts of failures write notes here too"
	case c.yes("failure_only", false):
		return NotNeeded, "with failure_only there are no analysts of successes"
	}
	return NoCounterpart, "only analysts of failures write notes here; there those of successes do too"
}

// noteThreshold says when notes are compacted.
func (c *converter) noteThreshold() (State, string) {
	const here = optimize.AppendixThreshold
	v := c.in["skill_aware_consolidate_threshold"]
	n, isNumber := simple("number", v)
	if text, isText := v.(string); isText {
		n, isNumber = simple("number", Cast(text))
	}
	switch most, _ := n.(float64); {
	case !isNumber && !empty(v):
		return Unusable, "found " + c.show(v) + ", allowed: a whole number"
	case most < 1:
		return NoCounterpart, fmt.Sprintf("notes are compacted here when there are more than %d; there never", here)
	case int(most) == here:
		return NotNeeded, fmt.Sprintf("notes are compacted here too when there are more than %d", here)
	}
	return NoCounterpart, fmt.Sprintf("notes are compacted here when there are more than %d, which cannot be set", here)
}

// budget keeps the smallest budget within the largest one.
func (c *converter) budget() {
	c.direct("edit_budget", "edits.budget", "")
	most, ok := c.out["edits.budget"].(int64)
	if !ok {
		most = 4
	}
	least, isNumber := number(c.in["min_edit_budget"])
	switch {
	case isNumber && least > float64(most):
		c.take("min_edit_budget", "edits.min_budget", most, "not above edits.budget")
	case c.set("min_edit_budget"):
		c.direct("min_edit_budget", "edits.min_budget", "")
	default:
		c.direct("min_edit_budget", "edits.min_budget", "")
		if most < 2 {
			c.add("edits.min_budget", most, "not above edits.budget")
		}
	}
}

// budgetControl makes one key of the two that say how the budget moves.
func (c *converter) budgetControl(mode optimize.Mode) {
	control := schedule.Fixed
	if c.set("lr_control_mode") {
		var err error
		if control, err = schedule.ParseControl(c.text("lr_control_mode")); err != nil {
			c.note("lr_control_mode", Unusable, "edits.schedule: found "+c.show(c.in["lr_control_mode"])+", allowed: "+words()["lr_control_mode"])
			control = schedule.Fixed
		}
	}
	by := map[schedule.Control]string{schedule.Autonomous: "model", schedule.None: "unlimited"}[control]
	if by == "" {
		c.note("lr_control_mode", NotNeeded, "the schedule says it")
		c.budgetSchedule()
		return
	}
	note := ""
	if by == "model" && mode == optimize.ModeFullRewrite {
		by, note = "unlimited", "a full rewrite has no edits to count"
	}
	c.take("lr_control_mode", "edits.schedule", by, note)
	c.note("lr_scheduler", NotNeeded, "lr_control_mode decides")
}

func (c *converter) budgetSchedule() {
	if !c.set("lr_scheduler") {
		c.fallback("lr_scheduler", "edits.schedule", string(schedule.Constant))
		return
	}
	m, err := schedule.ParseMode(c.text("lr_scheduler"))
	if err != nil {
		c.note("lr_scheduler", Unusable, "edits.schedule: found "+c.show(c.in["lr_scheduler"])+", allowed: constant, linear, cosine, autonomous")
		return
	}
	c.take("lr_scheduler", "edits.schedule", string(m), "")
}

// slowUpdate converts the comparison at the end of epochs. SkillOpt forces its
// guidance in unless configured otherwise.
func (c *converter) slowUpdate() {
	c.fallback("use_slow_update", "slow_update.enabled", false)
	c.direct("slow_update_samples", "slow_update.samples", "")
	if c.set("slow_update_gate_with_selection") {
		c.direct("slow_update_gate_with_selection", "slow_update.gated", "")
	} else if c.yes("use_slow_update", false) {
		c.add("slow_update.gated", false, "SkillOpt's default; true keeps guidance only when the selection score does not fall")
	}
	if !c.set("longitudinal_pair_policy") {
		return
	}
	policy, err := optimize.ParsePairPolicy(c.text("longitudinal_pair_policy"))
	if err != nil {
		c.note("longitudinal_pair_policy", Unusable, "slow_update.pairs: found "+c.show(c.in["longitudinal_pair_policy"])+", allowed: mixed, changed, unchanged")
		return
	}
	c.take("longitudinal_pair_policy", "slow_update.pairs", string(policy), "")
}

// gate converts how candidates are judged.
func (c *converter) gate() {
	const published = "the published rule"
	if !c.set("use_gate") {
		c.add("gate.mode", "strict", published)
	}
	if c.set("use_gate") {
		f := field{kinds: []string{"boolean"}}
		if on, ok := f.kind(c.in["use_gate"]); ok {
			mode := map[any]string{true: "strict", false: "observe"}[on]
			c.take("use_gate", "gate.mode", mode, "")
		} else {
			c.note("use_gate", Unusable, "gate.mode: found "+c.show(c.in["use_gate"])+", allowed: true or false")
			c.add("gate.mode", "strict", published)
		}
	}
	c.direct("gate_metric", "gate.metric", "")
	if w, ok := number(c.in["gate_mixed_weight"]); ok {
		c.take("gate_mixed_weight", "gate.mixed_weight", min(max(w, 0), 1), map[bool]string{true: "brought within 0 to 1, as there"}[w < 0 || w > 1])
	} else {
		c.direct("gate_mixed_weight", "gate.mixed_weight", "")
	}
	c.density()
}

// density makes one key of the switch and its weight.
func (c *converter) density() {
	const defaultWeight = 0.05
	if !c.yes("use_semantic_density", false) {
		c.note("use_semantic_density", NotNeeded, "off")
		c.note("semantic_density_weight", NotNeeded, "use_semantic_density is off")
		return
	}
	if c.set("semantic_density_weight") {
		if c.direct("semantic_density_weight", "gate.density_weight", "") {
			c.note("use_semantic_density", Taken, "", "gate.density_weight")
		} else {
			c.note("use_semantic_density", NoCounterpart, "its weight cannot be used")
		}
		return
	}
	c.take("use_semantic_density", "gate.density_weight", defaultWeight, "SkillOpt's default weight")
}

// concurrency makes one number of the pools of SkillOpt, which are not used at
// the same time.
func (c *converter) concurrency() {
	pools := []string{"workers", "analyst_workers", "max_api_workers"}
	most := int64(0)
	for _, flat := range pools {
		if v, ok := simple("integer", c.in[flat]); ok {
			most = max(most, v.(int64))
		}
	}
	for _, flat := range pools {
		switch v, ok := simple("integer", c.in[flat]); {
		case !c.set(flat):
		case !ok:
			c.note(flat, Unusable, "limits.concurrency: found "+c.show(c.in[flat])+", allowed: a whole number")
		case v == most:
			c.take(flat, "limits.concurrency", most, "requests in flight, all models together")
		default:
			c.note(flat, NotNeeded, "limits.concurrency is the largest of the pools")
		}
	}
}

// seconds returns a length of time in our notation.
func (c *converter) seconds(flat string) (text string, ok bool) {
	n, isNumber := simple("number", c.in[flat])
	if s, isText := c.in[flat].(string); isText {
		n, isNumber = simple("number", Cast(s))
	}
	const most = 365 * 24 * 3600
	if !isNumber {
		c.note(flat, Unusable, "found "+c.show(c.in[flat])+", allowed: a number of seconds")
		return "", false
	}
	switch s, _ := n.(float64); {
	case s <= 0:
		c.note(flat, NotNeeded, "no deadline there; here there is always one")
		return "", false
	case s > most || s < 0.001:
		c.note(flat, Unusable, fmt.Sprintf("found %v, allowed: 0.001 to %d seconds", s, most))
		return "", false
	default:
		return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String(), true
	}
}

// path takes a path over.
func (c *converter) path(flat, to, note string) {
	if !c.set(flat) {
		c.note(flat, NotNeeded, "not set")
		return
	}
	path, ok := c.in[flat].(string)
	if !ok {
		c.note(flat, Unusable, to+": found "+c.show(c.in[flat])+", allowed: a path")
		return
	}
	if c.o.Rebase != nil && !filepath.IsAbs(path) {
		path = filepath.ToSlash(c.o.Rebase(filepath.FromSlash(path)))
	}
	c.take(flat, to, path, note)
}
