package night

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// workspaceField is the field of a task that names the folder that its workspace starts with.
const workspaceField = "workspace"

// maxLaidOut bounds what the workspaces of one document's tasks take, in bytes: each commit is laid out once.
const maxLaidOut = 4 << 30

// workshop makes what tasks are carried out in: the files of commits, and the other documents of a night next to the one that is
// trained.
type workshop struct{ *night }

// workFolder returns where the workspaces of a project's tasks lie while they are carried out. The bank deletes what is in it when
// it is opened and closed: what a night that was killed has left is gone with the next command.
func (n workshop) workFolder() string { return filepath.Join(n.Bank.Temp(), "work") }

// replay carries out what was settled for a document, in workspaces that are made before and deleted after it.
func (n workshop) replay(ctx context.Context, jobs []job, i int) {
	j := &jobs[i]
	err := n.layOut(ctx, j)
	if err == nil {
		err = n.lay(jobs, i, i)
	}
	if err == nil {
		trainer(n).train(ctx, j)
	}
	if err = errors.Join(err, n.clearOut()); err == nil {
		return
	}
	if out := errorOutcome(err); out != "" {
		j.out.Outcome, j.out.Reason = out, err.Error()
		return
	}
	n.problem = errors.Join(n.problem, fmt.Errorf("%s: workspaces: %w", j.doc.ID(), err))
}

// runInWorkspaces calls f with the workspaces of a document's tasks laid out again. What a commit has lost since is not settled
// again: the error says it.
func (n workshop) runInWorkspaces(ctx context.Context, j *job, f func() error) error {
	if n.Config.Agent.Name == "" {
		return f()
	}
	gone, err := n.layOutOnce(ctx, j)
	for id, fit := range gone {
		err = errors.Join(err, &skillopt.Error{Kind: skillopt.Unmeasurable, Err: fmt.Errorf("task %s: %s", id, fit.Unfit)})
	}
	if err == nil {
		err = f()
	}
	return errors.Join(err, n.clearOut())
}

// clearOut deletes the workspaces.
func (n workshop) clearOut() error {
	n.laidOut = ""
	return os.RemoveAll(n.workFolder())
}

// layOut lays out the commits in whose files the tasks of a document are carried out. A commit that is not there any more makes its
// tasks unfit, and the document's work is settled again without them.
func (n workshop) layOut(ctx context.Context, j *job) error {
	if n.Config.Agent.Name == "" {
		return nil
	}
	for {
		gone, err := n.layOutOnce(ctx, j)
		if err != nil || len(gone) == 0 {
			return err
		}
		n.laidOut = ""
		if err := n.resettle(ctx, j, gone); err != nil {
			return err
		}
	}
}

// layOutOnce carries out layOut without settling anything again. It returns in gone the tasks whose commit is not there any more.
func (n workshop) layOutOnce(ctx context.Context, j *job) (gone map[string]bank.Fit, err error) {
	l := layout{night: n.night, doc: j.doc, root: n.workFolder(), made: map[string]bool{}, gone: map[string]bank.Fit{}}
	if err := os.RemoveAll(l.root); err != nil {
		return nil, fmt.Errorf("delete what is left over: %w", err)
	}
	for _, list := range [][]bank.Cluster{j.picked.tonight, j.picked.recall, j.picked.fresh} {
		for i := range list {
			if err := l.take(ctx, &list[i].Tasks[0]); err != nil {
				return nil, err
			}
		}
	}
	if len(l.made) > 0 {
		n.laidOut = l.root
	}
	return l.gone, nil
}

// resettle settles what is done with a document without tasks that cannot be carried out any more.
func (n workshop) resettle(ctx context.Context, j *job, gone map[string]bank.Fit) error {
	if err := bank.Decide(ctx, n.Bank, n.report.ID, n.Project, gone); err != nil {
		return err
	}
	of, err := settler(n).groupClusters(ctx)
	if err != nil {
		return err
	}
	name := j.doc.Name
	if j.doc.Kind == target.Memory {
		name = ""
	}
	*j, err = settler(n).job(ctx, j.doc, of[name])
	return err
}

// layout is a folder with one folder for each commit.
type layout struct {
	*night

	doc   target.Target
	root  string
	made  map[string]bool
	bytes int64
	gone  map[string]bank.Fit
}

// take lays out what a task needs, and has the task name it.
func (l *layout) take(ctx context.Context, t *bank.Task) error {
	if t.Place.Commit == "" {
		return nil
	}
	// The name is part of what a run is: it follows from the commit and the folder alone.
	name := fmt.Sprintf("%.12s-%s", t.Place.Commit, target.Digest(t.Place.Folder)[:8])
	if !l.made[name] {
		err := l.write(ctx, name, t)
		unfit, other := unfitReason(err)
		if other != nil {
			return other
		}
		if unfit != "" {
			place := t.Place
			if l.bytes > maxLaidOut {
				place.Way = "" // the next night has room again
			}
			l.gone[t.Task.Task.ID] = bank.Fit{Place: place, Unfit: unfit}
			return os.RemoveAll(filepath.Join(l.root, name))
		}
		l.made[name] = true
	}
	data := maps.Clone(t.Task.Task.Data)
	if data == nil {
		data = map[string]any{}
	}
	data[workspaceField] = name
	t.Task.Task.Data = data
	return nil
}

func (l *layout) write(ctx context.Context, name string, t *bank.Task) error {
	opened, err := tree.Open(ctx, l.env(), filepath.Join(l.Project, filepath.FromSlash(t.Place.Folder)), t.Place.Commit, tree.Bounds{})
	if err != nil {
		return err
	}
	if l.bytes+opened.Bytes > maxLaidOut {
		l.bytes = maxLaidOut + 1 // no smaller one takes the place of one that comes before it
		return &tree.Unfit{Reason: fmt.Sprintf("the files of the night's commits take more than %d GB", maxLaidOut>>30)}
	}
	l.bytes += opened.Bytes
	dir := filepath.Join(l.root, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a workspace: %w", err)
	}
	_, err = opened.Write(ctx, dir, l.omits())
	return err
}

// omits returns a function that finds the files that a workspace does not have since they are the document that is
// trained: it lies there as it is to be measured.
func (l *layout) omits() func(name string) bool {
	if l.doc.Kind != target.Skill {
		return nil
	}
	own := regexp.MustCompile(`^(\.[^/]+/)?skills/` + regexp.QuoteMeta(l.doc.Name) + `/`)
	return own.MatchString
}

// Where tasks are carried out: values of Placed.In.
const (
	InCommit = "commit"
	InEmpty  = "empty"
	InChat   = "chat"
)

// listPlaces lists where the tasks are carried out by which clusters are measured.
func listPlaces(clusters []bank.Cluster) []Placed {
	out := []Placed{}
	for i := range clusters {
		t := &clusters[i].Tasks[0]
		p := Placed{Task: t.Task.Task.ID, Folder: t.Place.Folder, Files: []string{}, Unfit: t.Unfit}
		if InFiles(&t.Task) {
			p.Commit = t.Place.Commit
		}
		switch {
		case p.Unfit != "" || t.Place.Way == "":
		case p.Commit != "":
			p.In = InCommit
		case ByAgent(&t.Task):
			p.In = InEmpty
		default:
			p.In = InChat
		}
		if p.Commit != "" || p.Unfit != "" {
			p.Files = append(p.Files, t.Place.Files...)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Placed) int {
		if (a.Unfit == "") == (b.Unfit == "") {
			return 0
		}
		if a.Unfit != "" {
			return 1
		}
		return -1
	})
	return out
}
