// Package fakemodel is a server for tests that speaks the protocols in which coding agents
// talk to their models (Chat Completions, Responses, Messages, Gemini), whole and as a
// stream. What it answers is the test's; what it grants is counted, so that an agent's own
// count can be compared. It listens on loopback alone.
//
// It knows nothing about agents, and no model is behind it.
package fakemodel
