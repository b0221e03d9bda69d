// Package repository is the folder that init --repo writes: the trees of tasks, and how tests of
// the repository run. It lays the workspaces of agents, and grades what agents leave in them.
//
// What an agent leaves is not trusted. It is laid over the tree of the task in a workspace of its
// own, without what a test run obeys. A test has passed only where the report of its runner names
// it as passed.
//
// It knows trees, runners of tests and tasks. It knows nothing of agents, models or records.
package repository
