// Package skillopt trains skill documents the way neural networks are trained.
//
// A skill document is the Markdown (SKILL.md) that steers an agent whose
// weights stay frozen. A target model carries out tasks with the skill, an
// optimizer model reads the scored trajectories and proposes edits, and a gate
// on held-out tasks decides which of them stay. docs/first-run.md has the
// picture.
//
// The package has the operations and their options. It knows nothing of how
// they work: that is in internal packages, one for each operation.
//
// # Use
//
// [config.Default] begins a configuration, [config.LoadFile] reads one, and the
// operations carry it out:
//
//   - [Train] trains a skill, [Plan] forecasts what that takes.
//   - [Evaluate] scores a skill, [Compare] reports which of two is better,
//     [Ablate] and [Prune] measure and remove rules.
//   - [Reflect] has analysts read outcomes and propose edits, and no more.
//   - [CheckTasks], [Examine] and [MeasureNoise] look for what would spoil a run.
//   - [Draft] has tasks written for a skill that has none.
//   - [Mine] finds tasks in what coding agents wrote down of their sessions.
//   - [OpenGateway] serves a model to coding agents, metered.
//
// They return documents of package result: what the command line prints with
// --json and what the files of a run hold. [WithEvents] subscribes to what
// happens meanwhile.
//
// # Resume
//
// Every model call is recorded in the run directory before its result is used.
// The same operation with the same configuration finds the newest unfinished
// run below run.dir and continues it; what is recorded is not paid for again.
// [WithRunDir] names the directory. A configuration that would make it
// another run is refused with what differs; [WithFork] begins a new run with
// what another has paid for. After a ceiling of limits, raise it and call again, or end
// the run with [WithFinish].
//
// # Bring your own tasks, models, agents
//
// Everything that a configuration names can be replaced by a value:
//
//   - Tasks: [WithTasks], or any file that package task loads.
//   - The skill: [WithSkill].
//   - Scores: [WithScorer]; tasks.checks declares them.
//   - Environments: [WithEnv] takes a task.Env, one method that carries out one
//     task with one skill.
//   - Keys: [config.Model.WithKey] takes one that is in no variable.
//   - Models: [WithClient] takes a model.Client, one method that sends one
//     request. Records, retries, limits and prices are added around it.
//   - Agents: agent in the configuration names a coding agent or describes one.
//     A program that runs agents or commands of checks calls [RunHelper] first
//     in its main function.
//
// The names passed in with such values are part of what a run is: change the name
// when the value changes.
//
// # Concurrency
//
// Operations may run at the same time, each in a run directory of its own: a
// second one in the same directory fails with the kind [Locked]. As many requests
// are in flight as limits.concurrency allows, so clients, environments
// and scorers of your own are called concurrently and must end when their
// context does. Event sinks are called in order, never concurrently, and the
// run waits for them. [WithStop] stops softly: what is in flight is finished and
// recorded. Cancelling the context stops at once. Either way the run can be resumed.
//
// Results do not depend on the order in which answers arrive: equal seeds and a
// deterministic model give equal files at any concurrency.
//
// # Errors
//
// Operations return an [*Error]. Its Kind says whose business it is: the input
// ([BadInput]), a ceiling ([OverBudget]), a server or environment that gave
// nothing but failures ([Unmeasurable]), answers that are waited for
// ([Waiting]), another process ([Locked]), the disk ([Environment]), the user
// ([Stopped]), or a fault of this package ([Internal]). Its text holds nothing
// that looks like a secret. An error may come with a result: Train returns
// the summary of every run that was begun. [Examine] returns findings, each with
// its own error. What was not measured is nil, never 0, and no error of its own.
//
// What is wrong with the content of a configuration comes from package config as a
// [*config.Error], with every problem at once.
//
// The promise of compatibility begins with the first tag.
package skillopt
