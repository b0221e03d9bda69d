package header

import "strings"

// Mentions reports whether a message holds one of the phrases, which are in small
// letters: servers give many reasons in words alone.
func Mentions(message string, phrases ...string) bool {
	message = strings.ToLower(message)
	for _, p := range phrases {
		if strings.Contains(message, p) {
			return true
		}
	}
	return false
}
