package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

// places lists the problems of an error as origin and key.
func places(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var own *Error
	if !errors.As(err, &own) {
		t.Fatalf("no *Error: %v", err)
	}
	var out []string
	for _, p := range own.Problems {
		if p.Found == "" || p.Want == "" {
			t.Errorf("a problem without what was found or is allowed: %v", p)
		}
		out = append(out, p.Origin+" "+p.Key)
	}
	return out
}

func variables(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func TestUntrustedConfigs(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"SKILL.md": "x", "config.yaml": "train: {epochs: 1}\n", "base.yaml": "train: {epochs: 1}\n"})
	tests := []struct {
		name, config string
		files        map[string]string
		settings     []string
		want         []string // origins and keys of the problems; none: it loads
	}{
		{"what is marked", "skill: SKILL.md\ntasks: tasks.jsonl\nmodels:\n  target: {provider: openai, model: m, temperature: 0}\ntrain: {epochs: 2}\nlimits: {usd: null}\n", nil, nil, nil},
		{"a program", "tasks:\n  path: t.jsonl\nenv:\n  command: [sh, -c, 'env > /tmp/x']\n  pass_env: [OPENAI_API_KEY]\n", nil, nil, []string{"config.yaml:4 env.command", "config.yaml:5 env.pass_env"}},
		{"a server", "models:\n  target:\n    provider: openai\n    model: m\n    base_url: http://evil.example/v1\n", nil, nil, []string{"config.yaml:5 models.target.base_url"}},
		{
			"headers, keys and regions", "models:\n  judge:\n    headers: {X: y}\n    api_key_env: AWS_SECRET\n    region: x\n    endpoints: [http://evil.example]\n    azure_auth: azure_cli\n    command: sh\n    folder: q\n", nil, nil,
			[]string{"config.yaml:3 models.judge.headers", "config.yaml:4 models.judge.api_key_env", "config.yaml:5 models.judge.region", "config.yaml:6 models.judge.endpoints", "config.yaml:7 models.judge.azure_auth", "config.yaml:8 models.judge.command", "config.yaml:9 models.judge.folder"},
		},
		{
			"seats, folders and servers anywhere", "models:\n  target: {provider: claude-cli}\n  optimizer: {provider: handoff}\n  judge: {provider: compatible, model: m}\n", nil, nil,
			[]string{"config.yaml:2 models.target.provider", "config.yaml:3 models.optimizer.provider", "config.yaml:4 models.judge.provider"},
		},
		{
			"a variable", "run: {name: '${HOME}'}\nreflect:\n  guide: 'a ${OPENAI_API_KEY}'\ntasks: {columns: {id: '${X}'}, extract: [{tag: '${Y}'}]}\n", nil, nil,
			[]string{"config.yaml:1 run.name", "config.yaml:3 reflect.guide", "config.yaml:4 tasks.columns", "config.yaml:4 tasks.extract"},
		},
		{"what is no variable", "tasks: {path: t.jsonl, prompt: 'costs ${{price}}, $HOME'}\n", nil, nil, nil},
		{"a base", "extends: ../base.yaml\n", nil, nil, []string{"config.yaml:1 extends"}},
		{"a benchmark", "bench: {name: ./evil}\n", map[string]string{"evil/benchmark.yaml": "x"}, nil, []string{"config.yaml:1 bench.name"}},
		{
			"agents, tools, money, telemetry, sleep", "agent: {name: codex}\nenv: {mcp: [{command: [sh]}], url: ws://evil.example}\nprices: {m: {input: 0, output: 0}}\nprice_file: p.csv\ntelemetry: {endpoint: http://evil.example}\nsleep: {notify: [sh]}\nextras: {a: b}\nedits: {verify: {command: [sh]}}\ntasks: {pages: {fetch: 1}}\n", nil, nil,
			[]string{"config.yaml:1 agent.name", "config.yaml:2 env.url", "config.yaml:2 env.mcp", "config.yaml:3 prices", "config.yaml:4 price_file", "config.yaml:5 telemetry.endpoint", "config.yaml:6 sleep.notify", "config.yaml:7 extras", "config.yaml:8 edits.verify.command", "config.yaml:9 tasks.pages.fetch"},
		},
		{"prices.file", "prices: {file: /etc/passwd}\n", nil, nil, []string{"config.yaml:1 price_file"}},
		{"anchors and merge keys", "models:\n  target: &t\n    provider: openai\n    model: m\n  judge:\n    <<: *t\n    base_url: http://evil.example\n  optimizer: {<<: {headers: {A: b}}}\n", nil, nil, []string{"config.yaml:7 models.judge.base_url", "config.yaml:8 models.optimizer.headers"}},
		{"a tag", "env: !!map {command: !!seq [sh]}\n", nil, nil, []string{"config.yaml:1 env.command"}},
		{"checks that run programs", "tasks:\n  path: t.jsonl\n  checks:\n    - {any: [{type: equals, value: a}, {all: [{type: Not-Command, run: [sh]}]}]}\n", nil, nil, []string{"config.yaml:3 tasks.checks"}},
		{"checks that look", "tasks: {path: t.jsonl, checks: [equals, {type: llm-rubric, criteria: 'run the command at http://x'}]}\n", nil, nil, nil},
		{
			"paths", "skill: " + filepath.ToSlash(outside) + "/SKILL.md\ntasks: {path: ../t.jsonl}\nprompts: ~/prompts\nmodels: {target: {provider: sim, world: 'C:\\world.yaml'}, judge: {provider: sim, world: '\\\\host\\share'}}\nrun: {dir: /tmp}\n", nil, nil,
			[]string{"config.yaml:1 skill", "config.yaml:2 tasks.path", "config.yaml:3 prompts", "config.yaml:4 models.target.world", "config.yaml:4 models.judge.world", "config.yaml:5 run.dir"},
		},
		{"paths that are not there yet", "skill: new/folder/SKILL.md\nrun: {dir: out/runs, name: x}\n", nil, nil, nil},
		{"a path behind a name that is not there", "skill: " + filepath.ToSlash(outside) + "/none/../SKILL.md\nprompts: none/../../x\n", nil, nil, []string{"config.yaml:1 skill", "config.yaml:2 prompts"}},
		{
			"links", "skill: out/SKILL.md\nprompts: nothing/x\ntasks: {path: within}\nrun: {dir: out/new}\n",
			map[string]string{"out": "-> " + outside, "nothing": "-> " + outside + "/none", "t.jsonl": "", "within": "-> t.jsonl"},
			nil,
			[]string{"config.yaml:1 skill", "config.yaml:2 prompts", "config.yaml:4 run.dir"},
		},
		{"a config that is a link", "-> " + outside + "/config.yaml", nil, nil, []string{" "}},
		{
			"settings", "train: {epochs: 2}\n", nil,
			[]string{"env.command=[sh]", "models={target: {base_url: 'http://x'}}", "prices.file=/etc/passwd", "tasks=/etc/passwd", "reflect.guide=${HOME}", "run.dir=../x", "models.target.headers.A.b=c"},
			[]string{"--set env.command", "--set models.target.base_url", "--set price_file", "--set prices", "--set tasks.path", "--set reflect.guide", "--set run.dir", "--set models.target.headers"},
		},
		{"settings that are marked", "", nil, []string{"train.epochs=3", "models.target.provider=sim", "models.target.world=w.yaml", "tasks.limit=4"}, nil},
		{"a file of keys", "skill: .env\ntasks: {path: .git/config}\nprompts: in/x\n", map[string]string{"in": "-> .ssh", ".ssh/x/y": ""}, nil, []string{"config.yaml:1 skill", "config.yaml:2 tasks.path", "config.yaml:3 prompts"}},
		{"a folder of agents", "skill: .claude/skills/s/SKILL.md\n", nil, nil, nil},
		{"nothing in a block", "env:\nagent: {}\n", nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"config.yaml": tt.config, ".env": "OPENAI_API_KEY=secret\nX=1\nY=1\n"}
			for name, text := range tt.files {
				files[name] = text
			}
			dir := treetest.Write(t, files)
			opts := Options{Path: dir, Dir: dir, Guard: &Guard{Roots: []string{dir}}, Lookup: variables(nil)}
			for _, s := range tt.settings {
				set, err := ParseSetting(s)
				if err != nil {
					t.Fatal(err)
				}
				opts.Settings = append(opts.Settings, set)
			}
			l, err := Load(opts)
			got := places(t, err)
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s\n%v", diff, err)
			}
			if err != nil {
				return
			}
			if v, ok := l.Lookup("OPENAI_API_KEY"); ok {
				t.Errorf("the .env was read: %q", v)
			}
			if l.Guard != opts.Guard {
				t.Error("what was loaded does not carry the guard")
			}
		})
	}
}

// A refusal names the hash of the bytes that were read, and with it the file loads.
func TestTrustedConfigs(t *testing.T) {
	t.Parallel()
	const (
		main = "extends: base.yaml\nmodels: {target: {provider: compatible, model: m, base_url: 'http://127.0.0.1:1/${NAME}'}}\n"
		base = "env: {timeout: 3m}\n"
		vars = "NAME=x\n"
	)
	dir := treetest.Write(t, map[string]string{"config.yaml": main, "base.yaml": base, ".env": vars})
	load := func(settings []Setting, trusted ...string) (*Loaded, error) {
		return Load(Options{Path: dir, Dir: dir, Lookup: variables(nil), Settings: settings, Guard: &Guard{Roots: []string{dir}, Trusted: trusted}})
	}
	_, err := load(nil)
	if err == nil || !strings.Contains(err.Error(), "--trust "+treetest.SHA256(main)) || strings.Count(err.Error(), "--trust") != 1 {
		t.Errorf("the refusal does not name the hash once: %v", err)
	}
	if _, err = load(nil, treetest.SHA256(main)); !slices.Equal(places(t, err), []string{"base.yaml:1 env.timeout"}) || !strings.Contains(err.Error(), treetest.SHA256(base)) {
		t.Errorf("the base needs a hash of its own: %v", err)
	}
	if _, err = load(nil, treetest.SHA256(main), treetest.SHA256(base)); !slices.Equal(places(t, err), []string{"config.yaml:2 models.target.base_url"}) {
		t.Errorf("the .env needs a hash of its own: %v", err)
	}
	l, err := load(nil, strings.ToUpper(treetest.SHA256(main)), treetest.SHA256(base), treetest.SHA256(vars))
	if err != nil || l.Config.Models.Target.BaseURL != "http://127.0.0.1:1/x" || l.Config.Env.Timeout.Std() != 3*time.Minute {
		t.Errorf("with all hashes: %v", err)
	}
	vendor := []Setting{{Key: "models.target.provider", Value: "openai", Origin: "--set"}}
	if _, err = load(vendor, treetest.SHA256(main), treetest.SHA256(base), treetest.SHA256(vars)); !slices.Equal(places(t, err), []string{"--set models.target.provider"}) {
		t.Errorf("a provider of a caller gets what the file says of another one: %v", err)
	}
	if _, err = load([]Setting{{Key: "env.command", Value: []any{"sh"}, Origin: "--set"}}, "", treetest.SHA256(main), treetest.SHA256(base), treetest.SHA256(vars)); !slices.Equal(places(t, err), []string{"--set env.command"}) {
		t.Errorf("settings are held to the mark: %v", err)
	}
}

// A .env that the host trusts is read, also for a config that may say little: it can name no variable, and no host.
func TestTrustedVariables(t *testing.T) {
	t.Parallel()
	dir := treetest.Write(t, map[string]string{"config.yaml": "train: {epochs: 2}\n", ".env": "NAME=x\n"})
	for _, trusted := range [][]string{{treetest.SHA256("NAME=x\n")}, {treetest.SHA256("train: {epochs: 2}\n")}, {treetest.SHA256("NAME=x\n"), treetest.SHA256("train: {epochs: 2}\n")}} {
		l, err := Load(Options{Path: dir, Dir: dir, Lookup: variables(nil), Guard: &Guard{Roots: []string{dir}, Trusted: trusted}})
		if err != nil {
			t.Fatal(err)
		}
		if _, read := l.Lookup("NAME"); read != slices.Contains(trusted, treetest.SHA256("NAME=x\n")) {
			t.Errorf("with %v: read %v", trusted, read)
		}
	}
}

// The benchmark of a trusted config is a folder with files of its own.
func TestBenchOfATrustedConfig(t *testing.T) {
	t.Parallel()
	const main = "bench: {name: ./own}\ntasks: {path: t.jsonl}\n"
	const beneath = "env: {turns: 3}\ntasks: {checks: [{type: command, run: [sh]}]}\n"
	dir := treetest.Write(t, map[string]string{
		"config.yaml":         main,
		"own/benchmark.yaml":  "name: own\ntitle: Own\nlicence: MIT\nhomepage: https://example.org\ntask: {prompt: '{{q}}', gold: {field: a}}\nsplits: {ratio: '2:2:1'}\nconfig: config.yaml\nscoring: {default: robust, robust: s.yaml}\n",
		"own/config.yaml":     beneath,
		"own/s.yaml":          "tasks: {threshold: 0.5}\n",
		"own/guide.md":        "Words.\n",
		"own/fixture/rows.md": "x",
	})
	_, err := Load(Options{Path: dir, Dir: dir, Lookup: variables(nil), Guard: &Guard{Roots: []string{dir}, Trusted: []string{treetest.SHA256(main)}}})
	want := []string{"./own, config.yaml:1 env.turns", "./own, config.yaml:2 tasks.checks"}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("-want +got\n%s\n%v", diff, err)
	}
}

func TestCeilingsOfTheHost(t *testing.T) {
	t.Parallel()
	dir := treetest.Write(t, map[string]string{"config.yaml": "limits: {calls: 9000, usd: 1, tokens: null, concurrency: 2, time: 2h}\nmodels: {target: {provider: sim, world: w.yaml}}\n"})
	calls, usd, tokens, hour := int64(100), 5.0, int64(7), Duration(time.Hour)
	guard := &Guard{Roots: []string{dir}, Limits: Limits{Calls: &calls, USD: &usd, Tokens: &tokens, Time: &hour, Concurrency: 8}}
	l, err := Load(Options{Path: dir, Dir: dir, Lookup: variables(nil), Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	own := 1.0
	want := Default().Limits
	want.Calls, want.USD, want.Tokens, want.Time, want.Concurrency = &calls, &own, &tokens, &hour, 2
	if diff := cmp.Diff(want, l.Config.Limits); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if l.Origins["limits.calls"] != hostOrigin || l.Origins["limits.usd"] != "config.yaml:1" {
		t.Errorf("origins: %v", l.Origins)
	}
}

// The config.yaml of a run has all keys. Those without the mark are at their defaults unless the
// configuration of the run was trusted.
func TestConfigsOfRuns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"of an untrusted one", func(c *Config) { c.Train.Epochs = 2 }, nil},
		{"of a trusted one, or forged", func(c *Config) { c.Env.Command = []string{"sh"}; c.Models.Target.BaseURL = "http://evil.example" }, []string{"config.yaml env.command", "config.yaml models.target.base_url"}},
	} {
		c := Default()
		c.Models.Target.Provider, c.Models.Target.World = "sim", "w.yaml"
		tt.change(&c)
		text, err := c.YAML(false)
		if err != nil {
			t.Fatal(err)
		}
		dir := treetest.Write(t, map[string]string{"config.yaml": string(text)})
		guard := &Guard{Roots: []string{dir}}
		_, err = Load(Options{Path: dir, Dir: dir, Lookup: variables(nil), Guard: guard})
		var got []string
		for _, p := range places(t, err) {
			file, key, _ := strings.Cut(p, " ")
			file, _, _ = strings.Cut(file, ":")
			got = append(got, file+" "+key)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s\n%v", tt.name, diff, err)
		}
		off := Setting{Key: "env.command", Value: []any{}, Origin: "--set"}
		if _, err := Load(Options{Dir: dir, Settings: []Setting{off}, Lookup: variables(nil), Guard: guard}); err == nil {
			t.Errorf("%s: a setting may undo what a trusted file says", tt.name)
		}
	}
}

// What an untrusted caller may set is chosen key by key: a key without the mark is refused.
func TestMarks(t *testing.T) {
	t.Parallel()
	never := []string{
		"extends", "bench", "env", "agent", "extras", "prices", "price_file", "telemetry", "sleep", "edits.verify", "tasks.pages",
		"models.target.region", "models.optimizer.region", "models.judge.region",
		"base_url", "endpoints", "api_key_env", "headers", "command", "folder", "azure_auth", "pass_env", "url", "mcp",
	}
	marked := 0
	for _, k := range Default().Keys() {
		if k.Untrusted != "" && k.Untrusted != "yes" {
			t.Errorf("%s: the mark is %q", k.Path, k.Untrusted)
		}
		parts := strings.Split(k.Path, ".")
		bad := slices.ContainsFunc(never, func(n string) bool {
			return k.Path == n || strings.HasPrefix(k.Path, n+".") || slices.Contains(parts, n)
		})
		if bad && k.Untrusted != "" {
			t.Errorf("%s must not have the mark", k.Path)
		}
		if k.Untrusted != "" {
			marked++
			continue
		}
		if !bad {
			t.Errorf("%s has no mark and is in no class of keys that never have it: decide", k.Path)
		}
		dir := treetest.Write(t, nil)
		_, err := Load(Options{Dir: dir, Settings: []Setting{{Key: k.Path, Value: "x", Origin: "--set"}}, Guard: &Guard{Roots: []string{dir}}, Lookup: variables(nil)})
		if err == nil || !strings.Contains(err.Error(), "--set: "+k.Path+": found") || !strings.Contains(err.Error(), "keys with the mark untrusted") && k.Path != "extends" {
			t.Errorf("%s can be set: %v", k.Path, err)
		}
	}
	if marked < 80 {
		t.Errorf("only %d keys have the mark", marked)
	}
}

// Each provider of the schema is one that has an address of its own, or is refused.
func TestProvidersOfUntrustedConfigs(t *testing.T) {
	t.Parallel()
	f, _ := reflect.TypeFor[Model]().FieldByName("Provider")
	refused := []string{"azure", "claude-cli", "codex-cli", "compatible", "copilot-cli", "handoff"}
	for _, name := range enumNames(f.Tag) {
		p, _ := preset.Lookup(name)
		itself := name == "sim" || p.BaseURL != "" || len(p.Regions) > 0
		if name != "" && (itself != slices.Contains(vendors(), name) || itself == slices.Contains(refused, name)) {
			t.Errorf("%s: is it for untrusted configs?", name)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"f": "x"})
	dir := treetest.Write(t, map[string]string{"a/f": "x", "out": "-> " + outside, "in": "-> a", "up": "-> ../x", "loop": "-> loop", "nothing": "-> none"})
	g := &Guard{Roots: []string{dir}}
	for path, want := range map[string]bool{
		dir: true, dir + "/a": true, dir + "/a/f": true, dir + "/new/deep": true, dir + "/in/f": true, dir + "/in/new": true,
		filepath.Dir(dir): false, dir + "x": false, outside: false, dir + "/out": false, dir + "/out/f": false, dir + "/out/new/deep": false,
		dir + "/../x": false, dir + "/new/../a": false, dir + "/up": false, dir + "/loop": false, dir + "/nothing": false, dir + "/nothing/x": false,
		"a/f": false, "": false, "/": false,
	} {
		if err := g.Inside(filepath.FromSlash(path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if runtime.GOOS != "windows" {
		for _, path := range []string{"/~/x", "/~root", `/C:\x`, "/c:x", `/\\host\share`, `/a\..\..\x`} {
			if g.Inside(dir+path) == nil {
				t.Errorf("%s is another place elsewhere", path)
			}
		}
	}
	if (*Guard)(nil).Inside("/etc/passwd") != nil {
		t.Error("no guard refuses nothing")
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"f": "x"})
	all := func(string) bool { return true }
	top := func(string) bool { return false }
	for _, tt := range []struct {
		name string
		with map[string]string
		into func(string) bool
		ok   bool
	}{
		{"none", map[string]string{"r/f": "x"}, all, true},
		{"within", map[string]string{"r/a/f": "-> ../../g", "g": "x"}, all, true},
		{"out", map[string]string{"r/run.db": "-> " + outside + "/f"}, top, false},
		{"out of a folder", map[string]string{"r/a/b/f": "-> " + outside + "/f"}, all, false},
		{"where no one looks", map[string]string{"r/a/b/f": "-> " + outside + "/f"}, top, true},
		{"the folder itself", map[string]string{"r": "-> " + outside}, all, false},
		{"no folder", nil, all, true},
	} {
		dir := treetest.Write(t, tt.with)
		if err := (&Guard{Roots: []string{dir}}).Links(filepath.Join(dir, "r"), tt.into); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFoldersOfAGuard(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"f": "secret"})
	dir := treetest.Write(t, map[string]string{"s/SKILL.md": "x", "s/r/a.md": "-> ../../shared.md", "shared.md": "y", "s/r/b.md": "-> " + outside + "/f", "s/q": "-> " + outside})
	files := (&Guard{Roots: []string{dir}}).Dir(t.Context(), filepath.Join(dir, "s"), 1<<20)
	if err := fstest.TestFS((&Guard{Roots: []string{dir}}).Dir(t.Context(), filepath.Join(dir, "s", "none"), 1)); err == nil {
		t.Error("a folder that is not there")
	}
	for name, want := range map[string]string{"SKILL.md": "x", "r/a.md": "y", "r/b.md": "", "q/f": ""} {
		f, err := files.Open(name)
		if (err == nil) != (want != "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), "leads out of the folders") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		text := make([]byte, 10)
		n, _ := f.Read(text)
		if string(text[:n]) != want || f.Close() != nil {
			t.Errorf("%s: %q", name, text[:n])
		}
	}
}
