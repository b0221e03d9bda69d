package draft

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const sample = `---
name: sample
description: x
---
Intro line.

# Dates

- Write them as numbers.
- Year first.

` + "```\n# no heading\n- no rule\n```" + `

<!-- a comment
over lines -->
## Empty

### Deep ###
One rule.
---
| a | b |
|---|---|
| 1 | 2 |
`

func material(main string, references ...string) Material {
	m := Material{Files: []File{newFile("SKILL.md", main)}}
	for i, r := range references {
		m.Files = append(m.Files, newFile("references/"+string(rune('a'+i))+".md", r))
	}
	return m
}

func TestParts(t *testing.T) {
	t.Parallel()
	want := []Section{
		{Title: "", From: 5, To: 6, Rules: 1},
		{Title: "Dates", From: 7, To: 18, Rules: 2},
		{Title: "Deep", From: 21, To: 27, Rules: 3},
		{File: 1, Title: "", From: 1, To: 1, Rules: 1},
	}
	if diff := cmp.Diff(want, Sections(material(sample, "a rule"))); diff != "" {
		t.Error(diff)
	}
	if got := Sections(material("# Only\n\n```\ncode\n```\n<!-- and a comment -->\n---\n")); len(got) != 0 {
		t.Errorf("parts of a document that states nothing: %+v", got)
	}
}

func TestAllot(t *testing.T) {
	t.Parallel()
	parts := []Section{{Rules: 8}, {Rules: 2}, {Rules: 2}, {File: 1, Rules: 120}}
	tests := []struct {
		name string
		n    int
		want []int
	}{
		{"by what they state, and a reference never above SKILL.md", 28, []int{9, 3, 3, 13}},
		{"each one", 4, []int{1, 1, 1, 1}},
		{"those that state most", 2, []int{1, 0, 0, 1}},
		{"none", 0, []int{0, 0, 0, 0}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Allot(parts, tt.n, 1)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestAllotLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Section {
			return Section{File: rapid.IntRange(0, 3).Draw(t, "file"), Rules: rapid.IntRange(1, 400).Draw(t, "rules")}
		}), 1, 60).Draw(t, "parts")
		for i := range parts { // files stand one after the other
			parts[i].File = min(parts[i].File, i)
			if i > 0 {
				parts[i].File = max(parts[i].File, parts[i-1].File)
			}
		}
		n := rapid.IntRange(1, MaxTasks).Draw(t, "n")
		seed := rapid.Int64().Draw(t, "seed")
		counts := Allot(parts, n, seed)
		sum := 0
		for i, c := range counts {
			sum += c
			if c < 0 || n >= len(parts) && c == 0 || n < len(parts) && c > 1 {
				t.Fatalf("part %d of %d gets %d of %d tasks", i, len(parts), c, n)
			}
		}
		if sum != n {
			t.Fatalf("%d tasks are given out, want %d", sum, n)
		}
		if diff := cmp.Diff(counts, Allot(parts, n, seed)); diff != "" {
			t.Fatal(diff)
		}
		checkChunks(t, parts, counts, n)
	})
}

func checkChunks(t *rapid.T, parts []Section, counts []int, n int) {
	given := make([]int, len(parts))
	sum := 0
	for _, c := range chunks(parts, counts) {
		if c.tasks() < 1 || c.tasks() > TasksPerCall {
			t.Fatalf("a call is asked for %d tasks", c.tasks())
		}
		for _, s := range c.shares {
			if parts[s.part].File != c.file {
				t.Fatalf("a call about file %d is asked for tasks on a part of file %d", c.file, parts[s.part].File)
			}
			given[s.part] += s.n
		}
		sum += c.tasks()
	}
	if sum != n {
		t.Fatalf("calls are asked for %d tasks, want %d", sum, n)
	}
	if diff := cmp.Diff(counts, given); diff != "" {
		t.Fatal(diff)
	}
}
