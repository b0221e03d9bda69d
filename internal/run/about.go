package run

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/result"
)

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

// TunedKey is the entry of the identity that says from which skill the one that is scored was edited by hand, without
// "library.".
const TunedKey = "tuned"

// TunedSource returns from which skill the one that was scored was edited by hand; nil: no source was given.
func (m Manifest) TunedSource() *result.Tuned {
	var t *result.Tuned
	if json.Unmarshal([]byte(m.Identity["library."+TunedKey]), &t) != nil {
		return nil
	}
	return t
}
