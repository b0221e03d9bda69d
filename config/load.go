package config

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Setting is one value from outside the files: `--set a.b=c` or a flag.
type Setting struct {
	Key    string
	Value  any    // plain YAML value
	Origin string // "--set", "--tasks"
}

// Options say what to load.
type Options struct {
	Path     string // a YAML file, a directory with config.yaml, or "" for none
	Text     []byte // instead of what the main file holds; nil: that
	Settings []Setting
	Dir      string // the working directory
	// Lookup reads an environment variable. Nil: the process's environment.
	Lookup func(name string) (string, bool)
	Guard  *Guard // nil: the caller is trusted
}

// Loaded is a configuration with where it came from.
type Loaded struct {
	Config  Config
	File    string            // the main file, "" without one
	Files   []string          // it and all that it extends
	Dir     string            // its directory, else the working directory
	Origins map[string]string // key -> "config.yaml:12", "--set", ...; absent: default
	RunDir  string            // run.dir as the files have it, whatever settings say; "" where none was loaded
	Guard   *Guard            // of the options

	lookup  func(string) (string, bool)
	secrets []string // what came from ${NAME} and may be one
}

// Lookup reads an environment variable, from the process or from the .env file
// next to the config.
func (l *Loaded) Lookup(name string) (string, bool) { return l.lookup(name) }

// Load does what LoadContext does, with a context that nothing ends.
func Load(opts Options) (*Loaded, error) { return LoadContext(context.Background(), opts) }

// LoadContext reads all layers (defaults, extends, file, settings), checks the
// result and resolves relative paths. What is wrong with the content comes as
// *Error, with every problem that was found.
func LoadContext(ctx context.Context, opts Options) (*Loaded, error) {
	l := &loader{opts: opts, tree: map[string]any{}, origins: map[string]string{}, dirs: map[string]string{}}
	if l.opts.Lookup == nil {
		l.opts.Lookup = os.LookupEnv
	}
	main, err := l.files(ctx)
	if err != nil {
		return nil, err
	}
	if run, ok := l.tree["run"].(map[string]any); ok {
		l.runDir, _ = run["dir"].(string)
	}
	for _, s := range opts.Settings {
		if s.Key == "extends" {
			return nil, problemAt(s.Origin, "extends", "a setting", "extends in a config file only")
		}
		l.set(s)
	}
	if len(l.refused) > 0 { // before a benchmark is opened
		return nil, (&decoder{problems: l.refused}).err()
	}
	if err := l.benchLayer(ctx); err != nil {
		return nil, err
	}
	return l.finish(main)
}

// loader merges layers into one tree and remembers where each key came from.
type loader struct {
	opts    Options
	tree    map[string]any
	origins map[string]string
	dirs    map[string]string // key -> directory that its relative path starts from
	dotenv  map[string]string
	secrets []string // values of variables
	read    []string // files
	runDir  string   // that the files name
	refused []Problem
	trusted int // files that may say anything

	expanded int  // bytes that variables have represented
	overlong bool // that was too much, and has been said
}

// Bounds of what is read.
const (
	MaxFile    = 1 << 20 // bytes of a config file, and of .env
	MaxExtends = 32      // files that build upon each other
)

// files merges the main file and what it extends; it returns the main file.
func (l *loader) files(ctx context.Context) (string, error) {
	if l.opts.Path == "" {
		return "", nil
	}
	path := l.opts.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.opts.Dir, path)
	}
	if err := l.opts.Guard.Inside(path); err != nil { // before anything looks at it
		return "", err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "config.yaml")
	}
	err := l.file(ctx, path, nil)
	if err == nil {
		err = l.readDotenv(ctx, filepath.Join(filepath.Dir(path), ".env"))
	}
	return path, err
}

// file merges what path extends, then path itself.
func (l *loader) file(ctx context.Context, path string, seen []string) error {
	if slices.Contains(seen, path) {
		return problemAt(l.show(path), "", "a circle: "+strings.Join(append(seen, path), " extends "), "extends without circles")
	}
	if len(seen) == MaxExtends { // links to folders can make a circle of ever new names
		return problemAt(l.show(path), "", fmt.Sprintf("more than %d files that extend each other", MaxExtends), "fewer, and no circle")
	}
	if err := l.opts.Guard.Inside(path); err != nil {
		return err
	}
	data, err := l.opts.Text, error(nil)
	if data == nil || len(seen) > 0 {
		data, err = disk.Read(ctx, path, MaxFile)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("read config: %w", context.Cause(ctx))
	}
	if err != nil {
		return &Error{Problems: []Problem{{Origin: l.show(path), Found: disk.Reason(err), Want: "a readable YAML file", Hint: "`skillopt init` writes a working example"}}}
	}
	l.read = append(l.read, path)
	layer, lines, err := parse(l.show(path), data)
	if err != nil {
		return err
	}
	base, ok := layer["extends"].(string)
	if layer["extends"] != nil && !ok {
		return problemAt(fmt.Sprintf("%s:%d", l.show(path), lines["extends"]), "extends", describe(layer["extends"]), "text, the path of one config file")
	}
	fileOfPrices(layer, lines)
	o := layerOrigin{file: l.show(path), dir: filepath.Dir(path), lines: lines}
	if l.reviewLayer(layer, o, hashData(data)) && base != "" {
		if err := l.file(ctx, resolve(filepath.Dir(path), base), append(seen, path)); err != nil {
			return err
		}
	}
	delete(layer, "extends")
	l.merge(l.tree, layer, o, "")
	return nil
}

type layerOrigin struct {
	file, dir string
	lines     map[string]int
}

// at returns the file, and the line of a key, or of the nearest one above it.
func (o layerOrigin) at(key string) string {
	for ; key != ""; key = key[:max(0, strings.LastIndexByte(key, '.'))] {
		if n := o.lines[key]; n > 0 {
			return fmt.Sprintf("%s:%d", o.file, n)
		}
	}
	return o.file
}

// merge lays src over dst: mappings are merged, everything else replaces.
func (l *loader) merge(dst, src map[string]any, o layerOrigin, prefix string) {
	for _, k := range sortedKeys(src) {
		key := join(prefix, k)
		l.origins[key] = o.at(key)
		l.dirs[key] = o.dir
		sub, ok := src[k].(map[string]any)
		if !ok {
			dst[k] = l.short(key, src[k], o)
			continue
		}
		into, ok := dst[k].(map[string]any)
		if !ok {
			into = map[string]any{}
			dst[k] = into
		}
		l.merge(into, sub, o, key)
	}
}

// short expands the short form of a key: `tasks: a.jsonl` is {path: a.jsonl}.
func (l *loader) short(key string, v any, o layerOrigin) any {
	if _, ok := v.(string); !ok || strings.Contains(key, ".") {
		return v
	}
	sub := shortField(key)
	if sub == "" {
		return v
	}
	l.origins[key+"."+sub] = l.origins[key]
	l.dirs[key+"."+sub] = o.dir
	m, ok := l.tree[key].(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m[sub] = v
	return m
}

func shortField(key string) string {
	for _, tag := range keyFields(reflect.TypeFor[Config]()) {
		if tag.Get("key") == key {
			return tag.Get("short")
		}
	}
	return ""
}

// fileOfPrices takes a text at prices.file for price_file: prices holds models by name,
// and the price of one is no text.
func fileOfPrices(layer map[string]any, lines map[string]int) {
	prices, _ := layer["prices"].(map[string]any)
	path, ok := prices["file"].(string)
	if _, both := layer["price_file"]; !ok || both {
		return
	}
	delete(prices, "file")
	layer["price_file"] = path
	if lines != nil {
		lines["price_file"] = lines["prices.file"]
	}
}

// set lays one value over the tree.
func (l *loader) set(s Setting) {
	parts := keyParts(s.Key)
	at := map[string]any{}
	root := at
	for _, p := range parts[:len(parts)-1] {
		next := map[string]any{}
		at[p] = next
		at = next
	}
	at[parts[len(parts)-1]] = s.Value
	fileOfPrices(root, nil)
	o := layerOrigin{file: s.Origin, dir: l.opts.Dir}
	l.reviewLayer(root, o, "")
	l.merge(l.tree, root, o, "")
}

// finish expands variables, decodes, validates and resolves paths.
func (l *loader) finish(main string) (*Loaded, error) {
	cfg := Default()
	if l.tree["protocol"] == protocolSkillOpt {
		cfg = skillOptDefaults()
	}
	d := &decoder{origins: l.origins, problems: l.refused}
	l.expand(d, l.tree, spot{holds: reflect.TypeFor[Config]()})
	runDir := fmt.Sprint(l.expandText(d, cmp.Or(l.runDir, cfg.Run.Dir), spot{key: "run.dir", holds: reflect.TypeFor[string](), public: true}))
	d.value(reflect.ValueOf(&cfg).Elem(), "", l.tree)
	d.ranges(reflect.ValueOf(&cfg).Elem(), "")
	l.paths(d, reflect.ValueOf(&cfg).Elem(), "") // before the rules, which read the file of prices
	l.bound(d, &cfg, &runDir)
	if l.opts.Guard == nil || d.err() == nil {
		d.rules(&cfg)
	}
	d.redact(redact.New(l.secrets...))
	if err := d.err(); err != nil {
		return nil, err
	}
	out := &Loaded{Config: cfg, File: main, Files: l.read, Dir: l.opts.Dir, Origins: l.origins, RunDir: runDir, Guard: l.opts.Guard, lookup: l.lookup, secrets: l.secrets}
	if main != "" {
		out.Dir = filepath.Dir(main)
	}
	for _, key := range []string{"env.command", "env.mcp"} {
		if dir, ok := l.dirs[key]; ok {
			out.Dir = dir
		}
	}
	return out, nil
}

// keyParts splits a key at its dots, but for those in the name of an entry: a
// model gpt-4.1 in prices, a header X.Name.
func keyParts(key string) []string {
	t, parts := reflect.TypeFor[Config](), []string(nil)
	for {
		head, rest, more := strings.Cut(key, ".")
		if !more {
			return append(parts, key)
		}
		switch {
		case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
			return append(parts, key)
		case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
			last := strings.LastIndexByte(key, '.')
			head, rest = key[:last], key[last+1:]
		}
		parts, key, t = append(parts, head), rest, spot{holds: t}.child(head).holds
		if t == nil {
			return append(parts, strings.Split(key, ".")...)
		}
	}
}

func (l *loader) lookup(name string) (string, bool) {
	if v, ok := l.opts.Lookup(name); ok {
		return v, true
	}
	v, ok := l.dotenv[name]
	return v, ok
}

// show shortens a path for messages.
func (l *loader) show(path string) string {
	if rel, err := filepath.Rel(l.opts.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// paths makes the values of path keys absolute. Those that lead out of the roots of a guard are
// problems of d.
func (l *loader) paths(d *decoder, v reflect.Value, prefix string) {
	for i, tag := range keyFields(v.Type()) {
		key, f := join(prefix, tag.Get("key")), v.Field(i)
		switch {
		case f.Kind() == reflect.Struct:
			l.paths(d, f, key)
		case tag.Get("path") != "" && f.Kind() == reflect.Map:
			l.mapOfPaths(d, f, key)
		case tag.Get("path") != "" && f.String() != "":
			f.SetString(l.path(d, key, findOrigin(l.dirs, key), f.String()))
		}
	}
}

// mapOfPaths resolves the paths in a mapping, each from where it was written.
func (l *loader) mapOfPaths(d *decoder, f reflect.Value, key string) {
	for _, k := range f.MapKeys() {
		at := join(key, k.String())
		path := l.path(d, at, findOrigin(l.dirs, at), f.MapIndex(k).String())
		f.SetMapIndex(k, reflect.ValueOf(path))
	}
}

func resolve(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

func problemAt(origin, key, found, want string) error {
	return &Error{Problems: []Problem{{Origin: origin, Key: key, Found: found, Want: want}}}
}

// ParseSetting reads "a.b=c"; the value is YAML. The value of a key that holds
// text may be written as it is: `tasks.prompt=Question: {{question}}`.
func ParseSetting(text string) (Setting, error) {
	key, raw, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return Setting{}, problemAt("--set "+text, "", "no key=value", "for example --set train.epochs=2")
	}
	var v any
	_, err := yamlx.Decode([]byte(raw), &v)
	if _, isText := v.(string); holdsText(key) && (err != nil || !isText && v != nil) {
		v, err = raw, nil
	}
	if err != nil {
		return Setting{}, problemAt("--set", key, fmt.Sprintf("%q, which is not YAML", raw), "a YAML value")
	}
	return Setting{Key: key, Value: v, Origin: "--set"}, nil
}

// holdsText reports whether the value of a key is text.
func holdsText(key string) bool {
	t := reflect.TypeFor[Config]()
	for _, name := range keyParts(key) {
		switch t.Kind() {
		case reflect.Struct:
			f, ok := fieldByKey(reflect.New(t).Elem(), name)
			if !ok {
				return false
			}
			t = f.Type()
		case reflect.Map:
			t = t.Elem()
		default:
			return false
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t.Kind() == reflect.String
}

// Detached wraps a configuration that was not loaded from a file. dir is the
// working directory.
func Detached(cfg Config, dir string) *Loaded {
	return &Loaded{Config: cfg, Dir: dir, Origins: map[string]string{}, lookup: os.LookupEnv}
}

// LoadFile reads a config file, or the config.yaml of a directory, with settings
// "a.b=value" over it. Relative paths in it become absolute.
//
// A file is regular and at most 1 MB. What is wrong with it comes as one error with
// every problem that was found.
func LoadFile(path string, settings ...string) (Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Config{}, fmt.Errorf("find working directory: %w", err)
	}
	opts := Options{Path: path, Dir: dir}
	for _, text := range settings {
		set, err := ParseSetting(text)
		if err != nil {
			return Config{}, err
		}
		opts.Settings = append(opts.Settings, set)
	}
	l, err := Load(opts)
	if err != nil {
		return Config{}, err
	}
	return l.Config, nil
}
