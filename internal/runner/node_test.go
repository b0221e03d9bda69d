package runner

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// modules is a folder with node_modules in which a runner is installed.
func modules(t *testing.T, runner string) string {
	t.Helper()
	dir := os.Getenv("SKILLOPT_RUNNERS_NODE")
	if dir == "" || !runs(filepath.Join(dir, "node_modules", ".bin", runner)) {
		t.Skipf("%s is not installed: name a folder with it in SKILLOPT_RUNNERS_NODE", runner)
	}
	return dir
}

const jsCode = `export function div(a, b) {
  if (b === 0) throw new RangeError('division by zero');
  return Math.floor(a / b);
}
`

const jsBody = `
describe('div', () => {
  it('halves', () => { if (div(6, 2) !== 3) throw new Error('no'); });
  describe('odd', () => { it('rounds <up> & "down"', () => { equal(div(7, 2), 4); }); });
  it.skip('later', () => {});
});
`

// A package that is installed next to the node of PATH is another version of the project, which agents can read.
func TestNodeOfPath(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"package.json": `{"name": "calc", "scripts": {"test": "node --test"}}`, "test/a.test.js": ""})
	m := thisMachine(t, dir)
	node, err := (&detector{machine: m}).program("node")
	if err != nil {
		t.Skipf("no node here: %v", err)
	}
	other := tree(t, map[string]string{"lib/node_modules/calc/index.js": "", "bin/x": ""})
	if err := os.Symlink(node, filepath.Join(other, "bin", "node")); err != nil {
		t.Fatal(err)
	}
	m.Lookup = func(name string) (string, bool) { return filepath.Join(other, "bin"), name == "PATH" }
	_, _, err = Detect(t.Context(), open(t, dir), m, Options{})
	var unfit *Unfit
	if !errors.As(err, &unfit) || unfit.Path != filepath.Join(other, "lib/node_modules/calc") {
		t.Errorf("got %v", err)
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"package.json": "{\"name\":\"calc\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}", "src/calc.js": jsCode,
		"test/calc.test.js": "import { describe, it, test } from 'node:test';\nimport { equal } from 'node:assert';\nimport http from 'node:http';\nimport { div } from '../src/calc.js';\n" + jsBody +
			"test('server', (t, done) => { const s = http.createServer((q, r) => r.end('x')).listen(0, '127.0.0.1', () => http.get({ host: '127.0.0.1', port: s.address().port }, (r) => { r.resume(); s.close(done); })); });\n" +
			"test('outside', async () => { await fetch('http://example.com/'); });\n",
		"test/more.test.js": "import test from 'node:test';\ntest('more', () => {});\n",
	})
	m := thisMachine(t, dir)
	if _, err := (&detector{machine: m}).program("node"); err != nil {
		t.Skip(err)
	}
	s := detect(t, dir, m, Options{})
	targets, err := s.Targets([]string{"test/calc.test.js", "test/data.json"}, []string{"src/calc.js"}, open(t, dir))
	if err != nil || !slices.Equal(targets, []string{"test/calc.test.js"}) {
		t.Fatal(targets, err)
	}
	want := canaries(t, s, dir, targets)
	maps.Copy(want, map[string]Status{
		"test/calc.test.js > div > halves": Passed, `test/calc.test.js > div > odd > rounds <up> & "down"`: Failed, "test/calc.test.js > div > odd": Failed,
		"test/calc.test.js > div > later": Skipped, "test/calc.test.js > div": Failed, "test/calc.test.js > server": Passed, "test/calc.test.js > outside": Failed,
	})
	r := run(t, s, Job{Dir: dir, Targets: targets})
	check(t, r, want)
	if m := r.Tests[`test/calc.test.js > div > odd > rounds <up> & "down"`].Message; !strings.Contains(m, "3 == 4") {
		t.Errorf("the message is %q", m)
	}
	if !NeedsNetwork(r.Tests["test/calc.test.js > outside"].Message) {
		t.Errorf("that it wanted the network is not seen in %q", r.Tests["test/calc.test.js > outside"].Message)
	}
	put(t, dir, "test/new.test.js", "import { mod } from '../src/calc.js';\nimport test from 'node:test';\ntest('mod', () => { mod(1, 2); });\n")
	broken := run(t, s, Job{Dir: dir, Targets: []string{"test/new.test.js", "test/more.test.js"}})
	check(t, broken, map[string]Status{"test/more.test.js > more": Passed})
	if !strings.Contains(broken.Unbuilt, "does not provide an export named 'mod'") {
		t.Errorf("unbuilt: %q", broken.Unbuilt)
	}
}

func TestRunnersOfNpm(t *testing.T) {
	t.Parallel()
	const equal = "function equal(a, b) { if (a !== b) throw new Error(a + ' is not ' + b); }\n"
	for runner, head := range map[string]string{
		"vitest": "import { describe, it } from 'vitest';\nimport { div } from '../src/calc.js';\n" + equal,
		"jest":   "const { div } = require('../src/calc.js');\n" + equal,
		"mocha":  "import { div } from '../src/calc.js';\n" + equal,
	} {
		t.Run(runner, func(t *testing.T) {
			t.Parallel()
			clone := modules(t, runner)
			code, kind := jsCode, "module"
			if runner == "jest" {
				code, kind = strings.ReplaceAll(jsCode, "export function div", "exports.div = function")+";", "commonjs"
			}
			dir := tree(t, map[string]string{
				"package.json": "{\"name\":\"calc\",\"type\":\"" + kind + "\",\"scripts\":{\"test\":\"" + runner + "\"},\"devDependencies\":{\"" + runner + "\":\"*\"}}",
				"src/calc.js":  code, "test/calc.test.js": head + jsBody, "test/broken.test.js": head + "import nothing from './nothing.js';\n", "vitest.config.ts": "export default { test: { include: ['test/*.test.js'] } };\n",
			})
			s := detect(t, dir, thisMachine(t, clone), Options{})
			targets := []string{"test/calc.test.js"}
			want := canaries(t, s, dir, targets)
			const inner = "div > odd > rounds <up> & \"down\""
			maps.Copy(want, map[string]Status{"test/calc.test.js > div > halves": Passed, "test/calc.test.js > " + inner: Failed, "test/calc.test.js > div > later": Skipped})
			r := run(t, s, Job{Dir: dir, Base: t.TempDir(), Targets: targets})
			check(t, r, want)
			if m := r.Tests["test/calc.test.js > "+inner].Message; !strings.Contains(m, "3 is not 4") {
				t.Errorf("the message is %q", m)
			}
			broken := run(t, s, Job{Dir: dir, Base: t.TempDir(), Targets: []string{"test/broken.test.js"}})
			if len(broken.Tests) > 0 || !strings.Contains(broken.Unbuilt, "nothing") {
				t.Errorf("got %+v", broken)
			}
		})
	}
}
