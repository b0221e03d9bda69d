package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/skill"
)

func skillRegionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "region FILE",
		Short: "Begin the learned region of a document",
		Long: `Add an empty learned region as the last paragraph of a document: the lines between which
training may write with edits.region: learned, and nowhere else. All that the document
holds stays, byte for byte, before it. A document that has a region stays as it is. No
model is called.

Exit code 2 where the markers of a region are there and it is none, with the line.`,
		Example: `  skillopt skill region CLAUDE.md
  skillopt skill region my-skill/SKILL.md`,
		Args: exactly(1, "a Markdown document, such as CLAUDE.md"),
		RunE: func(cmd *cobra.Command, args []string) error { return beginRegion(cmd.Context(), a, args[0]) },
	}
}

// beginRegion adds a region to the document of a file.
func beginRegion(ctx context.Context, a *app, name string) error {
	path := filepath.Clean(a.absolute(name))
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return usagef("%s: want a regular file, no link and no directory", name)
	}
	dir, base := filepath.Split(path)
	s, err := skill.ReadDocument(disk.Dir(ctx, filepath.Clean(dir), math.MaxInt64), base)
	if err != nil {
		return usagef("%s: %v", name, err)
	}
	text, err := skill.InjectLearned(s.Text())
	switch {
	case err != nil:
		return usagef("%s, %v", name, err)
	case len(text) > skill.MaxBytes:
		return usagef("%s: with a region it has %d bytes, at most %d are allowed", name, len(text), skill.MaxBytes)
	}
	out := a.printer(a.Out)
	if text == s.Text() {
		_, err = fmt.Fprintf(out, "%s has a learned region already\n", oneLine(name))
		return err
	}
	if err := disk.WriteFile(path, []byte(text), info.Mode().Perm()); err != nil {
		return fmt.Errorf("begin the learned region: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s has an empty learned region at its end; edits.region: learned trains it and nothing else\n", oneLine(name))
	return err
}
