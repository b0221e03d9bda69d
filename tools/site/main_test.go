package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every page is there, and every link within the site leads to a file and a heading.
func TestBuild(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "site")
	if err := build("../..", to); err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(to, "*.html"))
	docs, _ := filepath.Glob("../../docs/*.md")
	if len(pages) != len(docs)+2 { // the index is the first page; CONTRIBUTING and CHANGELOG
		t.Errorf("%d pages of %d", len(pages), len(docs))
	}
	texts := map[string]string{}
	for _, path := range pages {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(data)
	}
	for name, text := range texts {
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") || !regexp.MustCompile(`^[\w./-]*$`).MatchString(file) {
				continue
			}
			if file == "" {
				file = name
			}
			if _, err := os.Stat(filepath.Join(to, file)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
			}
			if anchor != "" && texts[file] != "" && !strings.Contains(texts[file], `id="`+anchor+`"`) {
				t.Errorf("%s: %s has no heading %s", name, file, anchor)
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(to, "search.js"))
	if err != nil || !strings.Contains(string(data), "worked-examples") {
		t.Errorf("the search does not know a section: %v", err)
	}
	if err := build("../..", to); err == nil {
		t.Error("a folder that is there is written over")
	}
}
