package skill

import "strings"

// Op is the kind of an Edit.
type Op string

const (
	Append      Op = "append"       // at the end, before the first protected region
	InsertAfter Op = "insert_after" // after the line that holds Target; appends if there is none
	Replace     Op = "replace"      // the first occurrence of Target
	Delete      Op = "delete"       // the first occurrence of Target
	Move        Op = "move"         // the first occurrence of Target in SKILL.md to the end of File; Content takes its place
	Describe    Op = "describe"     // Content becomes the description in the front matter, where the scope allows it
)

// Source says which rollouts asked for an edit.
type Source string

const (
	FromFailure Source = "failure"
	FromSuccess Source = "success"
)

// Edit is one change of a skill.
type Edit struct {
	Op           Op     `json:"op"`
	File         string `json:"file,omitempty"` // slash-separated, within the skill directory; empty = SKILL.md
	Target       string `json:"target,omitempty"`
	Content      string `json:"content,omitempty"`
	SupportCount int    `json:"support_count,omitempty"` // trajectories that support it
	Source       Source `json:"source_type,omitempty"`
	MergeLevel   int    `json:"merge_level,omitempty"`
}

// path returns the file that e changes; of a move it is the one that gets the text.
func (e Edit) path() string {
	if e.File == "" {
		return Main
	}
	return e.File
}

// addsNothing reports whether e is to add text and has none: it would leave blank
// lines.
func (e Edit) addsNothing() bool {
	return (e.Op == Append || e.Op == InsertAfter) && e.Content == ""
}

// Patch is a set of edits with the reason for them.
type Patch struct {
	Reasoning string `json:"reasoning,omitempty"`
	Edits     []Edit `json:"edits"`
}

// Report is what happened to one edit. Index is 1-based; Target and Content are
// cut to 200 code points.
type Report struct {
	Index   int         `json:"index"`
	Op      Op          `json:"op"`
	File    string      `json:"file,omitempty"` // as in the edit, "" for SKILL.md
	Status  ApplyStatus `json:"status"`
	Target  string      `json:"target"`
	Content string      `json:"content_preview"`
	Detail  string      `json:"detail,omitempty"`
}

// ApplyStatus is the state in which an edit ended. Every edit ends in exactly
// one.
type ApplyStatus string

// The states in which an edit ends.
const (
	AppliedAppend                          ApplyStatus = "applied_append"
	AppliedAppendBeforeRegion              ApplyStatus = "applied_append_before_protected_region"
	AppliedInsertAfter                     ApplyStatus = "applied_insert_after"
	AppliedInsertAfterFallbackAppend       ApplyStatus = "applied_insert_after_fallback_append"                  // no such target
	AppliedInsertAfterFallbackBeforeRegion ApplyStatus = "applied_insert_after_fallback_before_protected_region" // no such target
	AppliedReplace                         ApplyStatus = "applied_replace"
	AppliedDelete                          ApplyStatus = "applied_delete"
	AppliedMove                            ApplyStatus = "applied_move"
	AppliedNewFile                         ApplyStatus = "applied_new_file" // an append that made the file
	AppliedDescription                     ApplyStatus = "applied_description"

	SkippedUnknownOp             ApplyStatus = "skipped_unknown_op"
	SkippedReplaceMissingTarget  ApplyStatus = "skipped_replace_missing_target" // Target is empty
	SkippedReplaceTargetNotFound ApplyStatus = "skipped_replace_target_not_found"
	SkippedDeleteMissingTarget   ApplyStatus = "skipped_delete_missing_target" // Target is empty
	SkippedDeleteTargetNotFound  ApplyStatus = "skipped_delete_target_not_found"
	SkippedProtectedRegion       ApplyStatus = "skipped_protected_region"    // it would reach into front matter or a region
	SkippedOutsideRegion         ApplyStatus = "skipped_outside_region"      // it would change what is outside of the region that edits are confined to, or its end; Detail says why
	SkippedMoveMissingTarget     ApplyStatus = "skipped_move_missing_target" // Target is empty
	SkippedMoveTargetNotFound    ApplyStatus = "skipped_move_target_not_found"
	SkippedDescription           ApplyStatus = "skipped_description" // Content can be none, or the front matter cannot take it; Detail says why
	SkippedDuplicate             ApplyStatus = "skipped_duplicate"   // the same edit was applied before, or the learned region has its lines
	SkippedNoChange              ApplyStatus = "skipped_no_change"   // it has nothing to add, or puts there what is there
	SkippedOverBudget            ApplyStatus = "skipped_over_budget"
	SkippedUnsupportedFile       ApplyStatus = "skipped_unsupported_file" // File is none that edits may change or add
	SkippedTooLarge              ApplyStatus = "skipped_too_large"        // the file, or the skill, would pass a limit
	SkippedTooManyFiles          ApplyStatus = "skipped_too_many_files"   // a file more than may be added

	Failed ApplyStatus = "error" // the edit is malformed
)

// Applied reports whether the edit changed the document.
func (s ApplyStatus) Applied() bool { return strings.HasPrefix(string(s), "applied_") }
