package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/result"
)

// Check is a text that a page has not written yet.
type Check struct {
	Text string         `json:"text"`
	Set  map[string]any `json:"set,omitempty"` // keys with other values; null takes a key out
}

// Save is a text that a config shall have.
type Save struct {
	Text   string `json:"text"`
	SHA256 string `json:"sha256"` // of the text that was read
}

// Bounds of configs.
const (
	configName  = "config.yaml"
	maxConfig   = 1 << 20 // bytes
	maxText     = 2 << 20 // of one in a request, as JSON
	mostSet     = 100     // keys at once
	mostConfigs = 200     // that are listed
	ownConfig   = ":own"  // the id of the config in the folder itself: a path cannot have a dot alone
)

// noStart says why nothing can be started.
func noStart() error {
	return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: "this server shows runs, and has no folder whose configs could be started", Help: "start skillopt serve in a folder of yours, or name one that is empty or has configs: skillopt serve DIR"}
}

// configs opens the folder with configs.
func (s *Server) configs() (*os.Root, error) {
	if s.options.Configs == "" || s.options.Program == nil {
		return nil, noStart()
	}
	return os.OpenRoot(s.options.Configs)
}

// configAt is a config that an address names.
type configAt struct {
	id      string
	dir     string // in the folder with configs; ".": the folder itself
	changed time.Time
	size    int64
	perm    fs.FileMode
}

// path returns the path of the file, in the folder with configs.
func (c configAt) path() string { return path.Join(c.dir, configName) }

// configList lists the configs in the order of their names. A link is none.
func configList(root *os.Root) ([]configAt, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var out []configAt
	add := func(id, dir string) {
		info, err := root.Lstat(path.Join(dir, configName))
		if err == nil && info.Mode().IsRegular() {
			out = append(out, configAt{id, dir, info.ModTime().UTC(), info.Size(), info.Mode().Perm()})
		}
	}
	add(ownConfig, ".")
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && len(out) < mostConfigs {
			add(e.Name(), e.Name())
		}
	}
	return out, nil
}

// findConfig finds the config that an address names, in the listing: no part of the address becomes a part of a path.
func (s *Server) findConfig(root *os.Root, id string) (configAt, error) {
	list, err := configList(root)
	i := slices.IndexFunc(list, func(c configAt) bool { return c.id == id })
	if err == nil && i < 0 {
		err = &door.Refusal{Status: http.StatusNotFound, Kind: door.Missing, Message: "there is no config " + quoteText(id) + " in the folder whose configs can be started", Help: "a config is config.yaml in that folder, or in a folder in it that is no link"}
	}
	if err != nil {
		return configAt{}, err
	}
	return list[i], nil
}

// openConfig opens the folder with configs, and finds the config of a request in it.
func (s *Server) openConfig(r *http.Request) (*os.Root, configAt, error) {
	root, err := s.configs()
	if err != nil {
		return nil, configAt{}, err
	}
	at, err := s.findConfig(root, r.PathValue("config"))
	if err != nil {
		err = errors.Join(err, root.Close())
	}
	return root, at, err
}

// readConfig returns the document of a config as it is on disk.
func (s *Server) readConfig(ctx context.Context, root *os.Root, at configAt) (result.ConfigFile, error) {
	text, err := disk.ReadIn(ctx, root, at.path(), maxConfig)
	if err != nil {
		return result.ConfigFile{}, err
	}
	return s.editConfig(ctx, at, string(text), nil)
}

// editConfig returns the document of a config with a text, held to the models that pages may name.
func (s *Server) editConfig(ctx context.Context, at configAt, text string, set map[string]any) (result.ConfigFile, error) {
	doc, err := s.options.Editor.Edit(ctx, at.dir, text, set)
	doc.ID = at.id
	if !doc.Trusted {
		doc.Problems = append(doc.Problems, s.otherModels(doc)...)
	}
	return doc, err
}

// configFile shows a config.
func (s *Server) configFile(_ http.ResponseWriter, r *http.Request) (any, error) {
	doc, err := s.findRequested(r)
	return asAnswer(doc, err)
}

// findRequested reads the config that a request is about.
func (s *Server) findRequested(r *http.Request) (result.ConfigFile, error) {
	root, at, err := s.openConfig(r)
	if err != nil {
		return result.ConfigFile{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return s.readConfig(r.Context(), root, at)
}

// startable reads a config that a command is to be carried out with. The error says why it cannot be: it names what a
// page may not name, or is no config.
func (s *Server) startable(r *http.Request) (result.ConfigFile, error) {
	doc, err := s.findRequested(r)
	if err == nil {
		err = unfit(doc)
	}
	return doc, err
}

// unfit says what is wrong with a config; nil: nothing.
func unfit(doc result.ConfigFile) error {
	if len(doc.Problems) == 0 {
		return nil
	}
	p := doc.Problems[0]
	return &door.Refusal{Status: http.StatusBadRequest, Kind: door.Input, Message: problemText(doc, p), Help: p.Help}
}

// problemText returns the text of a problem with its place.
func problemText(doc result.ConfigFile, p result.ConfigProblem) string {
	text := p.Message
	if p.Key != "" {
		text = p.Key + ": " + text
	}
	if p.Line > 0 {
		return doc.Path + ":" + strconv.Itoa(p.Line) + ": " + text
	}
	return doc.Path + ": " + text
}

// check shows what a config would say.
func (s *Server) check(_ http.ResponseWriter, r *http.Request) (any, error) {
	root, at, err := s.openConfig(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	var c Check
	if err := body(r, &c); err != nil {
		return nil, err
	}
	if len(c.Set) > mostSet {
		return nil, wrong("set: %d keys, allowed are %d", len(c.Set), mostSet)
	}
	return asAnswer(s.editConfig(r.Context(), at, c.Text, c.Set))
}

// save writes the text of a config. What it may not say is refused, unless it is on disk already.
func (s *Server) save(_ http.ResponseWriter, r *http.Request) (any, error) {
	root, at, err := s.openConfig(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what was written is synced
	var b Save
	if err := body(r, &b); err != nil {
		return nil, err
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	was, err := s.readConfig(r.Context(), root, at)
	if err != nil {
		return nil, err
	}
	if b.SHA256 != was.SHA256 {
		return nil, conflict(was.Path+" has changed since it was read", "read it again, and make the change there")
	}
	doc, err := s.editConfig(r.Context(), at, b.Text, nil)
	if err != nil {
		return nil, err
	}
	if err := checkSave(was, doc); err != nil {
		return nil, err
	}
	return doc, disk.WriteIn(root, at.path(), []byte(b.Text), at.perm)
}

// checkSave fails for a text that says what a page may not say, and what the text before it did not.
func checkSave(was, doc result.ConfigFile) error {
	for _, p := range doc.Problems {
		role, _, _ := strings.Cut(p.Key, ".provider")
		role, _, _ = strings.Cut(role, ".model")
		value, there := doc.Values[p.Key]
		same := there && reflect.DeepEqual(was.Values[p.Key], value) && reflect.DeepEqual(was.Values[role+".provider"], doc.Values[role+".provider"])
		if p.Refused && !same {
			return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: problemText(doc, p), Help: cmp.Or(p.Help, "take it out, or write it into the file yourself")}
		}
	}
	for _, k := range was.Foreign { // these stay as they are
		if !reflect.DeepEqual(was.Values[k.Key], doc.Values[k.Key]) {
			return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: k.Key + " is a key that a page may not change", Help: "change it in " + was.Path + " yourself"}
		}
	}
	return nil
}
