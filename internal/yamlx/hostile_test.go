package yamlx_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/race"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// many writes pieces until they have n bytes.
func many(head string, n int, piece func(i int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n; i++ {
		b.WriteString(piece(i))
	}
	return b.String()
}

func same(piece string) func(int) string { return func(int) string { return piece } }

// hostile are families of texts of about n bytes, each of which the library takes
// too much of something for, or could.
func hostile(n int) map[string]string {
	texts := map[string]string{}
	for name, c := range map[string]struct{ head, piece string }{
		"brackets": {"a: ", "["}, "braces": {"a: ", "{a: "}, "mixed": {"", "[{a: "}, "closers": {"a: ", "]"}, "dashes": {"", "- "}, "empty entries": {"", "-\n"},
		"questions": {"", "? "}, "empty keys": {"", "? \n"}, "flow": {"a: [", "1,"}, "entries": {"a:\n", "- 1\n"}, "quotes": {"", "\"a\": \"b\"\n"},
		"unclosed quotes": {"", "a: \"\n"}, "an unclosed text": {"a: \"", "k\n"}, "a long text": {"a: \"", "k"}, "escapes": {"a: \"", `\n`}, "backslashes": {"a: \"", `\`},
		"plain": {"a: ", "k "}, "plain lines": {"a: x\n", "  k\n"}, "literal": {"a: |\n", "  kkkkkkk\n"}, "folded": {"a: >\n", "  kkkkkkk\n"}, "blank lines": {"a: |\n", "\n"},
		"blank lines with spaces": {"a: |\n", "  \n"}, "some blank lines": {"a: |\n", "  x" + strings.Repeat("\n", 1999)}, "blank lines of text": {"a: \"", " \n"}, "aliases": {"a: &a 1\nb:\n", "- *a\n"}, "tabs": {"a:", "\t"},
		"lines of tabs": {"a:\n", "\t\n"}, "spaces": {"a:", " "}, "line ends": {"", "\n"}, "carriage returns": {"", "\r"}, "literal carriage returns": {"a: |\r", "\r"}, "comments": {"", "# c\n"},
		"comments between": {"a:\n", "# c\n- 1\n"}, "comments behind": {"", "- a # c\n"}, "tags": {"a: ", "!!str "}, "bangs": {"a: ", "!"}, "anchor upon anchor": {"a: ", "&a "}, "stars": {"a: ", "*"},
		"colons": {"", ":"}, "colons and spaces": {"", ": "}, "colons and lines": {"", ":\n"}, "keys in a row": {"", "a: "}, "pipes": {"", "|"}, "lines of pipes": {"", "|\n"},
		"documents": {"", "---\n"}, "full documents": {"", "---\na: b\n"}, "ends of documents": {"", "...\n"}, "percents": {"", "%"}, "directives": {"", "%YAML 1.2\n"},
		"commas": {"a: [", ","}, "flow questions": {"a: [", "? "}, "flow colons": {"a: {", "a:"}, "zeros": {"", "\x00"}, "twice": {"", "a: 1\n"}, "records": {"", "- a: 1\n  b: [1, 2]\n  c: {d: e}\n"},
		"some dashes": {"", "- - - - - - - - - - x\n"}, "deep lists": {"", "- " + strings.Repeat("[", 90) + strings.Repeat("]", 90) + "\n"}, "passwords": {"", "root:$6$abc:19000:0:99999:7:::\n"},
		"digits": {"a: ", "9"}, "a fraction": {"a: 1.", "9"}, "an exponent": {"a: 1e", "9"}, "underscores": {"a: 1", "_"}, "dates": {"a: 2001-", "01-"}, "marks": {"", "\ufeff"},
		"merge keys": {"a: &a {b: 1}\nc:\n", "  <<: *a\n"}, "no bytes of UTF-8": {"a: ", "\xff"}, "backticks": {"", "`"}, "at signs": {"a: ", "@ "},
		"null keys": {"", "~: ~\n"}, "list keys": {"", "[a]: b\n"}, "flow pairs": {"[", "a: , "}, "single quotes": {"a: '", "''"}, "headers": {"", "a: |9\n"},
		"anchors of nothing": {"", "- &a\n"}, "anchored keys": {"", "&a a: *a\n"}, "tagged nothing": {"", "- !!str\n"}, "tagged keys": {"", "!!str a: b\n"},
	} {
		texts[name] = many(c.head, n, same(c.piece))
	}
	texts["a long key"] = strings.Repeat("k", n) + ": 1\n"
	texts["long keys"] = strings.Repeat("k", n/2) + ":\n" + many("", n/2, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) })
	texts["long keys, deep"] = many("", n, func(i int) string { return strings.Repeat(" ", i%90) + strings.Repeat("k", 300) + ":\n" })
	texts["long keys in brackets"] = many("a: ", n/2, same("{"+strings.Repeat("k", n/100)+": ")) + many("", n/2, func(i int) string { return fmt.Sprintf("k%d: 1, ", i) })
	texts["indents"] = many("", n, func(i int) string { return strings.Repeat(" ", i) + "a:\n" })
	texts["indented lists"] = many("", n, func(i int) string { return strings.Repeat(" ", i) + "-\n" })
	texts["closed brackets"] = "a: " + strings.Repeat("[", n/2) + strings.Repeat("]", n/2)
	texts["keys"] = many("", n, func(i int) string { return fmt.Sprintf("k%d: 1\n", i) })
	texts["keys of nothing"] = many("", n, func(i int) string { return fmt.Sprintf("k%d:\n", i) })
	texts["keys in many mappings"] = many("", n, func(i int) string {
		return fmt.Sprintf("- k: 1\n%s", many("", 20_000, func(j int) string { return fmt.Sprintf("  k%d:\n", j) }))
	})
	texts["flow keys"] = many("a: {", n, func(i int) string { return fmt.Sprintf("k%d: 1, ", i) }) + "}"
	texts["anchors"] = many("", n, func(i int) string { return fmt.Sprintf("k%d: &a%d 1\n", i, i) })
	texts["merges of merges"] = many("a0: &a0 {x: 1}\n", n, func(i int) string { return fmt.Sprintf("a%d: &a%d\n  <<: *a%d\n  k%d: 1\n", i+1, i+1, i, i) })
	texts["merges of one"] = many("a: &a\n", n/2, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) }) + many("b:\n", n/2, same("- <<: *a\n"))
	texts["laughs"] = many("a0: &a0 [x,x,x,x,x,x,x,x,x]\n", 800, func(i int) string {
		return fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	})
	texts["laughing mappings"] = many("a0: &a0 {x: 1}\n", 800, func(i int) string {
		return fmt.Sprintf("a%d: &a%d {b: *a%d, c: *a%d, d: *a%d}\n", i+1, i+1, i, i, i)
	})
	texts["laughing merges"] = many("a0: &a0 {x: 1}\n", 800, func(i int) string {
		return fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i+1, i+1, i, i, i)
	})
	texts["within itself"] = "a: &a [*a]\n"
	texts["merged into itself"] = "a: &a {<<: *a}\n"
	texts["random bytes"] = many("", n, func(i int) string { return string([]byte{byte(uint32(i) * 2654435761 >> 24)}) })
	return texts
}

// TestHostileTextsCostLittle: whatever the text, the work is bounded. Work is measured
// as all the memory that was ever taken, of which less is in use at any time.
func TestHostileTextsCostLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes many times the memory")
	}
	const most = 400 // MB
	for _, n := range []int{64 << 10, yamlx.MaxBytes - 8<<10} {
		for name, text := range hostile(n) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var v any
			_, err := yamlx.Decode([]byte(text), &v)
			runtime.ReadMemStats(&after)
			var own *yamlx.Error
			if err != nil && !errors.As(err, &own) {
				t.Errorf("%s (%d bytes): %T: %v", name, n, err, err)
			}
			if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > most {
				t.Errorf("%s (%d bytes): took %d MB: %v", name, n, taken, err)
			}
		}
	}
}

// BenchmarkHostileTexts shows which text takes longest.
func BenchmarkHostileTexts(b *testing.B) {
	for name, text := range hostile(yamlx.MaxBytes - 8<<10) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v any
				_, _ = yamlx.Decode([]byte(text), &v) // refused or not: what it takes is what counts
			}
		})
	}
}
