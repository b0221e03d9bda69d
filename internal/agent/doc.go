// Package agent runs coding agents on a task and says how that went: what
// they answered, what they did on the way, what it cost, and whether it was the
// agent or the ground under it that failed. Command-line agents are described by
// adapters: how to call them, what to put into their home folder, and how to
// read the events that they print. An agent of our own needs no program, and
// Custom describes one that is not known here.
//
// What an agent did is read from its events, never from its exit code alone:
// some end with 0 after a wrong key, some call an error a success.
//
// It knows nothing about tasks, checks or scores, and nothing about the
// environment of this process: what a program sees is passed in.
package agent
