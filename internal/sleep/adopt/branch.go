package adopt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Branched is the branch of a repository that a transaction was committed to, instead of the files of a working tree.
type Branched struct {
	Repository string `json:"repository"` // its folder
	Name       string `json:"name"`
	Before     string `json:"before"` // the commit that it named; "": there was no such branch
	Commit     string `json:"commit"` // that it names since; "": the branch was taken away
}

// lock returns the place that is locked for a branch.
func (b Branched) lock() Place {
	return Place{ID: "branch:" + b.Name, Root: b.Repository, Path: path.Join("refs/heads", b.Name)}
}

// branching carries out transactions of a store on branches.
type branching struct{ *Store }

// tip is a branch as it was seen, and where the documents of a project lie in its commits.
type tip struct {
	repo   *git.Repo
	common string
	top    string // the working tree's folder, without links
	branch git.Branch
}

// unfit turns the reason why a repository cannot be used into an error of the caller.
func unfit(file string, err error, help string) error {
	var not *git.Unfit
	switch {
	case errors.As(err, &not):
		return &Refused{File: file, Reason: not.Reason + help}
	case errors.Is(err, git.ErrNoGit):
		return &Refused{File: file, Reason: "git is not installed, or not in PATH; adopt without a branch, or install it"}
	}
	return err
}

// readTip looks at a branch of the repository that a project lies in.
func (s branching) readTip(ctx context.Context, project, name string) (tip, error) {
	const help = "; without a branch the text is written into the files themselves"
	dir, common, prefix, err := git.Writable(ctx, project, name)
	if err != nil {
		return tip{}, unfit(project, err, help)
	}
	info, err := os.Stat(common)
	if err != nil {
		return tip{}, fmt.Errorf("look at the repository: %w", err)
	}
	if owner, foreign := foreignOwner(info); foreign {
		return tip{}, &Refused{File: common, Reason: fmt.Sprintf("it belongs to another user (%d)", owner)}
	}
	real, err := filepath.EvalSymlinks(project)
	if err != nil {
		return tip{}, fmt.Errorf("look at the project: %w", err)
	}
	t := tip{repo: git.New(dir, s.env), common: common, top: strings.TrimSuffix(real, filepath.FromSlash(strings.TrimSuffix("/"+prefix, "/")))}
	if t.branch, err = t.repo.Branch(ctx, name); err != nil {
		return tip{}, unfit(project, err, help)
	}
	return t, nil
}

// path returns the path of a document in commits.
func (t tip) path(p Place) (string, error) {
	if err := plainRoot(p); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(t.top, p.File())
	if err != nil || !filepath.IsLocal(rel) {
		return "", &Refused{File: p.File(), Reason: "it lies outside of the project's repository, " + t.top + ", so that no branch of that has it; adopt it without a branch"}
	}
	return filepath.ToSlash(rel), nil
}

// document reads a document from a commit; "": from where there is none.
func (t tip) document(ctx context.Context, commit string, p Place) (content, error) {
	at, err := t.path(p)
	if err != nil || commit == "" {
		return content{}, err
	}
	f, err := t.repo.Read(ctx, commit, at, target.MaxDocument+1, func(a, b string) bool { return target.FoldName(a) == target.FoldName(b) })
	switch {
	case err != nil:
		return content{}, unfit(p.File(), err, "")
	case !f.There:
		return content{}, nil
	case len(f.Text) > target.MaxDocument, !utf8.ValidString(f.Text):
		return content{}, &Refused{File: p.File(), Reason: "the commit has something there that is larger than a document, or not UTF-8"}
	}
	out := content{there: true, text: f.Text, mode: 0o644}
	if f.Mode == git.Executable {
		out.mode = 0o755
	}
	return out, nil
}

// plan returns the changes that a store's plan returns, but for a branch: documents hold what its last commit has.
func (s branching) plan(ctx context.Context, t tip, q Request, places []Place) ([]change, error) {
	var out []change
	for i, it := range q.Items {
		live, err := t.document(ctx, t.branch.From, places[i])
		if err != nil {
			return nil, err
		}
		if !live.there && !it.New {
			return nil, &Refused{File: places[i].File(), Reason: "branch " + t.branch.Name + " does not have it; commit it first, or adopt it without a branch"}
		}
		c, err := planChange(it, places[i], live)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// planBranch plans as plan does, for a branch that is not locked.
func (s branching) planBranch(ctx context.Context, q Request, places []Place) ([]change, error) {
	t, err := s.readTip(ctx, q.Project, q.Branch)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, t, q, places)
}

// adopt carries out Adopt for a branch, which q names.
func (s branching) adopt(ctx context.Context, held locks, q Request, places []Place) (Record, error) {
	t, err := s.readTip(ctx, q.Project, q.Branch)
	if err != nil {
		return Record{}, err
	}
	if err := s.take(ctx, held, []Place{Branched{Repository: t.common, Name: q.Branch}.lock()}, true); err != nil {
		return Record{}, err
	}
	if err := s.recover(ctx, held); err != nil {
		return Record{}, err
	}
	if err := s.notYet(q); err != nil {
		return Record{}, err
	}
	if t, err = s.readTip(ctx, q.Project, q.Branch); err != nil { // it may have moved while the lock was waited for
		return Record{}, err
	}
	changes, err := s.plan(ctx, t, q, places)
	if err != nil {
		return Record{}, err
	}
	r := Record{Kind: Adopted, Project: q.Project, Night: q.Night}
	said := "Adopt what night " + q.Night + " proposes\n\n"
	for _, it := range q.Items {
		said += wording.Plain(it.Target+": "+it.Claim+": "+it.Reason) + "\n"
	}
	return s.commit(ctx, t, r, changes, said)
}

// commit carries out a transaction on a branch that is locked: the commit is made, which nothing names yet, then the intent is
// noted, the branch is moved if it is where it was seen, and then the receipt.
func (s branching) commit(ctx context.Context, t tip, r Record, changes []change, said string) (Record, error) {
	files := map[string]git.File{}
	for _, c := range changes {
		at, err := t.path(c.place)
		if err != nil {
			return r, err
		}
		mode := git.Plain
		if c.after.mode&0o100 != 0 {
			mode = git.Executable
		}
		files[at] = git.File{There: c.after.there, Text: c.after.text, Mode: mode}
	}
	made, err := t.repo.Commit(ctx, t.branch.From, files, said)
	if err != nil {
		return r, unfit(r.Project, fmt.Errorf("make a commit: %w", err), "")
	}
	return s.move(ctx, t, r, changes, made)
}

// move has a branch name a commit, or with "" takes it away, as a transaction.
func (s branching) move(ctx context.Context, t tip, r Record, changes []change, to string) (Record, error) {
	r.Branch = &Branched{Repository: t.common, Name: t.branch.Name, Before: t.branch.Commit, Commit: to}
	r, err := s.begin(withFiles(r, changes))
	if err != nil {
		return r, err
	}
	if err := errors.Join(s.point("intent"), s.note(r, intentFile)); err != nil {
		return r, err
	}
	if err = s.point("intended"); err == nil {
		err = keepAll(s.Store, r.N, changes)
	}
	if err == nil {
		err = t.repo.Move(ctx, t.branch, to, fmt.Sprintf("skillopt: number %d, night %s", r.N, r.Night))
	}
	if errors.Is(err, git.ErrMoved) {
		err = &Conflict{File: t.common, Reason: "branch " + t.branch.Name + ": " + git.ErrMoved.Error()}
	}
	if err = unfit(t.common, err, ""); err == nil {
		err = s.point("moved")
	}
	if err == nil {
		return s.finish(r)
	}
	if errors.Is(err, errKilled) {
		return r, err
	}
	// Only the branch shows whether it was moved.
	return r, errors.Join(err, s.settle(context.WithoutCancel(ctx), r))
}

// settle decides from the state of a branch whether a transaction on it is done. Nothing is written into the repository.
func (s branching) settle(ctx context.Context, r Record) error {
	b := r.Branch
	undone := func(why string) error {
		r.Undone, r.Ended = []string{why}, s.now().UTC()
		return errors.Join(s.note(r, undoneFile), s.point("undone"))
	}
	t, err := s.readTipAgain(ctx, r.Project, b)
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return undone("its branch cannot be looked at any more: " + refused.Error())
	case err != nil:
		return err
	case b.Commit == t.branch.Commit, t.repo.Contains(ctx, b.Commit, t.branch.Commit):
		_, err := s.finish(r)
		return err
	}
	return undone("it was cut short")
}

// readTipAgain looks at the branch of a transaction, checked out or not; the repository has to be the one that it was.
func (s branching) readTipAgain(ctx context.Context, project string, b *Branched) (tip, error) {
	dir, common, _, err := git.Writable(ctx, project, b.Name)
	if err != nil {
		return tip{}, unfit(project, err, "")
	}
	if common != b.Repository {
		return tip{}, &Refused{File: project, Reason: "its repository is now " + common + ", and was " + b.Repository}
	}
	t := tip{repo: git.New(dir, s.env), common: common}
	t.branch, err = t.repo.Peek(ctx, b.Name)
	return t, unfit(project, err, "")
}

// rollback takes back what was committed to a branch: the branch goes back to where it was, if nothing came after; else a further
// commit takes the rules out again.
func (s branching) rollback(ctx context.Context, held locks, of Record, places []Place) (Record, []Taken, error) {
	if err := s.take(ctx, held, []Place{of.Branch.lock()}, true); err != nil {
		return Record{}, nil, err
	}
	if _, err := s.FindAdoption(of.Project, of.N); err != nil { // it may have been taken back meanwhile
		return Record{}, nil, err
	}
	t, err := s.readTip(ctx, of.Project, of.Branch.Name)
	if err != nil {
		return Record{}, nil, err
	}
	if t.common != of.Branch.Repository || !t.repo.Contains(ctx, of.Branch.Commit, t.branch.Commit) {
		return Record{}, nil, &Refused{File: of.Project, Reason: fmt.Sprintf("branch %s does not have commit %.12s any more; where you have merged that, git revert takes it out", of.Branch.Name, of.Branch.Commit)}
	}
	exact := t.branch.Commit == of.Branch.Commit
	var changes []change
	var out []Taken
	for i, c := range of.Files {
		live, err := t.document(ctx, t.branch.Commit, places[i])
		if err != nil {
			return Record{}, nil, err
		}
		ch, taken, err := s.takeBackFrom(of, i, c, places[i], live)
		if err != nil {
			return Record{}, nil, err
		}
		out = append(out, taken)
		if ch.before.sum() != ch.after.sum() {
			changes = append(changes, ch)
		}
	}
	r := Record{Kind: RolledBack, Of: of.N, Project: of.Project, Night: of.Night, Files: []Changed{}}
	switch {
	case exact:
		r, err = s.move(ctx, t, r, changes, of.Branch.Before)
		return r, out, err
	case len(changes) == 0: // nothing of it is left there
		r, err = s.move(ctx, t, r, changes, t.branch.Commit)
		return r, out, err
	}
	r, err = s.commit(ctx, t, r, changes, fmt.Sprintf("Take back what night %s proposed\n", of.Night))
	return r, out, err
}
