package corpus

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// DirCopies is where CopyTo lays documents.
const DirCopies = "docs"

// Brief returns what follows the prompt of a task for an agent with tools of its own: the pages that the task
// names, and where its documents are.
func (c *Corpus) Brief(ctx context.Context, t task.Task) (string, error) {
	evidence, err := c.evidence(ctx, t)
	if err != nil {
		return "", fmt.Errorf("show the pages of task %s: %w", t.ID, err)
	}
	files, err := c.candidates(t)
	if err != nil {
		return "", err
	}
	e := episode{corpus: c, task: t, files: files}
	parts := []string{
		evidence, e.candidateList(), section("Sources", texts(t.Data[FieldDocs])),
		"The documents are in the folder " + DirCopies + " of your workspace. Put the final answer between <answer> and </answer>, once.",
	}
	return joinParts(parts), nil
}

// CopyTo copies the documents of a task into a folder docs below root, for an agent that has tools of its
// own. More than 64 MB are refused.
func (c *Corpus) CopyTo(ctx context.Context, root *os.Root, t task.Task) error {
	files, err := c.candidates(t)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, name := range files {
		info, err := c.root.Lstat(path.Join(c.docs, name))
		if err != nil {
			return fmt.Errorf("copy documents for task %s: %w", t.ID, err)
		}
		size += info.Size()
	}
	if size > maxCopy {
		return fmt.Errorf("copy documents for task %s: %d files have %d MB, and at most %s are copied for an agent: name those that it needs in %s of the task", t.ID, len(files), size>>20, disk.Size(maxCopy), FieldFiles)
	}
	for _, name := range files {
		if err := disk.CopyIn(ctx, c.root, path.Join(c.docs, name), root, path.Join(DirCopies, name), maxCopy); err != nil {
			return fmt.Errorf("copy documents for task %s: %w", t.ID, err)
		}
	}
	return nil
}
