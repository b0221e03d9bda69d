package symptom

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

const ident = `[\p{L}_$][\p{L}\p{N}_$]*`

// missing is how compilers, collectors and runners say that a name is not there, or that it is called
// otherwise than declared. The name is the last one of the group.
var missing = pattern.New(`(?:` + strings.Join([]string{
	// Go
	`undefined: ((?:` + ident + `\.)?` + ident + `)`, `\.(` + ident + `) undefined \(`, `unknown field (` + ident + `) in struct`, `arguments in call to ([\w.$]+)`,
	`but ([\w.]+)(?:\(.*?\))? returns \d+ value`, `in argument to ([\w.]+)`, `\(missing method (` + ident + `)\)`, `no required module provides package (\S+?)[;\s]`, `package (\S+) is not in std`,
	// Python
	`cannot import name '(` + ident + `)'`, `No module named '([\w.]+)'`, `has no attribute '(` + ident + `)'`, `name '(` + ident + `)' is not defined`,
	`unexpected keyword argument '(` + ident + `)'`, `fixture '(` + ident + `)' not found`, `(` + ident + `)\(\) (?:takes|missing) `,
	// JavaScript and TypeScript
	`does not provide an export named '(` + ident + `)'`, `No matching export in .* for import "(` + ident + `)"`, `([\w$.]+)\)? is not a (?:function|constructor)`, `(` + ident + `) is not defined`,
	`has no exported member (?:named )?'(` + ident + `)'`, `Property '(` + ident + `)' does not exist`, `Cannot find name '(` + ident + `)'`,
	`(?:Cannot find (?:module|package)|Failed to resolve import|Failed to load url) ['"]?([^'"\s]+)`,
	// Rust
	"no `(" + ident + ")` in `", "unresolved imports? `([\\w:]+)`", "cannot find [\\w ,]+ `(" + ident + ")[!]?` in", "no (?:method|function or associated item|variant[\\w ,]*|associated \\w+|field) (?:named )?`(" + ident + ")`",
	"has no field named `(" + ident + ")`", "could not find `(" + ident + ")` in", "undeclared (?:type|module|crate)[\\w ]* `(" + ident + ")`", "no (?:external crate|rules expected)[\\w ]* `(" + ident + ")`",
}, "|") + `)`)

// FindUndefined returns the identifiers that a compiler, a collector or a runner says are
// missing, or are called otherwise than they are declared: Go, Python, JavaScript, TypeScript, Rust.
func FindUndefined(output string) []string {
	var out []string
	for _, m := range missing.FindAllStringSubmatch(wording.Middle(output, room), -1) {
		name := strings.Join(m[1:], "")
		if i := strings.LastIndexAny(name, "/"); i >= 0 { // a file or a package
			name = strings.TrimSuffix(name[i+1:], path.Ext(name))
		}
		name = name[strings.LastIndexAny(name, ".:")+1:]
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Names reports whether a text names each identifier. With none it is false: what does not
// build for a reason that Undefined does not know cannot be put right from the text.
func Names(text string, undefined []string) bool {
	said := word.Regexp().FindAllString(text, -1)
	return len(undefined) > 0 && !slices.ContainsFunc(undefined, func(u string) bool { return !slices.Contains(said, u) && !strings.Contains(u, "-") })
}
