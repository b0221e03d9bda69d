// Package plugin puts this program into the agents that people work in: a skill, commands, an MCP
// server and, where the agent has one, a hook that touches a file when a session ends. All hosts get
// the same texts, each with manifests of its own, as plain files in the folder that it reads by
// itself. A host without such a folder gets the skill, and one entry in its settings.
//
// What was written is noted next to it. So a second installation changes nothing, a newer one
// replaces only what is still as it was written, and removal takes back exactly that.
//
// It starts no program and knows nothing about what its server does.
package plugin
