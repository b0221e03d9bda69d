package night

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/needs"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/sleep/workspace"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Ways of deciding where a task is carried out. What was decided stays until the way is another one.
const (
	wayChat  = "chat 1"  // a model answers: there are no files
	wayAgent = "agent 1" // an agent works in the files of a commit, or in an empty folder
)

func (n *night) way() string {
	if n.Config.Agent.Name == "" {
		return wayChat
	}
	return wayAgent
}

// ByAgent reports whether it was decided that an agent carries a task out.
func ByAgent(t *wish.Task) bool { return t.Place.Way == wayAgent }

// InFiles reports whether a task is carried out by an agent in the files of a commit.
func InFiles(t *wish.Task) bool { return ByAgent(t) && t.Place.Commit != "" }

// DescribePlace says in words where a task is carried out, or why it is not.
func DescribePlace(t *wish.Task) string {
	switch {
	case t.Unfit != "":
		return "not replayable: " + t.Unfit
	case InFiles(t) && t.Place.Folder != "":
		return fmt.Sprintf("by an agent, in the files of commit %.12s below %s", t.Place.Commit, t.Place.Folder)
	case InFiles(t):
		return fmt.Sprintf("by an agent, in the files of commit %.12s", t.Place.Commit)
	case ByAgent(t):
		return "by an agent, in an empty folder"
	case t.Place.Way == wayChat:
		return "by a model that answers, without files"
	}
	return ""
}

// fitting decides where tasks are carried out again, or why they cannot be. A session is read again, and a commit looked
// at, once.
type fitting struct {
	*night

	suite *check.Suite
	turns map[string][]transcript.Turn // of sessions, with what files held
	trees map[[2]string]opened         // by folder and commit
}

type opened struct {
	tree *tree.Tree
	err  error
}

func (n *night) newFitting() (*fitting, error) {
	var specs any
	if list := n.Config.Tasks.Checks; len(list) > 0 {
		specs = list
	}
	suite, err := check.Compile(specs, check.Options{Workspace: true, Judge: true})
	if err != nil {
		return nil, &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("tasks.checks: %w", err)}
	}
	return &fitting{night: n, suite: suite, turns: map[string][]transcript.Turn{}, trees: map[[2]string]opened{}}, nil
}

// fit decides for tasks that were mined, before the bank takes them: a cluster gets its side according to what can be used.
func (n *night) fit(ctx context.Context, tasks []wish.Task) error {
	f, err := n.newFitting()
	if err != nil {
		return err
	}
	for i := range tasks {
		if err := f.decide(ctx, &tasks[i]); err != nil {
			return fmt.Errorf("task %s: %w", tasks[i].Task.ID, err)
		}
	}
	return nil
}

// refit decides for tasks of the bank for which nothing, or something in another way, was decided.
func (n *night) refit(ctx context.Context) error {
	f, err := n.newFitting()
	if err != nil {
		return err
	}
	groups, err := n.Bank.Groups(ctx)
	if err != nil {
		return err
	}
	fits := map[string]bank.Fit{}
	for _, g := range groups {
		if g.Project != n.Project {
			continue
		}
		clusters, err := n.Bank.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return err
		}
		for _, c := range clusters {
			for i := range c.Tasks {
				t := &c.Tasks[i].Task
				if t.Place.Way == n.way() {
					continue
				}
				if err := f.decide(ctx, t); err != nil {
					return fmt.Errorf("task %s: %w", t.Task.ID, err)
				}
				fits[t.Task.ID] = bank.Fit{Place: t.Place, Unfit: t.Unfit}
			}
		}
	}
	return bank.Decide(ctx, n.Bank, n.report.ID, n.Project, fits)
}

// decide says where a task is carried out, or why it cannot be. An error is of the machine or the profile, never of
// the task.
func (f *fitting) decide(ctx context.Context, t *wish.Task) (err error) {
	t.Place.Way = f.way()
	if t.Place.Way == wayChat {
		t.Unfit = f.inChat(t)
		return nil
	}
	t.Place.Commit, t.Unfit, err = f.byAgent(ctx, t)
	return err
}

// inChat says what of a task a model that only answers cannot do.
func (f *fitting) inChat(t *wish.Task) string {
	needs := f.suite.Needs(t.Task)
	const noAgent = ", and the profile names no agent (agent.name)"
	switch {
	case needs.Command:
		if run := f.suite.Commands(t.Task); len(run) > 0 && len(run[0].Argv) > 0 {
			return "its check runs a command in files, " + head(run[0].Argv[len(run[0].Argv)-1], 200) + noAgent
		}
		return "its check runs a command in files" + noAgent
	case needs.Workspace:
		return "its check looks at files" + noAgent
	case needs.Turns:
		return "its check looks at calls of tools" + noAgent
	}
	return ""
}

// byAgent returns the commit in whose files a task is carried out, "" for an empty folder, or why it cannot be.
func (f *fitting) byAgent(ctx context.Context, t *wish.Task) (commit, unfit string, err error) {
	if t.Trust == wish.ByPerson && !f.suite.Needs(t.Task).Workspace {
		return "", "", nil
	}
	if len(t.Seen) == 0 {
		return "", "it is not known which session showed it", nil
	}
	s, kept := f.seen[t.Seen[0].Source+"/"+t.Seen[0].Session]
	if !kept {
		return "", "its session is not kept any more: what it worked on is not known", nil
	}
	from, to := findTaskTurns(t, s.Turns)
	if to == 0 {
		return "", "its session does not have the turn any more in which it was done", nil
	}
	part := s.Turns[max(0, from):to]
	if need, needed := needs.Of(part); needed {
		return "", need.String(), nil
	}
	n := f.suite.Needs(t.Task)
	switch {
	case !slices.ContainsFunc(part, usedFiles) && !n.Workspace:
		return "", "", nil
	case s.Commit == "":
		return "", "it needs files, and no commit of the project is known", nil
	case from < 0:
		return "", "it is not known with which turn of its session it begins", nil
	}
	opened, err := f.tree(ctx, s.Project, s.Commit)
	if unfit, err = unfitReason(err); unfit != "" || err != nil {
		return "", unfit, err
	}
	t.Place.Files = listTurnFiles(part, t.Place.Folder)
	unfit, err = f.dirty(ctx, t, s, opened)
	return s.Commit, unfit, err
}

// listTurnFiles lists the files below the project that turns worked on; folder is that of their session.
func listTurnFiles(turns []transcript.Turn, folder string) []string {
	var out []string
	for i := range turns {
		for _, name := range slices.Concat(turns[i].Files, turns[i].Read) {
			name = strings.ReplaceAll(name, `\`, "/")
			if !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasPrefix(name, "~") {
				continue
			}
			if name = path.Join(folder, name); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// usedFiles reports whether a turn worked on files, as far as its session shows.
func usedFiles(t transcript.Turn) bool { return len(t.Files)+len(t.Read)+len(t.Commands) > 0 }

// findTaskTurns finds the turns in which a task was asked and done: from one up to another. from is -1 if it is not known,
// to 0 if it is not there.
func findTaskTurns(t *wish.Task, turns []transcript.Turn) (from, to int) {
	from = slices.IndexFunc(turns, func(u transcript.Turn) bool { return t.Place.From != "" && u.ID == t.Place.From })
	to = 1 + slices.IndexFunc(turns, func(u transcript.Turn) bool { return u.ID == t.Seen[0].Turn })
	if from >= to {
		from = -1
	}
	return from, to
}

// unfitReason returns the reason why something cannot be carried out, or the error if it is another one.
func unfitReason(err error) (unfit string, other error) {
	var not *tree.Unfit
	switch {
	case errors.As(err, &not):
		return not.Reason, nil
	case errors.Is(err, tree.ErrNoGit):
		return "", &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("tasks with files are carried out in those of their commit: %w; install git", err)}
	}
	return "", err
}

// tree returns what a commit has below a folder.
func (f *fitting) tree(ctx context.Context, folder, commit string) (*tree.Tree, error) {
	key := [2]string{folder, commit}
	o, looked := f.trees[key]
	if !looked {
		o.tree, o.err = tree.Open(ctx, f.env(), folder, commit, tree.Bounds{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.trees[key] = o
	}
	return o.tree, o.err
}

// dirty says why a task did not begin with the files of the commit; "": it did, as far as its session shows.
func (f *fitting) dirty(ctx context.Context, t *wish.Task, s bank.Session, opened *tree.Tree) (string, error) {
	turns, why, err := f.lines(ctx, s)
	if err != nil {
		return "", err
	}
	if why != "" {
		t.Place.Way = "" // the next night looks again
		return "what its files held is not known: " + why, nil
	}
	from, to := findTaskTurns(t, turns)
	if from < 0 || to == 0 {
		return "its session has other turns in its store", nil
	}
	seen := workspace.TouchedIn(turns, from, to)
	seen.Read = slices.DeleteFunc(seen.Read, func(name string) bool { return document(name) && !slices.Contains(seen.Wrote, name) })
	return workspace.Check(ctx, opened, seen)
}

// document reports whether a file is one that nights train, a memory file or of a skill: its text at a replay is that
// which is measured, whatever it was in the session.
func document(name string) bool {
	name = path.Clean(filepath.ToSlash(name))
	if target.IsMemory(name) {
		return true
	}
	parts := strings.Split(name, "/")
	return len(parts) > 3 && strings.HasPrefix(parts[0], ".") && parts[1] == "skills"
}

// lines returns the turns of a session, with what files held, from its store. If the store does not have them any more,
// it returns the turns that are kept, and what files held is not known. why says why the store cannot be read now.
func (f *fitting) lines(ctx context.Context, s bank.Session) (turns []transcript.Turn, why string, err error) {
	key := s.Source + "/" + s.ID
	if turns, read := f.turns[key]; read {
		return turns, "", nil
	}
	turns = s.Turns
	if f.Again != nil {
		now, same, err := f.Again(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case err != nil:
			return nil, err.Error(), nil
		case same:
			turns = now.Turns
		}
	}
	f.turns[key] = turns
	return turns, "", nil
}

func (n *night) env() tree.Env {
	if n.Env == nil {
		return func(string) string { return "" }
	}
	return n.Env
}
