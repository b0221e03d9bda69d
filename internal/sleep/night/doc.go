// Package night is the order of a night: what is new in sessions is mined for tasks, the tasks go into the bank, the
// documents that steer the agent are trained on them one after the other, what a training chose is confirmed on fresh
// answers, and a proposal is staged. Nothing is written into a project.
//
// It has no loop, gate, edit logic, model layer or record of its own: it calls the front door of this program as any
// other program would, and what it pays for is in the runs below its folder. A night that was killed continues: each of
// its parts is a run of a name that follows from the night, and is done again as its record says.
//
// What a night may say of a target follows from how many clusters of tasks there are, and is settled before it
// spends anything:
//
//   - below MinTrain clusters: observe. The live document is scored, its noise measured, edits are suggested.
//   - from there on: train, and confirm what was chosen once, on fresh answers: supported, or suggested.
//   - with as many fresh test clusters as can show anything at the level that is left: the test. certified.
//
// What is staged, supported and not certified is carried: later nights have it and the live document answer the tasks
// that are new to both, and the evidence multiplies.
//
// Documents that are staged in one night are confirmed again as a whole, the bundle: each may be better by itself and all
// of them worse. What is worse as a whole is staged as suggestions.
//
// With an agent a task is carried out in the files of the commit that its session worked on, in an empty folder, or not at
// all, with why: that is decided once, before the bank takes the task. Workspaces lie below the bank's folder for
// temporary files while they are needed. An agent that cannot be kept from the network and from what is the user's is
// refused before a night begins.
//
// It knows the front door, what its runs have recorded, the bank, targets, levels, what commits have, and what a sandbox can do. It knows nothing of stores of sessions, of how a task is
// mined, of terminals, or of how a proposal is adopted.
package night
