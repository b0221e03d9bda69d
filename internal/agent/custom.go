package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Custom describes an agent that is not known here. Argv, Stdin, Files and the
// values of Env are templates over {{prompt}}, {{prompt_file}}, {{workspace}},
// {{home}}, {{model}}, {{base_url}}, {{skill_file}} and {{key}}. The key is not for Argv,
// which others can read. A prompt there has a bound, see maxArgument.
type Custom struct {
	Argv    []string          `yaml:"argv"`    // program and arguments
	Stdin   string            `yaml:"stdin"`   // "" = nothing
	Env     map[string]string `yaml:"env"`     // further variables
	Files   map[string]string `yaml:"files"`   // written into the home folder: path to content
	Version []string          `yaml:"version"` // arguments that print the version; none = not asked
	Help    string            `yaml:"help"`    // how to install it, for messages
	Wire    string            `yaml:"wire"`    // protocol that it speaks with its model; a Wire constant
	Skills  bool              `yaml:"skills"`  // it discovers skills in .agents/skills or .claude/skills

	Format string `yaml:"format"` // FormatText or FormatJSONL; "" = FormatText
	Events Events `yaml:"events"` // for FormatJSONL
	// Errors are regular expressions. An answer that one of them matches is a
	// failure of the model server which the agent printed in its place. Absent: an
	// answer that begins like "API Error: 401"; the empty list: none.
	Errors  []string `yaml:"errors"`
	Success Success  `yaml:"success"`
}

// The formats of what a custom agent prints.
const (
	FormatText  = "text"  // the answer and nothing else
	FormatJSONL = "jsonl" // events, one JSON object a line
)

// Success says when a run of a custom agent reached its end. Without it, exit
// code 0 does, and the event End if it is described.
type Success struct {
	Exit []int `yaml:"exit"` // codes that are good; none = 0
	// Event says that the event End is proof enough, whatever the exit code.
	Event bool `yaml:"event"`
}

// Events say which events of a custom agent mean what. One event can match
// several.
type Events struct {
	Answer *Pattern `yaml:"answer"` // Text: a message; the last one is the answer
	Call   *Pattern `yaml:"call"`   // Name, Args, ID: a tool is called
	Result *Pattern `yaml:"result"` // ID, Text: what a call gave
	Usage  *Pattern `yaml:"usage"`  // Input, Output, Cached, Reasoning: tokens, added up
	Retry  *Pattern `yaml:"retry"`  // Text, Status: it tries again after a failure
	Error  *Pattern `yaml:"error"`  // Text, Status: it failed
	End    *Pattern `yaml:"end"`    // the last event
}

// Pattern finds an event and what is in it. Every field but Where is a path
// into the event: keys and numbers of list elements divided by dots, * for all
// elements, as in message.content.*.text.
type Pattern struct {
	// Where holds paths and the texts that must be at them; * is any.
	Where map[string]string `yaml:"where"`

	Text      string `yaml:"text"`
	ID        string `yaml:"id"`
	Name      string `yaml:"name"`
	Args      string `yaml:"args"`
	Status    string `yaml:"status"`
	Input     string `yaml:"input"`
	Output    string `yaml:"output"`
	Cached    string `yaml:"cached"`
	Reasoning string `yaml:"reasoning"`
}

// Validate reports all faults of a description.
func (c *Custom) Validate() error {
	_, err := c.adapter()
	return err
}

func (c *Custom) adapter() (adapter, error) {
	faults := []error{c.checkTemplates()}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		faults = append(faults, errors.New("argv: it needs a program"))
	}
	switch c.Format {
	case "", FormatText:
	case FormatJSONL:
		if c.Events.Answer == nil {
			faults = append(faults, errors.New("events.answer: missing: nothing would be read from the events"))
		}
	default:
		faults = append(faults, fmt.Errorf("format %q: allowed are %s and %s", c.Format, FormatText, FormatJSONL))
	}
	var forms []*regexp.Regexp
	if c.Errors == nil {
		forms = append(forms, regexp.MustCompile(plainError))
	}
	for i, e := range c.Errors {
		form, err := regexp.Compile(e)
		if err != nil {
			faults = append(faults, fmt.Errorf("errors[%d]: %w", i, err))
			continue
		}
		forms = append(forms, form)
	}
	if err := errors.Join(faults...); err != nil {
		return adapter{}, err
	}
	return adapter{
		name: CustomName, program: c.Argv[0], version: c.Version, help: c.Help,
		abilities: Abilities{Wire: c.Wire, Skills: c.Skills, Usage: c.Events.Usage != nil},
		launch:    c.launch,
		reader:    func() reader { return &customReader{of: c, errors: forms} },
	}, nil
}

// maxArgument is the most bytes of one argument that systems take: Linux has the least.
const maxArgument = 128<<10 - 1

// plainError is how programs print a failure of their model server in the place
// of an answer: the word and the status at the very beginning.
const plainError = `^(?i:(?:(?:llm )?api|http|model|request) error|error)(?: code)?[:\s(\[]+(?:status(?: code)?[:\s]+)?(?:40[0-9]|413|429|5[0-9][0-9])\b`

// inArgv returns the names that may be in arguments.
func inArgv() []string {
	return []string{"prompt", "prompt_file", "workspace", "home", "model", "base_url", "skill_file"}
}

func (c *Custom) checkTemplates() error {
	everywhere := append(inArgv(), "key")
	var faults []error
	check := func(where, text string, known []string) {
		t, err := template.Parse(where, text)
		if err == nil {
			err = t.Check(known...)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	for i, a := range c.Argv {
		check(fmt.Sprintf("argv[%d]", i), a, inArgv())
	}
	check("stdin", c.Stdin, everywhere)
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		check("env."+name, c.Env[name], everywhere)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		check("files."+name, c.Files[name], everywhere)
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			faults = append(faults, fmt.Errorf("files.%s: want a path inside the home folder", name))
		}
	}
	return errors.Join(faults...)
}

func (c *Custom) launch(l *launch) error {
	file, err := l.file("prompt.txt", l.prompt)
	if err != nil {
		return err
	}
	values := map[string]any{
		"prompt": l.prompt, "prompt_file": file, "workspace": l.workspace(), "home": l.job.Show.Seen(l.job.Home), "model": l.job.Model,
		"base_url": "", "key": "", "skill_file": filepath.Join(l.workspace(), filepath.FromSlash(SkillPath(l.job.SkillName))),
	}
	if e := l.job.Endpoint; e != nil {
		values["base_url"], values["key"] = e.base(), e.Key
	}
	fill := func(text string) (out string) {
		t, parseErr := template.Parse("custom agent", text)
		if parseErr == nil {
			out, parseErr = t.Render(values)
		}
		err = errors.Join(err, parseErr)
		return out
	}
	for _, a := range c.Argv[1:] {
		whole := strings.HasPrefix(a, "{{prompt}}")
		if a = fill(a); whole && strings.HasPrefix(a, "-") {
			a = " " + a // or it would be taken for an option
		}
		if len(a) > maxArgument {
			err = errors.Join(err, fmt.Errorf("an argument of the agent has %d bytes, the system takes %d: name the prompt by {{prompt_file}} or stdin", len(a), maxArgument))
		}
		l.arg(a)
	}
	l.stdin = fill(c.Stdin)
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		l.set(name, fill(c.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		_, fileErr := l.file(name, fill(c.Files[name]))
		err = errors.Join(err, fileErr)
	}
	return err
}

// customReader reads what a custom agent prints, by its description.
type customReader struct {
	of     *Custom
	errors []*regexp.Regexp
	text   strings.Builder
	end    bool // the event End was seen
}

// maxAnswer bounds the answer of an agent that prints text, in bytes.
const maxAnswer = 1 << 20

func (c *customReader) line(r *record, text []byte, whole bool) {
	if c.of.Format != FormatJSONL {
		if c.text.Len()+len(text) < maxAnswer {
			c.text.Write(text)
			c.text.WriteByte('\n')
		}
		return
	}
	var event any
	if !whole || !r.decode(text, &event) {
		return
	}
	e := c.of.Events
	if e.Retry.matches(event) {
		status, text := e.Retry.failure(event)
		r.retry(status, text)
	}
	if e.Answer.matches(event) {
		c.answer(r, find(event, e.Answer.Text))
	}
	if e.Call.matches(event) {
		r.call(find(event, e.Call.ID), find(event, e.Call.Name), json.RawMessage(find(event, e.Call.Args)))
	}
	if e.Result.matches(event) {
		r.result(find(event, e.Result.ID), find(event, e.Result.Text), false)
	}
	if e.Usage.matches(event) {
		r.usage, r.known = r.usage.Add(e.Usage.usage(event)), true
	}
	if e.Error.matches(event) {
		status, text := e.Error.failure(event)
		r.fail(status, text)
	}
	if e.End.matches(event) {
		c.end = true
	}
}

func (c *customReader) answer(r *record, text string) {
	if c.isError(text) {
		r.fail(0, text)
		return
	}
	r.fault = nil
	r.say(text)
	r.answer = text
}

func (c *customReader) isError(text string) bool {
	return slices.ContainsFunc(c.errors, func(form *regexp.Regexp) bool { return form.MatchString(text) })
}

// last applies the rule of success once the program has ended.
func (c *customReader) last(r *record, res sandbox.Result) {
	if c.of.Format != FormatJSONL {
		c.answer(r, strings.TrimSpace(c.text.String()))
	}
	good := c.of.Success.Exit
	if len(good) == 0 {
		good = []int{0}
	}
	exited := res.Reason == sandbox.Exited && slices.Contains(good, res.Code)
	switch {
	case c.of.Events.End == nil:
		r.ended = exited
	case c.of.Success.Event:
		r.ended = c.end
	default:
		r.ended = c.end && exited
	}
}

func (p *Pattern) matches(event any) bool {
	if p == nil {
		return false
	}
	for path, want := range p.Where {
		got, ok := lookup(event, path)
		if !ok || want != "*" && got != want {
			return false
		}
	}
	return true
}

func (p *Pattern) failure(event any) (status int, text string) {
	return int(number(event, p.Status)), find(event, p.Text)
}

func (p *Pattern) usage(event any) trajectory.Usage {
	return trajectory.Usage{
		Input: number(event, p.Input), Output: number(event, p.Output),
		Cached: number(event, p.Cached), Reasoning: number(event, p.Reasoning),
	}
}
