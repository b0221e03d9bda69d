package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// This file explains runs that have neither steps nor an evaluation.

// showNoise shows how much chance changes the scores of a split.
func showNoise(out printer, v ask.View) error {
	n := v.Noise
	if n == nil {
		_, err := fmt.Fprintln(out, "\nno result yet; the same `skillopt doctor --noise` command continues")
		return err
	}
	fmt.Fprintln(out)
	if n.ChangedLow != nil {
		out.line(fmt.Sprintf("score changed by chance: %.1f %% of the tasks, %.1f to %.1f %% with 95 %% confidence", 100**n.Changed, 100**n.ChangedLow, 100**n.ChangedHigh))
	}
	if n.DetectableLow != nil {
		out.line(fmt.Sprintf("with that many changes differences are seen from %.1f to %.1f points on", 100**n.DetectableLow, 100**n.DetectableHigh))
	}
	writeNoise(out, &n.Noise)
	return nil
}

// Bounds of what is printed of a draft.
const shownDrafts = 20

// showDraft shows what was drafted.
func showDraft(out printer, v ask.View) error {
	made := "`skillopt init --generate`, which drafted tasks"
	if v.Manifest.About("draft.triggers") != "" {
		made = "`skillopt init --triggers`, which drafted trigger tasks"
	}
	fmt.Fprintf(out, "  the record of %s; it has no steps\n", made)
	d := v.Drafted
	if d == nil {
		_, err := fmt.Fprintln(out, "\nnothing is drafted yet; the same command continues")
		return err
	}
	asked := "unknown"
	if d.Asked > 0 {
		asked = fmt.Sprint(d.Asked)
	}
	fmt.Fprintf(out, "\ntasks asked for: %s; kept %d, of which %d are doubtful\n", asked, d.Kept, d.Doubtful)
	for _, f := range d.Fell {
		fmt.Fprintf(out, "  %s that %s\n", wording.Plural(f.N, "draft fell", "drafts fell"), oneLine(f.Reason))
	}
	for _, t := range d.Tasks[:min(len(d.Tasks), shownDrafts)] {
		showDrafted(out, t)
	}
	if left := len(d.Tasks) - shownDrafts + d.LeftOut; left > 0 && len(d.Tasks) > shownDrafts {
		fmt.Fprintf(out, "\n%d more; --json has all that are read\n", left)
	}
	return nil
}

func showDrafted(out printer, t result.DraftedTask) {
	kind := t.Type
	if t.Trigger != "" {
		kind = strings.ReplaceAll(t.Trigger, "_", " ") + " load the skill"
	}
	fmt.Fprintf(out, "\n%s  %s\n", oneLine(t.ID), oneLine(kind))
	fmt.Fprintf(out, "  %s\n", firstLine(t.Prompt))
	for _, line := range []struct{ name, text string }{{"expected", strings.Join(t.Gold, " or ")}, {"tests", t.Source}, {"why", t.Why}, {"doubt", strings.Join(t.Doubts, "; ")}} {
		if line.text != "" {
			fmt.Fprintf(out, "  %s: %s\n", line.name, firstLine(line.text))
		}
	}
}

// showFiles lists the files of a run of a kind that this program does not know.
func showFiles(out printer, v ask.View) error {
	fmt.Fprintf(out, "\nthis version does not know runs of the kind %q; a newer one shows the result. Files:\n", oneLine(string(v.Manifest.Kind)))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range v.Files {
		size := fmt.Sprintf("%d bytes", f.Bytes)
		if f.Folder {
			size = "folder"
		}
		fmt.Fprintf(w, "  %s\t%s\n", oneLine(f.Name), size)
	}
	return w.Flush()
}
