package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// toldWord finds the variables that only a command sees which names them.
var toldWord = pattern.New(`\b(GOLD|TASK|CONFIG_DIR)\b`)

// Told reports whether a text, of a command or of a script that it names, names a
// variable that says what is expected: GOLD, TASK or CONFIG_DIR, as a whole word
// and in whichever language. A command with such a text, or with Execute, is a
// trusted step: it sees these variables, and nothing in the workspace can be
// executed in it. Any other is an untrusted step.
func Told(text string) bool { return toldWord.MatchString(text) }

// Lint returns what is doubtful about a command, in words for a warning. trusted
// says which step it is, and scripts are the texts of the files that it names. It
// knows common programs and sees what is written out; a command without a
// warning may still hand gold to the agent's code.
func (c *Command) Lint(trusted bool, scripts []string) []string {
	text := strings.Join(append(slices.Clone(c.Argv), scripts...), "\n")
	var found []string
	if c.Execute != nil && !looks.MatchString(text) {
		found = append(found, "it never looks into $OUTPUT, so that what execute did counts for nothing: read $OUTPUT/stdout, $OUTPUT/code or $OUTPUT/end, or leave execute out")
	}
	if !trusted {
		return append(found, c.lintAlone(scripts)...)
	}
	for _, argv := range c.programs(scripts) {
		if what := runsWork(argv); what != "" {
			found = append(found, what)
		}
	}
	for _, m := range append(loadsWork.Regexp().FindAllString(text, -1), foreign(c.Argv)...) {
		found = append(found, fmt.Sprintf("it has %q"+loaded+helps, m))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

var (
	// loadsWork finds how graders run what they grade.
	loadsWork = pattern.New(`sys\.path\.(?:insert|append|extend)|\brunpy\.|\bimportlib\.|\b(?:exec|eval)\(open|\b(?:pickle|joblib)\.loads?\(|` +
		`(?:sys\.executable|["'](?:python|node|ruby|perl|bash|sh)[\d.]*["'])\s*,\s*["'][^"'/\-$\s]`)
	// required finds the modules of code for node that is written out: it looks for
	// them in the workspace.
	required = pattern.New(`\b(?:require|import)\(\s*["']([^"']+)["']`)

	beside  = pattern.New(`__file__|__dirname|\bdirname\b|BASH_SOURCE|import\.meta`)
	looks   = pattern.New(`\bOUTPUT\b`)
	unshell = pattern.New(`(?m)^(?:import |from \w+ import|def |const |let |var |use |require |package |function )`)
)

const loaded = ", which looks like code of the workspace that is loaded or started: code that runs in this step gets the gold answers"

// foreign lists the modules that code given to node by -e would load from the workspace.
func foreign(argv []string) (found []string) {
	own := []string{"assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http", "os", "path", "perf_hooks", "process", "querystring", "readline", "stream", "string_decoder", "url", "util", "vm", "worker_threads", "zlib"}
	for _, word := range argv {
		for _, m := range required.FindAllStringSubmatch(word, -1) {
			if !strings.HasPrefix(m[1], "node:") && !strings.HasPrefix(m[1], "/") && !slices.Contains(own, m[1]) {
				found = append(found, m[0])
			}
		}
	}
	return found
}

// lintAlone warns of a script that looks for files next to it, where it can read nothing.
func (c *Command) lintAlone(scripts []string) []string {
	for _, s := range scripts {
		if m := beside.FindString(s); m != "" {
			return []string{fmt.Sprintf("a script of it has %q, but of the config's folder it can read nothing else than itself: a command that names CONFIG_DIR can, and can execute nothing of the workspace", m)}
		}
	}
	return nil
}

// programs returns the programs that a command and its scripts for a shell name.
func (c *Command) programs(scripts []string) [][]string {
	all := unwrap(c.Argv)
	for _, s := range scripts {
		if shellLike(s) {
			all = append(all, simpleCommands(s)...)
		}
	}
	return all
}

// shellLike distinguishes scripts for a shell from those in other languages.
func shellLike(s string) bool {
	if first, _, _ := strings.Cut(s, "\n"); strings.HasPrefix(first, "#!") {
		return strings.HasSuffix(strings.TrimSpace(first), "sh")
	}
	return !unshell.MatchString(s)
}

// unwrap returns a command, and the programs of its script if it is sh -c.
func unwrap(argv []string) [][]string {
	if len(argv) > 2 && slices.Contains(shells(), path.Base(argv[0])) && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		var all [][]string
		for _, c := range simpleCommands(argv[2]) {
			all = append(all, unwrap(c)...)
		}
		return all
	}
	return [][]string{argv}
}

func shells() []string { return []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"} }

// ofTheWork reports whether a word names something that the agent may have left.
func ofTheWork(word string) bool {
	for _, name := range []string{"WORKSPACE", "PWD", "OUTPUT"} {
		if strings.HasPrefix(word, "$"+name) || strings.HasPrefix(word, "${"+name+"}") {
			return true
		}
	}
	return word != "" && !strings.ContainsAny(word[:1], "/$~-<>")
}

const helps = "; run it by execute, which gets nothing, and look at $OUTPUT"

// runsWork says how a program would run what an agent left, "" if it is not seen
// to. argv is as written, with variables in it.
func runsWork(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	name, args := path.Base(argv[0]), argv[1:]
	bare := strings.TrimRight(name, "0123456789.")
	switch {
	case strings.Contains(argv[0], "/") && ofTheWork(argv[0]):
		return fmt.Sprintf("it executes %s, but in a command that names GOLD, TASK or CONFIG_DIR nothing of the workspace can be executed, so that this fails"+helps, argv[0])
	case name == "." || name == "source":
		if len(args) > 0 && ofTheWork(args[0]) {
			return fmt.Sprintf("it reads %s into the shell, so that the agent's code gets the gold answers"+helps, args[0])
		}
	case slices.Contains(selfServing(), bare) && !slices.Contains(args, "--no-config") && !slices.Contains(args, "--no-index"):
		return fmt.Sprintf("%s follows files of the folder in which it runs, so that the agent's code may get the gold answers"+helps, name)
	case slices.Contains([]string{"tar", "rsync", "zip"}, name) && slices.ContainsFunc(args, bareStar):
		return fmt.Sprintf("%s is given *, which expands to names that the agent chose: one like --checkpoint-action is an option, and runs its code; write ./*", name)
	case slices.Contains(interpreters(), bare):
		if file := programFile(bare, args); file != "" {
			return fmt.Sprintf("%s is given %s, so that the agent's code gets the gold answers"+helps, name, file)
		}
	}
	return ""
}

func bareStar(arg string) bool { return arg == "*" }

// selfServing lists programs that run, load or obey what lies in the folder in
// which they are started, without being given its name.
func selfServing() []string {
	return []string{
		"make", "gmake", "ninja", "cmake", "ctest", "just", "rake", "bundle", "pytest", "py.test", "tox", "nox", "npm", "npx", "yarn", "pnpm", "bun", "bunx", "deno",
		"jest", "vitest", "mocha", "tsx", "cargo", "go", "mvn", "gradle", "sbt", "mix", "cabal", "stack", "swift", "zig", "dotnet", "lua", "luajit", "octave", "git", "hg", "jj",
	}
}

func interpreters() []string {
	return append(shells(), "python", "pypy", "node", "nodejs", "ruby", "perl", "php", "Rscript", "julia", "awk", "gawk", "mawk", "java", "tclsh", "fish")
}

// programFile returns the file of the workspace that an interpreter is given as its
// program, or a module that loads what it finds there; "" if there is none. What
// comes after the program is data.
func programFile(name string, args []string) string {
	awk := strings.HasSuffix(name, "awk")
	for i := 0; i < len(args); i++ {
		arg, next := args[i], ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case strings.HasPrefix(arg, "<"):
			if file := strings.TrimPrefix(arg, "<"); ofTheWork(file) || file == "" && ofTheWork(next) {
				return file + next
			}
			return ""
		case arg == "-m" && strings.HasPrefix(name, "py"):
			if slices.Contains([]string{"pytest", "unittest", "doctest", "runpy", "tox", "nose"}, next) {
				return "-m " + next
			}
			return ""
		case awk && arg == "-f", slices.Contains([]string{"-r", "--require", "--import", "-jar"}, arg) && name != "php":
			if ofTheWork(next) {
				return next
			}
			i++
		case inline(name, arg):
			return ""
		case slices.Contains([]string{"-W", "-X", "-o"}, arg), arg == "-I" && (name == "perl" || name == "ruby"):
			i++
		case strings.HasPrefix(arg, "-") && arg != "-":
		case awk || !ofTheWork(arg):
			return ""
		default:
			return arg
		}
	}
	return ""
}

// inline reports whether an option says that the program is written out after it.
func inline(name, arg string) bool {
	switch {
	case slices.Contains([]string{"--eval", "--print"}, arg):
		return true
	case strings.HasPrefix(name, "py") || slices.Contains(shells(), name) || name == "fish":
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
	case name == "php":
		return arg == "-r"
	}
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && (strings.HasSuffix(arg, "e") || strings.HasSuffix(arg, "E") || strings.HasSuffix(arg, "p"))
}
