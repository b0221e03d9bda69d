package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fetch"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// benchFetchOptions are the flags of bench fetch.
type benchFetchOptions struct {
	accept bool
	to     string
}

func benchFetchCommand(a *app) *cobra.Command {
	var o benchFetchOptions
	c := &cobra.Command{
		Use:   "fetch NAME_OR_DIR [--accept-licence]",
		Short: "Get the rows of a benchmark from where they are published",
		Long: `Get the rows of a benchmark, once its licence is accepted. It continues where it stopped, and holds
every file against its SHA-256: the publisher's or, where there is none, that of the first time,
which bench.lock keeps. A source without a commit is fixed at the one it is at now.

HF_TOKEN, where it is set, goes to Hugging Face alone, never along with a redirect.

` + exitHelp,
		Example: `  skillopt bench fetch searchqa --accept-licence
  skillopt bench fetch docvqa --to /data/docvqa
  HF_TOKEN=... skillopt bench fetch ./my-bench --accept-licence`,
		Args: exactArgs(1, "the name of a benchmark, or a folder"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), a, args[0]) },
	}
	c.Flags().BoolVar(&o.accept, "accept-licence", false, "the licence that is shown is accepted: do not ask")
	c.Flags().StringVar(&o.to, "to", "", "the folder for the files; absent: one below your folder of this program's state")
	return c
}

func (o *benchFetchOptions) run(ctx context.Context, a *app, name string) error {
	f, err := openBench(ctx, a, name)
	if err != nil {
		return err
	}
	if len(f.Sources) == 0 {
		return usagef("%s names no source to fetch from (%s): get its rows yourself, then skillopt bench prepare %s --from DIR --out OUT", f.Where, f.Homepage, name)
	}
	if err := o.confirmLicence(a, f); err != nil {
		return err
	}
	dir := a.absolute(o.to)
	if dir == "" {
		if dir, err = benchData(a, f); err != nil {
			return err
		}
	}
	out := a.printer(a.Err)
	progress := func(e fetch.Event) { writeFetching(out, e) }
	if a.json {
		progress = nil
	}
	report, err := interruptible(ctx, a.Signals, func(ctx context.Context) (benchmark.Fetched, error) {
		return benchmark.Fetch(ctx, benchmark.Fetching{Folder: f, Dir: dir, Options: fetchOptions(), Progress: progress})
	})
	if err != nil {
		return asFetchInput(err)
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	writeFetched(a.results(), report, name, o.to)
	return nil
}

// confirmLicence shows the licence, and asks unless it is accepted.
func (o *benchFetchOptions) confirmLicence(a *app, f *folder.Folder) error {
	out := a.printer(a.Err)
	if !a.json {
		out.line(fmt.Sprintf("%s: %s", f.Name, f.Title))
		out.paragraph("licence: " + f.Licence)
		for _, s := range listSources(f) {
			out.line("from " + s)
		}
	}
	if o.accept {
		return nil
	}
	if !a.Terminal || a.json {
		return usagef("the licence of %s has to be accepted (%s): read it, then say --accept-licence", f.Name, f.Licence)
	}
	fmt.Fprint(out, "accept it, and fetch? [y/N] ")
	line, err := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	if err != nil && line == "" || answer != "y" && answer != "yes" {
		return usagef("not accepted, and nothing is fetched; --accept-licence accepts it without asking")
	}
	return nil
}

// fetchOptions returns the options of the process: its tokens and its proxy.
func fetchOptions() fetch.Options {
	hf, _ := config.Environment("HF_TOKEN")
	gh, _ := config.Environment("GITHUB_TOKEN")
	return fetch.Options{HFToken: hf, GitHubToken: gh, Proxy: wiring.Proxy(config.Environment)}
}

// asFetchInput distinguishes errors of the input from those of the network and the disk.
func asFetchInput(err error) error {
	for _, kind := range []error{fetch.ErrSource, fetch.ErrNotFound, fetch.ErrGated, fetch.ErrHash, fetch.ErrLockFile, fetch.ErrBound} {
		if errors.Is(err, kind) {
			return usagef("%v", err)
		}
	}
	if errors.Is(err, fetch.ErrTransport) || errors.Is(err, fetch.ErrBusy) || errors.Is(err, fetch.ErrCut) {
		return fmt.Errorf("%w; what is here stays, and the same command continues; rows that you have already: skillopt bench prepare NAME --from DIR --out OUT", err)
	}
	return err
}

// writeFetching prints what happens in a fetch.
func writeFetching(out printer, e fetch.Event) {
	switch e.Kind {
	case fetch.Listed:
		out.line(fmt.Sprintf("%s, %s", wording.Plural(e.Files, "file", "files"), sizeText(e.Total)))
	case fetch.Begun:
		at := ""
		if e.Done > 0 {
			at = fmt.Sprintf(", from %s on", disk.Size(e.Done))
		}
		out.line(fmt.Sprintf("fetching %s (%s%s)", e.File.Path, sizeText(e.Total), at))
	case fetch.Waiting:
		out.line(fmt.Sprintf("waiting %s: %v", e.Wait, e.Err))
	}
}

func sizeText(n int64) string {
	if n < 0 {
		return "of unknown size"
	}
	return disk.Size(n)
}

// writeFetched prints its result.
func writeFetched(out printer, r benchmark.Fetched, name, to string) {
	out.line(fmt.Sprintf("%s: %s in %s, %d of them fetched now (%s)", r.Benchmark, wording.Plural(len(r.Files), "file", "files"), out.path(r.Dir), r.New, disk.Size(r.Bytes)))
	for _, repo := range slices.Sorted(slices.Values(r.Fixed)) {
		out.line("fixed from now on: " + repo)
	}
	if len(r.Pinned) > 0 {
		out.paragraph(fmt.Sprintf("%s no published hash: what came now is taken down in %s, and holds from now on", wording.Plural(len(r.Pinned), "file has", "files have"), fetch.LockName))
	}
	if to != "" {
		out.line(fmt.Sprintf("next: skillopt bench prepare %s --from %s --out OUT", name, shellWord(to)))
		return
	}
	out.line(fmt.Sprintf("next: skillopt bench run %s --config models.yaml", name))
}
