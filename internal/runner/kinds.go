package runner

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// language is what paths say in repositories of a language.
type language struct {
	code  []string        // extensions
	tests pattern.Pattern // of the whole path
	obeys pattern.Pattern // of the whole path
	locks pattern.Pattern // of the name
}

// Every build may be led by these.
const obeyedByAll = `(^|/)((GNU)?[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml)$`

const (
	testNames   = `([._-](test|spec|tests|specs)\.[cm]?[jt]sx?|(^|/)test\.[cm]?[jt]s|(^|/)test-[^/]*\.[cm]?[jt]s)$`
	testFolders = `(^|/)(__tests__|__mocks__|__snapshots__|__fixtures__|tests?|specs?|e2e|cypress)/`
	config      = `(^|/)((vitest|vite|jest|babel|karma|playwright|ava|swc|webpack|rollup)[^/]*\.config\.[^/]*|vitest\.workspace\.[^/]*|`
	setup       = `(vitest|jest|mocha|tests?)[._-]?setup[^/]*|setup[._-]?(vitest|jest|mocha|tests?|files?)[^/]*|`
	settings    = `package\.json|\.npmrc|\.yarnrc[^/]*|\.pnp\.[^/]*|\.mocharc[^/]*|\.babelrc[^/]*|\.swcrc|\.env[^/]*|tsconfig[^/]*\.json|\.node-version|\.nvmrc)$`
)

var golang = language{
	code:  []string{".go", ".s", ".c", ".h"},
	tests: pattern.New(`_test\.go$|(^|/)testdata/`),
	obeys: pattern.New(`(^|/)(go\.(mod|sum|work|work\.sum|env))$|(^|/)vendor/|` + obeyedByAll),
	locks: pattern.New(`^go\.(mod|sum|work|work\.sum)$`),
}

var python = language{
	code:  []string{".py", ".pyi", ".pyx", ".pxd"},
	tests: pattern.New(`(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|(^|/)tests/|^test/`),
	obeys: pattern.New(`(^|/)(conftest\.py|\.?pytest\.(ini|toml)|pyproject\.toml|tox\.ini|setup\.(cfg|py)|\.coveragerc|pyvenv\.cfg|(site|user)customize(\.py|/.*)|[^/]*\.(pth|egg-link|start))$|` +
		`\.(dist|egg)-info/|(^|/)(pytest|_pytest|pluggy|unittest)(\.py$|/)|` + obeyedByAll),
	locks: pattern.New(`^(poetry|uv|pdm|Pipfile|pylock)[^/]*\.(lock|toml)$|^requirements[^/]*\.(txt|in)$|^Pipfile$`),
}

var javascript = language{
	code:  []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"},
	tests: pattern.New(testNames + `|` + testFolders),
	obeys: pattern.New(`(?i)` + config + setup + settings + `|(^|/)node_modules(/|$)|` + obeyedByAll),
	locks: pattern.New(`^(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb?)$`),
}

var rust = language{
	code:  []string{".rs"},
	tests: pattern.New(`(^|/)tests/|(^|/)([^/]*_)?tests?\.rs$`),
	obeys: pattern.New(`(^|/)(Cargo\.(toml|lock)|build\.rs|rust-toolchain(\.toml)?|\.?(rustfmt|clippy)\.toml)$|(^|/)\.cargo/|(^|/)vendor/|` + obeyedByAll),
	locks: pattern.New(`^Cargo\.lock$`),
}

// others covers what a command of the user's may run.
var others = language{
	code:  []string{".java", ".kt", ".scala", ".rb", ".php", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs", ".swift", ".ex", ".exs", ".lua", ".zig", ".m", ".clj", ".erl", ".hs", ".ml", ".pl", ".pm", ".sh"},
	tests: pattern.New(`(^|/)[^/]*(Tests?|Spec|IT)\.(java|kt|scala|php|cs|swift)$|_(test|spec)\.[a-z]+$|(^|/)([Tt]ests?|spec|t)/`),
	obeys: pattern.New(`(^|/)(pom\.xml|(build|settings)\.gradle(\.kts)?|gradle\.properties|gradlew|mvnw|Rakefile|Gemfile|\.rspec|phpunit\.xml[^/]*|composer\.json|CMakeLists\.txt|meson\.build|BUILD(\.bazel)?|mix\.exs|\.mvn/.*)$|` + obeyedByAll),
	locks: pattern.New(`^(Gemfile\.lock|composer\.lock|mix\.lock|gradle\.lockfile|Package\.resolved|conan\.lock)$`),
}

func (s Suite) languages() []language {
	switch s.Kind {
	case Go:
		return []language{golang}
	case Pytest:
		return []language{python}
	case Node, Vitest, Jest, Mocha:
		return []language{javascript}
	case Cargo:
		return []language{rust}
	}
	return []language{golang, python, javascript, rust, others}
}

// IsTest reports whether a path is a file of tests, or one that tests read.
func (s Suite) IsTest(name string) bool {
	return slices.ContainsFunc(s.languages(), func(l language) bool { return l.tests.MatchString(name) })
}

// IsCode reports whether a path is source of the language: no test, no lock file, nothing that a run of tests obeys.
func (s Suite) IsCode(name string) bool {
	return s.hasCode(name) && !s.IsTest(name) && !s.IsLock(name) && !s.Obeys(name)
}

func (s Suite) hasCode(name string) bool {
	return slices.ContainsFunc(s.languages(), func(l language) bool { return slices.Contains(l.code, path.Ext(name)) })
}

// IsLock reports whether a path is a lock file.
func (s Suite) IsLock(name string) bool {
	return slices.ContainsFunc(s.languages(), func(l language) bool { return l.locks.MatchString(path.Base(name)) })
}

// Obeys reports whether a run of tests obeys the file at a path: settings and setup files of runners and of builds, dependencies
// that are kept in the tree, and programs that the command of the suite names.
func (s Suite) Obeys(name string) bool {
	named := func(word string) bool { return path.Join(s.Folder, word) == name }
	return slices.ContainsFunc(s.Command, named) || slices.ContainsFunc(s.languages(), func(l language) bool { return l.obeys.MatchString(name) })
}

var testMain = pattern.New(`(?m)^func\s+TestMain\s*\(`)

// ObeysText reports whether a run of tests obeys a file because of its text: a TestMain of Go.
func (s Suite) ObeysText(name string, text []byte) bool {
	return strings.HasSuffix(name, "_test.go") && (s.Kind == Go || s.Kind == Command) && testMain.Regexp().Match(text)
}
