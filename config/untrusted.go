package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
)

// This file compares what an untrusted caller names with the mark of keys (the tag untrusted).

// hostOrigin is the origin of what a guard says.
const hostOrigin = "host"

func hashData(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// reviewLayer notes what a layer says that its author may not say, and reports whether the author may
// say anything. sum is that of the file; a setting has none.
func (l *loader) reviewLayer(layer map[string]any, o layerOrigin, sum string) (trusted bool) {
	err := l.opts.Guard.Trust(sum)
	if err == nil {
		l.trusted++
		return true
	}
	r := reviewer{loader: l, origin: o, set: setKeys(layer), file: sum != ""}
	r.block(layer, reflect.TypeFor[Config](), "")
	if len(r.problems) > 0 && r.file { // once for all
		r.problems[0].Hint = err.Error()
	}
	l.refused = append(l.refused, r.problems...)
	return false
}

// reviewer looks at a layer of an author who is not trusted.
type reviewer struct {
	*loader
	origin   layerOrigin
	set      []string // keys with another value than the default
	file     bool     // beneath it is nothing but defaults
	problems []Problem
}

func (r *reviewer) refuse(key, found, want string) {
	r.problems = append(r.problems, Problem{Key: key, Origin: r.origin.at(key), Found: found, Want: want, Refused: true})
}

// block looks at the keys of a block. What is no key, or has the wrong type, the decoder refuses.
func (r *reviewer) block(m map[string]any, t reflect.Type, prefix string) {
	for i, tag := range keyFields(t) {
		v, set := m[tag.Get("key")]
		key, sub := join(prefix, tag.Get("key")), t.Field(i).Type
		inner, isBlock := v.(map[string]any)
		switch {
		case !set || v == nil && sub.Kind() == reflect.Struct:
		case sub.Kind() == reflect.Struct && isBlock:
			r.block(inner, sub, key)
		case tag.Get("short") != "":
			r.block(map[string]any{tag.Get("short"): v}, sub, key)
		default:
			r.leaf(key, tag, v)
		}
	}
}

func (r *reviewer) leaf(key string, tag reflect.StructTag, v any) {
	if _, found := variableIn(v, key); found {
		r.refuse(key, "${NAME}, a variable of the environment", "text without variables")
	}
	text, _ := v.(string)
	isProvider := text != "" && strings.HasSuffix(key, ".provider")
	switch runs := check.Runs(v); {
	case tag.Get("untrusted") != "yes":
		if !r.file || slices.Contains(r.set, key) { // runs write all keys of their configuration
			r.refuse(key, "a key that is not for untrusted callers", "keys with the mark untrusted (`skillopt config explain KEY` shows it)")
		}
	case isProvider && r.trusted > 0: // it would get the keys and headers that are meant for another one
		r.refuse(key, fmt.Sprintf("%q next to a trusted file", text), "the provider that the file names")
	case isProvider && !slices.Contains(vendors(), text):
		r.refuse(key, fmt.Sprintf("%q, which is a program, a folder or a server at any address", text), strings.Join(vendors(), ", "))
	case key == "tasks.checks" && len(runs) > 0:
		r.refuse(key, "a check that runs a program ("+strings.Join(runs, ", ")+")", "checks that look at the answer, or ask the judge")
	case tag.Get("path") != "" || key == "run.dir":
		from := r.origin.dir
		if key == "run.dir" {
			from = r.opts.Dir
		}
		r.problems = append(r.problems, r.opts.Guard.leads(resolve(from, text), key, r.origin.at(key))...)
	}
}

// vendors returns the providers with an address of their own, which no configuration names.
func vendors() []string {
	return []string{
		"anthropic", "bedrock", "deepseek", "fireworks", "gemini", "groq", "litellm", "minimax", "mistral", "moonshot",
		"ollama", "openai", "openrouter", "qwen", "sglang", "sim", "together", "vertex", "vllm", "xai", "zai",
	}
}

// leads returns the problem of a key whose path leads out of the roots.
func (g *Guard) leads(path, key, origin string) []Problem {
	var out *Error
	if path == "" || !errors.As(g.Inside(path), &out) {
		return nil
	}
	out.Problems[0].Key, out.Problems[0].Origin, out.Problems[0].Refused = key, origin, true
	return out.Problems
}

// path resolves the path of a key from a folder. One that leads out of the roots is a problem of d.
func (l *loader) path(d *decoder, key, dir, path string) string {
	path = resolve(dir, path)
	d.problems = append(d.problems, l.opts.Guard.leads(path, key, findOrigin(l.origins, key))...)
	return path
}

// bound holds a configuration to the ceilings of the guard, and its runs to the roots.
func (l *loader) bound(d *decoder, c *Config, runDir *string) {
	g := l.opts.Guard
	if g == nil {
		return
	}
	for _, dir := range []*string{&c.Run.Dir, runDir} {
		*dir = l.path(d, "run.dir", l.opts.Dir, *dir)
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
