package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

// FolderOfTasks is where a prepared benchmark has its tasks, within bench.data.
const FolderOfTasks = "tasks"

// FolderOfDocs is where it has the documents of world corpus.
const FolderOfDocs = "docs"

// benchLayer lays what the folder of a benchmark says beneath all files and settings.
func (l *loader) benchLayer(ctx context.Context) error {
	bench, _ := l.tree["bench"].(map[string]any)
	name, _ := bench["name"].(string)
	if name == "" {
		return nil // what is wrong with its type is said where keys are decoded
	}
	f, err := folder.Open(ctx, name, findOrigin(l.dirs, "bench.name"))
	if err != nil {
		return problemAt(l.origins["bench.name"], "bench.name", err.Error(), "a name of `skillopt bench list`, or a folder such as ./my-bench")
	}
	if f.Path != "" {
		bench["name"] = f.Path // the one that opens it later starts from another folder
	}
	way, _ := bench["scoring"].(string)
	_, scoring, err := f.ScoredBy(way)
	if err != nil {
		return problemAt(l.origins["bench.scoring"], "bench.scoring", err.Error(), strings.Join(f.Scorings(), ", "))
	}
	own, origins, dirs := l.tree, l.origins, l.dirs
	l.tree, l.origins, l.dirs = map[string]any{}, map[string]string{}, map[string]string{}
	for _, file := range []string{f.Config, scoring} {
		if err := l.benchFile(f, file); err != nil {
			return err
		}
	}
	if err := l.benchGuide(f); err != nil {
		return err
	}
	l.benchTasks(bench, text(own, "env", "world"), findOrigin(dirs, "bench.data"), origins["bench.data"])
	l.merge(l.tree, own, layerOrigin{}, "")
	maps.Copy(l.origins, origins)
	maps.Copy(l.dirs, dirs)
	return nil
}

// benchFile merges a file of the folder, "" none.
func (l *loader) benchFile(f *folder.Folder, name string) error {
	if name == "" {
		return nil
	}
	text, err := f.Read(name)
	if err != nil {
		return problemAt(f.Where, "", err.Error(), "a readable YAML file")
	}
	shown := f.Where + ", " + name
	layer, lines, err := parse(shown, text)
	if err != nil {
		return err
	}
	if key, found := forbidden(layer); found {
		return problemAt(fmt.Sprintf("%s:%d", shown, lines[key]), key, "a key that is the user's alone", "in the config of a benchmark: "+strings.Join(benchKeys(), ", "))
	}
	if key, found := networkIn(layer, ""); found {
		return problemAt(fmt.Sprintf("%s:%d", shown, lines[key]), key, "a command with network", "commands without network in the checks of a benchmark")
	}
	if key, found := variableIn(layer, ""); found {
		return problemAt(fmt.Sprintf("%s:%d", shown, lines[key]), key, "${NAME}, a variable of the user's environment", "text without variables in the config of a benchmark")
	}
	o := layerOrigin{file: shown, dir: f.Path, lines: lines}
	if f.Path != "" { // a folder of the user's own
		l.reviewLayer(layer, o, hashData(text))
	}
	l.merge(l.tree, layer, o, "")
	return nil
}

// benchKeys returns the keys that a benchmark may set: what is asked, how it is scored and trained
// on. Models, paths, programs, money and where runs are kept are the user's.
func benchKeys() []string {
	return []string{"aggregate", "edits", "env.mode", "env.recalc", "env.timeout", "env.turns", "env.world", "eval", "extras", "gate", "meta_skill", "protocol", "reflect", "slow_update", "split", "tasks", "train"}
}

// forbidden returns a key that a benchmark may not set.
func forbidden(layer map[string]any) (string, bool) {
	for _, key := range sortedKeys(layer) {
		sub, isTree := layer[key].(map[string]any)
		if key == "env" && isTree {
			if inner, found := forbiddenIn(sub, key); found {
				return inner, true
			}
			continue
		}
		if !slices.Contains(benchKeys(), key) {
			return key, true
		}
		for _, inner := range []string{"path", "verify"} {
			if _, set := sub[inner]; set {
				return join(key, inner), true
			}
		}
		if _, short := layer[key].(string); short && shortField(key) == "path" {
			return key, true
		}
	}
	return "", false
}

// forbiddenIn does what forbidden does for the keys of env, of which a benchmark may set some.
func forbiddenIn(sub map[string]any, key string) (string, bool) {
	for _, inner := range sortedKeys(sub) {
		if !slices.Contains(benchKeys(), join(key, inner)) {
			return join(key, inner), true
		}
	}
	return "", false
}

// networkIn returns the key of a check that wants the network.
func networkIn(v any, key string) (string, bool) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] != nil && v["network"] != nil && v["network"] != false {
			return key, true
		}
		for _, k := range sortedKeys(v) {
			if at, found := networkIn(v[k], join(key, k)); found {
				return at, true
			}
		}
	case []any:
		for _, item := range v {
			if _, found := networkIn(item, key); found {
				return key, true
			}
		}
	}
	return "", false
}

// variableIn returns the key of a text that names a variable.
func variableIn(v any, key string) (string, bool) {
	switch v := v.(type) {
	case string:
		return key, variable.MatchString(v)
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if at, found := variableIn(v[k], join(key, k)); found || strings.Contains(k, "${") {
				return at, true
			}
		}
	case []any:
		for _, item := range v {
			if _, found := variableIn(item, key); found {
				return key, true
			}
		}
	}
	return "", false
}

// benchGuide passes what the folder says of the domain to the analysts.
func (l *loader) benchGuide(f *folder.Folder) error {
	if !f.Has(folder.FileGuide) {
		return nil
	}
	text, err := f.Read(folder.FileGuide)
	if err != nil {
		return problemAt(f.Where, "reflect.guide", err.Error(), "a readable text")
	}
	if strings.Contains(string(text), "${") {
		return problemAt(f.Where+", "+folder.FileGuide, "reflect.guide", "${NAME}, a variable of the user's environment", "text without variables")
	}
	guide := map[string]any{"reflect": map[string]any{"guide": strings.TrimSpace(string(text))}}
	l.merge(l.tree, guide, layerOrigin{file: f.Where + ", " + folder.FileGuide}, "")
	return nil
}

// benchTasks has the tasks read that lie in the data of the benchmark, and the documents there searched.
func (l *loader) benchTasks(bench map[string]any, world, dir, origin string) {
	data, _ := bench["data"].(string)
	if data == "" {
		return
	}
	data = resolve(dir, data)
	layer := map[string]any{"tasks": map[string]any{"path": filepath.Join(data, FolderOfTasks)}}
	docs := filepath.Join(data, FolderOfDocs)
	info, err := os.Stat(docs)
	if reads := cmp.Or(world, text(l.tree, "env", "world")); (reads == "corpus" || reads == "textgame") && err == nil && info.IsDir() {
		layer["env"] = map[string]any{"docs": docs}
	}
	l.merge(l.tree, layer, layerOrigin{file: origin}, "")
}

// text returns a text in a tree, two keys down.
func text(tree map[string]any, key, inner string) string {
	sub, _ := tree[key].(map[string]any)
	s, _ := sub[inner].(string)
	return s
}
