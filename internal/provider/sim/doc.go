// Package sim is a simulated world behind a model.Client: a target that does
// what a skill says, and an optimizer that proposes rules from what it reads. It
// needs no key and no network, and costs nothing.
//
// It is a simulation, and says so wherever it shows: the model of every answer
// is named "sim:<world>", and its token counts are a quarter of the length of
// the text. What a run against it proves is that the training loop works, never
// that a skill is good.
//
// Everything about a world is in its world file (docs/environments.md): kinds
// of tasks and how their plain answer is computed from the text of the task,
// rules that change the form of an answer once the skill states them, and how
// often things go wrong. The target sees the messages and nothing else; the
// optimizer sees the text that a real model would see. A usable answer is a pure
// function of the world file, the messages and the seed of the request; injected
// faults (transport errors, empty and malformed replies) depend also on how
// often the same request came before, so that asking again helps.
//
// Offered a shell, the target plays the model inside a coding agent: it reads the
// skill files, writes its reply into answer.txt and then says it.
//
// It knows nothing about any example, about runs, records, retries or scores.
package sim
