//go:build lite

package wiring

import "github.com/seed-f4525e22/skillopt/model"

// Lite says whether this is a build without the SDKs of clouds (go build -tags lite):
// what LeftOut names cannot be asked then.
const Lite = true

func (s server) anthropic(string) (model.Client, error) { return nil, s.leftOut() }

func (s server) gemini(string) (model.Client, error) { return nil, s.leftOut() }

// leftOut is what inBuild says before any of this is reached.
func (s server) leftOut() error {
	return &LeftOutError{Key: "models." + s.role + ".provider", Value: s.Preset, Provider: s.Preset}
}
