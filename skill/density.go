package skill

import "strings"

// directiveWords are the words that instruct the agent to do something without
// fail, as in SkillOpt.
var directiveWords = []string{"always", "critical", "ensure", "must", "never", "only", "prefer", "verify"}

// Density returns the share, 0 to 1, of the words of text that are directive:
// in words, or in the built-in list when words is nil. Upper and lower case are
// the same; words are runs of ASCII letters and digits; front matter and
// protected regions do not count. A text without words has density 0.
func Density(text string, words []string) float64 {
	if words == nil {
		words = directiveWords
	}
	directive := map[string]bool{}
	for _, w := range words {
		directive[strings.ToLower(w)] = true
	}
	all := strings.FieldsFunc(blankRegions(text), func(r rune) bool { return !isWordByte(r) })
	if len(all) == 0 {
		return 0
	}
	n := 0
	for _, w := range all {
		if directive[strings.ToLower(w)] {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

func isWordByte(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// blankRegions leaves out the front matter, and replaces every region or unclosed
// start marker with a space. Lone end markers stay: SkillOpt counts their
// words.
func blankRegions(text string) string {
	text = text[frontMatterEnd(text):]
	for _, k := range kinds {
		var parts []string
		for {
			start := strings.Index(text, k.start)
			if start < 0 {
				break
			}
			parts = append(parts, text[:start])
			rest := start + len(k.start)
			if end := indexFrom(text, k.end, start); end >= 0 {
				rest = end + len(k.end)
			}
			text = text[rest:]
		}
		text = strings.Join(append(parts, text), " ")
	}
	return text
}
