// Package prune finds out what each rule of a skill is worth, and which rules can
// go. It cuts a document into rules, leaves them out one at a time, races the
// shorter text against the longer one with the gate that training uses, continues
// with fresh samples until an interval decides, and removes what does not pull its
// weight.
//
// It decides and does no input or output: a function that it is given carries out
// one task with one text. It knows nothing about models, prompts, records, prices
// or where a document came from.
package prune
