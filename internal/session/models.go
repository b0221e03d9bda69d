package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
)

// Models are the models that the roles of a configuration have. The one who made them
// closes them.
type Models struct {
	in     *Inputs
	built  map[string]wiring.Built // by role
	prices price.Table
}

// newModels reads the tables of prices. No role has a model yet.
func newModels(ctx context.Context, in *Inputs) (*Models, error) {
	m := &Models{in: in, built: map[string]wiring.Built{}}
	prices, warning, err := in.Config.PriceTable(ctx)
	if err != nil {
		return nil, fault.Input(err)
	}
	m.prices = prices
	if warning != "" {
		in.Warn(warning)
	}
	return m, nil
}

// Load builds the model of a role.
func (m *Models) Load(role string) error {
	in, c := m.in, m.in.Config.Models.Of(role)
	if own := in.Clients[role]; own != nil {
		m.built[role] = wiring.Built{Client: own, Kind: wiring.Own, Endpoint: "client:" + role, Source: "client:" + in.Names["client."+role]}
		return nil
	}
	if role == model.Target && (in.Answers != nil || c.Provider == "" && (in.OwnEnv() || in.Config.Agent.Name != "" && !in.Config.Agent.Gateway)) {
		m.built[role] = wiring.Built{Client: noModel{}, Kind: wiring.None, Endpoint: "none"}
		return nil
	}
	built, err := m.build(role)
	if c.Provider == "sim" && errors.Is(err, fs.ErrNotExist) {
		return in.fileError("models."+role+".world", c.World, "the world file of provider sim", err)
	}
	if err != nil {
		return fault.Input(err)
	}
	m.built[role] = built
	in.Warnings = append(in.Warnings, built.Warnings...)
	if c.World != "" {
		data, err := disk.Read(context.Background(), c.World, sim.MaxBytes) // small, and never waited for
		if err != nil {
			return fmt.Errorf("read world: %w", err)
		}
		in.Contents["models."+role+".world"] = Digest(data)
	}
	return nil
}

// build builds the client of a role. In a replay no model is called, so that it
// needs no key.
func (m *Models) build(role string) (wiring.Built, error) {
	c := m.in.Config.Models.Of(role)
	if m.in.Replay != nil {
		b, err := wiring.DescribeModel(role, c)
		b.Client = m.in.Replay.Client()
		return b, err
	}
	for _, b := range m.built {
		// Two clients in one folder would each write their own list of questions.
		if b.Kind == wiring.ByHand && c.Provider == "handoff" && b.Folder == c.Folder {
			b.Close = nil
			return b, nil
		}
	}
	return wiring.Client(role, c, m.in.Loaded.Lookup, m.in.Clouds)
}

// noModel represents the target of an environment that calls models by itself.
type noModel struct{}

func (noModel) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{}, &model.Error{Code: model.BadRequest, Endpoint: "no model", Err: errors.New("models.target is not set: the environment was said to call models by itself")}
}

// Has reports whether a role has a model.
func (m *Models) Has(role string) bool {
	_, ok := m.built[role]
	return ok
}

// Of returns the model of a role; the zero value if it has none.
func (m *Models) Of(role string) wiring.Built { return m.built[role] }

// Roles lists the roles that have a model, sorted.
func (m *Models) Roles() []string { return slices.Sorted(maps.Keys(m.built)) }

// Simulated reports whether one of the models is a simulation.
func (m *Models) Simulated() bool {
	for _, b := range m.built {
		if b.Simulated {
			return true
		}
	}
	return false
}

// Deterministic reports whether the target may be expected to give the same answer every
// time: one call at temperature 0, or a simulation.
func (m *Models) Deterministic() bool {
	t := m.in.Config.Models.Target.Temperature
	return !m.in.Episodes() && (t != nil && *t == 0 || m.built[model.Target].Simulated)
}

// AnswersRepeat reports whether a second pass over the same tasks would be answered from
// the record of the first.
func (m *Models) AnswersRepeat() bool {
	return !m.in.Episodes() && !m.Has(model.Judge) && m.in.Config.Record.Reuse != caller.ReuseNever && wiring.Sampling(m.in.Config.Models.Target).Deterministic()
}

// ready fails when a model that is a program cannot run here, before another one is paid
// for.
func (m *Models) ready(ctx context.Context) error {
	for _, role := range m.Roles() {
		if b := m.built[role]; b.Kind == wiring.Program {
			version, err := b.Ready(ctx)
			if err != nil {
				return Unfit(err)
			}
			m.in.uses("models."+role, version)
		}
	}
	return nil
}

// uses notes the version of a program that the run uses, for the manifest: two sessions
// of a run may have different ones.
func (s *Inputs) uses(what, version string) {
	if version == "" {
		return
	}
	if s.Versions == nil {
		s.Versions = map[string]string{}
	}
	s.Versions[what+".version"] = strconv.Quote(version)
}

// Unfit makes an agent that the user has to install or set up bad input.
func Unfit(err error) error {
	var agent *wiring.AgentError
	if errors.As(err, &agent) {
		return fault.Input(err)
	}
	return err
}

// simulatedOutput is more tokens than a reply of a simulated world has, as a rule.
const simulatedOutput = 2048

// Role says how the calls of a role are made.
func (m *Models) Role(name string) caller.Role {
	b, c := m.built[name], m.in.Config.Models.Of(name)
	r := caller.Role{
		Client: b.Client, Endpoint: b.Endpoint, Source: b.Source, Model: c.Model, Timeout: c.Timeout.Std(),
		Sampling: wiring.Sampling(c), Local: b.Local,
	}
	r.Patient = b.Kind == wiring.ByHand
	switch b.Kind {
	case wiring.None:
		r.MaxOutput = simulatedOutput
		return r
	case wiring.Simulation, wiring.Recorded:
		r.MaxOutput, r.Price = simulatedOutput, &caller.Price{} // so that it hinders no ceiling; see cost
		return r
	}
	if e, ok := m.price(name); ok {
		r.Price = &caller.Price{Rates: e.Price, UpTo: e.UpTo, Long: e.Long}
		r.MaxOutput = e.MaxOutput
	}
	return r
}

// price returns what is known of the price of a role's model: what the user set for it,
// and at the provider's own address also what is in the tables.
func (m *Models) price(role string) (price.Entry, bool) {
	name, b := m.in.Config.Models.Of(role).Model, m.built[role]
	if _, own := m.in.Config.Prices[name]; !own && !b.AtHome {
		return price.Entry{}, false
	}
	_, e, ok := m.prices.Find(b.Provider, name)
	return e, ok
}

// warnOfStalePrices says, once for all models, which list prices are old.
func (m *Models) warnOfStalePrices() {
	var old []string
	for _, role := range m.Roles() {
		e, ok := m.price(role)
		if text := fmt.Sprintf("%s (%s)", e.Model, e.AsOf); ok && e.Stale(m.in.Now()) && !slices.Contains(old, text) {
			old = append(old, text)
		}
	}
	if len(old) > 0 {
		m.in.Warn(fmt.Sprintf("list prices that were last compared with their source more than 90 days ago: %s; a price_file brings newer ones",
			strings.Join(old, ", ")))
	}
}

// countQuestions counts the questions that wait for somebody's answer, by folder, sorted.
func (m *Models) countQuestions() []folder {
	var out []folder
	for _, b := range m.built {
		if b.Kind != wiring.ByHand || slices.ContainsFunc(out, func(f folder) bool { return f.path == filepath.Clean(b.Folder) }) {
			continue
		}
		if n := b.Open(); n > 0 {
			out = append(out, folder{path: filepath.Clean(b.Folder), questions: n})
		}
	}
	slices.SortFunc(out, func(a, b folder) int { return cmp.Compare(a.path, b.path) })
	return out
}

// close closes the models. It may be called again.
func (m *Models) close() []error {
	var errs []error
	for _, role := range m.Roles() {
		b := m.built[role]
		if b.Close == nil {
			continue
		}
		if err := b.Close(); err != nil {
			errs = append(errs, err)
		}
		b.Close = nil
		m.built[role] = b
	}
	return errs
}
