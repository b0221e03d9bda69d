package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Validate checks a configuration that a program put together the way Load
// checks files. The error is an *Error with every problem.
func (c Config) Validate() error {
	d := &decoder{origins: map[string]string{}}
	d.ranges(reflect.ValueOf(c), "")
	d.rules(&c)
	return d.err()
}

// ranges checks the limits that are in the tags: enum, min, max.
func (d *decoder) ranges(v reflect.Value, prefix string) {
	for i, tag := range keyFields(v.Type()) {
		d.fieldRange(v.Field(i), join(prefix, tag.Get("key")), tag)
	}
}

func (d *decoder) fieldRange(f reflect.Value, key string, tag reflect.StructTag) {
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return
		}
		f = f.Elem()
	}
	switch f.Kind() {
	case reflect.Struct:
		d.ranges(f, key)
	case reflect.Map:
		d.mapRanges(f, key)
	case reflect.String:
		d.enum(f.String(), key, tag)
	default:
		d.bounds(f, key, tag)
	}
}

func (d *decoder) mapRanges(f reflect.Value, key string) {
	if f.Type().Elem().Kind() != reflect.Struct {
		return
	}
	names := f.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, n := range names {
		d.ranges(f.MapIndex(n), join(key, n.String()))
	}
}

func (d *decoder) enum(got, key string, tag reflect.StructTag) {
	list, ok := tag.Lookup("enum")
	if !ok {
		return
	}
	allowed := strings.Split(list, ",")
	if slices.Contains(allowed, got) {
		return
	}
	allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == "" })
	hint := ""
	if near, ok := wording.Suggest(got, allowed); ok {
		hint = "did you mean " + near + "?"
	}
	d.fail(key, strconv.Quote(got), strings.Join(allowed, ", "), hint)
}

func (d *decoder) bounds(f reflect.Value, key string, tag reflect.StructTag) {
	lo, hasLo := tag.Lookup("min")
	hi, hasHi := tag.Lookup("max")
	if !hasLo && !hasHi {
		return
	}
	got, ok := magnitude(f)
	if auto, is := f.Interface().(Auto); is && auto == AutoCount {
		return
	}
	if !ok || (hasLo && got < bound(lo)) || (hasHi && got > bound(hi)) {
		found := f.Interface()
		if length, ok := found.(Duration); ok {
			found = length.Std()
		}
		d.fail(key, fmt.Sprint(found), rangeText(lo, hi), "")
	}
}

func rangeText(lo, hi string) string {
	switch {
	case hi == "":
		return lo + " or more"
	case lo == "":
		return hi + " or less"
	}
	return lo + " to " + hi
}

func magnitude(f reflect.Value) (float64, bool) {
	switch f.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(f.Int()), true
	case reflect.Float64:
		return f.Float(), f.Float() == f.Float()
	}
	return 0, false
}

// bound reads a limit of a tag: a number, a size in bytes, or a duration in nanoseconds.
func bound(text string) float64 {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	var size Size
	if size.UnmarshalText([]byte(text)) == nil {
		return float64(size)
	}
	dur, err := time.ParseDuration(text)
	if err != nil {
		panic("config: bad range in a struct tag: " + text)
	}
	return float64(dur)
}

// rules checks what no single key can say.
func (d *decoder) rules(c *Config) {
	if most := c.Edits.Budget.Or(AutoBudget); c.Edits.MinBudget > most {
		d.fail("edits.min_budget", strconv.Itoa(c.Edits.MinBudget), fmt.Sprintf("1 to edits.budget (%d)", most), "")
	}
	if c.Reflect.SkillAware && c.Edits.Mode != "patch" && c.Reflect.View == ViewTask {
		d.fail("reflect.skill_aware", "true with edits.mode "+c.Edits.Mode+" and reflect.view task", "skill_aware only with edits.mode patch, or with reflect.view agent", "")
	}
	if c.Edits.Mode == "full_rewrite_minibatch" && c.Edits.Schedule == "model" {
		d.fail("edits.schedule", "model with edits.mode full_rewrite_minibatch", "any schedule that the mode ignores: a full rewrite has no edits to count", "")
	}
	if c.Gate.Keep && c.Gate.Mode != "strict" {
		d.fail("gate.keep", "true with gate.mode "+c.Gate.Mode, "false with that: it accepts every candidate", "")
	}
	d.guide(c)
	d.columns(c.Tasks.Columns)
	d.stop(c)
	d.files(c)
	d.checkCeilings(c)
	d.reserve(c.Limits.Reserve)
	d.agent(c)
	d.world(c.Env)
	d.servers(c.Env)
	d.runName(c.Run.Name)
	d.telemetry(c.Telemetry)
	d.ratio(c.Split.Ratio)
	if why := c.noFolds(); why != "" && c.Split.CrossFit > 0 {
		d.fail("split.cross_fit", c.Split.CrossFit.String()+" with "+why, "0 or auto with that", "")
	}
	d.model("models.target", c.Models.Target)
	d.model("models.optimizer", c.Models.Optimizer)
	d.model("models.judge", c.Models.Judge)
}

// MaxGuide is the size of the longest text for analysts, in bytes.
const MaxGuide = 4096

// guide checks what analysts are given in the user's own words.
func (d *decoder) guide(c *Config) {
	if n := len(c.Reflect.Guide); n > MaxGuide {
		d.fail("reflect.guide", fmt.Sprintf("%d bytes", n), fmt.Sprintf("at most %d bytes", MaxGuide), "")
	} else if n := len(c.NightGuide()); n > MaxGuide {
		d.fail("sleep.preferences", fmt.Sprintf("%d bytes with reflect.guide", n), fmt.Sprintf("at most %d bytes with it", MaxGuide), "")
	}
}

// NightGuide returns the guide of the analysts of nights: reflect.guide, and after it sleep.preferences.
func (c *Config) NightGuide() string {
	return strings.TrimSpace(strings.TrimSpace(c.Reflect.Guide) + "\n\n" + strings.TrimSpace(c.Sleep.Preferences))
}

// columns checks that fields and columns have names.
func (d *decoder) columns(columns map[string]string) {
	for _, field := range sortedKeys(columns) {
		if strings.TrimSpace(field) != field || field == "" {
			d.fail("tasks.columns", strconv.Quote(field), "names of fields of a task, such as id, prompt, gold, type and split", "")
		}
		if strings.TrimSpace(columns[field]) == "" {
			d.fail("tasks.columns."+field, strconv.Quote(columns[field]), "the name of a column of the table", "skillopt tasks lint lists them")
		}
	}
}

// stop checks what rules of a stop do not go with.
func (d *decoder) stop(c *Config) {
	if c.Gate.Mode != "off" {
		return
	}
	const allowed = "not with gate.mode off: without scores the gain is unknown"
	if s := c.Train.Stop; s.Score > 0 {
		d.fail("train.stop.score", fmt.Sprint(s.Score), allowed, "")
	} else if s.Evidence {
		d.fail("train.stop.evidence", "true", allowed, "")
	}
}

// files checks what several files of a skill do not go with.
func (d *decoder) files(c *Config) {
	files := c.Edits.Files
	others := slices.ContainsFunc(files, func(f string) bool { return f != "SKILL.md" })
	if c.Edits.NewFiles > 0 && !others {
		d.fail("edits.new_files", strconv.Itoa(c.Edits.NewFiles), "0 unless edits.files has patterns for files next to SKILL.md", "")
	}
	if c.Edits.Description && c.Edits.Mode != "patch" {
		d.fail("edits.description", "true with edits.mode "+c.Edits.Mode, "false with that: the description is replaced with edits.mode patch", "")
	}
	if c.Edits.Region != "" && (others || c.Edits.Description) {
		d.fail("edits.region", c.Edits.Region+" with edits.files or edits.description", "absent with those: no other file and no front matter lies in the region", "")
	}
	switch text := strconv.Quote(strings.Join(files, ", ")); {
	case !others:
	case c.SkillFiles != FilesAll:
		d.fail("edits.files", text+" with skill_files "+c.SkillFiles, "SKILL.md alone with that: the target gets no other file", "")
	case !slices.Contains(files, "SKILL.md") && (c.SlowUpdate.Enabled || c.Reflect.SkillAware):
		d.fail("edits.files", text, "SKILL.md too, or slow_update.enabled false and reflect.skill_aware false: both write into it", "")
	}
}

// Folds returns how many folds n tasks get that are not sealed for the test, as far as the
// configuration says so, 0 for none. auto is what auto represents.
func (c *Config) Folds(n, auto int) int {
	if folds := min(c.Split.CrossFit.Or(auto), n/2); folds > 0 && c.noFolds() == "" {
		return folds
	}
	return 0
}

// noFolds names what rules folds out, "" if nothing does.
func (c *Config) noFolds() string {
	switch {
	case c.Gate.Mode != "strict":
		return "gate.mode " + c.Gate.Mode
	case c.Eval.Selection == "train":
		return "eval.selection train"
	case c.SlowUpdate.Enabled && !c.SlowUpdate.Gated:
		return "slow_update.gated false"
	}
	return ""
}

// MaxReserve is the largest share of the ceilings that can be kept for the final
// evaluation.
const MaxReserve = 0.5

// ReserveShare returns the share of the ceilings that limits.reserve keeps, and
// whether it names one: auto does not.
func (l Limits) ReserveShare() (share float64, fixed bool) {
	switch l.Reserve {
	case "auto", "":
		return 0, false
	case "none":
		return 0, true
	}
	share, err := strconv.ParseFloat(l.Reserve, 64)
	return share, err == nil
}

func (d *decoder) reserve(text string) {
	share, fixed := Limits{Reserve: text}.ReserveShare()
	if text != "" && text != "auto" && (!fixed || !(share >= 0 && share <= MaxReserve)) {
		d.fail("limits.reserve", strconv.Quote(text), "auto, none, or a share from 0 to 0.5", "")
	}
}

func (d *decoder) runName(name string) {
	if name != "" && !IsRunName(name) {
		d.fail("run.name", strconv.Quote(name), "the name of one folder: no / or \\, no control characters, no dot at an end, no name reserved by Windows", "run.dir says where runs are kept")
	}
}

// IsRunName reports whether name can name a folder on every system: one that
// stays within its parent, is not hidden and can be printed.
func IsRunName(name string) bool {
	bad := func(r rune) bool { return r == '/' || r == '\\' || !unicode.IsPrint(r) }
	if strings.TrimSpace(name) != name || name == "" || strings.ContainsFunc(name, bad) || strings.Contains(name, "..") {
		return false
	}
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
		return false
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	device := len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '1' && stem[3] <= '9'
	return !device && !slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, strings.TrimSpace(stem))
}

func (d *decoder) ratio(text string) {
	if text == "" {
		return
	}
	parts := strings.Split(text, ":")
	bad := slices.ContainsFunc(parts, func(p string) bool {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		return err != nil || n < 1
	})
	if bad || len(parts) != 3 {
		d.fail("split.ratio", strconv.Quote(text), "three whole numbers from 1 on, train:selection:test, for example 2:2:1", "")
	}
}

// agent checks what carries out the tasks.
func (d *decoder) agent(c *Config) {
	d.document(c.Agent)
	d.repository(c.Agent)
	switch {
	case c.Agent.Name != "" && len(c.Env.Command) > 0 && c.Env.Protocol != ProtocolEpisode:
		d.fail("agent.name", c.Agent.Name+" with env.command", "an agent or an environment, not both; an agent plays a world of env.protocol episode", "")
	case c.Agent.Name != "" && len(c.Env.MCP) > 0:
		d.fail("env.mcp", "servers of tools with agent.name "+c.Agent.Name, "a target that is a model: an agent is given tools by its workspace (agent.workspace_tools)", "")
	case c.Agent.Name == "custom" && len(c.Agent.Custom) == 0:
		d.fail("agent.custom", "nothing", "how the agent is started and its output read, see docs/agents.md", "")
	case c.Agent.Name == "builtin" && !c.Agent.Gateway:
		d.fail("agent.gateway", "false with agent.name builtin", "true: the built-in agent has no login of its own", "")
	case c.Agent.Name == "cursor" && c.Agent.Gateway:
		d.fail("agent.gateway", "true with agent.name cursor", "false: Cursor's agent cannot be led to another server", "")
	}
}

// repository checks that agents in the workspaces of a repository are confined.
func (d *decoder) repository(a Agent) {
	switch {
	case a.Repository == "":
	case a.Name == "":
		d.fail("agent.repository", strconv.Quote(a.Repository)+" without agent.name", "the agent that works in it", "")
	case a.Workspace != "":
		d.fail("agent.repository", strconv.Quote(a.Repository)+" with agent.workspace", "one of them", "")
	case a.Sandbox == "off":
		d.fail("agent.sandbox", "off with agent.repository", "auto: tests of a repository, and agents that work in it, are confined", "")
	}
}

// world checks what the target acts in.
func (d *decoder) world(e Env) {
	modes := map[string][]string{"corpus": {"tools", "pages", "search"}, "spreadsheet": {"multi", "single", "react"}}[e.World]
	switch {
	case e.World != "" && len(e.Command) > 0:
		d.fail("env.world", e.World+" with env.command", "a world or a program, not both", "")
	case e.URL != "" && (e.World != "" || len(e.Command) > 0):
		d.fail("env.url", "a server with env.world or env.command", "one of them", "")
	case e.URL != "" && !isServer(e.URL):
		d.fail("env.url", "no address of a server", "ws, wss, http or https, such as ws://127.0.0.1:8000", "")
	case len(e.Reward) != 2 || !(e.Reward[0] < e.Reward[1]):
		d.fail("env.reward", fmt.Sprint(e.Reward), "two numbers, the lower one first, such as [0, 1]", "")
	case e.Protocol == ProtocolEpisode && len(e.Command) == 0:
		d.fail("env.protocol", e.Protocol+" without env.command", "line, or the program in env.command", "")
	case e.Protocol == ProtocolEpisode && e.Gateway && d.origins["env.gateway"] != "":
		d.fail("env.gateway", "true with env.protocol episode", "nothing: such a program asks models by generate", "")
	case e.World == "" && e.Mode != "":
		d.fail("env.mode", e.Mode+" without env.world", "nothing, or the world that it is a mode of", "")
	case e.World != "" && e.Mode != "" && !slices.Contains(modes, e.Mode):
		d.fail("env.mode", e.Mode+" with env.world "+e.World, strings.Join(modes, ", "), "")
	case e.World != "spreadsheet" && e.Recalc != "none":
		d.fail("env.recalc", e.Recalc+" without env.world spreadsheet", "none", "")
	case e.History != HistoryChat && e.HistoryTurns() < 1:
		d.fail("env.history", strconv.Quote(e.History), "chat, or a whole number of turns from 1 on", "")
	case e.Mode == "search" && e.Search.URL == "":
		d.fail("env.search.url", "nothing with env.mode search", "the address of an endpoint of your own that searches", "")
	}
}

// isServer reports whether a text is the address of a server.
func isServer(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme)
}

// servers checks the servers of tools.
func (d *decoder) servers(e Env) {
	if len(e.MCP) > 0 && (e.World != "" || e.URL != "" || len(e.Command) > 0) {
		d.fail("env.mcp", "servers of tools with env.world, env.url or env.command", "one of them", "")
	}
	for i, m := range e.MCP {
		key := fmt.Sprintf("env.mcp[%d]", i)
		u, err := url.Parse(m.URL)
		switch {
		case (len(m.Command) > 0) == (m.URL != ""):
			d.fail(key, "a server with both or none of command and url", "one of the two", "")
		case m.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https"):
			d.fail(key+".url", strconv.Quote(m.URL), "an address such as https://tools.example.org/mcp", "")
		case m.URL != "" && (m.Network || len(m.PassEnv)+len(m.Read) > 0):
			d.fail(key, "network, pass_env or read with url", "none of them: they open something to a command", "")
		case m.URL == "" && m.APIKeyEnv != "":
			d.fail(key+".api_key_env", strconv.Quote(m.APIKeyEnv)+" with command", "pass_env, by which a command gets variables", "")
		}
	}
}

// document checks how the trained document gets into a workspace.
func (d *decoder) document(a Agent) {
	switch {
	case a.Name == "" && a.Mode == "file":
		d.fail("agent.mode", "file without agent.name", "the agent whose workspace the document is a file of", "")
	case a.Name == "" && len(a.Documents) > 0:
		d.fail("agent.documents", "something without agent.name", "the agent in whose workspaces it is laid", "")
	case a.Mode == "file" && a.File == "":
		d.fail("agent.file", "nothing with agent.mode file", "the path of the document in the workspace, such as AGENTS.md", "")
	case a.Mode != "file" && a.File != "":
		d.fail("agent.file", strconv.Quote(a.File)+" with agent.mode "+a.Mode, "absent, or with agent.mode file", "")
	case a.Mode == "file" && a.SkillName != "":
		d.fail("agent.skill_name", strconv.Quote(a.SkillName)+" with agent.mode file", "absent with that: the document is no skill with a folder", "")
	}
}

func (d *decoder) model(key string, m Model) {
	nameless := slices.Contains([]string{"", "sim", "handoff", "claude-cli", "codex-cli", "copilot-cli"}, m.Provider)
	switch {
	case !nameless && m.Model == "":
		d.fail(key+".model", "nothing", "the name of a model", "")
	case m.Provider == "sim" && m.World == "":
		d.fail(key+".world", "nothing", "the path of a world file for provider sim", "")
	case m.Provider == "handoff" && m.Folder == "":
		d.fail(key+".folder", "nothing", "a folder for questions and answers", "")
	case m.Provider == "" && m.Model != "":
		d.fail(key+".provider", "nothing", "openai, anthropic, gemini, ollama, sim and others, see docs/models.md", "")
	}
}
