package draft

import (
	"strings"
	"unicode"
)

// Thresholds on texts. Words are compared without case and punctuation.
const (
	// QuotedWords is how many words in a row a prompt may share with a line of
	// SKILL.md.
	QuotedWords = 8
	// quotedShare is how much of the line that it tests a prompt may repeat in a
	// row, when that is minQuote words or more.
	quotedShare, minQuote = 0.5, 4
	// answerWords and answerRunes are from when on an expected answer is too long
	// to be in a prompt by chance, or as a choice or a fact to be found there.
	answerWords, answerRunes = 3, 16
)

// words returns the words of a text: letters and digits in lower case, and what
// is between two of them within a number or an abbreviation ("12.50").
func words(text string) []string {
	text = strings.ToLower(text)
	runes := []rune(text)
	inner := func(i int) bool {
		return i > 0 && i+1 < len(runes) && isWord(runes[i-1]) && isWord(runes[i+1]) && strings.ContainsRune(".,:/-_'", runes[i])
	}
	var out []string
	from := -1
	for i, r := range runes {
		switch {
		case isWord(r) || from >= 0 && inner(i):
			if from < 0 {
				from = i
			}
		case from >= 0:
			out = append(out, string(runes[from:i]))
			from = -1
		}
	}
	if from >= 0 {
		out = append(out, string(runes[from:]))
	}
	return out
}

// Words returns the words of a text, in order: letters and digits in lower case, with what
// is between two of them within a number or an abbreviation.
func Words(text string) []string { return words(text) }

// Holds reports whether the words of needle, of which there is one at least, occur in a text in
// a row.
func Holds(text, needle string) bool { return holds(words(text), words(needle)) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// longestRun returns the length of the longest run of words that both have.
func longestRun(a, b []string) int {
	longest := 0
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if row[j+1] = 0; a[i] == b[j] {
				row[j+1] = diagonal + 1
				longest = max(longest, row[j+1])
			}
			diagonal = above
		}
	}
	return longest
}

// wordRuns returns every run of n words.
func wordRuns(list []string, n int) []string {
	var runs []string
	for i := 0; i+n <= len(list); i++ {
		runs = append(runs, strings.Join(list[i:i+n], " "))
	}
	return runs
}

// holds reports whether needle occurs in text word by word.
func holds(text, needle []string) bool {
	if len(needle) == 0 {
		return false
	}
	for i := 0; i+len(needle) <= len(text); i++ {
		same := 0
		for same < len(needle) && text[i+same] == needle[same] {
			same++
		}
		if same == len(needle) {
			return true
		}
	}
	return false
}

// LongestRun returns how many words in a row both lists have, at most.
func LongestRun(a, b []string) int { return longestRun(a, b) }
