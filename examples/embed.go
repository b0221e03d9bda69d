// Package examples holds the examples that `skillopt init` writes. It knows
// nothing about what is in the files.
package examples

import "embed"

// Quickstart holds the files of the quick start under "quickstart".
//
//go:embed quickstart/config.yaml quickstart/SKILL.md quickstart/tasks.jsonl quickstart/world.yaml
var Quickstart embed.FS

// Environment holds the files of a task environment in Python under "env-model".
//
//go:embed env-model/config.yaml env-model/SKILL.md env-model/tasks.jsonl env-model/world.yaml env-model/desk.py
var Environment embed.FS

// Sleep holds the files of three nights under "sleep": a profile, a project, a world, and the sessions of three days.
//
//go:embed sleep/README.md sleep/sleep.yaml sleep/world.yaml sleep/project/CLAUDE.md sleep/day-1/*.jsonl sleep/day-2/*.jsonl sleep/day-3/*.jsonl
var Sleep embed.FS
