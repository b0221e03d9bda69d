package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden renderings")

const (
	skillText = "---\nname: demo\n---\n# Demo\n\n- Answer {{verbatim}} with \\n kept.\n"
	patches   = `[{"op":"append","content":"- A","support_count":2}]`
	items     = "[0] op=append content=- A\n[1] op=delete target=- B"
)

// cases renders every stage in every variant, by name of the golden file.
func cases(s *Set) map[string]func() (Text, error) {
	analyst := AnalystInput{Failures: true, Deep: true, Budget: 4, StepBuffer: "step 1: rejected", MetaSkill: "Prefer short rules.", Skill: skillText, Trajectories: "### Task q1\n[user] hi", Count: 8}
	shallow := AnalystInput{Failures: true, SkillAware: true, Budget: 2, Skill: skillText, Trajectories: "### Task q1", Count: 1}
	success, suggest, full := analyst, analyst, analyst
	success.Failures = false
	success.SkillAware = true
	suggest.Mode = modeRewrite
	full.Mode, full.Budget = modeFull, 0
	return map[string]func() (Text, error){
		"analyst_error":            func() (Text, error) { return s.Analyst(analyst) },
		"analyst_error_skillaware": func() (Text, error) { return s.Analyst(shallow) },
		"analyst_error_suggest":    func() (Text, error) { return s.Analyst(suggest) },
		"analyst_error_full":       func() (Text, error) { return s.Analyst(full) },
		"analyst_success":          func() (Text, error) { return s.Analyst(success) },
		"second_try": func() (Text, error) {
			return s.SecondTry(SecondTryInput{Budget: 1, Fared: "- b: won 0, lost 2, same 8", Items: items, Skill: skillText, MetaSkill: "memory"})
		},
		"merge_failures": func() (Text, error) {
			return s.Merge(MergeInput{Failures: true, Patches: patches, Skill: skillText, MetaSkill: "memory", Level: 1})
		},
		"merge_successes_full": func() (Text, error) { return s.Merge(MergeInput{Mode: modeFull, Patches: patches, Level: 2}) },
		"merge_final": func() (Text, error) {
			return s.MergeFinal(MergeFinalInput{FailurePatch: patches, SuccessPatch: patches, Skill: skillText})
		},
		"ranking": func() (Text, error) {
			return s.Ranking(RankingInput{Budget: 3, Items: items, Skill: skillText, MetaSkill: "memory"})
		},
		"rewrite": func() (Text, error) {
			return s.Rewrite(RewriteInput{Skill: skillText, Suggestions: "1. Shorten", MetaSkill: "memory"})
		},
		"compact": func() (Text, error) { return s.Compact(CompactInput{Notes: "- one\n- two", Limit: 10}) },
		"slow_update": func() (Text, error) {
			return s.SlowUpdate(SlowUpdateInput{PreviousSkill: "old", CurrentSkill: skillText, Comparison: "q1 regressed"})
		},
		"meta_skill": func() (Text, error) {
			return s.MetaSkill(MetaSkillInput{PreviousMeta: "memory", PreviousSkill: "old", CurrentSkill: skillText, Comparison: "q1 improved", History: "step 1: accepted"})
		},
		"files_suggest": func() (Text, error) {
			return s.Files(FilesInput{Mode: "rewrite_from_suggestions", Files: "- SKILL.md", Patterns: "SKILL.md, references/*.md"})
		},
		"files_author": func() (Text, error) {
			return s.Files(FilesInput{Mode: "rewrite_from_suggestions", Author: true, Files: "- SKILL.md", Patterns: "SKILL.md, references/*.md", NewFiles: 2})
		},
		"files_full": func() (Text, error) {
			return s.Files(FilesInput{Mode: "full_rewrite_minibatch", Files: "- SKILL.md", Patterns: "SKILL.md, references/*.md"})
		},
		"remembered": func() (Text, error) {
			return s.RememberedEdits(RememberedInput{Rejected: "```\n### 1 change, difference not measured\n- append content=- A\n```"})
		},
		"guide": func() (Text, error) {
			return s.Guide("The tasks are invoices.\nA change must not name a customer.")
		},
		"lr_autonomous": func() (Text, error) {
			return s.LearningRate(LearningRateInput{Items: items, Count: 2, Skill: skillText, Score: "hard 0.5 of 40"})
		},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, render := range cases(Whole()) {
		t.Run(name, func(t *testing.T) {
			got, err := render()
			if err != nil {
				t.Fatal(err)
			}
			text := "=== system\n" + got.System + "\n=== user\n" + got.User + "\n"
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("rendering changed (run with -update if that is meant):\n%s", diff)
			}
		})
	}
}

func TestNoSlotIsLeftOpen(t *testing.T) {
	t.Parallel()
	for name, render := range cases(Whole()) {
		got, err := render()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(got.System+got.User, "{{verbatim}}", "")
		if strings.Contains(text, "{{") || strings.Contains(text, "\n\n\n\n") {
			t.Errorf("%s: an empty or unfilled slot in\n%s", name, text)
		}
	}
}

// The order of the parts carries provider caches, and simulated worlds read
// prompts by these headings.
func TestOrderOfParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		order []string
	}{
		{"analyst_error", []string{"budget=4", "step 1: rejected", "Prefer short rules.", "## Current Skill\n\n" + skillText, "\n## Failed Trajectories\n\n### Task q1"}},
		{"analyst_success", []string{"budget=4", "step 1: rejected", "Prefer short rules.", "## Current Skill\n\n" + skillText, "\n## Successful Trajectories\n\n### Task q1"}},
		{"merge_failures", []string{"memory", "## Current Skill\n\n" + skillText, "## Patches to merge\n\n" + patches}},
		{"merge_final", []string{"## Current Skill", "## Two pre-merged patches", patches, patches}},
		{"ranking", []string{"budget=3", "memory", "## Current Skill", "\n" + items + "\n"}},
		{"rewrite", []string{"## Current Skill", "## Selected Revise Suggestions", "1. Shorten"}},
		{"slow_update", []string{"old", "## Previous Slow Update Guidance\n\n(none)", "q1 regressed", "## Current Skill\n\n" + skillText}},
		{"meta_skill", []string{"## Previous Optimizer Meta Skill\n\nmemory", "step 1: accepted", "q1 improved", "## Current Skill"}},
		{"lr_autonomous", []string{"hard 0.5 of 40", "proposed_update_items=2", "\n" + items + "\n"}},
	}
	all := cases(Whole())
	for _, tt := range tests {
		got, err := all[tt.name]()
		if err != nil {
			t.Fatal(err)
		}
		rest := got.User
		for _, want := range tt.order {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: %q is missing or out of order in\n%s", tt.name, want, got.User)
				break
			}
			rest = after
		}
	}
}

func TestUserMessagesHoldNothingToMistakeForData(t *testing.T) {
	t.Parallel()
	budget := regexp.MustCompile(`(?:L=|at most |Select the )\d`)
	for name, render := range cases(Whole()) {
		got, err := render()
		if err != nil {
			t.Fatal(err)
		}
		if m := budget.FindString(got.User); m != "" {
			t.Errorf("%s: %q reads like a budget", name, m)
		}
		if n := strings.Count(got.User, `"op"`); n > strings.Count(strings.Repeat(patches, 2), `"op"`) {
			t.Errorf("%s: an example edit stands beside the real ones", name)
		}
		if head, _, _ := strings.Cut(got.User, "## Failed Trajectories"); strings.HasPrefix(name, "analyst_error") && strings.Contains(head, "Trajectories") {
			t.Errorf("%s: the word Trajectories stands before its heading", name)
		}
		if n := strings.Count(got.User, "## Current Skill"); n > 1 {
			t.Errorf("%s: heading of the current skill %d times", name, n)
		}
	}
}

func TestSharedPartOfABatchComesFirst(t *testing.T) {
	t.Parallel()
	s := Whole()
	render := func(trajectories string) string {
		got, err := s.Analyst(AnalystInput{Failures: true, Budget: 4, Skill: skillText, MetaSkill: "m", Trajectories: trajectories, Count: len(trajectories)})
		if err != nil {
			t.Fatal(err)
		}
		return got.System + got.User
	}
	a, b := render("XX"), render("YYYYYYY")
	head, _, _ := strings.Cut(a, "XX")
	if !strings.HasPrefix(b, head) || !strings.HasSuffix(head, "## Failed Trajectories\n\n") {
		t.Errorf("two minibatches share only a part of\n%s", head)
	}
}

func TestUnknownMode(t *testing.T) {
	t.Parallel()
	_, err := Whole().Ranking(RankingInput{Mode: "patches"})
	if err == nil || !strings.Contains(err.Error(), `"patches"`) || !strings.Contains(err.Error(), modeRewrite) {
		t.Errorf("got %v", err)
	}
}

func TestRollout(t *testing.T) {
	t.Parallel()
	system, user := Whole().Rollout()
	sys, err := system.Render(map[string]any{"skill": skillText})
	if err != nil || !strings.HasSuffix(sys, skillText) {
		t.Errorf("system %q, %v", sys, err)
	}
	usr, err := user.Render(map[string]any{"prompt": "What?"})
	if err != nil || usr != "What?" {
		t.Errorf("user %q, %v", usr, err)
	}
}

func TestLoadOverridesParts(t *testing.T) {
	t.Parallel()
	s, err := Load(Whole(), fstest.MapFS{
		"rewrite.md":       {Data: []byte("\ufeff\r\n# system\r\n\r\nMine: {{skill}}\r\n\r\n# Heading\r\n")},
		".gitignore":       {Data: []byte("x")},
		"rollout.md":       {Data: []byte("# user\n{{question}} {{context}}")},
		"compact.md":       {Data: []byte("# user\n{{notes}}")},
		"ranking.md":       {Data: []byte("# patch\nPick {{budget}}.")},
		"analyst_error.md": {Data: []byte("# budget\nB{{budget}}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Rewrite(RewriteInput{Skill: "S", Suggestions: "G"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Mine: S\n\n# Heading"; got.System != want {
		t.Errorf("system %q, want %q", got.System, want)
	}
	if !strings.Contains(got.User, "## Selected Revise Suggestions\n\nG") {
		t.Errorf("user part was lost: %q", got.User)
	}
	rank, err := s.Ranking(RankingInput{Budget: 7, Items: items})
	if err != nil || !strings.HasSuffix(rank.System, "Pick 7.") {
		t.Errorf("ranking %q, %v", rank.System, err)
	}
	changed := map[string]bool{}
	want := Whole().Digests()
	for name, d := range s.Digests() {
		if d != want[name] {
			changed[name] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"rewrite.md": true, "rollout.md": true, "compact.md": true, "ranking.md": true, "analyst_error.md": true}, changed); diff != "" {
		t.Errorf("digests that changed:\n%s", diff)
	}
}

func TestLoadFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, want string }{
		{"unknown file", "analysts.md", "# system\n", "analysts.md is no prompt"},
		{"unknown part", "compact.md", "# system\nx\n\n# users\n", `compact.md:4: compact.md has no part "users"`},
		{"unknown name", "compact.md", "# system\n\n\nx\ny {{note}}\n", "compact.md:5: unknown name {{note}}"},
		{"nearest name", "compact.md", "# user\n{{note}}\n", "did you mean {{notes}}"},
		{"slot in a part", "merge.md", "# patch\n{{reply}}\n", "merge.md:2: unknown name {{reply}}"},
		{"bad syntax", "compact.md", "# user\n{{if x}}\n", "compact.md:2: {{if x}} is not a name"},
		{"text before", "compact.md", "\nHello\n# user\n", "compact.md:2: text before the first part"},
		{"twice", "compact.md", "# user\na\n# user\nb\n", `compact.md:3: part "user" is there twice, first in line 1`},
		{"empty", "compact.md", "\n\n", "compact.md:1: no parts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Whole(), fstest.MapFS{tt.file: {Data: []byte(tt.text)}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLoadReportsAllFaults(t *testing.T) {
	t.Parallel()
	_, err := Load(Whole(), fstest.MapFS{"a.md": {}, "b.md": {}, "merge.md": {Mode: os.ModeDir}})
	if err == nil || !strings.Contains(err.Error(), "a.md") || !strings.Contains(err.Error(), "b.md") || !strings.Contains(err.Error(), "read prompt") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(Whole(), os.DirFS(filepath.Join(t.TempDir(), "absent"))); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

// The first edition, which the published protocol asks with, stays as it is.
func TestDefaultIsTheFirstEdition(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"analyst_error.md": "ecf59df63494858e", "analyst_success.md": "1395f9530088322d", "compact.md": "cf6bcf716dff96b9", "lr_autonomous.md": "6e5dce4eec8bbee5",
		"merge.md": "e9c4731da1f27d32", "merge_final.md": "920d4ee97e7256ef", "meta_skill.md": "69e84681ef724886", "ranking.md": "3b4a06001091ac9a",
		"rewrite.md": "d2326f465d64ce67", "rollout.md": "649d8743170c7ae4", "slow_update.md": "2087f2cdc6632733",
	}
	first, whole := Default().Digests(), Whole().Digests()
	same := true
	for name, digest := range want {
		if first[name] != digest {
			t.Errorf("%s has the digest %s, want %s", name, first[name], digest)
		}
		same = same && whole[name] == digest
	}
	if same {
		t.Error("there is one edition only")
	}
	in := AnalystInput{Failures: true, Agent: "AGENT", Skill: "s", Trajectories: "t", Count: 1}
	for name, s := range map[string]*Set{"whole": Whole(), "default": Default()} {
		text, err := s.Analyst(in)
		if err != nil || strings.Contains(text.User, "AGENT") != (name == "whole") {
			t.Errorf("%s: %v\n%s", name, err, text.User)
		}
	}
}
