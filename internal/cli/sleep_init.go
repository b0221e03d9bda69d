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
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepInitOptions are the flags of sleep init.
type sleepInitOptions struct{ projects []string }

func sleepInitCommand(a *app, profile *string) *cobra.Command {
	var o sleepInitOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Choose the projects whose sessions may be read, and where text may go",
		Long: `Look at the sessions of all agents, without keeping or showing any text of them, and list
the projects with how many there are. You choose the projects that may be read, see for
each model of the profile the host that text of sessions and files of the projects would
go to in later nights, and are asked whether it may. The profile is written, and what you
agreed to is noted. Without a model in the profile nothing is sent to anyone.

An existing profile stays as it is: you are asked only about hosts that you have not
agreed to. It asks on a terminal alone.`,
		Example: `  skillopt sleep init
  skillopt sleep init --project ~/src/shop --project ~/src/site`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *profile) },
	}
	c.Flags().StringArrayVar(&o.projects, "project", nil, "a folder whose sessions may be read, instead of choosing (may be given more than once)")
	return c
}

func (o *sleepInitOptions) run(ctx context.Context, a *app, profile string) error {
	setup, err := a.sleepSetup(profile)
	if err != nil && !isNew(profile, err, setup) {
		return err
	}
	if err != nil { // a profile that is named and not there yet: it is written
		if setup, err = newProfile(a, profile); err != nil {
			return err
		}
	}
	if !a.Terminal {
		return usagef("sleep init asks, and there is no terminal to ask on; run it on one, or write %s: the folders that may be read under sleep.projects, one a line; `skillopt sleep doctor` shows what is there", setup.profile)
	}
	q := &asking{in: bufio.NewReader(a.In), out: a.printer(a.Err)}
	if setup.found {
		return o.anew(ctx, a, setup, q)
	}
	projects, err := o.choose(ctx, a, setup, q)
	if err != nil {
		return err
	}
	for _, dir := range projects {
		q.out.line("  may be read: " + oneLine(dir))
	}
	q.out.line("what is read stays in " + oneLine(setup.dir) + ", without secrets")
	if err := q.agree("write " + oneLine(setup.profile) + "? [y/N] "); err != nil {
		return err
	}
	if err := writeProfile(setup.profile, projects); err != nil {
		return err
	}
	q.out.line("wrote " + oneLine(setup.profile))
	if err := o.consent(ctx, a, setup, q); err != nil {
		return err
	}
	q.out.line("next: skillopt sleep harvest")
	return nil
}

// isNew reports whether all that is wrong with a profile that was named is that it is not there.
func isNew(profile string, err error, s sleepSetup) bool {
	if profile == "" || s.profile == "" {
		return false
	}
	_, bad := os.Lstat(s.profile)
	return err != nil && errors.Is(bad, fs.ErrNotExist)
}

// newProfile is the setup of a profile that is not there yet.
func newProfile(a *app, profile string) (sleepSetup, error) {
	s, err := a.sleepSetupOf("", a.absolute(profile))
	s.found = false
	return s, err
}

// anew asks what a profile that is there does not answer.
func (o *sleepInitOptions) anew(ctx context.Context, a *app, s sleepSetup, q *asking) error {
	q.out.line(oneLine(s.profile) + " is there already and stays as it is; it allows " + wording.Plural(len(s.allowed()), "project", "projects"))
	for _, dir := range s.allowed() {
		q.out.line("  " + oneLine(dir))
	}
	for _, warning := range s.moved() {
		q.out.line("warning: " + oneLine(warning))
	}
	for _, dir := range o.projects {
		if dir = filepath.Clean(a.absolute(dir)); !slices.Contains(s.allowed(), dir) {
			q.out.line("to allow one more, add this line under sleep.projects:")
			q.out.line("    - " + quoted(dir))
		}
	}
	if len(o.projects) == 0 {
		q.out.line("to allow more, add folders under sleep.projects; `skillopt sleep init --project DIR` shows the line")
	}
	return o.consent(ctx, a, s, q)
}

// choose shows what is there and asks which projects may be read.
func (o *sleepInitOptions) choose(ctx context.Context, a *app, s sleepSetup, q *asking) ([]string, error) {
	places, err := s.survey(ctx, a)
	if err != nil {
		return nil, err
	}
	list := projectsOf(places)
	if err := showPlaces(q.out, places, list); err != nil {
		return nil, err
	}
	if len(o.projects) > 0 {
		return folders(a, o.projects)
	}
	line, err := q.ask("which may be read? numbers or folders, with commas between: ")
	if err != nil {
		return nil, err
	}
	words, err := chosen(line, list)
	if err != nil {
		return nil, err
	}
	return folders(a, words)
}

// projectsOf are the projects of places, each once.
func projectsOf(places []harvest.Place) []string {
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

// chosen are the folders of an answer: numbers of a list, or folders.
func chosen(line string, list []string) ([]string, error) {
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
			return nil, usagef("%s: %v; name the folder of a project that is there", name, reasonOf(err))
		case !info.IsDir():
			return nil, usagef("%s is not a folder; name the folder of a project", name)
		case filepath.Dir(dir) == dir:
			return nil, usagef("%s holds everything; name the folders of projects", name)
		case !utf8.ValidString(dir) || strings.Contains(dir, "${") || strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' }):
			return nil, usagef("%s cannot stand in a profile; name a folder above it", quoted(dir))
		}
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out, nil
}

// folder is a folder of the command line: as it is, from ~, or relative to the working
// directory.
func (a *app) folder(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if folders, err := config.UserFolders(); err == nil {
			return filepath.Join(folders.Home, rest)
		}
	}
	return filepath.Clean(a.absolute(name))
}

// quoted writes a text so that YAML reads it back.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return string(data)
}

const profileText = `# What the sleep commands of skillopt read, and where they keep it.
# ` + "`skillopt config explain --changed FILE`" + ` shows what holds, docs/sleep.md says what it means.
sleep:
  # Folders whose sessions may be read, with all below them. Empty: none are.
  projects:
%s
  # keep: 90d     # sessions that ended longer ago are deleted from what is kept
  # disk: 5GB     # the most that what is kept may take
  # sources: [claude, codex]   # absent: all agents

# Models of later nights. Without any nothing is sent; with one, ` + "`skillopt sleep init`" + ` asks
# whether text of sessions and files of the projects may go to its host.
# models:
#   target: {provider: ollama, model: qwen3:8b}
#   optimizer: {provider: openai, model: gpt-5-mini}
`

// writeProfile writes a profile for the user alone, with the schema next to it.
func writeProfile(path string, projects []string) error {
	var lines []string
	for _, dir := range projects {
		lines = append(lines, "    - "+quoted(dir))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the profile: %w", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is there already and is not replaced; move it away, or run skillopt sleep init again", path)
	}
	text := fmt.Sprintf(profileText, strings.Join(lines, "\n"))
	if err := disk.WriteFile(path, withSchemaLine([]byte(text)), 0o600); err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return writeSchema(filepath.Dir(path))
}

// consent shows where text would go, asks for what the user has not agreed to, and notes it.
func (o *sleepInitOptions) consent(ctx context.Context, a *app, s sleepSetup, q *asking) (err error) {
	list, err := s.destinations()
	if err != nil {
		return err
	}
	q.out.line("text of sessions and files of the projects would go in later nights to:")
	for _, d := range list {
		q.out.line("  " + destinationText(d))
	}
	if err := o.money(ctx, a, s, q); err != nil {
		return err
	}
	missing, err := unconsented(ctx, s.dir, remote(list))
	if err != nil || len(missing) == 0 {
		return tellConsent(q.out, list, err)
	}
	for _, d := range missing {
		q.out.line(fmt.Sprintf("not agreed to yet: %s as %s", oneLine(d.Host), d.Role))
	}
	if err := q.agree("may they be sent there? [y/N] "); err != nil {
		q.out.line("nothing is sent; harvest works without it, and `skillopt sleep init` asks again")
		return nil
	}
	b, err := bank.Open(ctx, s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, d := range missing {
		if err := b.Grant(ctx, d.Role, d.Host, time.Now()); err != nil {
			return err
		}
	}
	q.out.line("noted; `skillopt sleep consent --revoke` takes it back")
	return nil
}

func tellConsent(out printer, list []wiring.Destination, err error) error {
	if err == nil && len(remote(list)) > 0 {
		out.line("you have agreed to all of it; `skillopt sleep consent` lists it")
	}
	return err
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
