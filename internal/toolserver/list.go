package toolserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// List is what a server offers.
type List struct {
	Server  string `json:"server"` // as it calls itself
	Version string `json:"-"`
	Tools   []Tool `json:"tools"` // sorted by their names
}

// Tool is one of them.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // of its arguments
}

// Bounds of what a server may offer.
const (
	maxTools  = 500
	maxListed = 1 << 20 // bytes of all descriptions and schemas
)

// Lists starts each server once, in an empty folder, and returns what they offer.
func Lists(ctx context.Context, o Options) (all []List, err error) {
	for _, s := range o.Servers {
		one, err := s.listOnce(ctx, cmp.Or(o.Timeout, defaultTimeout))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	_, _, err = name(o.Servers, all)
	return all, err
}

func (s Server) listOnce(ctx context.Context, limit time.Duration) (l List, err error) {
	session, err := s.dial(ctx, "", limit)
	if err != nil {
		return l, err
	}
	l, err = session.list(ctx)
	return l, errors.Join(err, session.close())
}

// list asks for the tools.
func (s *session) list(ctx context.Context) (List, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, errSlow)
	defer cancel()
	l := List{Server: s.info.Name, Version: s.info.Version, Tools: []Tool{}}
	size := 0
	for page := (*mcp.ListToolsParams)(nil); ; {
		got, err := s.mcp.ListTools(ctx, page)
		if err != nil {
			return l, s.fault(ctx, "tools/list", err)
		}
		for _, t := range got.Tools {
			one, err := newTool(t)
			if err != nil {
				return l, s.fail(fmt.Sprintf("the schema of its tool %q is no JSON", wording.Cut(t.Name, maxName)), err)
			}
			l.Tools, size = append(l.Tools, one), size+len(one.Name)+len(one.Description)+len(one.Schema)
		}
		if len(l.Tools) > maxTools || size > maxListed {
			return l, s.fail(fmt.Sprintf("it offers more than %d tools or %s of descriptions", maxTools, disk.Size(maxListed)), nil)
		}
		if got.NextCursor == "" || len(got.Tools) == 0 {
			break
		}
		page = &mcp.ListToolsParams{Cursor: got.NextCursor}
	}
	slices.SortFunc(l.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

func newTool(t *mcp.Tool) (Tool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err == nil && string(schema) == "null" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return Tool{Name: t.Name, Description: wording.Plain(t.Description), Schema: schema}, err
}

// difference says in what two lists differ, "" if in nothing that counts: a server may have another version.
func (l List) difference(now List) string {
	was := map[string]Tool{}
	for _, t := range l.Tools {
		was[t.Name] = t
	}
	var added, changed, gone []string
	for _, t := range now.Tools {
		old, there := was[t.Name]
		switch {
		case !there:
			added = append(added, t.Name)
		case old.Description != t.Description || string(old.Schema) != string(t.Schema):
			changed = append(changed, t.Name)
		}
		delete(was, t.Name)
	}
	for _, t := range l.Tools {
		if _, left := was[t.Name]; left {
			gone = append(gone, t.Name)
		}
	}
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"added", added}, {"changed", changed}, {"gone", gone}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+" "+wording.Cut(strings.Join(p.names, ", "), 200))
		}
	}
	return strings.Join(parts, "; ")
}

// maxName is how long a name of a tool may be that vendors of models take.
const maxName = 64

// unusual are the characters that names of tools cannot have at vendors of models.
var unusual = pattern.New(`[^A-Za-z0-9_-]`)

// plainName makes a name one that vendors of models take.
func plainName(s string) string {
	s = unusual.ReplaceAllString(s, "_")
	return s[:min(len(s), maxName)]
}

// name gives each tool the name that the model calls it by: its own, after the name of its server where several
// servers have one of that name.
func name(servers []Server, lists []List) ([]model.Tool, map[string]owner, error) {
	count := map[string]int{}
	for _, l := range lists {
		for _, t := range l.Tools {
			count[plainName(t.Name)]++
		}
	}
	var tools []model.Tool
	owners := map[string]owner{}
	for i, l := range lists {
		for _, t := range l.Tools {
			called := plainName(t.Name)
			if count[called] > 1 {
				called = plainName(l.Server + "_" + t.Name)
			}
			if other, taken := owners[called]; taken {
				return nil, nil, fmt.Errorf("%s: its tool %q and %q of %s would have the same name, %s: leave out one of the servers", servers[i].Key, t.Name, other.tool, servers[other.server].Key, called)
			}
			owners[called] = owner{i, t.Name}
			tools = append(tools, model.Tool{Name: called, Description: t.Description, Parameters: t.Schema})
		}
	}
	if len(tools) == 0 {
		return nil, nil, errors.New("env.mcp: its servers offer no tools")
	}
	return tools, owners, nil
}
