package run

import "encoding/json"

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
