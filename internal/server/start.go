package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/result"
)

// Start is what can be started.
type Start struct {
	Configs  string        `json:"configs_dir"` // "": nothing
	Why      string        `json:"why"`         // nothing can be started; with what helps
	Adopt    bool          `json:"adopt"`       // pages may write into documents that agents read
	Models   []ServedModel `json:"models"`      // that a config may name
	Examples []Example     `json:"examples"`
	First    []string      `json:"first"` // keys that matter first
	List     []ConfigRow   `json:"configs"`
}

// ServedModel is a model that a config may name.
type ServedModel struct {
	Name string `json:"name"` // PROVIDER/MODEL
	From string `json:"from"` // the config that names it, --model, or simulated
}

// Example is something to begin with.
type Example struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ConfigRow is a config of the list.
type ConfigRow struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"`
	ChangedAt time.Time `json:"changed_at"`
	Trusted   bool      `json:"trusted"`
	Foreign   []string  `json:"foreign"` // keys that a page may not set
	Problem   string    `json:"problem"` // "": none
}

// firstKeys returns the keys that matter first.
func firstKeys() []string {
	return []string{"skill", "tasks.path", "tasks.columns", "models.target.model", "models.optimizer.model", "train.epochs", "gate.metric", "limits.usd", "limits.time", "run.name"}
}

// start says what can be started.
func (s *Server) start(_ http.ResponseWriter, r *http.Request) (any, error) {
	out := Start{Adopt: s.options.Adopt, Models: s.models, First: firstKeys(), Examples: s.examples()}
	root, err := s.configs()
	if err == nil && s.readOnly {
		err = errors.Join(&door.Refusal{Message: "this server only shows runs", Help: "start skillopt serve without --read-only to start something"}, root.Close())
	}
	if err != nil {
		no := refusal(err)
		out.Why = no.Message + "; " + no.Help
		return out, nil
	}
	defer func() { _ = root.Close() }() // it was only read
	out.Configs = s.options.Configs
	list, err := configList(root)
	if err != nil {
		return nil, err
	}
	for _, at := range list {
		kept := s.configRow(r.Context(), root, at)
		out.List = append(out.List, kept.row)
		out.addSimulated(at, kept.models)
	}
	return out, nil
}

// keptRow is what is shown of a config that has not changed since.
type keptRow struct {
	of     configAt
	row    ConfigRow
	models []namedModel
}

// configRow returns the row of a config, and the models that it names.
func (s *Server) configRow(ctx context.Context, root *os.Root, at configAt) keptRow {
	if kept, ok := s.seen.Load(at.id); ok && kept.(keptRow).of == at {
		return kept.(keptRow)
	}
	row := ConfigRow{ID: at.id, Path: at.path(), ChangedAt: at.changed}
	doc, err := s.readConfig(ctx, root, at)
	switch {
	case err != nil:
		row.Problem = refusal(err).Message
	case len(doc.Problems) > 0:
		row.Problem = problemText(doc, doc.Problems[0])
	}
	row.Trusted = doc.Trusted
	for _, k := range doc.Foreign {
		row.Foreign = append(row.Foreign, k.Key)
	}
	kept := keptRow{at, row, readModels(doc)}
	if err == nil && time.Since(at.changed) > time.Second { // else it may change without a trace
		s.seen.Store(at.id, kept)
	}
	return kept
}

// addSimulated adds the simulated models of a config, by the paths of their worlds in the folder with configs.
func (s *Start) addSimulated(at configAt, models []namedModel) {
	for _, m := range models {
		name := "sim/" + path.Join(at.dir, m.world)
		if m.isSimulated() && filepath.IsLocal(m.world) && !slices.ContainsFunc(s.Models, func(o ServedModel) bool { return o.Name == name }) {
			s.Models = append(slices.Clip(s.Models), ServedModel{name, "simulated"})
		}
	}
}

// examples returns what can be begun with: the examples of init, and fixtures of benchmarks.
func (s *Server) examples() []Example {
	return append([]Example{
		{"quickstart", "invoices, and simulated models that answer at once and cost nothing"},
		{"world", "a simulated world made from a few numbers"},
	}, s.options.Benches...)
}

// namedModel is a model that a text names.
type namedModel struct {
	role, provider, model, world string
}

func (m namedModel) isSimulated() bool { return m.provider == "sim" }

func (m namedModel) name() string { return m.provider + "/" + m.model }

// readModels returns the models that a config names.
func readModels(doc result.ConfigFile) (out []namedModel) {
	for _, role := range []string{"target", "optimizer", "judge"} {
		text := func(key string) string {
			if v, ok := doc.Values["models."+role+"."+key]; ok && v != nil {
				return fmt.Sprint(v)
			}
			return ""
		}
		if m := (namedModel{role, text("provider"), text("model"), text("world")}); m.provider != "" || m.model != "" {
			out = append(out, m)
		}
	}
	return out
}

// listModels returns the models that a page may name: because a config does now, or the user has said so.
func (s *Server) listModels(ctx context.Context) (out []ServedModel) {
	add := func(name, from string) {
		if !slices.ContainsFunc(out, func(m ServedModel) bool { return m.Name == name }) {
			out = append(out, ServedModel{name, from})
		}
	}
	for _, name := range s.options.Models {
		add(name, "--model")
	}
	root, err := s.configs()
	if err != nil {
		return out
	}
	defer func() { _ = root.Close() }() // it was only read
	list, _ := configList(root)         // one that cannot be read names none
	for _, at := range list {
		doc, _ := s.readConfig(ctx, root, at)
		for _, m := range readModels(doc) {
			if !m.isSimulated() && m.provider != "" {
				add(m.name(), at.path())
			}
		}
	}
	return out
}

// otherModels returns the problems of models that a page may not name.
func (s *Server) otherModels(doc result.ConfigFile) (out []result.ConfigProblem) {
	var names []string
	for _, m := range s.models {
		names = append(names, m.Name)
	}
	allowed := strings.Join(append(slices.Clone(names), "simulated models"), ", ")
	for _, m := range readModels(doc) {
		if m.isSimulated() || m.provider == "" || slices.Contains(names, m.name()) {
			continue
		}
		key := "models." + m.role + ".model"
		if m.model == "" {
			key = "models." + m.role + ".provider"
		}
		out = append(out, result.ConfigProblem{
			Key: key, Line: doc.Lines[key], Refused: true, Message: fmt.Sprintf("found %q, allowed: %s", m.name(), allowed),
			Help: "`skillopt serve --model " + m.name() + "` allows it",
		})
	}
	return out
}

// schema is the JSON Schema of a config file, once it was asked for.
type schema struct {
	mu            sync.Mutex
	plain, zipped []byte
}

// schemaTexts returns the schema and its compressed form.
func (s *Server) schemaTexts(ctx context.Context) (plain, zipped []byte, err error) {
	s.schema.mu.Lock()
	defer s.schema.mu.Unlock()
	if s.schema.plain == nil {
		text, err := s.options.Program.Do(ctx, "config", "explain", "--schema")
		if err != nil {
			return nil, nil, err
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text) // into memory
		_ = z.Close()
		s.schema.plain, s.schema.zipped = text, b.Bytes()
	}
	return s.schema.plain, s.schema.zipped, nil
}

// showSchema answers with the schema.
func (s *Server) showSchema(w http.ResponseWriter, r *http.Request) (any, error) {
	if s.options.Program == nil {
		return nil, noStart()
	}
	text, zipped, err := s.schemaTexts(r.Context())
	if err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // who asked may have gone
	return nil, nil
}
