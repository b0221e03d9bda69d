package session

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/task"
)

const (
	fewClusters    = 4   // values of a field below which it sorts tasks into kinds
	longValue      = 60  // characters from which a value is a text that tasks are about
	beginningChars = 200 // of a prompt: what tasks about one text begin with alike
)

// sources returns names of fields that say what a task is about, or where it came from, whatever
// their values look like.
func sources() []string {
	return []string{
		"article", "author", "case", "cluster", "context", "conversation", "customer", "dialog", "dialogue", "doc", "document", "file", "group", "page", "paragraph",
		"parent", "passage", "patient", "project", "repo", "repository", "scenario", "session", "source", "story", "template", "thread", "title", "url", "user",
	}
}

// undeclaredClusters warns of tasks that belong together where nothing says so. Such
// tasks are solved or failed together: those who count each one are surer than the tasks
// allow, and so is the certificate.
func (s *Inputs) undeclaredClusters() {
	if s.Config.Gate.Group != "" || s.Counting {
		return
	}
	for _, split := range []struct {
		name  string
		tasks []task.Task
	}{{"test", s.Data.Test}, {"selection", s.Data.Selection}} {
		if found := findClusters(split.tasks); found != nil {
			s.Warnings = append(s.Warnings, found.formatWarning(split.name))
			return
		}
	}
}

// sharing is how many tasks have a value of a field in common with another.
type sharing struct {
	field          string // "": the beginnings of prompts
	tasks, of      int
	values, longer int // different ones; tasks with a long one
}

// findClusters returns the field that most tasks share values of, nil if there is none.
func findClusters(tasks []task.Task) *sharing {
	var best *sharing
	for _, field := range listFields(tasks) {
		found := share(tasks, field, func(t task.Task) string { return fieldValue(t, field) })
		if found.groups() && (found.namesSource() || 2*found.longer >= found.of) && (best == nil || found.values < best.values) {
			best = &found
		}
	}
	if best != nil {
		return best
	}
	found := share(tasks, "", func(t task.Task) string { return promptPrefix(t.Prompt) })
	if found.groups() {
		return &found
	}
	return nil
}

// listFields lists the fields of tasks that may say what they are about, sorted.
func listFields(tasks []task.Task) []string {
	seen := map[string]bool{}
	for _, t := range tasks {
		for name := range t.Data {
			seen[name] = true
		}
	}
	var out []string
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// fieldValue returns Task.Cluster of a field of the data, without a map for each.
func fieldValue(t task.Task, field string) string {
	if v := t.Data[field]; v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// promptPrefix returns the beginning of a prompt that is longer than that.
func promptPrefix(prompt string) string {
	n := 0
	for at := range prompt {
		if n == beginningChars {
			return prompt[:at]
		}
		n++
	}
	return ""
}

func share(tasks []task.Task, field string, value func(task.Task) string) sharing {
	out := sharing{field: field, of: len(tasks)}
	times := map[uint64]int{}
	for _, t := range tasks {
		v := value(t)
		if v == "" {
			continue
		}
		if utf8.RuneCountInString(v) >= longValue {
			out.longer++
		}
		h := fnv.New64a()
		h.Write([]byte(v)) // never fails
		times[h.Sum64()]++
	}
	out.values = len(times)
	for _, n := range times {
		if n > 1 {
			out.tasks += n
		}
	}
	return out
}

// groups reports whether at least half of the tasks share a value, and there are too
// many of them for kinds of tasks.
func (s sharing) groups() bool { return s.values >= fewClusters && 2*s.tasks >= s.of }

// namesSource reports whether the field has the name of a source.
func (s sharing) namesSource() bool {
	name := strings.ToLower(s.field)
	for _, ending := range []string{"_id", "id", "_name", "_key", "_path", "_text"} {
		name = strings.TrimSuffix(name, ending)
	}
	return slices.Contains(sources(), strings.TrimRight(name, "_-"))
}

func (s sharing) formatWarning(split string) string {
	what, help := fmt.Sprintf("share their %q with others", s.field), "gate.group="+s.field+" counts those together once"
	if s.field == "" {
		what = fmt.Sprintf("begin with the same %d characters as others", beginningChars)
		help = "put what they share into a field and name it in gate.group, then they count once together"
	}
	return fmt.Sprintf("%d of %d %s tasks %s (%d different ones): tasks about one thing are solved or failed together, so that a gate and a certificate that count each one are surer than they may be; %s",
		s.tasks, s.of, split, what, s.values, help)
}
