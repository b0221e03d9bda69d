// Package examples holds the example that `skillopt init` writes. It knows
// nothing about what is in the files.
package examples

import "embed"

// Quickstart holds the files of the quick start under "quickstart".
//
//go:embed quickstart/config.yaml quickstart/SKILL.md quickstart/tasks.jsonl quickstart/world.yaml
var Quickstart embed.FS
