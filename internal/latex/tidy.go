package latex

import (
	"strings"

	"golang.org/x/text/width"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// spoken are the signs that represent what is written in LaTeX otherwise.
var spoken = strings.NewReplacer(
	"\u2212", "-", "\u2013", "-", "\u2010", "-", "\u2011", "-", "×", "*", "·", "*", "⋅", "*", "∙", "*", "÷", "/", "∕", "/", "⁄", "/",
	"√", `\sqrt `, "π", `\pi `, "∞", `\infty `, "±", `\pm `, "°", `\degree `, "º", `\degree `, "∘", `\circ `, `\%`, `\% `, "%", `\% `,
	"²", "^2 ", "³", "^3 ", "½", `\frac{1}{2}`, "⅓", `\frac{1}{3}`, "⅔", `\frac{2}{3}`, "¼", `\frac{1}{4}`, "¾", `\frac{3}{4}`,
	"\u00a0", " ", "\u2009", " ", "\u202f", " ", "\u200b", "", "∪", `\cup `, "≤", `\le `, "≥", `\ge `, "、", ", ", "。", ". ",
)

// dressed are the commands that say nothing of a value.
var dressed = strings.NewReplacer(
	`\dfrac`, `\frac`, `\tfrac`, `\frac`, `\cfrac`, `\frac`, `\displaystyle`, " ", `\left`, " ", `\right`, " ", `\bigl`, " ", `\bigr`, " ",
	`\Big`, " ", `\big`, " ", `\,`, " ", `\;`, " ", `\:`, " ", `\!`, "", `\quad`, " ", `\qquad`, " ", `\ `, " ", "~", " ",
	`\cdot`, "*", `\times`, "*", `\ast`, "*", `\div`, "/", `^{\circ}`, `\degree `, `^\circ`, `\degree `, `^ \circ`, `\degree `, `\circ`, `\degree `,
	`\leq`, `\le `, `\geq`, `\ge `, `\lbrace`, `\{`, `\rbrace`, `\}`, `\$`, " ", "$", " ", `\(`, " ", `\)`, " ", `\[`, " ", `\]`, " ", `\%`, `\% `,
)

// spared keeps the commands that begin as one of dressed does.
var spared = strings.NewReplacer(`\leftarrow`, `\from`, `\rightarrow`, `\to`, `\leftrightarrow`, `\iff`, `\bigcup`, `\Cup`, `\bigcap`, `\Cap`)

// tidy brings a text into the form that is read: without delimiters of formulas, with one
// spelling for what has several.
func tidy(s string) string {
	s = Unwrap(s)
	s = dressed.Replace(spared.Replace(spoken.Replace(width.Fold.String(s))))
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimSpace(strings.TrimRight(s, ".,;: "))
	return Unwrap(s)
}

// named finds what a value is called in front of it: "x =", `\angle ABC =`, "AB=".
var named = pattern.New(`^((?:\\(?:angle|triangle|overline|mathrm|text|widehat|hat)\s*)?\{?\\?[A-Za-z]+(?:_\{?[A-Za-z0-9]+\}?|')*\}?(?:\s*\([A-Za-z](?:\s*,\s*[A-Za-z])*\))?)\s*=\s*`)

// cutName takes the name off a value. A chain such as "x = 10/2 = 5" is its last part, which
// chained is the parts before.
func cutName(s string) (name string, parts []string) {
	if m := named.FindStringSubmatch(s); m != nil {
		name, s = strings.Join(strings.Fields(m[1]), ""), s[len(m[0]):]
	}
	for part := range strings.SplitSeq(s, "=") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return name, parts
}

// textual returns the form in which expressions without a value are compared: without white space
// and without braces that hold one sign.
func textual(s string) string {
	s = strings.ReplaceAll(tidy(s), `\% `, "%")
	s = oneSign.ReplaceAllString(s, "$1$2")
	for range 2 { // what is between two gaps belongs to both
		s = digitGaps.ReplaceAllString(s, "$1\x00$2")
	}
	s = wordGaps.Regexp().ReplaceAllStringFunc(s, func(m string) string { return strings.ReplaceAll(m, " ", "\x00") })
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "\x00", " ")
	if words.MatchString(s) {
		s = strings.ToLower(s)
	}
	return s
}

var (
	oneSign   = pattern.New(`([\^_])\{([A-Za-z0-9])\}`)
	digitGaps = pattern.New(`([0-9]) +([0-9])`)
	wordGaps  = pattern.New(`[A-Za-z]{2,} [A-Za-z]{2,}`)
	// words distinguishes prose, in which case does not matter, from names of variables.
	words = pattern.New(`(?:^|[^\\A-Za-z])[A-Za-z]{3,}`)
)
