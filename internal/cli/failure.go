package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file makes documents of errors, for programs.

// printFailure prints an error as a document of one line. What looks like a secret is
// masked.
func printFailure(w io.Writer, dir string, err error) error {
	f := result.Failure{Error: err.Error(), ExitCode: exitCode(err), Problems: toProblems(err)}
	for i := range f.Problems {
		f.Problems[i].File = relativeTo(dir, f.Problems[i].File)
		if f.Problems[i].Help == "" {
			f.Problems[i].Help = helpFor(f.ExitCode, f.Problems[i])
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(redact.Strings(redact.Text, f))
}

// toProblems splits an error: each problem of a configuration or of tasks by itself, anything else
// as one.
func toProblems(err error) []result.Problem {
	var (
		out    []result.Problem
		conf   *config.Error
		tasks  *task.Error
		record *run.DamagedError
		path   *fs.PathError
	)
	if errors.As(err, &conf) {
		for _, p := range conf.Problems {
			out = append(out, configProblem(p))
		}
	}
	if errors.As(err, &tasks) {
		for _, p := range tasks.Problems {
			out = append(out, taskProblem(p))
		}
	}
	if len(out) > 0 {
		return out
	}
	p := toldProblem(err.Error())
	switch {
	case p.File != "":
	case errors.As(err, &path):
		p.File = path.Path
	case errors.As(err, &record):
		p.File = record.Dir
	}
	return []result.Problem{p}
}

// configProblem returns a problem of a configuration as a result.Problem.
func configProblem(p config.Problem) result.Problem {
	out := result.Problem{Key: p.Key, Help: p.Hint}
	out.File, out.Line = p.Place()
	p.Origin, p.Key, p.Hint = "", "", ""
	out.Message = strings.TrimPrefix(p.Error(), ": ")
	return out
}

// taskProblem returns a problem of tasks as a result.Problem. The part of a message after its last
// semicolon is what helps.
func taskProblem(p task.Problem) result.Problem {
	out := result.Problem{Task: p.ID}
	out.File, out.Line = cutLine(p.Origin)
	out.Message, out.Help = ask.CutHelp(p.Msg)
	return out
}

var (
	// placed is how a message begins that says where: a file and a line.
	placed = pattern.New(`^([^\s:][^:\n]*):(\d+): `)
	named  = pattern.New(`^task "((?:[^"\\]|\\.)*)": `)
	keyed  = pattern.New(`^([a-z_]+(?:\.[a-z_]+)*)[: ]`)
)

// toldProblem reads a message as the rules of wording have it: where, which task or key,
// what happened, and behind the last semicolon, or in its last line, what helps.
func toldProblem(text string) result.Problem {
	var p result.Problem
	if m := placed.FindStringSubmatch(text); m != nil {
		p.File = m[1]
		p.Line, _ = strconv.Atoi(m[2])
		text = text[len(m[0]):]
	}
	if m := named.FindStringSubmatch(text); m != nil {
		p.Task, text = m[1], text[len(m[0]):]
	}
	if m := keyed.FindStringSubmatch(text); m != nil && isKey(m[1]) {
		p.Key = m[1]
	}
	p.Message, p.Help = ask.CutHelp(text)
	return p
}

// isKey reports whether a name is a key of the configuration.
func isKey(name string) bool {
	return slices.ContainsFunc(config.Default().Keys(), func(k config.Key) bool {
		return k.Path == name || strings.HasPrefix(k.Path, name+".")
	})
}

// cutLine cuts "tasks.jsonl:12" into file and line.
func cutLine(origin string) (file string, line int) {
	i := strings.LastIndexByte(origin, ':')
	n, err := strconv.Atoi(origin[i+1:])
	if i < 0 || err != nil {
		return origin, 0
	}
	return origin[:i], n
}

// helpFor returns what helps with an error of a kind whose message does not say it.
func helpFor(code int, p result.Problem) string {
	switch {
	case p.Key != "" && isKey(p.Key):
		return fmt.Sprintf("correct it; `skillopt config explain %s` says what is allowed", p.Key)
	case p.Key != "":
		return "correct it; `skillopt config explain` lists the keys"
	case p.Task != "" || code == exitInput && p.Line > 0:
		return "correct it, then check all of them with `skillopt tasks lint`"
	}
	switch code {
	case exitInput:
		return "correct the command line or the file that it names; `skillopt --help` shows examples"
	case exitLocked:
		return "wait until the other process has ended, or choose another run with --run"
	case exitEnvironment:
		return "make room, or choose a folder that can be written to"
	case exitUnmeasured:
		return "see to the server, then repeat the command; `skillopt doctor` asks it one question"
	case exitBudget:
		return "raise the ceiling in limits and repeat the command"
	case exitStopped, exitWaiting:
		return "repeat the command to continue"
	}
	return "repeat the command; `skillopt doctor` examines a configuration"
}
