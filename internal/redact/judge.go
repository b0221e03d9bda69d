package redact

import (
	"math"
	"slices"
	"strings"
)

// placeholder reports whether a value, without a scheme before it, represents a secret and is none:
// a reference, what a person is to fill in, the name of a secret, another option, or a mask.
func (sc *scanner) placeholder(begin, end int) bool {
	value := sc.s[begin:min(end, begin+far)]
	if value == "" || maskAt(sc.s[begin:end]) == end-begin {
		return true
	}
	if (strings.IndexByte("$%{#@<- \t!", value[0]) >= 0 || strings.ContainsAny(value, ".[:({")) && references.MatchString(value) {
		return true
	}
	if strings.ContainsAny(value, " \t") && schemeForm.MatchString(value) {
		return sc.placeholder(begin+len(schemeForm.FindString(value)), end)
	}
	return len(value) < far && (!hasDigit(value) || strings.ContainsAny(value, "_-x .…")) && fillings.MatchString(value) || len(value) < maxName && sayName(value)
}

// sayName reports whether a value is the name of a secret: password, API_KEY, <token>.
func sayName(value string) bool {
	value = strings.Trim(value, `"'<>[]{}()`)
	if variable(value) && (strings.Contains(value, "_") && !hasDigit(value) || len(value) >= 3 && classifyName(value) != none) {
		return true
	}
	return run(value, 0, letters|dashes) == len(value) && slices.Contains(ownNames, compact(value))
}

// ownNames are names that are written instead of a secret, in small letters and without separators.
var ownNames = strings.Fields("bearer token accesstoken authtoken refreshtoken bearertoken apitoken password passwd passphrase secret clientsecret secretkey apikey privatekey accesskey")

// example reports whether what is behind the prefix of a key is no key: your-key-here, xxxxxxxx.
func (sc *scanner) example(begin, end int) bool {
	body := strings.ToLower(sc.s[begin:min(end, begin+far)])
	return exampleBody.MatchString(body) || strings.Trim(body, body[:min(len(body), 1)]) == ""
}

// isCode reports whether a value without quotes is part of a program or of a sentence.
func (sc *scanner) isCode(n name, v, end int) bool {
	s := sc.s
	value, behind := s[v:min(end, v+far)], s[end:min(len(s), end+far)]
	before := strings.TrimRight(s[max(0, v-far):v], " ")
	spaced := strings.HasSuffix(s[:v], " ")
	path := run(value, 0, letters|dots|dashes|digits)
	sentence := func() bool { return spaced && english.MatchString(s[v:min(len(s), v+far)]) }
	call := strings.ContainsAny(value[path:min(len(value), path+1)], "([{") && (spaced && n.kind != header || value[path] == '(' && !hasDigit(value[:path]) ||
		value[path] == '[' && subscript.MatchString(value) || dotted.MatchString(value[:path]))
	switch {
	case slices.Contains(codeWords, strings.ToLower(strings.TrimRight(value, "?.!|):]"))), run(value, 0, digits) == len(value) && len(value) <= 3,
		call && alphabets[value[0]]&(letters|dashes) != 0, end == v+1 && s[v] == '(', strings.HasPrefix(behind, " | None"), namesVariable(n, value, behind):
		return true
	case n.kind == header:
		return sentence() || wordForm.MatchString(value) && !caseChange.MatchString(value)
	case dotted.MatchString(strings.TrimRight(value, ".)")):
		return true
	case !spaced, path < len(strings.TrimRight(value, "?!.):")), hasDigit(value) && !strings.Contains(value, "_"):
		return false
	case strings.HasSuffix(before, " =="), strings.HasSuffix(before, " ==="), operated.MatchString(behind),
		strings.HasSuffix(before, ":") && strings.HasPrefix(behind, " = "), strings.HasSuffix(s[:n.begin], "self."), strings.HasSuffix(s[:n.begin], "this."):
		return true
	}
	return strings.HasSuffix(before, ":") && sentence()
}

// namesVariable reports whether a value without quotes is a variable of a program: it has the same
// name or that of a secret, or it is an argument or an element of several words.
func namesVariable(n name, value, behind string) bool {
	word := strings.TrimRight(value, ")}]:")
	if word == n.text {
		return true
	}
	joined := strings.Contains(strings.Trim(word, "_"), "_")
	if run(word, 0, letters|dashes) < len(word) || strings.Contains(word, "-") || !joined && !caseChange.MatchString(word) {
		return false
	}
	closed := len(word) < len(value) || strings.HasPrefix(behind, ")") || strings.HasPrefix(behind, "}")
	followed := closed || strings.HasPrefix(behind, ",") || strings.HasPrefix(behind, "\n")
	return classifyName(word) != none || joined && followed && strings.ToLower(word) == word && (n.quote != "" || closed || strings.Contains(n.text, "_") && n.text[0] != '-')
}

// codeWords are types and keywords of programs, and settings.
var codeWords = strings.Fields("string str bytes int float dict list bool none null nil true false undefined optional required boolean any object number text " +
	"await new not async function lambda typeof return self this yes no varchar char secretstr option input enabled disabled")

// looksSecret reports whether a value in a sentence is no word: eight bytes or more, letters and digits.
func (sc *scanner) looksSecret(begin, end int) bool {
	const least = 8
	if end-begin < least || !hasDigit(sc.s[begin:min(end, begin+far)]) || sc.nextAny(begin, "(){}[]<>/$") < end || classifyName(sc.s[begin:end]) != none {
		return false
	}
	value := sc.s[begin:min(end, begin+far)]
	number := run(strings.TrimPrefix(value, "v"), 0, digits|dots|dashes) // a version, a date, a number and its unit
	return strings.IndexFunc(value, func(r rune) bool { return r < 0x80 && alphabets[r]&letters != 0 }) >= 0 && number*2 < len(value)
}

// variable reports whether a word is one of capitals, as names of variables are.
func variable(word string) bool {
	return len(word) > 2 && word[0] > '9' && run(word, 0, uppers|digits|dashes) == len(word)
}

// hexKey reports whether a value is a key in hexadecimal, by its name. What names of checksums
// and of what anyone may know have below them is none.
func hexKey(name, value string) bool {
	return len(value) <= 66 && hexForm.MatchString(compact(name)+"="+value) && !openName.MatchString(compact(name))
}

// mixesDigits reports whether a value looks drawn by chance: letters and digits, also of one case, by turns.
func mixesDigits(value string) bool {
	const least, turns = 16, 4
	end := run(value[:min(len(value), far)], 0, alnum)
	if end < least || strings.Trim(value[end:], "/") != "" {
		return false
	}
	return changes(value[:end], digits) >= turns
}

// changes returns how often a byte of a value is in other sets than the one before it.
func changes(value string, sets alphabet) (n int) {
	for i := 1; i < len(value); i++ {
		if alphabets[value[i-1]]&sets != alphabets[value[i]]&sets {
			n++
		}
	}
	return n
}

// random reports whether a value looks drawn by chance, as no path, no sentence and no hash in one case.
func random(value string) bool {
	const least, bits = 20, 3.5
	value = value[:min(len(value), far)]
	return len(value) >= least && value[0] != '/' && run(value, 0, token|signs) == len(value) && hasDigit(value) && strings.ToLower(value) != value && strings.ToUpper(value) != value && entropy(value) >= bits
}

// entropy returns the bits per byte of a value.
func entropy(value string) (bits float64) {
	var counts [256]float64
	for i := range len(value) {
		counts[value[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			bits -= n / float64(len(value)) * math.Log2(n/float64(len(value)))
		}
	}
	return bits
}

// isSurelyRandom reports whether a value is so random that it is surely no word, no path and no example.
func isSurelyRandom(value string) bool {
	const least, bits, wordy = 16, 3.0, 0.6
	value = strings.Trim(value[:min(len(value), far)], "\"'`")
	if len(value) < least || run(value, 0, token|signs|dots) < len(value) || !hasDigit(value) || entropy(value) < bits || exampleForm.MatchString(value) {
		return false
	}
	words := 0
	for _, word := range lowerWords.Regexp().FindAllString(value, -1) {
		if 4*len(vowels.ReplaceAllString(word, "")) <= 3*len(word) {
			words += len(word)
		}
	}
	return changes(value, alnum)*4 >= len(value)-4 && float64(words) < wordy*float64(len(value)) && run(value, 0, digits|dots|dashes) < len(value)
}

// holdsKey reports whether a span that has the shape of a key has one, and no example of it.
func (s span) holdsKey(text string) bool {
	const bits = 2.5
	body := text[s.begin+s.body : s.end]
	if strings.HasPrefix(text[s.begin:], blockBegin) {
		return longLine.MatchString(body)
	}
	body = body[:min(len(body), far)]
	if len(body) < 24 && countingForm.MatchString(body) {
		return false
	}
	return !madeUpForm.MatchString(body) && entropy(body) >= bits && (hasDigit(body) || caseChange.MatchString(body))
}
