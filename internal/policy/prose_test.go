package policy

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Bounds of the pages that people write: the reference is written by the program.
const (
	mostPages  = 24
	mostWords  = 45_000
	mostMedian = 14
	most99     = 30
	mostEver   = 35
)

// readPages returns the README and the pages of docs by path.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.FromSlash("../../docs/*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no pages", err)
	}
	out := map[string]string{}
	for _, path := range append(paths, filepath.FromSlash("../../README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimPrefix(filepath.ToSlash(path), "../../"); name != "docs/reference.md" {
			out[name] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
	}
	return out
}

func TestPagesAreFewAndShort(t *testing.T) {
	t.Parallel()
	words, all := 0, readPages(t)
	for _, text := range all {
		words += len(strings.Fields(text))
	}
	if n := len(all) - 1; n > mostPages || words > mostWords { // the index is README.md of docs
		t.Errorf("%d pages with %d words, at most %d with %d are wanted", n, words, mostPages, mostWords)
	}
	if n := strings.Count(all["README.md"], "\n"); n > 90 {
		t.Errorf("README.md has %d lines", n)
	}
}

// TestSentencesAreShort holds the length of sentences, and the words that CONTRIBUTING asks to avoid.
func TestSentencesAreShort(t *testing.T) {
	t.Parallel()
	var lengths []int
	for path, text := range readPages(t) {
		for _, s := range sentences(text) {
			n := len(strings.Fields(s))
			lengths = append(lengths, n)
			if n > mostEver {
				t.Errorf("%s: %d words: %s", path, n, s)
			}
			if found := dialect.FindString(s); found != "" {
				t.Errorf("%s: %q: %s", path, found, s)
			}
		}
	}
	slices.Sort(lengths)
	if median, p99 := lengths[len(lengths)/2], lengths[len(lengths)*99/100]; median > mostMedian || p99 > most99 {
		t.Errorf("%d sentences: the median has %d words, 99 %% have at most %d", len(lengths), median, p99)
	} else {
		t.Logf("%d sentences: the median has %d words, 99 %% have at most %d, the longest %d", len(lengths), median, p99, lengths[len(lengths)-1])
	}
}

// TestTextsArePlain holds the texts in the product's source to the same words. What is left are prompts,
// which stay byte for byte, and lists of words that others write.
func TestTextsArePlain(t *testing.T) {
	t.Parallel()
	const most = .005
	var found []string
	all := 0
	for _, s := range sources(t, false) {
		if !isProduct(s.room) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || !strings.Contains(lit.Value, " ") {
				return true
			}
			all++
			if phrase := dialect.FindString(lit.Value); phrase != "" {
				found = append(found, s.fset.Position(lit.Pos()).String()+": "+phrase)
			}
			return true
		})
	}
	if float64(len(found)) > most*float64(all) || all < 1000 {
		t.Errorf("%d of %d texts have a phrase that CONTRIBUTING.md names:\n%s", len(found), all, strings.Join(found, "\n"))
	}
}

// sentences returns those of paragraphs and lists, without code blocks, tables and headings.
func sentences(page string) []string {
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "\n\n")
	page = regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(page, "\n\n")
	page = regexp.MustCompile(`(?m)^(\||#|    |!\[).*$`).ReplaceAllString(page, "\n\n")
	page = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "code")
	page = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(page, "$1")
	page = regexp.MustCompile(`(?m)^\s*(-|\d+\.) `).ReplaceAllString(page, "\n\n")
	var out []string
	for block := range strings.SplitSeq(page, "\n\n") {
		block = strings.Join(strings.Fields(block), " ")
		for _, s := range regexp.MustCompile(`[^.!?:]+(?:[.!?:]+(?:\S[^.!?:]*)?)*?[.!?:](?:\s|$)|[^.!?:]+$`).FindAllString(block, -1) {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}
