package skill

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// good is the front matter of a skill that nothing is wrong with.
const good = "---\nname: good-one\ndescription: Does things when asked.\n---\n"

func TestLint(t *testing.T) {
	t.Parallel()
	file := func(name, text string) Skill { return New(good).WithFile(name, text) }
	program := func(name, text string) Skill { return file(name, text).WithExecutable(name) }
	for _, tt := range []struct {
		name  string
		skill Skill
		want  []string // file:line severity rule, and a part of the message
	}{
		{"nothing", New(good + "# Do\n"), nil},
		{"windows", New(WithLineEnd(good+"# Do\n", crlf)), nil},
		{"byte order mark", New(byteOrderMark + good), nil},
		{"empty", New(""), []string{"SKILL.md:1 error front_matter there is no front matter"}},
		{"no mapping", New("---\n- a\n---\n"), []string{"SKILL.md:2 error front_matter "}},
		{"no name", New("---\ndescription: x\n---\n"), []string{"SKILL.md:2 error name there is no name"}},
		{"bad name", New("---\nname: Good_One\ndescription: x\n---\n"), []string{"SKILL.md:2 error name name \"Good_One\""}},
		{"two hyphens", New("---\nname: a--b\ndescription: x\n---\n"), []string{"SKILL.md:2 error name "}},
		{"long name", New("---\nname: " + strings.Repeat("a", 65) + "\ndescription: x\n---\n"), []string{"SKILL.md:2 error name "}},
		{"another folder", New("---\nname: other\ndescription: x\n---\n"), []string{"SKILL.md:2 warning name name \"other\" is not that of its folder, \"good-one\""}},
		{"no description", New("---\nname: good-one\n---\n"), []string{"SKILL.md:2 error description there is no description"}},
		{"long description", New("---\nname: good-one\ndescription: " + strings.Repeat("é", 1025) + "\n---\n"), []string{"SKILL.md:3 error description description has 1025 characters, at most 1024"}},
		{"description at the bound", New("---\nname: good-one\ndescription: " + strings.Repeat("é", 1024) + "\n---\n"), nil},
		{"all fields", New("---\nname: good-one\ndescription: x\nlicense: MIT\ncompatibility: any\nmetadata: {version: \"1\"}\nallowed-tools: Bash Read\n---\n"), nil},
		{"misspelt field", New("---\nname: good-one\ndescription: x\nlicence: MIT\n---\n"), []string{"SKILL.md:4 warning front_matter \"licence\" is no field of the standard, and not every agent knows it: did you mean license?"}},
		{"types", New("---\nname: good-one\ndescription: x\nmetadata: 1\nlicense: [a]\n---\n"), []string{"SKILL.md:4 warning front_matter metadata is", "SKILL.md:5 warning front_matter license is a list, want text"}},
		{"long", New(good + strings.Repeat("- a\n", 500)), []string{"SKILL.md:0 warning length 504 lines"}},
		{"links", New(good + "[a](references/a.md) ![b](<assets/b c.png> \"t\") [c](https://x.y) [d](#here) [e](/abs) [f](mailto:x@y) `scripts/run.py`\n"), []string{
			"SKILL.md:5 warning link \"scripts/run.py\" is not", "SKILL.md:5 error link \"references/a.md\" is not in the skill", "SKILL.md:5 error link \"assets/b c.png\" is not",
		}},
		{"links that are there", file("references/a b.md", "[up](../SKILL.md) [me](references/a%20b.md#x) [folder](../references) [one]: <a b.md>\n\n[one]: <a b.md>\n").WithText(good + "[a](references/a%20b.md)\n"), nil},
		{"link out", New(good + "[a](../other/x.md)\n"), []string{"SKILL.md:5 warning link \"../other/x.md\" leads out"}},
		{"link by reference", New(good + "[a]: x.md\n[^note]: see it\n"), []string{"SKILL.md:5 error link \"x.md\""}},
		{"code is no link", New(good + "````md\n[a](x.md)\n```\n[b](y.md)\n````\n`[c](z.md)`\n~~~\n[d](d.md)\n~~~\n[e](e.md)\n"), []string{"SKILL.md:14 error link \"e.md\""}},
		{"case of names", file("references/A.md", "x").WithText(good + "[a](references/a.md)\n"), []string{"SKILL.md:5 error link"}},
		{"script", program("scripts/a.py", "#!/usr/bin/env python3\n"), nil},
		{"script without mode", file("scripts/a.py", "#!/usr/bin/env python3\n"), []string{"scripts/a.py:0 warning script it has a line #! but may not be executed: chmod +x scripts/a.py"}},
		{"script without line", program("scripts/a", "echo\n"), []string{"scripts/a:1 warning script it may be executed but has no line #!"}},
		{"script without both", file("scripts/a.sh", "echo\n"), nil},
		{"unknown fields", New("---\nname: good-one\ndescription: x\nversion: 1\nlicence: MIT\nauthor: me\n---\n"), []string{"SKILL.md:6 warning front_matter \"author\", \"licence\" (did you mean license?), \"version\" are no fields of the standard"}},
		{"example paths", New(good + "For example, a script `scripts/rotate.py` or a table such as `references/aws.md`.\n[text](path/to/file.md), [x](url), `assets/your-logo.png`, [y](references/{name}.md)\n"), nil},
		{"evals that were imported", New(good + "How it is tried: [evals](evals/evals.json), `evals/README.md`.\n"), nil},
		{"random behind a name", file("references/k.md", "a\nsigning_key: 8fK2mQ9xT4vB7nR1wZ6p\npassword: hunter22\n-H \"x-api-key: $SHOP_API_KEY\"\n"), []string{"references/k.md:2 warning secret there is what looks like a secret"}},
		{"data beside scripts", file("scripts/table.json", "{}").WithFile("scripts/notes", "x\n").WithFile("scripts/x.bin", "\x00\xff"), nil},
		{"secret", file("references/k.md", "a\nkey: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\n"), []string{"references/k.md:2 error secret there is what looks like a secret"}},
	} {
		found := Lint(tt.skill, "good-one")
		var got []string
		for i, f := range found {
			line := fmt.Sprintf("%s:%d %s %s %s", f.File, f.Line, f.Severity, f.Rule, f.Message)
			if i < len(tt.want) && strings.HasPrefix(line, tt.want[i]) {
				line = tt.want[i]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		for _, f := range found {
			if strings.Contains(f.Message, "sk-proj") {
				t.Errorf("%s: the message holds the secret", tt.name)
			}
		}
	}
}

// Whatever a skill holds, the findings are the same each time, and name its files and lines.
func TestLintLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"[", "](", ")", "<", ">", "`", "```", "~~~", "x.md", "scripts/a", "\n", "---\n", "name: ", "description: ", "#", "%zz", "\r\n", "é", "\xff", " ", "[^", "]: "})
		text := func(label string) string {
			return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, label), "")
		}
		s := New(text("main")).WithFile("references/a.md", text("a")).WithFile("scripts/a", text("script"))
		found := Lint(s, "x")
		if diff := cmp.Diff(found, Lint(s, "x")); diff != "" {
			t.Fatal(diff)
		}
		for _, f := range found {
			content, there := s.File(f.File)
			if !there || f.Line < 0 || f.Line > 1+strings.Count(content, lf) || f.Message == "" {
				t.Fatalf("%+v", f)
			}
		}
	})
}

func BenchmarkLint(b *testing.B) {
	s := New(good + strings.Repeat("see [a](references/a.md) and `scripts/run.py`\n", MaxBytes/64))
	for b.Loop() {
		Lint(s, "good-one")
	}
}
