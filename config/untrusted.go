package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// This file holds what an untrusted caller names to the mark of keys (the tag untrusted).

// hostOrigin is the origin of what a guard says.
const hostOrigin = "host"

const (
	askHost  = "the settings of the server in your host decide this (docs/trust.md)"
	markWant = "keys with the mark untrusted (`skillopt config explain KEY` shows it)"
)

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hold notes what a layer says that its author may not say, and reports whether the author may say
// anything. sum is that of the file; a setting has none.
func (l *loader) hold(layer map[string]any, o layerOrigin, sum string) (trusted bool) {
	err := l.opts.Guard.Trust(sum)
	if err == nil {
		return true
	}
	h := holder{guard: l.opts.Guard, origin: o, working: l.opts.Dir, file: sum != "", set: setKeys(layer)}
	h.tree(layer, reflect.TypeFor[Config](), "")
	slices.SortStableFunc(h.problems, func(a, b Problem) int {
		_, lineA := place(a.Origin)
		_, lineB := place(b.Origin)
		return cmp.Compare(lineA, lineB)
	})
	if len(h.problems) > 0 { // once for all
		h.problems[0].Hint = askHost
		if sum != "" {
			h.problems[0].Hint = err.Error()
		}
	}
	l.refused = append(l.refused, h.problems...)
	return false
}

// refusal is the error of all that was refused so far.
func (l *loader) refusal() error {
	if len(l.refused) == 0 {
		return nil
	}
	return &Error{Problems: l.refused}
}

// holder goes through a layer of an author who is not trusted.
type holder struct {
	guard    *Guard
	origin   layerOrigin
	working  string
	file     bool     // beneath it is nothing but defaults
	set      []string // keys that are set to another value
	problems []Problem
}

func (h *holder) refuse(key, found, want string) {
	origin := h.origin.file
	for at := key; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
		if n := h.origin.lines[at]; n > 0 {
			origin = fmt.Sprintf("%s:%d", origin, n)
			break
		}
	}
	h.problems = append(h.problems, Problem{Key: key, Origin: origin, Found: found, Want: want})
}

// tree looks at the keys of a block. What is no key, or has the wrong type, the decoder refuses.
func (h *holder) tree(m map[string]any, block reflect.Type, prefix string) {
	for i, tag := range keyFields(block) {
		v, set := m[tag.Get("key")]
		if !set {
			continue
		}
		key, sub := join(prefix, tag.Get("key")), block.Field(i).Type
		inner, isBlock := v.(map[string]any)
		switch {
		case sub.Kind() == reflect.Struct && isBlock:
			h.tree(inner, sub, key)
		case sub.Kind() == reflect.Struct && tag.Get("short") != "" && v != nil:
			h.tree(map[string]any{tag.Get("short"): v}, sub, key)
		case sub.Kind() != reflect.Struct || v != nil:
			h.leaf(key, tag, v)
		}
	}
}

func (h *holder) leaf(key string, tag reflect.StructTag, v any) {
	if _, found := variableIn(v, key); found {
		h.refuse(key, "${NAME}, a variable of the environment", "text without variables")
	}
	if tag.Get("untrusted") != markYes {
		if !h.file || slices.Contains(h.set, key) || key == "extends" { // runs write all keys of their configuration
			h.refuse(key, "a key that is not for untrusted callers", markWant)
		}
		return
	}
	text, _ := v.(string)
	switch {
	case text == "":
	case key == "run.dir":
		h.path(key, resolve(h.working, text))
	case tag.Get("path") != "":
		h.path(key, resolve(h.origin.dir, text))
	case strings.HasSuffix(key, ".provider") && !servesItself(text):
		h.refuse(key, fmt.Sprintf("%q, which is a program, a folder or a server at any address", text), strings.Join(providers(), ", "))
	}
	if runs := check.Runs(v); key == "tasks.checks" && len(runs) > 0 {
		h.refuse(key, "a check that runs a program ("+strings.Join(runs, ", ")+")", "checks that look at the answer, or ask the judge")
	}
}

func (h *holder) path(key, path string) {
	if p, ok := h.guard.check(Problem{}, path); !ok {
		h.refuse(key, p.Found, p.Want)
	}
}

// markYes is the value of the tag untrusted of keys that an untrusted caller may set.
const markYes = "yes"

// servesItself reports whether a provider has an address of its own, which no configuration names.
func servesItself(provider string) bool {
	p, ok := preset.Lookup(provider)
	return provider == "sim" || ok && (p.BaseURL != "" || len(p.Regions) > 0)
}

// providers are those that an untrusted caller may name.
func providers() []string {
	return slices.DeleteFunc(append(preset.Names(), "sim"), func(name string) bool { return !servesItself(name) })
}

// mixed refuses a provider of an untrusted caller next to what a trusted file says of the model: its
// key or headers would go to another server than the file means.
func (l *loader) mixed() {
	if l.opts.Guard == nil {
		return
	}
	said := func(key string) bool { file, _ := place(originOf(l.origins, key)); return l.trusted[file] }
	set := setKeys(l.tree)
	for _, role := range keysOf(reflect.TypeFor[Models]()) {
		block := join("models", role)
		provider := join(block, "provider")
		if !slices.Contains(set, provider) || said(provider) {
			continue
		}
		for _, tag := range keyFields(reflect.TypeFor[Model]()) {
			if key := join(block, tag.Get("key")); tag.Get("untrusted") != markYes && slices.Contains(set, key) && said(key) {
				l.refused = append(l.refused, Problem{Key: provider, Origin: l.origins[provider], Found: "a provider next to " + key + " of a trusted file", Want: "the provider that the file names", Hint: askHost})
				break
			}
		}
	}
}

// inside fails for a file of a configuration that is in none of the roots.
func (l *loader) inside(path string) error {
	p, ok := l.opts.Guard.check(Problem{Origin: l.show(path)}, path)
	if ok {
		return nil
	}
	return &Error{Problems: []Problem{p}}
}

// check returns the problem of a path that leads out of the roots; ok: it does not.
func (g *Guard) check(p Problem, path string) (_ Problem, ok bool) {
	if err := g.Inside(path); err == nil {
		return p, true
	}
	p.Found, p.Want = fmt.Sprintf("%q, which leads out of the folders that this caller may use, or to a file of keys", path), "a path in "+strings.Join(g.Roots, ", ")
	return p, false
}

// path resolves the path of a key. One that leads out of the roots is a problem of d.
func (l *loader) path(d *decoder, key, path string) string {
	path = resolve(originOf(l.dirs, key), path)
	if p, ok := l.opts.Guard.check(Problem{Key: key, Origin: originOf(l.origins, key)}, path); !ok {
		d.problems = append(d.problems, p)
	}
	return path
}

// bound holds a configuration to the ceilings of the guard, and its runs to the roots.
func (l *loader) bound(d *decoder, c *Config, runDir *string) {
	g := l.opts.Guard
	if g == nil {
		return
	}
	for _, dir := range []*string{&c.Run.Dir, runDir} {
		l.dirs["run.dir"] = l.opts.Dir
		*dir = l.path(d, "run.dir", *dir)
	}
	was := reflect.ValueOf(c.Limits)
	c.Limits = g.Cap(c.Limits)
	now := reflect.ValueOf(c.Limits)
	for i, tag := range keyFields(now.Type()) {
		if !reflect.DeepEqual(was.Field(i).Interface(), now.Field(i).Interface()) {
			l.origins[join("limits", tag.Get("key"))] = hostOrigin
		}
	}
}
