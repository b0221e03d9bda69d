package importer

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/schedule"
)

// data converts what is trained on: the skill, the tasks and their split.
func (c *converter) data() {
	c.path("skill_init", "skill", "")
	c.path("out_root", "run.dir", "there the folder of one run, here of all runs")
	folders := c.folders()
	c.tasks(folders)
	c.split(folders)
	c.direct("limit", "tasks.limit", "")
}

// folders reports whether the tasks come in folders for train, val and test.
func (c *converter) folders() bool {
	if c.set("split_mode") && strings.EqualFold(c.text("split_mode"), "split_dir") {
		return true
	}
	return c.set("split_dir") && !c.set("data_path")
}

// searchQAPrompt asks what an item of searchqa asks.
const searchQAPrompt = "## Passages\n{{context}}\n\n## Question\n{{question}}"

func (c *converter) tasks(folders bool) {
	use, leave, note := "data_path", "split_dir", "split_mode is ratio"
	if folders {
		use, leave, note = "split_dir", "data_path", "the tasks are in split_dir"
	}
	to := "tasks.path"
	if c.set("env") {
		name := strings.ToLower(c.text("env"))
		switch {
		case !slices.Contains(benchmarks(), name):
			c.note("env", NoCounterpart, "an environment of your own is a program here: env.command")
		case !slices.Contains(benchmarkNames(), name):
			c.note("env", NoCounterpart, "there is no such benchmark here yet: tasks.prompt and tasks.checks say what it asks and how it scores")
		case !c.take("env", "bench.name", name, ""):
			c.note("env", NoCounterpart, "tasks.prompt and tasks.checks say what it asks and how it scores")
		case !folders && name == "searchqa": // one file of items, which are divided here
			c.add("tasks.prompt", searchQAPrompt, "the items have no prompt")
		default:
			to = c.o.Target.first("bench.data", "tasks.path")
		}
	}
	c.path(use, to, "")
	if c.set(leave) {
		c.note(leave, NotNeeded, note)
	}
}

// split converts how tasks are divided. What is imported keeps 2:1:7.
func (c *converter) split(folders bool) {
	for _, flat := range []string{"split_ratio", "split_seed", "split_output_dir"} {
		if folders && c.set(flat) {
			c.note(flat, NotNeeded, "the folders divide the tasks")
		}
	}
	if c.set("split_mode") {
		c.note("split_mode", NotNeeded, "tasks in folders for train, val and test are taken as they are divided")
	}
	if folders {
		return
	}
	ratio, err := schedule.ParseRatio(c.text("split_ratio"))
	switch _, isText := c.in["split_ratio"].(string); {
	case c.set("split_ratio") && err == nil:
		c.take("split_ratio", "split.ratio", ratio.String(), "")
	case c.set("split_ratio") && isText:
		c.note("split_ratio", Unusable, "split.ratio: found "+c.show(c.in["split_ratio"])+", allowed: three whole numbers from 1 on, such as 2:1:7")
	case c.set("split_ratio"):
		c.note("split_ratio", Unusable, `split.ratio: found `+c.show(c.in["split_ratio"])+`, allowed: text such as "2:1:7"; without quotes YAML 1.1 reads it as a number to the base 60`)
	default:
		c.add("split.ratio", "2:1:7", "SkillOpt's default")
	}
	c.direct("split_seed", "split.seed", "")
	if c.set("split_output_dir") {
		c.note("split_output_dir", NotNeeded, "the seed gives the same split again")
	}
}
