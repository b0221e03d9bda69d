package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	sessionOptions
	config, tasks, target, split string
	passes                       int
	margin                       float64
	once                         bool
	level                        float64
	sets                         []string
}

func compareCommand(a *app) *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare A.md B.md --config CONFIG | --tasks FILE --target PROVIDER/MODEL",
		Short: "Say whether skill B is better than skill A",
		Long: `Say whether skill B is better than skill A. Both carry out the same tasks with the
same seeds, in turns, until the answer is certain: B is better, B is worse, or there
is no difference larger than --margin. It stops as soon as it knows; the numbers stay
right however often it looks. If the passes or the limits are used up before, it says
how much more would probably be needed, and the same command with more --passes goes
on: nothing is paid for twice.

The tasks are those of the selection split, so that looking around spends no test. A last look
takes --split test: it is noted, and later runs count it. A skill that a training in run.dir
chose by the tasks that are read is not called better on them.

With --once all tasks are read, once (or --passes times), and looked at when all is read:
"better" is then wrong with a probability of at most --level. With few tasks that finds more.

` + exitHelp + `
Every verdict is 0, "not enough data" too: --json has it as "verdict".`,
		Example: `  skillopt compare old/SKILL.md new/SKILL.md --config my-skill
  skillopt compare seed.md runs/my-skill-1/best_skill.md --config my-skill --split test
  skillopt compare old.md new.md --config my-skill --plan
  skillopt compare a.md b.md --tasks tasks.csv --target openai/gpt-5-mini
  skillopt compare a.md b.md --config my-skill --margin 0.02 --passes 20 --json
  skillopt compare old.md new.md --config my-skill --split test --once --set gate.metric=hard`,
		Args: exactArgs(2, "two skills, A and B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.looks(cmd.Flags().Changed("passes"), cmd.Flags().Changed("level")); err != nil {
				return err
			}
			return o.run(cmd.Context(), a, args[0], args[1])
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "a config or a directory with config.yaml: tasks, models and checks")
	c.Flags().StringVar(&o.tasks, "tasks", "", "task file or directory instead of the config's, or without one")
	c.Flags().StringVar(&o.target, "target", "", "PROVIDER/MODEL that carries out the tasks, without a config")
	c.Flags().StringVar(&o.split, "split", "", "train, selection, test or all; default: selection, with --tasks all; test is a reading of the test set")
	c.Flags().IntVar(&o.passes, "passes", 10, "at most this many passes over the tasks")
	c.Flags().BoolVar(&o.once, "once", false, "read all tasks, once unless --passes says otherwise, and look once at the end")
	c.Flags().Float64Var(&o.level, "level", 0.05, "with --once: the probability that \"better\" is wrong")
	c.Flags().Float64Var(&o.margin, "margin", 0.05, "the largest difference of scores that does not matter")
	o.addFlags(c, recordUsage)
	o.addPlan(c)
	addLimit(c, &o.sets)
	addSet(c, &o.sets)
	return c
}

// checkMeasure names the flag of a measurement that is out of its range.
func checkMeasure(margin float64, passes int) error {
	if passes < 1 {
		return usagef("--passes %d: allowed: 1 or more", passes)
	}
	if !(margin > 0 && margin < 1) {
		return usagef("--margin %v: allowed: more than 0 and less than 1, such as 0.05", margin)
	}
	return nil
}

// looks settles how often it is looked: as it goes, or once.
func (o *compareOptions) looks(passes, level bool) error {
	switch {
	case !o.once && level:
		return usagef("--level goes with --once; without it intervals hold at 95 %% at every look")
	case o.once && !(o.level > 0 && o.level < 1):
		return usagef("--level %v: allowed: more than 0 and less than 1, such as 0.05", o.level)
	case !o.once:
		o.level = 0
	case !passes:
		o.passes = 1
	}
	return nil
}

// run compares two skills, or resumes the comparison.
func (o *compareOptions) run(ctx context.Context, a *app, pathA, pathB string) error {
	if err := checkMeasure(o.margin, o.passes); err != nil {
		return err
	}
	l, err := o.load(a, pathA, pathB)
	if err != nil {
		return err
	}
	skills, err := readSkills(a, l, pathA, pathB)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, o.sessionOptions)
	if err != nil {
		return err
	}
	opts = append(opts, skillopt.WithSplit(o.splitOrAll()), skillopt.WithPasses(o.passes), skillopt.WithMargin(o.margin), skillopt.WithOneLook(o.level))
	if o.plan {
		return errors.Join(a.printPlan(ctx, func(ctx context.Context, plan skillopt.Option) error {
			_, err := skillopt.Compare(ctx, l.Config, skills[0], skills[1], append(opts, plan)...)
			return err
		}), end())
	}
	compared, err := skillopt.Compare(ctx, l.Config, skills[0], skills[1], opts...)
	err = errors.Join(err, end())
	if compared != nil {
		err = errors.Join(err, printComparison(a, compared, pathA, pathB))
	}
	return withSameCommand(err)
}

// readSkills reads the two skills.
func readSkills(a *app, l *config.Loaded, paths ...string) ([]skill.Skill, error) {
	var out []skill.Skill
	for _, path := range paths {
		s, err := session.ReadSkill(context.Background(), run.SkillPath(filepath.Clean(a.absolute(path))), l)
		if errors.Is(err, os.ErrNotExist) {
			return nil, usagef("%s: found no skill there; give a Markdown file or a directory with SKILL.md", path)
		}
		if err != nil {
			return nil, usagef("%s: %v; give a Markdown file or a directory with SKILL.md", path, err)
		}
		if err := session.CheckHead(path, s); err != nil {
			return nil, usagef("%v", err)
		}
		out = append(out, s)
	}
	return out, nil
}

// splitOrAll returns the split that the flags choose, "" for the default. A task file of its own is
// used whole.
func (o *compareOptions) splitOrAll() string {
	if o.split == "" && o.tasks != "" {
		return "all"
	}
	return o.split
}

// load reads the config, or makes one of the flags.
func (o *compareOptions) load(a *app, pathA, pathB string) (*config.Loaded, error) {
	flags := []config.Setting{{Key: "skill", Value: pathA, Origin: "argument"}}
	if o.tasks != "" {
		flags = append(flags, config.Setting{Key: "tasks.path", Value: o.tasks, Origin: "--tasks"})
	}
	if o.config == "" {
		if o.tasks == "" || o.target == "" {
			return nil, usagef("comparing needs tasks and a model: --config CONFIG, or --tasks FILE and --target PROVIDER/MODEL")
		}
		flags = append(flags, config.Setting{Key: "run.name", Value: skillName(a.absolute(pathB)), Origin: "argument"})
	}
	if o.target != "" {
		if o.config != "" {
			return nil, usagef("--target goes without a config; with one use --set models.target.model=...")
		}
		model, err := modelSettings("target", o.target)
		if err != nil {
			return nil, err
		}
		flags = append(flags, model...)
	}
	return a.loadConfig(o.config, o.sets, flags)
}

// printComparison prints the result; the paths name the skills.
func printComparison(a *app, c *result.Comparison, pathA, pathB string) error {
	c = shareable(c)
	if a.json {
		return printJSON(a.Out, c)
	}
	return writeComparison(a.results(), c, pathA, pathB)
}

// writeComparison prints the verdict and what it rests on.
func writeComparison(out printer, c *result.Comparison, pathA, pathB string) error {
	out.paragraph(verdictText(c))
	if c.Difference != nil {
		out.line(fmt.Sprintf("difference of %s scores %s, a %.4g %% interval at every look", c.Metric, differenceText(c.Difference, c.Low, c.High), 100*c.Level))
	}
	if c.Look != nil {
		out.line(lookText(c.Look))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, arm := range []struct {
		name, path string
		s          *result.Score
		on         *result.TrainedOn
	}{{"A", pathA, c.A.Score, c.A.TrainedOn}, {"B", pathB, c.B.Score, c.B.TrainedOn}} {
		if arm.s != nil {
			fmt.Fprintf(w, "  %s\t%s\t%s%s\n", arm.name, interval(arm.s), arm.path, trainedText(arm.on))
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	if words := c.B.Score.Refusals("B", c.A.Score, "A"); words != "" {
		out.paragraph(words)
	}
	out.line(fmt.Sprintf("%s: B won %d, lost %d, tied %d", pairsText(c), c.Wins, c.Losses, c.Ties))
	for _, line := range slices.Concat(tasksText(c), needsText(c)) {
		out.line(line)
	}
	if err := writeEffort(out, c.Effort); err != nil {
		return err
	}
	out.line(scoreUnits)
	writeReadBefore(out, c.TestReadBefore)
	fmt.Fprintf(out, "outcomes: %s\n", out.path(filepath.Join(c.RunDir, "outcomes.json")))
	writeUsage(out, &result.Summary{Usage: c.Usage, Simulated: c.Simulated})
	writeCaveats(out, c.Simulated, c.Exploratory, c.Limit)
	return nil
}

// lookText says what the only look found.
func lookText(l *result.ComparisonLook) string {
	text := fmt.Sprintf("looked at once, at a level of %.3g", l.Level)
	if l.P != nil {
		text += fmt.Sprintf(": exact test, p %.3g", *l.P)
	}
	if l.EValue != nil {
		text += fmt.Sprintf(": evidence %.3g of %.3g", *l.EValue, 1/l.Level)
	}
	if l.AtLeast != nil {
		text += fmt.Sprintf(", better by %.3f at least", *l.AtLeast)
	}
	return text
}

// pairsText counts the pairs. A comparison that ended in the middle of its first pass has
// seen a part of the tasks, so that its scores are others than those of all of them.
func pairsText(c *result.Comparison) string {
	text := fmt.Sprintf("split %s: %s in %s", c.Split, wording.Plural(c.Pairs, "pair", "pairs"), wording.Plural(c.Passes, "pass", "passes"))
	if seen := len(c.ByTask); seen > 0 && seen < c.Tasks-len(c.Unmeasured) {
		text += fmt.Sprintf(" over %d of %d tasks", seen, c.Tasks)
	}
	return text
}

// verdictText returns the verdict in a sentence.
func verdictText(c *result.Comparison) string {
	if c.Withheld != "" {
		return c.Withheld
	}
	about := "on tasks like these"
	if c.About == result.OverTheseTasks {
		about = "on " + taskWords(c.Tasks-len(c.Unmeasured))
	}
	switch c.Verdict {
	case result.VerdictBetter:
		return "B is better than A " + about
	case result.VerdictWorse:
		return "B is worse than A " + about
	case result.VerdictNoDifference:
		return fmt.Sprintf("no difference larger than %.3g %s", c.Margin, about)
	}
	return "not enough data to distinguish A and B"
}

func taskWords(n int) string {
	if n == 1 {
		return "this task"
	}
	return fmt.Sprintf("these %d tasks", n)
}

// differenceText renders B - A with its bounds.
func differenceText(mean, low, high *float64) string {
	if mean == nil || low == nil || high == nil {
		return scoreText(nil)
	}
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", *mean, *low, *high)
}

// shownTasks is how many tasks are named on either side.
const shownTasks = 3

// tasksText says on which tasks the skills differ most, and which could not be
// measured.
func tasksText(c *result.Comparison) []string {
	tasks := slices.Clone(c.ByTask)
	slices.SortStableFunc(tasks, func(x, y result.TaskDifference) int { return cmp.Compare(y.B-y.A, x.B-x.A) })
	var won, lost []string
	for i, t := range tasks {
		if t.B > t.A && len(won) < shownTasks {
			won = append(won, taskChange(t))
		}
		if t = tasks[len(tasks)-1-i]; t.B < t.A && len(lost) < shownTasks {
			lost = append(lost, taskChange(t))
		}
	}
	var out []string
	if len(won) > 0 {
		out = append(out, "  gained most: "+strings.Join(won, ", "))
	}
	if len(lost) > 0 {
		out = append(out, "  lost most: "+strings.Join(lost, ", "))
	}
	if a, b := c.A.Score, c.B.Score; a != nil && b != nil && a.Soft == 0 && b.Soft == 0 {
		out = append(out, "neither got anything right: do the checks fit the answers?")
	}
	if len(c.Unmeasured) > 0 {
		out = append(out, fmt.Sprintf("without %s: could not be measured", strings.Join(c.Unmeasured, ", ")))
	}
	return out
}

func taskChange(t result.TaskDifference) string { return fmt.Sprintf("%s %.2f>%.2f", t.ID, t.A, t.B) }

// needsText says what would decide.
func needsText(c *result.Comparison) []string {
	if c.Verdict != result.VerdictNotEnoughData || c.Withheld != "" {
		return nil
	}
	var out []string
	if n := c.Needs; n != nil {
		out = append(out, fmt.Sprintf("at this rate about %d pairs would decide (now %d)", n.Pairs, c.Pairs))
		if n.Passes > c.MaxPasses {
			out = append(out, fmt.Sprintf("the same command with --passes %d continues", n.Passes))
		}
	}
	if c.Deterministic {
		out = append(out, "the model answers alike every time: only more tasks show more")
	} else if c.Needs == nil && c.Pairs > 0 {
		out = append(out, "more passes would probably not show which skill is better: use more tasks, or a larger --margin (the largest difference that does not matter)")
	}
	return out
}

// showComparison shows the run of a comparison.
func showComparison(out printer, v ask.View) error {
	if v.Comparison == nil {
		_, err := fmt.Fprintln(out, "\nno result yet; the same `skillopt compare` command continues")
		return err
	}
	fmt.Fprintln(out)
	return writeComparison(out, v.Comparison, out.path(filepath.Join(v.Dir, "skill_a.md")), out.path(filepath.Join(v.Dir, "skill_b.md")))
}
