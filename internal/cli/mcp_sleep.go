package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// runSleepTool carries out a sleep command for the project that the first root is in, if the user has agreed that the
// vendor of the agent that asks may read of it.
func runSleepTool(ctx context.Context, s *mcpServer, call *mcp.Call, g *config.Guard, words []string) ([]byte, error) {
	at, err := s.mayShow(ctx, call.Client(), g)
	if err != nil {
		return nil, err
	}
	return s.carryOut(ctx, sub{guard: g}, at.words(words)...)
}

// words returns a command line with the flags.
func (at sleepFlags) words(line []string) []string {
	flags := []string{line[0], "--project=" + at.project}
	if at.profile != "" {
		flags = append(flags, "--profile="+at.profile)
	}
	return append(flags, line[1:]...)
}

// mayShow returns the profile and the project of the sleep tools, and an error if the agent's vendor may not read of it.
func (s *mcpServer) mayShow(ctx context.Context, client string, g *config.Guard) (at sleepFlags, err error) {
	at.profile = s.options.profile
	setup, err := s.app.sleepSetup(at)
	if err != nil {
		return at, shownFailure(err)
	}
	allowed := harvest.NewProjects(setup.allowedFolders()...)
	if at.project = g.Roots[0]; !allowed.Allow(at.project) {
		return at, usagef("the profile of the sleep commands does not allow the project %s; `skillopt sleep init` in a terminal asks the user for it", at.project)
	}
	at.project = findProjectRoot(at.project, allowed)
	return at, setup.agreedTo(ctx, client)
}

// agreedTo fails unless the user has agreed that text of sessions goes to the vendor of an agent.
func (s sleepSetup) agreedTo(ctx context.Context, client string) (err error) {
	const instead = "`skillopt sleep show` in a terminal shows it"
	name, hosts := agent.Vendor(client)
	if name == "" {
		return usagef("nights hold text of sessions, and it is not known who the vendor of %q is; %s", wording.Cut(client, 60), instead)
	}
	login := " (its own login)"
	hosts = append(hosts, name+login, name+"-cli"+login)
	b, err := s.look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	given, err := b.Consents(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(given, func(c bank.Consent) bool { return c.Revoked.IsZero() && slices.Contains(hosts, c.Host) }) {
		return nil
	}
	return usagef("nights hold text of sessions, and the user has not agreed that it goes to %s, whose models %s asks; %s, and a profile with a model of that host, with the consent that `skillopt sleep init` asks for, allows it here", hosts[0], name, instead)
}

// hashShown is how many digits of a hash a person types.
const hashShown = 6

// adoptTool returns the tool that writes what a night has staged, once a person has typed the beginning of its hash.
func (s *mcpServer) adoptTool() mcp.Tool {
	return mcp.Tool{
		Name: "sleep_adopt", Title: "Ask the user to adopt what a night has staged", Writes: true, Destructive: true,
		Description: "Ask the user, in a form, to adopt what a night has staged: its text is written into documents that agents read. Show the user what sleep_diff says first. The form asks for the first six characters of the hash, which the user alone can type; without a form the answer is the command for a terminal.",
		Params: []mcp.Param{
			{Name: "night", Description: "the name of the night", Type: mcp.Text, Required: true},
			{Name: "hash", Description: "the hash of the document, as sleep_diff says it", Type: mcp.Text, Required: true},
		},
		Run: s.adopt,
	}
}

// adopt asks the user and adopts.
func (s *mcpServer) adopt(ctx context.Context, call *mcp.Call) (string, error) {
	g, err := s.guard(ctx, call.Peer)
	if err != nil {
		return "", err
	}
	at, err := s.mayShow(ctx, call.Client(), g)
	if err != nil {
		return "", err
	}
	nightName, hash := call.Args["night"].(string), call.Args["hash"].(string)
	setup, what, err := s.findAdoption(ctx, at, nightName, hash)
	if err != nil {
		return "", shownFailure(err)
	}
	target := what.request.Items[0].Target
	typed, err := call.Ask(ctx, what.form(), "hash", fmt.Sprintf("the first %d characters of the hash, to adopt it", hashShown))
	if err == nil && typed == what.hash[:hashShown] {
		doc, err := s.carryOut(ctx, sub{guard: g}, at.words([]string{"sleep", "adopt", "--json", "--target=" + target, "--expect=" + what.hash, "--", nightName})...)
		return mcp.Page{}.Shorten(doc), err
	}
	why := "the user has not typed the first characters of the hash"
	if err != nil {
		why = err.Error()
	}
	return "", usagef("nothing was written: %s. In a terminal the user can: `%s`", why,
		setup.command(fmt.Sprintf("skillopt sleep adopt %s --project %s --target %s --expect %s", shellWord(nightName), shellWord(at.project), shellWord(target), what.hash)))
}

// findAdoption finds what a night has staged under a hash.
func (s *mcpServer) findAdoption(ctx context.Context, at sleepFlags, nightName, hash string) (setup sleepSetup, found adoption, err error) {
	const least = 12
	if len(hash) < least {
		return setup, found, usagef("hash: found %q, allowed: at least %d digits of what sleep_diff says", hash, least)
	}
	err = withNight(ctx, s.app, at, nightName, func(s2 sleepSetup, r *night.Report) error {
		setup = s2
		p, err := requireProposal(setup, r)
		if err != nil {
			return err
		}
		for _, item := range p.Items {
			o := sleepAdoptOptions{targets: []string{item.Target}}
			what, err := o.prepare(ctx, s.app, setup, r)
			if err == nil && strings.HasPrefix(what.hash, hash) {
				found = what
				return nil
			}
		}
		return usagef("night %s has staged nothing with the hash %s: call sleep_diff again, and show its answer to the user", nightName, wording.Cut(hash, 80))
	})
	return setup, found, err
}

// form returns the text of the form. What to type comes first, because hosts show only the beginning of a long text.
func (w adoption) form() string {
	text := fmt.Sprintf("Night %s of %s:\n", w.night.ID, w.night.Project)
	for i, p := range w.planned {
		it := w.request.Items[i]
		diff := record.DiffText(p.Live, p.Text, it.Target, "live", "proposed").Diff
		text += fmt.Sprintf("\n%s (%s)\n%s\n", p.Place.File(), cmp.Or(it.Claim, "no claim"), wording.Middle(diff, maxForm/len(w.planned)))
	}
	text = ask.Shareable(struct{ Form string }{printable(text)}).Form
	return fmt.Sprintf("To write what follows, type the first %d characters of its hash %s. Nothing else writes it.\n", hashShown, w.hash) + text
}

// maxForm is how much of what is written a form shows, in bytes.
const maxForm = 3000
