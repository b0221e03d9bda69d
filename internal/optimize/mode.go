package optimize

import "strings"

// Mode is how proposals change the skill.
type Mode string

// The update modes.
const (
	// ModePatch: analysts propose edits, which code applies one by one.
	ModePatch Mode = "patch"
	// ModeRewrite: analysts make suggestions, from which one call writes the
	// whole skill.
	ModeRewrite Mode = "rewrite_from_suggestions"
	// ModeFullRewrite: each analyst writes a whole skill; the candidates are
	// merged, with neither budget nor ranking.
	ModeFullRewrite Mode = "full_rewrite_minibatch"
)

// ParseMode returns the mode that name represents. The names and aliases are
// SkillOpt's; upper case and white space around a name do not matter. The empty
// name is ModePatch. An unknown name gives ModePatch and false.
func ParseMode(name string) (Mode, bool) {
	switch strings.ToLower(trimSpace(name)) {
	case "", "patch":
		return ModePatch, true
	case "rewrite_from_suggestions", "rewrite_suggestions", "suggestions", "rewrite":
		return ModeRewrite, true
	case "full_rewrite_minibatch", "full_rewrite", "minibatch_full_rewrite", "skill_rewrite_minibatch":
		return ModeFullRewrite, true
	}
	return ModePatch, false
}

// Key returns the field of a patch that holds the items of this mode.
func (m Mode) Key() string {
	switch m {
	case ModeRewrite:
		return "revise_suggestions"
	case ModeFullRewrite:
		return "skill_candidates"
	}
	return "edits"
}

// Labels are the words for the items of a mode, for prompts and messages.
type Labels struct {
	Plural, PluralTitle     string
	Singular, SingularTitle string
}

// Labels returns the words for the items of this mode.
func (m Mode) Labels() Labels {
	switch m {
	case ModeRewrite:
		return Labels{"suggestions", "Suggestions", "suggestion", "Suggestion"}
	case ModeFullRewrite:
		return Labels{"skill candidates", "Skill Candidates", "skill candidate", "Skill Candidate"}
	}
	return Labels{"edits", "Edits", "edit", "Edit"}
}
