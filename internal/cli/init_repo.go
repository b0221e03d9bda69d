package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/op/survey"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// repoOptions are the flags of init --repo.
type repoOptions struct {
	path, test, setup string
	limit             int
}

func (o *repoOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.path, "repo", "", "a git repository that tasks are made of, with its own tests")
	c.Flags().StringVar(&o.test, "test", "", "with --repo: a command that runs the tests and writes JUnit XML to $REPORT, where the runner is not found")
	c.Flags().StringVar(&o.setup, "setup", "", "with --repo: a command that installs dependencies into $DEPS, with network")
	c.Flags().IntVar(&o.limit, "limit", survey.DefaultTasks, "with --repo: tasks at most")
}

// runRepo writes a folder that trains the document of a repository on tasks of its own.
func (o *initOptions) runRepo(ctx context.Context, a *app, folder newFolder) error {
	if o.skill+o.tasks+o.config != "" || o.generate != 0 || o.drafts || o.env || o.bench {
		return usagef("--repo makes skill, tasks and config of the repository: leave out --skill, --tasks, --config, --generate, --triggers, --env and --bench")
	}
	const least = 4 // one for train, one for selection, as many for test
	if o.repo.limit < least {
		return usagef("--limit %d: want %d or more", o.repo.limit, least)
	}
	if err := folder.check(workConfig, workTasks); err != nil {
		return err
	}
	l, err := o.load(a)
	if err != nil {
		return err
	}
	s, err := o.survey(ctx, a, folder, l)
	if err != nil {
		return err
	}
	files := map[string][]byte{workTasks: s.File, s.Document: s.Seed}
	text := repoConfig(s)
	if files[workConfig] = []byte(text); o.target != "" {
		if files[workConfig], err = o.withModels(text, folder.dir, l); err != nil {
			return err
		}
	}
	names, err := folder.write(files)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, struct {
			Dir string `json:"dir"`
			*result.Survey
		}{folder.dir, s})
	}
	folder.print(a, names)
	return o.writeSurvey(a.printer(a.Out), folder, s)
}

// survey makes the tasks. It can be stopped, and continued by the same command.
func (o *initOptions) survey(ctx context.Context, a *app, folder newFolder, l *config.Loaded) (*result.Survey, error) {
	ctx, opts, end, err := a.session(ctx, l, sessionOptions{runDir: filepath.Join(folder.dir, survey.Folder, "wording"), yes: o.yes, atOnce: true})
	if err != nil {
		return nil, err
	}
	req := skillopt.SurveyRequest{
		Path: a.absolute(o.repo.path), Dir: folder.dir, Setup: o.repo.setup, Limit: o.repo.limit,
		Begin: func(found []string) error { return o.agree(a, found) },
		Note:  func(line string) { fmt.Fprintln(a.Err, oneLine(line)) },
	}
	if o.repo.test != "" {
		req.Test = []string{"sh", "-c", o.repo.test}
	}
	s, err := skillopt.Survey(ctx, l.Config, req, opts...)
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		err = stopError("stopped: what has run is kept, and the same command continues")
	}
	return s, errors.Join(err, end())
}

// agree shows what was found and is about to run, and asks.
func (o *initOptions) agree(a *app, found []string) error {
	out := a.printer(a.Err)
	for _, line := range found {
		out.line(oneLine(line))
	}
	out.line("the tests of the repository run confined and without network: all of them twice, then those of each commit and fault")
	switch {
	case o.yes:
		return nil
	case !a.Terminal || a.json:
		return usagef("nothing was run: add --yes to run the tests of the repository")
	}
	q := &asking{in: bufio.NewReader(a.In), out: out}
	return q.agree("run them? [y/N] ")
}

// repoConfig returns the config of the folder, without models.
func repoConfig(s *result.Survey) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Trains %s on tasks of a repository: its own commits, and faults that were planted in it.\n# Each task is graded by the repository's own tests; \"skillopt tasks verify\" proves all of them again.\n", s.Document)
	fmt.Fprintf(&b, "skill: %s\ntasks:\n  path: %s\n  checks: [{type: tests}]\n", s.Document, workTasks)
	if s.Folds {
		b.WriteString("split: {cross_fit: 4} # few tasks for train and selection: they take turns\n")
	}
	fmt.Fprintf(&b, "agent:\n  name: builtin\n  mode: file\n  file: %s\n  repository: %s\n", s.Document, survey.Folder)
	return b.String()
}

// writeSurvey prints what was made, and what is next.
func (o *initOptions) writeSurvey(out printer, folder newFolder, s *result.Survey) error {
	out.line(fmt.Sprintf("%s: %d train, %d selection, %d test; %s", wording.Plural(len(s.Tasks), "task", "tasks"), s.Train, s.Selection, s.Test, byType(s.Tasks)))
	for _, t := range s.Tasks {
		out.line(fmt.Sprintf("  %-14s %-9s %-8s %6.1f s of CPU %10s  tokens unknown  %s", t.ID, t.Split, t.Type, t.CPUSeconds, memory(t.MB), oneLine(t.Source)))
	}
	printSortedCounts(out, "left out, by reason:", s.LeftOut)
	why := map[string]int{}
	for _, reason := range s.LeftOutTests {
		why[reason]++
	}
	printSortedCounts(out, "tests that decide nothing, by reason (--json names them):", why)
	out.line(fmt.Sprintf("%s or gradings, %.0f s of CPU; %d were in the record", wording.Plural(s.Runs, "run of tests", "runs of tests"), s.CPUSeconds, s.Recorded))
	if s.Missing > 0 {
		out.line(fmt.Sprintf("nothing can be certified: %s missing, of 20", wording.Plural(s.Missing, "test task is", "test tasks are")))
	}
	if s.Train == 0 || s.Selection == 0 {
		out.line(fmt.Sprintf("nothing can be trained: there are %d train and %d selection tasks, and a run needs one of each; commits that come with tests, or a larger --limit, make more", s.Train, s.Selection))
		return nil
	}
	next := "next: skillopt tasks review " + shellWord(folder.name) + ", then skillopt train " + shellWord(folder.name)
	if o.target == "" {
		next = "next: name models.target and models.optimizer in " + filepath.Join(folder.name, workConfig)
	}
	_, err := fmt.Fprintln(out, next)
	return err
}

// memory returns the memory of one grading in words.
func memory(mb float64) string {
	if mb == 0 {
		return "unknown MB"
	}
	return fmt.Sprintf("%.0f MB", mb)
}

// byType counts tasks by their type.
func byType(tasks []result.SurveyedTask) string {
	n := map[string]int{}
	for _, t := range tasks {
		n[t.Type]++
	}
	return fmt.Sprintf("%d of history, %d of faults", n["history"], n["fault"])
}

// printSortedCounts prints counts, the largest first.
func printSortedCounts(out printer, head string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	out.line(head)
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, name := range names {
		out.line(fmt.Sprintf("  %4d  %s", counts[name], name))
	}
}
