package skillopt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/proof"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wire"
)

// Proofs says where Examine keeps what it has proven of an agent. The zero value keeps
// nothing.
type Proofs struct {
	Dir   string // a folder for nothing else; it is made
	Fresh bool   // prove again what is kept
}

// WithProofs keeps proofs of agents: one that is kept for the same program, model,
// config and build of this package is not made again.
func WithProofs(p Proofs) Option { return func(o *options) { o.proofs = p } }

// prove has the agent of the config work once against a scripted model, and adds what
// came of it.
func (e *Examination) prove(ctx context.Context, s *setup, info agent.Info) {
	row := "proof " + s.cfg.Agent.Name
	if support := sandbox.Supports(); s.cfg.Agent.Sandbox == "auto" && support.Kind == "" && s.cfg.Agent.Name != agent.BuiltinName {
		e.Rows = append(e.Rows, Finding{Name: row, Skipped: true, Detail: "not made: programs cannot be confined here"})
		return
	}
	key, err := s.proofKey(info)
	if err != nil {
		e.add(row, "", err, "")
		return
	}
	cache := proof.Cache{Dir: s.proofs.Dir}
	if kept, ok := cache.Load(key); ok && !s.proofs.Fresh {
		e.proven(row, kept.Result, "proven on "+kept.At.UTC().Format(time.DateOnly)+"; --fresh proves it again", info)
		return
	}
	res, err := s.proofOf(ctx)
	if err != nil {
		e.add(row, "", unfit(err), cmp.Or(info.Help, "check agent in the config"))
		return
	}
	e.proven(row, res, "with a scripted model: no call was paid", info)
	if err := cache.Save(key, res, s.now()); err != nil {
		e.Rows = append(e.Rows, Finding{Name: row, OK: true, Warning: true, Detail: err.Error()})
	}
}

// proofOf makes the proof, whatever is kept.
func (s *setup) proofOf(ctx context.Context) (proof.Result, error) {
	guard, err := s.guard()
	if err != nil {
		return proof.Result{}, err
	}
	c := s.cfg.Agent
	c.Read = s.readable()
	return wire.ProveAgent(ctx, c, guard, s.cfg.Models.Target, s.loaded.Lookup)
}

// proven adds a result. how says how it was come by.
func (e *Examination) proven(row string, res proof.Result, how string, info agent.Info) {
	switch {
	case res.Unprovable != "":
		e.Rows = append(e.Rows, Finding{Name: row, Skipped: true, Detail: "not provable: " + res.Unprovable})
	case res.OK:
		e.Rows = append(e.Rows, Finding{Name: row, OK: true, Detail: strings.Join(res.Shown, ", ") + " (" + how + ")"})
	default:
		err := fmt.Errorf("%s (%s)", strings.Join(res.Wrong, "; "), how)
		e.add(row, "", &inputError{err}, proofHelp(info))
	}
	for _, note := range res.Notes {
		e.Rows = append(e.Rows, Finding{Name: row, OK: true, Warning: true, Detail: note})
	}
}

// proofHelp says what helps an agent that shows less than it is measured by.
func proofHelp(info agent.Info) string {
	switch {
	case info.Name == agent.CustomName:
		return "check agent.custom; docs/agents.md says what each of its keys means"
	case info.Tested != "" && info.Version != info.Tested:
		return fmt.Sprintf("install the version that was tested, %s (%s), or try another model (models.target.model)", info.Tested, pinned(info))
	}
	return "try another model (models.target.model) or another agent; docs/agents.md says how each of them fares"
}

// pinned is how the version that was tested is installed.
func pinned(info agent.Info) string {
	if strings.HasPrefix(info.Help, "npm install") {
		return info.Help + "@" + info.Tested
	}
	return info.Help
}

// proofKey sums up what a proof depends on: the program, what it is told, and us.
func (s *setup) proofKey(info agent.Info) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	path, _ := s.loaded.Lookup("PATH")
	return proof.Key([]any{
		info.Name, info.Version, identity(info.Path), identity(own), s.cfg.Agent, s.cfg.Models.Target.Model, s.cfg.Models.Target.Context, path,
		sandbox.Supports(),
	})
}

// identity tells a file from what takes its place later, without reading it.
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
