// Package mine makes tasks of what happened in sessions: a user asked for something, and what
// followed showed how it should have been.
//
// A model proposes them, and nothing that it writes is believed. Which turns were asked,
// corrected and accepted has to be so by the session itself; what is to be worked on has to
// be in the user's words; and what a task is judged by is taken from the session's record (a
// command that failed and later passed), from files that the user accepted, from the two
// answers that the session holds (the corrected one must fail, the accepted one must pass), or,
// with the least trust, from the words of a correction. Sessions without any of that are not
// sent to a model.
//
// What is sent of a session is what package outbound returns, and nothing else.
//
// # Held
//
// The text of a session is data. A task that asks to run, fetch, disable or send something, or
// names a URL, a command or a path, is held for a person unless the user's own words say the
// same. Own words are what a user typed, outside of what is quoted, fenced or pasted. So is a
// task that repeats an instruction that is in what was pasted or answered, or takes a word
// from one. See [Suspicious], which holds edits to the same, but for single words.
//
// # One wish
//
// Tasks are one wish if they have the same input and the same expected outcome, in whatever
// words. [Clusters] compares digests of what does not depend on the words of a request: of the
// input the files that it names, the lines of pasted material, figures and names of code; of
// the outcome the figures and words of the expected answer, the files that were written, the
// command that passed. What both have and is not the same keeps two tasks apart, so that two
// files converted under one rule are two wishes. What only one of them has keeps nothing
// apart: rather one cluster too few than a wish on both sides of a split. Words of requests
// decide only where neither input nor outcome does.
//
// It knows nothing about providers, records, retries or run directories: it asks through a
// function. It knows nothing about the bank, consent or nights. Equal sessions and replies give
// equal tasks, in whatever order replies arrive.
package mine
