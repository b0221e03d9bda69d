package policy

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// bannedParts are camel-case parts that no declared name has, in lower case, with the word
// to use in their place: see "Words of the code" in docs/architecture.md.
var bannedParts = map[string]string{
	"alike": "deterministic, or similar", "champion": "winner", "champions": "winner", "course": "progress",
	"crossed": "crossFit, or crossover", "crown": "promote", "crowned": "promote", "crowns": "promote", "coming": "prefetched",
	"deal": "shard", "deals": "shard", "dealt": "shard", "errand": "request", "errands": "request",
	"flights": "inFlight", "guarded": "redacting, or protected", "heat": "temperature, round, or heatmap",
	"heats": "temperature, round, or heatmap", "mend": "fix, or repair", "mended": "fixed, or repaired", "mends": "fix, or repair",
	"news": "notices", "seal": "complete", "seals": "complete", "rehearsal": "dryRun", "rehearse": "dryRun", "rehearsed": "dryRun", "steady": "deterministic",
	"stories": "scenarios", "story": "scenario", "together": "taskGroup, or joint", "twin": "equal", "twins": "equal",
	"untold": "unseen", "watched": "metered",
}

// bannedNames are whole names, in lower case, that say too little by themselves.
var bannedNames = map[string]string{
	"flight": "inFlightCall", "hand": "shard", "hold": "reservation", "sit": "slot",
}

// wordFor returns the banned part of a name, and the word to use in its place.
func wordFor(name string) (part, word string, found bool) {
	if word, found := bannedNames[strings.ToLower(name)]; found {
		return name, word, true
	}
	for _, part := range camelParts(name) {
		if word, found := bannedParts[part]; found {
			return part, word, true
		}
	}
	return "", "", false
}

// camelParts splits a name into its parts, in lower case: "HTTPServer_of2" has "http",
// "server" and "of2".
func camelParts(name string) []string {
	var parts []string
	runes, from := []rune(name), 0
	for i := 1; i <= len(runes); i++ {
		end := i == len(runes) || runes[i] == '_' ||
			unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if end {
			parts, from = append(parts, strings.ToLower(strings.Trim(string(runes[from:i]), "_"))), i
		}
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// TestNamesUseTheWordsOfTheGlossary reads all that is declared: packages, types, functions,
// methods, fields, parameters, constants and variables, local ones and tests included.
func TestNamesUseTheWordsOfTheGlossary(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, true) {
		for _, id := range declared(s.file) {
			if part, word, found := wordFor(id.Name); found {
				t.Errorf("%s: the name %s has %q: say %s", s.path, id.Name, part, word)
			}
		}
	}
}

// TestCommentsOfFunctionsHaveAVerb finds comments that say what a function is, and not what it does.
func TestCommentsOfFunctionsHaveAVerb(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isProduct(s.room) && saysBeing(f) {
				t.Errorf("%s: the comment of %s says what it is: begin with what it does, such as returns or reports", s.path, f.Name.Name)
			}
		}
	}
}

// saysBeing reports whether the comment of a function begins with a form of "to be". What returns a condition may say "is".
func saysBeing(f *ast.FuncDecl) bool {
	words := strings.Fields(f.Doc.Text())
	if len(words) < 2 || words[0] != f.Name.Name || !slices.Contains([]string{"is", "are", "was", "were"}, words[1]) {
		return false
	}
	if r := f.Type.Results; r == nil || len(r.List) != 1 {
		return true
	}
	id, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return !ok || id.Name != "bool"
}

// declared returns the names that a file declares.
func declared(file *ast.File) []*ast.Ident {
	out := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out = append(out, n.Name)
		case *ast.TypeSpec:
			out = append(out, n.Name)
		case *ast.ValueSpec:
			out = append(out, n.Names...)
		case *ast.Field: // of structs, interfaces, parameters and results
			out = append(out, n.Names...)
		case *ast.AssignStmt:
			out = append(out, names(n.Lhs...)...) // of = too: those are declared elsewhere
		case *ast.RangeStmt:
			out = append(out, names(n.Key, n.Value)...)
		case *ast.LabeledStmt:
			out = append(out, n.Label)
		}
		return true
	})
	return out
}

// names returns the names among expressions.
func names(list ...ast.Expr) (out []*ast.Ident) {
	for _, x := range list {
		if id, ok := x.(*ast.Ident); ok {
			out = append(out, id)
		}
	}
	return out
}

func TestBannedWordsAreFound(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"errandOf": "request", "lastErrand": "request", "HTTPNews": "notices", "a_story": "scenario", "Twins2": "", "hold": "reservation",
		"holdBack": "", "inFlight": "", "dealer": "", "newest": "",
	} {
		if _, got, _ := wordFor(name); got != want {
			t.Errorf("%s: say %q, want %q", name, got, want)
		}
	}
}
