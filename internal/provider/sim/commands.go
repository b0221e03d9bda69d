package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
)

// In a world of commands the simulated target has its answer as a plan: commands with planMark between them, one for each
// turn. A plan that has ended, and a reply that is no plan, is said without a command.
const (
	planMark = ";"
	toolAct  = "act"
	openAct  = "<action>"
	closeAct = "</action>"
)

// givenCommands is how a request that shows the last turns alone counts them all.
var givenCommands = pattern.New(`(?m)^You have played (\d+) turns?\.`)

// workByCommands answers in a world of commands; ok is false elsewhere.
func (c *Client) workByCommands(req model.Request) (parts []model.Part, text string, ok bool, err error) {
	asked := firstUser(req.Messages)
	byTool := slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == toolAct })
	if req.Tags.Role != model.Target || !byTool && !strings.Contains(asked, openAct+"…"+closeAct) {
		return nil, "", false, nil
	}
	task, err := c.task([]string{asked})
	if err != nil {
		return nil, "", true, err
	}
	system, _ := texts(req.Messages)
	if text, err = c.rollout(system, task, requestSeed(req)); err != nil {
		return nil, "", true, err
	}
	plan, planned := c.world.readSlot(text)
	steps := strings.Split(plan, planMark)
	n := countCommands(req.Messages, asked)
	if !planned || n >= len(steps) {
		return nil, text, true, nil
	}
	step := strings.TrimSpace(steps[n])
	if !byTool {
		return nil, openAct + step + closeAct, true, nil
	}
	parts, err = newCall(n, toolAct, map[string]string{"command": step})
	return parts, "", true, err
}

func firstUser(messages []model.Message) string {
	for _, m := range messages {
		if m.Role == model.User {
			return m.Text()
		}
	}
	return ""
}

// countCommands returns how many commands were given before: as the request says, or as replies that it shows.
func countCommands(messages []model.Message, asked string) int {
	if m := givenCommands.FindStringSubmatch(asked); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return n
		}
	}
	n := 0
	for _, m := range messages {
		if m.Role == model.Assistant {
			n++
		}
	}
	return n
}
