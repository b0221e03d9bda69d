// Package journal keeps the durable steps of a run in one SQLite file: what was
// asked under which key, what came back, and what it cost. A step is recorded
// before its result is used, so that a killed run can be taken up again without
// paying twice.
//
// The file holds one table of entries in the order of their commit, numbered
// without gaps from 1. Most entries are results (a model call, an episode, a
// decision); the others are the ledger of attempts that gave no result. Parts
// of inputs that repeat, such as a system message with a skill, are stored once
// by content hash. Every entry carries a checksum, so that a damaged or cut
// file is refused instead of being read as a shorter run.
//
// A result that was taken from another run says from which, and from which entry there.
//
// Memory holds where each result is, and decisions as a whole; other results are
// read from the file when they are asked for.
//
// It knows keys, bytes and counters, and nothing about models, skills, prompts
// or prices. Keeping other processes away from the file is the owner's task.
package journal
