// Package sleeptasks says what task files and documents of SkillOpt-Sleep mean there: the ids
// and splits of tasks, which of them a night learns from and which judge it, the verdicts of
// rule judges, and the learned block of a document with its edits.
//
// What it says is what that program does, its faults included, so that its files can be taken
// over and its figures recomputed; what a night of ours does is not decided here. Values are
// JSON as encoding/json decodes it, with numbers as json.Number. Everything is pure. The
// package knows nothing about files, banks, checks of ours, or how tasks are carried out.
package sleeptasks
