package run

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/result"
)

// KindOf is the kind of command that the run belongs to. Programs before the field kind
// did not write it: of their runs the identity tells.
func (m Manifest) KindOf() result.Kind {
	if m.Kind != "" {
		return m.Kind
	}
	if m.About("evaluate") == "noise" {
		return result.MeasureNoise
	}
	for _, of := range []struct {
		key  string
		kind result.Kind
	}{
		{"evaluate", result.Evaluate},
		{"compare", result.Compare},
		{"ablate", result.Ablate},
		{"prune", result.Prune},
		{"draft", result.DraftTasks},
		{"gateway", result.ServeModel},
	} {
		if m.Identity["library."+of.key] != "" {
			return of.kind
		}
	}
	return result.Train
}

// About returns an entry of the identity that is no key of the configuration, such as
// "evaluate": the split that was evaluated.
func (m Manifest) About(key string) string {
	value := m.Identity["library."+key]
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}

// Replays returns what the answers came from where no model was asked, "" where some
// were.
func (m Manifest) Replays() string { return m.Identity["library.replay"] }
