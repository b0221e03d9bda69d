package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/template"
)

// The update modes, as the optimizer's stages name them.
const (
	modePatch   = "patch"
	modeRewrite = "rewrite_from_suggestions"
	modeFull    = "full_rewrite_minibatch"
)

// author is the form of what is reported of files to the author of a rewrite.
const author = "author"

// The prompt files.
const (
	fileAnalystError   = "analyst_error.md"
	fileAnalystSuccess = "analyst_success.md"
	fileContrast       = "analyst_contrast.md"
	fileMerge          = "merge.md"
	fileMergeFinal     = "merge_final.md"
	fileRanking        = "ranking.md"
	fileRewrite        = "rewrite.md"
	fileCompact        = "compact.md"
	fileSlowUpdate     = "slow_update.md"
	fileMetaSkill      = "meta_skill.md"
	fileLearningRate   = "lr_autonomous.md"
	fileRollout        = "rollout.md"
	fileSecondTry      = "second_try.md"
	fileFiles          = "files.md"
	fileFilesRewrite   = "files_rewrite.md"
	fileFilesFixed     = "files_fixed.md"
	fileDescription    = "description.md"
	fileRegion         = "region.md"
	fileRemembered     = "remembered.md"
	fileGuide          = "guide.md"
)

// spec says what a prompt file may hold. A built-in file need not have all of it: those
// of the first edition lack what came later. A file also has parts apart from system
// and user: these are in a slot of those two.
type spec struct {
	file     string
	inputs   []string            // names that every part may use
	optional []string            // inputs whose part is shown only when they are set
	choices  map[string][]string // slot to the parts of which it holds one
	open     bool                // names are a task's fields, known only at render
}

func specs() []spec {
	modes := []string{modePatch, modeRewrite, modeFull}
	return []spec{
		{
			file:     fileAnalystError,
			inputs:   []string{"agent", "budget", "count", "meta_skill", "skill", "step_buffer", "trajectories"},
			optional: []string{"agent", "budget", "meta_skill", "skill_aware", "step_buffer"},
			choices:  map[string][]string{"focus": {"deep", "shallow"}, "reply": modes},
		},
		{
			file:     fileAnalystSuccess,
			inputs:   []string{"agent", "budget", "count", "meta_skill", "skill", "step_buffer", "trajectories"},
			optional: []string{"agent", "budget", "meta_skill", "skill_aware", "step_buffer"},
			choices:  map[string][]string{"focus": {"deep", "shallow"}, "reply": modes},
		},
		{
			file:     fileContrast,
			inputs:   []string{"agent", "budget", "count", "meta_skill", "skill", "step_buffer", "trajectories"},
			optional: []string{"agent", "budget", "meta_skill", "skill_aware", "step_buffer"},
			choices:  map[string][]string{"focus": {"deep", "shallow"}, "reply": modes},
		},
		{
			file:     fileMerge,
			inputs:   []string{"level", "meta_skill", "patches", "skill"},
			optional: []string{"meta_skill", "skill"},
			choices:  map[string][]string{"origin": {"failures", "successes"}, "reply": modes},
		},
		{
			file:     fileMergeFinal,
			inputs:   []string{"failure_patch", "meta_skill", "skill", "success_patch"},
			optional: []string{"meta_skill", "skill"},
			choices:  map[string][]string{"reply": modes},
		},
		{
			file:     fileRanking,
			inputs:   []string{"budget", "items", "meta_skill", "skill"},
			optional: []string{"meta_skill", "skill"},
			choices:  map[string][]string{"reply": modes},
		},
		{file: fileRewrite, inputs: []string{"meta_skill", "skill", "suggestions"}, optional: []string{"meta_skill"}},
		{file: fileCompact, inputs: []string{"limit", "notes"}},
		{
			file:     fileSlowUpdate,
			inputs:   []string{"agent", "comparison", "current_skill", "previous_guidance", "previous_skill"},
			optional: []string{"agent"},
		},
		{file: fileMetaSkill, inputs: []string{"comparison", "current_skill", "history", "previous_meta", "previous_skill"}},
		{
			file:     fileLearningRate,
			inputs:   []string{"count", "items", "meta_skill", "score", "skill", "step_buffer"},
			optional: []string{"meta_skill", "score", "skill", "step_buffer"},
			choices:  map[string][]string{"kind": modes},
		},
		{file: fileRollout, open: true},
		{
			file: fileSecondTry, inputs: []string{"budget", "fared", "items", "meta_skill", "skill"},
			optional: []string{"meta_skill", "skill"},
		},
		{file: fileFiles, inputs: []string{"files", "new_files", "patterns"}, optional: []string{"new_files"}},
		{
			file: fileFilesRewrite, inputs: []string{"files", "new_files", "patterns"}, optional: []string{"new_files", "whole"},
			choices: map[string][]string{"reply": {modeRewrite, modeFull, author}},
		},
		{file: fileFilesFixed, inputs: []string{"files"}},
		{file: fileDescription, inputs: []string{"alone", "description", "length", "loads", "most"}, optional: []string{"alone"}},
		{file: fileRegion, inputs: []string{"end", "lines", "start"}},
		{file: fileRemembered, inputs: []string{"rejected"}},
		{file: fileGuide, inputs: []string{"guide"}},
	}
}

func findSpec(name string) (spec, bool) {
	for _, sp := range specs() {
		if sp.file == name {
			return sp, true
		}
	}
	return spec{}, false
}

// parts lists the names of the parts that the file has, sorted.
func (sp spec) parts() []string {
	names := append([]string{"system", "user"}, sp.optional...)
	for _, parts := range sp.choices {
		names = append(names, parts...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listNames lists the template names that a part may use. Only system and user
// have slots, so that parts cannot contain each other in a circle.
func (sp spec) listNames(part string) []string {
	if part != "system" && part != "user" {
		return sp.inputs
	}
	names := slices.Concat(sp.inputs, sp.optional, slices.Sorted(maps.Keys(sp.choices)))
	slices.Sort(names)
	return slices.Compact(names)
}

func (sp spec) parse(sec section) (*template.Template, error) {
	if !slices.Contains(sp.parts(), sec.name) {
		return nil, fmt.Errorf("%s:%d: %s has no part %q; its parts are %s", sp.file, sec.line, sp.file, sec.name, strings.Join(sp.parts(), ", "))
	}
	t, err := template.ParseAt(sp.file, sec.at, sec.text)
	if err != nil {
		return nil, err
	}
	if sp.open {
		return t, nil
	}
	if err := t.Check(sp.listNames(sec.name)...); err != nil {
		return nil, err
	}
	return t, nil
}

// section is a part of a prompt file as the file has it.
type section struct {
	name string
	line int    // of the heading
	text string // without the blank lines around it
	at   int    // line on which text begins
}

// split cuts a prompt file into its parts. A part begins with a line "# name",
// name being lower-case letters and underscores; any other line is text.
func split(file, text string) ([]section, error) {
	var secs []section
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	start := 0
	for i, line := range lines {
		name, ok := partHeading(line)
		if !ok {
			if len(secs) == 0 && strings.TrimSpace(line) != "" {
				return nil, fmt.Errorf("%s:%d: text before the first part; begin with a line %q", file, i+1, "# system")
			}
			continue
		}
		for _, sec := range secs {
			if sec.name == name {
				return nil, fmt.Errorf("%s:%d: part %q is there twice, first in line %d", file, i+1, name, sec.line)
			}
		}
		closeSection(secs, lines[start:i])
		secs = append(secs, section{name: name, line: i + 1, at: i + 2})
		start = i + 1
	}
	if len(secs) == 0 {
		return nil, fmt.Errorf("%s:1: no parts; begin with a line %q", file, "# system")
	}
	closeSection(secs, lines[start:])
	return secs, nil
}

// closeSection gives the last section its lines.
func closeSection(secs []section, lines []string) {
	if len(secs) == 0 {
		return
	}
	last := &secs[len(secs)-1]
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
		last.at++
	}
	last.text = strings.TrimRight(strings.Join(lines, "\n"), " \t\n")
}

func partHeading(line string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimRight(line, " \t"), "# ")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", false
	}
	return name, true
}
