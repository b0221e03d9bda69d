// Package skillopt trains skill documents the way neural networks are trained.
//
// A skill document is the Markdown (SKILL.md) that steers an agent whose
// weights stay frozen. A target model carries out tasks with the skill, an
// optimizer model reads the scored trajectories and proposes edits, and a gate
// on held-out tasks decides which of them stay.
//
// # Use
//
// [LoadConfig] reads a configuration, [Train] carries it out, [Evaluate] scores
// one skill. Everything that a configuration names can be replaced by a value of
// your own: [WithTasks], [WithEnv], [WithScorer], [WithClient]. [WithEvents]
// subscribes to what happens.
//
// Every model call is recorded before its result is used. Training again with
// the same configuration resumes the run and pays for nothing twice.
//
// # Packages
//
// What programs use is here and in the packages skill, task, check, score,
// trajectory, model and event. Everything else is internal.
package skillopt
