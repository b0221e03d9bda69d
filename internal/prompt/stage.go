package prompt

import "github.com/seed-f4525e22/skillopt/internal/template"

// AnalystInput is what an analyst of one minibatch sees. Empty texts and a
// budget of 0 leave their part out.
type AnalystInput struct {
	Failures     bool   // failed trajectories; else successful ones
	Contrasts    bool   // the best and the worst answers to tasks instead of either
	Mode         string // update mode: patch, rewrite_from_suggestions or full_rewrite_minibatch; "" = patch
	SkillAware   bool   // ask for the class of each failure and for execution notes
	Deep         bool   // look for shared causes; else each trajectory by itself
	Budget       int    // most changes that are kept
	StepBuffer   string // digest of the epoch's earlier steps
	MetaSkill    string // the optimizer's memory
	Agent        string // what the agent is given apart from skill and task
	Skill        string
	Trajectories string // formatted
	Count        int    // trajectories
}

// Analyst returns the prompt of one analyst.
func (s *Set) Analyst(in AnalystInput) (Text, error) {
	name, focus := fileAnalystSuccess, "shallow"
	if in.Failures {
		name = fileAnalystError
	}
	if in.Contrasts {
		name = fileContrast
	}
	if in.Deep {
		focus = "deep"
	}
	values := map[string]any{
		"budget": in.Budget, "step_buffer": in.StepBuffer, "meta_skill": in.MetaSkill,
		"agent": in.Agent, "skill": in.Skill, "trajectories": in.Trajectories, "count": in.Count,
		"skill_aware": in.SkillAware,
	}
	return s.render(name, values, map[string]string{"focus": focus, "reply": orPatch(in.Mode)})
}

// MergeInput is what one merge call of one side sees. Empty texts of MetaSkill
// and Skill leave their part out.
type MergeInput struct {
	Mode      string // update mode, "" = patch
	Failures  bool   // the patches come from failures; else from successes
	Patches   string // formatted
	MetaSkill string
	Skill     string
	Level     int // round of merging, 1-based
}

// Merge returns the prompt of one merge of patches from one side.
func (s *Set) Merge(in MergeInput) (Text, error) {
	origin := "successes"
	if in.Failures {
		origin = "failures"
	}
	values := map[string]any{"patches": in.Patches, "meta_skill": in.MetaSkill, "skill": in.Skill, "level": in.Level}
	return s.render(fileMerge, values, map[string]string{"origin": origin, "reply": orPatch(in.Mode)})
}

// MergeFinalInput is what the last merge sees. Empty texts of MetaSkill and
// Skill leave their part out.
type MergeFinalInput struct {
	Mode         string // update mode, "" = patch
	FailurePatch string // formatted
	SuccessPatch string // formatted
	MetaSkill    string
	Skill        string
}

// MergeFinal returns the prompt of the merge of the two sides.
func (s *Set) MergeFinal(in MergeFinalInput) (Text, error) {
	values := map[string]any{
		"failure_patch": in.FailurePatch, "success_patch": in.SuccessPatch,
		"meta_skill": in.MetaSkill, "skill": in.Skill,
	}
	return s.render(fileMergeFinal, values, map[string]string{"reply": orPatch(in.Mode)})
}

// RankingInput is what the selection sees. Empty texts of MetaSkill and Skill
// leave their part out.
type RankingInput struct {
	Mode      string // update mode, "" = patch
	Budget    int    // most indices to select
	Items     string // one line an item, "[i] ..."
	Skill     string
	MetaSkill string
}

// Ranking returns the prompt that selects items.
func (s *Set) Ranking(in RankingInput) (Text, error) {
	values := map[string]any{"budget": in.Budget, "items": in.Items, "skill": in.Skill, "meta_skill": in.MetaSkill}
	return s.render(fileRanking, values, map[string]string{"reply": orPatch(in.Mode)})
}

// SecondTryInput is what the choice of the edits of a second try sees. Empty texts of
// MetaSkill and Skill leave their part out.
type SecondTryInput struct {
	Budget    int    // most edits to keep
	Fared     string // what the whole bundle won and lost, formatted
	Items     string // one line an edit, "[i] ..."
	Skill     string
	MetaSkill string
}

// SecondTry returns the prompt that chooses what of a rejected bundle is tried again.
func (s *Set) SecondTry(in SecondTryInput) (Text, error) {
	values := map[string]any{"budget": in.Budget, "fared": in.Fared, "items": in.Items, "skill": in.Skill, "meta_skill": in.MetaSkill}
	return s.render(fileSecondTry, values, nil)
}

// FilesInput is what is reported of a skill with several files.
type FilesInput struct {
	Mode     string // update mode, "" = patch
	Author   bool   // of the author of a rewrite
	Fixed    bool   // SKILL.md is all that may change, in any mode
	Files    string // all of them, and the texts of some, formatted
	NewFiles int    // how many more may be added; 0 leaves its part out
	Patterns string // of the files that may change or be added, formatted
}

// Files returns what is reported of the files of a skill next to what a stage asks: System
// goes behind its system message, User behind the skill.
func (s *Set) Files(in FilesInput) (Text, error) {
	if in.Fixed {
		return s.render(fileFilesFixed, map[string]any{"files": in.Files}, nil)
	}
	values := map[string]any{"files": in.Files, "new_files": in.NewFiles, "patterns": in.Patterns}
	reply := orPatch(in.Mode)
	if reply == modePatch {
		return s.render(fileFiles, values, nil)
	}
	if in.Author {
		reply = author
	}
	values["whole"] = reply != modeRewrite
	return s.render(fileFilesRewrite, values, map[string]string{"reply": reply})
}

// DescriptionInput is what is reported of a description that may be replaced.
type DescriptionInput struct {
	Description  string
	Length, Most int    // characters that it has, and may have
	Alone        bool   // nothing else may be changed
	Loads        string // on which prompts the skill was loaded, formatted
}

// Description returns what is reported of the description next to what a stage asks: System
// goes behind its system message, User behind the skill.
func (s *Set) Description(in DescriptionInput) (Text, error) {
	return s.render(fileDescription, map[string]any{
		"description": in.Description, "length": in.Length, "most": in.Most, "alone": in.Alone, "loads": in.Loads,
	}, nil)
}

// RegionInput is what is reported of the only part of a document that may change.
type RegionInput struct {
	Start, End string // the lines between which it is
	Lines      string // how many it has, in words
}

// Region returns what is reported of that part next to what a stage asks: System goes behind its
// system message, User behind the skill.
func (s *Set) Region(in RegionInput) (Text, error) {
	return s.render(fileRegion, map[string]any{"start": in.Start, "end": in.End, "lines": in.Lines}, nil)
}

// RememberedInput is what is reported of edits that other runs tried in vain.
type RememberedInput struct {
	Rejected string // formatted, between fences
}

// RememberedEdits returns what is reported of them next to what analysts are asked: System goes
// after the system message, User after the skill.
func (s *Set) RememberedEdits(in RememberedInput) (Text, error) {
	return s.render(fileRemembered, map[string]any{"rejected": in.Rejected}, nil)
}

// Guide returns what analysts are given in the user's own words, behind their system message.
func (s *Set) Guide(text string) (Text, error) {
	return s.render(fileGuide, map[string]any{"guide": text}, nil)
}

// RewriteInput is what the author of a rewrite sees.
type RewriteInput struct {
	Skill       string
	Suggestions string // formatted
	MetaSkill   string // left out when empty
}

// Rewrite returns the prompt that rewrites the skill from suggestions.
func (s *Set) Rewrite(in RewriteInput) (Text, error) {
	values := map[string]any{"skill": in.Skill, "suggestions": in.Suggestions, "meta_skill": in.MetaSkill}
	return s.render(fileRewrite, values, nil)
}

// CompactInput is what the compaction of execution notes sees.
type CompactInput struct {
	Notes string // one a line
	Limit int    // most notes to keep
}

// Compact returns the prompt that shortens the list of execution notes. The
// reply is {reasoning, appendix_notes}.
func (s *Set) Compact(in CompactInput) (Text, error) {
	return s.render(fileCompact, map[string]any{"notes": in.Notes, "limit": in.Limit}, nil)
}

// SlowUpdateInput is what the slow update sees. Empty texts are shown as
// "(none)"; an empty Agent leaves its part out.
type SlowUpdateInput struct {
	Agent            string // what the agent is given apart from skill and task
	PreviousSkill    string
	CurrentSkill     string
	PreviousGuidance string
	Comparison       string // of the two skills on the same tasks, formatted
}

// SlowUpdate returns the prompt that writes the long-term guidance.
func (s *Set) SlowUpdate(in SlowUpdateInput) (Text, error) {
	return s.render(fileSlowUpdate, map[string]any{
		"agent":          in.Agent,
		"previous_skill": orNone(in.PreviousSkill), "current_skill": orNone(in.CurrentSkill),
		"previous_guidance": orNone(in.PreviousGuidance), "comparison": orNone(in.Comparison),
	}, nil)
}

// MetaSkillInput is what the meta skill's author sees. Empty texts are shown
// as "(none)".
type MetaSkillInput struct {
	PreviousMeta  string
	PreviousSkill string
	CurrentSkill  string
	Comparison    string // of the two skills on the same tasks, formatted
	History       string // steps of the epoch with their decisions, formatted
}

// MetaSkill returns the prompt that renews the optimizer's memory.
func (s *Set) MetaSkill(in MetaSkillInput) (Text, error) {
	return s.render(fileMetaSkill, map[string]any{
		"previous_meta": orNone(in.PreviousMeta), "previous_skill": orNone(in.PreviousSkill),
		"current_skill": orNone(in.CurrentSkill), "comparison": orNone(in.Comparison), "history": orNone(in.History),
	}, nil)
}

// LearningRateInput is what the model that sets the edit budget sees. Empty
// texts other than Items leave their part out.
type LearningRateInput struct {
	Mode       string // update mode, "" = patch
	Items      string // one line an item, "[i] ..."
	Count      int    // items
	Skill      string
	Score      string // of the step's rollout, formatted
	StepBuffer string // digest of the epoch's earlier steps
	MetaSkill  string // the optimizer's memory
}

// LearningRate returns the prompt that asks how many items to apply.
func (s *Set) LearningRate(in LearningRateInput) (Text, error) {
	values := map[string]any{"items": in.Items, "count": in.Count, "skill": in.Skill, "score": in.Score, "step_buffer": in.StepBuffer, "meta_skill": in.MetaSkill}
	return s.render(fileLearningRate, values, map[string]string{"kind": orPatch(in.Mode)})
}

// Rollout returns the templates of the target's messages for tasks that bring
// none of their own. They are rendered with "skill" and the task's fields.
func (s *Set) Rollout() (system, user *template.Template) {
	parts := s.files[fileRollout].parts
	return parts["system"], parts["user"]
}

func orPatch(mode string) string {
	if mode == "" {
		return modePatch
	}
	return mode
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}
