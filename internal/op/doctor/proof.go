package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/proof"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/result"
)

// prove has the agent of the config work once against a scripted model, and adds
// the result.
func (e *examiner) prove(ctx context.Context, info agent.Info) {
	row := "proof " + e.session.Config.Agent.Name
	if support := sandbox.Supports(); e.session.Config.Agent.Sandbox == "auto" && support.Kind == "" && e.session.Config.Agent.Name != agent.BuiltinName {
		e.rows = append(e.rows, result.Finding{Name: row, Skipped: true, Detail: "not made: programs cannot be confined here"})
		return
	}
	key, err := e.proofKey(info)
	if err != nil {
		e.add(row, "", err, "")
		return
	}
	cache := proof.Cache{Dir: e.session.Proofs.Dir}
	if kept, ok := cache.Load(key); ok && !e.session.Proofs.Fresh {
		e.proven(row, kept.Result, "proven on "+kept.At.UTC().Format(time.DateOnly)+"; --fresh proves it again", info)
		return
	}
	res, err := e.makeProof(ctx)
	if err != nil {
		e.add(row, "", session.Unfit(err), cmp.Or(info.Help, "check agent in the config"))
		return
	}
	e.proven(row, res, "with a scripted model: no call was paid", info)
	if err := cache.Save(key, res, e.session.Now()); err != nil {
		e.rows = append(e.rows, result.Finding{Name: row, OK: true, Warning: true, Detail: err.Error()})
	}
}

// makeProof makes the proof, whatever is kept.
func (e *examiner) makeProof(ctx context.Context) (proof.Result, error) {
	programs := e.session.Commands()
	guard, err := programs.Guard()
	if err != nil {
		return proof.Result{}, err
	}
	c := e.session.Config.Agent
	c.Read = programs.Readable()
	return wiring.ProveAgent(ctx, c, guard, e.session.Config.Models.Target, e.session.Loaded.Lookup)
}

// proven adds a result. how says how it was come by.
func (e *examiner) proven(row string, res proof.Result, how string, info agent.Info) {
	switch {
	case res.Unprovable != "":
		e.rows = append(e.rows, result.Finding{Name: row, Skipped: true, Detail: "not provable: " + res.Unprovable})
	case res.OK:
		e.rows = append(e.rows, result.Finding{Name: row, OK: true, Detail: strings.Join(res.Shown, ", ") + " (" + how + ")"})
	default:
		err := fmt.Errorf("%s (%s)", strings.Join(res.Wrong, "; "), how)
		e.add(row, "", fault.Input(err), proofHelp(info))
	}
	for _, note := range res.Notes {
		e.rows = append(e.rows, result.Finding{Name: row, OK: true, Warning: true, Detail: note})
	}
}

// proofHelp says what helps an agent that shows less than it is measured by.
func proofHelp(info agent.Info) string {
	switch {
	case info.Name == agent.CustomName:
		return "check agent.custom; docs/agents.md says what each of its keys means"
	case info.Tested != "" && info.Version != info.Tested:
		return fmt.Sprintf("install the version that was tested, %s (%s), or try another model (models.target.model)", info.Tested, installHelp(info))
	}
	return "try another model (models.target.model) or another agent; docs/agents.md says how each of them fares"
}

// installHelp returns how the version that was tested is installed.
func installHelp(info agent.Info) string {
	if strings.HasPrefix(info.Help, "npm install") {
		return info.Help + "@" + info.Tested
	}
	return info.Help
}

// proofKey sums up what a proof depends on: the program, what it is given, and us.
func (e *examiner) proofKey(info agent.Info) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	path, _ := e.session.Loaded.Lookup("PATH")
	return proof.Key([]any{
		info.Name, info.Version, identity(info.Path), identity(own), e.session.Config.Agent, e.session.Config.Models.Target.Model, e.session.Config.Models.Target.Context, path,
		sandbox.Supports(),
	})
}

// identity distinguishes a file from what takes its place later, without reading it.
func identity(path string) []string {
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return []string{path}
	}
	info, err := os.Stat(real)
	if err != nil {
		return []string{path, real}
	}
	return []string{path, real, fmt.Sprint(info.Size()), info.ModTime().UTC().Format(time.RFC3339Nano)}
}
