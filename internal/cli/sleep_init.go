package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepInitOptions are the flags of sleep init.
type sleepInitOptions struct {
	draftProfile

	revoke string // a host, or "all"; "": nothing is taken back
}

func sleepInitCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepInitOptions
	c := &cobra.Command{
		Use:   "init [DIR]...",
		Short: "Choose the projects whose sessions may be read, the models, and where text may go",
		Long: `Look at the sessions of all agents, without keeping or showing any text of them, and list
the projects with how many there are. You choose the projects that may be read, or name their
folders, and which model answers: one that is found on this machine, such as the program of a
coding agent with your login, or another one. You see the host that text of sessions and files of the projects would
go to in later nights and what a first night is expected to cost, and are asked whether it may. The
profile is written, and what you agreed to is noted. Without a model nothing is sent to anyone.

An existing profile stays as it is: you are asked only about hosts that you have not
agreed to. --revoke takes consent back, for a host or for all. Nothing is sent there any more; what
was sent before cannot be called back. skillopt sleep status lists what was given. It asks on a
terminal alone.`,
		Example: `  skillopt sleep init
  skillopt sleep init ~/src/shop ~/src/site
  skillopt sleep init --target openai/gpt-5-mini --optimizer openai/gpt-5
  skillopt sleep init --config models.yaml
  skillopt sleep init --revoke api.openai.com
  skillopt sleep init --revoke all`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at.project != "" {
				args = append(args, at.project)
			}
			if o.revoke != "" {
				return revokeConsent(cmd.Context(), a, *at, o.revoke)
			}
			return o.run(cmd.Context(), a, *at, args)
		},
	}
	o.addModels(c)
	c.Flags().StringVar(&o.revoke, "revoke", "", "take consent back that was given for this host, or for all")
	return c
}

func (o *sleepInitOptions) run(ctx context.Context, a *app, at sleepFlags, dirs []string) error {
	setup, err := a.openProfile(at)
	if err != nil {
		return err
	}
	if !a.Terminal {
		return usagef("sleep init asks, and there is no terminal to ask on; run it on one, or write %s: the folders that may be read under sleep.projects, one a line; `skillopt sleep doctor` shows what is there", setup.profile)
	}
	q := &asking{in: bufio.NewReader(a.In), out: a.printer(a.Err)}
	places, err := setup.survey(ctx, a)
	if err != nil {
		return err
	}
	if setup.found {
		return o.askMissing(ctx, a, setup, q, dirs, places)
	}
	if o.projects, err = o.choose(a, q, dirs, places); err != nil {
		return err
	}
	if o.config+o.target == "" {
		if o.target, o.optimizer, err = q.model(a.offers(ctx), "a number, PROVIDER/MODEL, MODEL@URL, or Enter for none: "); err != nil {
			return err
		}
	}
	if err := o.check(a); err != nil {
		return err
	}
	for _, dir := range o.projects {
		q.out.line("  may be read: " + oneLine(dir))
	}
	q.out.line("what is read stays in " + oneLine(setup.dir) + ", without secrets")
	if err := q.agree("write " + oneLine(setup.profile) + "? [y/N] "); err != nil {
		return err
	}
	if err := o.write(a, setup.profile); err != nil {
		return err
	}
	q.out.line("wrote " + oneLine(setup.profile))
	if setup, err = a.sleepSetup(at); err != nil {
		return err
	}
	if err := o.consent(ctx, a, setup, q, places); err != nil {
		return err
	}
	next := "skillopt sleep harvest"
	if setup.loaded.Config.Models.Optimizer.Provider != "" {
		next = "skillopt sleep run"
	}
	q.out.line("next: " + setup.command(next))
	return nil
}

// openProfile reads the profile, or one that is named and not there yet as without one.
func (a *app) openProfile(at sleepFlags) (sleepSetup, error) {
	setup, err := a.sleepSetup(at)
	if err == nil || !isNew(at.profile, err, setup) {
		return setup, err
	}
	s, err := a.readSleepSetup("", a.absolute(at.profile))
	s.project = setup.project
	return s, err
}

// isNew reports whether all that is wrong with a profile that was named is that it is not there.
func isNew(profile string, err error, s sleepSetup) bool {
	if profile == "" || s.profile == "" {
		return false
	}
	_, bad := os.Lstat(s.profile)
	return err != nil && errors.Is(bad, fs.ErrNotExist)
}

// askMissing asks what a profile that is there does not answer.
func (o *sleepInitOptions) askMissing(ctx context.Context, a *app, s sleepSetup, q *asking, dirs []string, places []harvest.Place) error {
	q.out.line(oneLine(s.profile) + " is there already and stays as it is; it allows " + wording.Plural(len(s.allowedFolders()), "project", "projects"))
	for _, dir := range s.allowedFolders() {
		q.out.line("  " + oneLine(dir))
	}
	for _, warning := range s.checkFolders() {
		q.out.line("warning: " + oneLine(warning))
	}
	for _, dir := range dirs {
		if dir = a.folder(dir); !slices.Contains(s.allowedFolders(), dir) {
			q.out.line("to allow one more, add this line under sleep.projects:")
			q.out.line("    - " + quoteYAML(dir))
		}
	}
	if len(dirs) == 0 {
		q.out.line("to allow more, add folders under sleep.projects; `skillopt sleep init DIR` shows the line")
	}
	return o.consent(ctx, a, s, q, places)
}

// choose shows what is there and asks which projects may be read.
func (o *sleepInitOptions) choose(a *app, q *asking, dirs []string, places []harvest.Place) ([]string, error) {
	list := listProjects(places)
	if err := showPlaces(q.out, places, list); err != nil {
		return nil, err
	}
	if len(dirs) > 0 {
		return folders(a, dirs)
	}
	line, err := q.ask("which may be read? numbers or folders, with commas between: ")
	if err != nil {
		return nil, err
	}
	words, err := parseFolders(line, list)
	if err != nil {
		return nil, err
	}
	return folders(a, words)
}

// listProjects returns the projects of places, each once.
func listProjects(places []harvest.Place) []string {
	var out []string
	for _, p := range places {
		if !slices.Contains(out, p.Project) {
			out = append(out, p.Project)
		}
	}
	return out
}

func showPlaces(out printer, places []harvest.Place, list []string) error {
	if len(places) == 0 {
		out.line("no sessions of any agent were found; `skillopt sleep doctor` says where it looks")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tAGENT\tSESSIONS\tOF SCRIPTS\tNEWEST\tPROJECT")
	before := ""
	for _, p := range places {
		number := ""
		if p.Project != before {
			number = strconv.Itoa(slices.Index(list, p.Project) + 1)
		}
		before = p.Project
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\n", number, p.Source, p.Interactive, p.Headless, p.Newest.Local().Format("2006-01-02"), oneLine(p.Project))
	}
	return w.Flush()
}

// parseFolders returns the folders of an answer: numbers of a list, or folders.
func parseFolders(line string, list []string) ([]string, error) {
	parts := strings.Split(line, ",")
	if strings.Trim(line, "0123456789, ") == "" {
		parts = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	}
	var out []string
	for _, part := range parts {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		switch {
		case part == "":
		case err != nil:
			out = append(out, part)
		case n < 1 || n > len(list):
			return nil, usagef("there is no number %d, only 1 to %d; nothing was written", n, len(list))
		default:
			out = append(out, list[n-1])
		}
	}
	if len(out) == 0 {
		return nil, usagef("no project was chosen; nothing was written")
	}
	return out, nil
}

// folders makes folders that the user named absolute, and refuses what cannot be one.
func folders(a *app, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		dir := a.folder(name)
		switch info, err := os.Stat(dir); {
		case err != nil:
			return nil, usagef("%s: %v; name the folder of a project that is there", name, stripPath(err))
		case !info.IsDir():
			return nil, usagef("%s is not a folder; name the folder of a project", name)
		case filepath.Dir(dir) == dir:
			return nil, usagef("%s holds everything; name the folders of projects", name)
		case !utf8.ValidString(dir) || strings.Contains(dir, "${") || strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' }):
			return nil, usagef("%s cannot be in a profile; name a folder above it", quoteYAML(dir))
		}
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out, nil
}

// folder returns the path of a folder of the command line: as it is, from ~, or relative to the
// working directory.
func (a *app) folder(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if folders, err := config.UserFolders(); err == nil {
			return filepath.Join(folders.Home, rest)
		}
	}
	return filepath.Clean(a.absolute(name))
}

// quoteYAML writes a text so that YAML reads it back.
func quoteYAML(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return string(data)
}

// asking asks on a terminal, several questions one after the other.
type asking struct {
	in  *bufio.Reader
	out printer
}

func (q *asking) ask(question string) (string, error) {
	fmt.Fprint(q.out, question)
	line, err := q.in.ReadString('\n')
	if err != nil && line == "" {
		return "", usagef("no answer: nothing was written")
	}
	return strings.TrimSpace(line), nil
}

// agree asks for a yes; anything else is an error.
func (q *asking) agree(question string) error {
	answer, err := q.ask(question)
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return usagef("nothing was written")
	}
	return nil
}
