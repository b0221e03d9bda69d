// Package config is the Config tree: what a run is made of. It loads YAML in
// layers, checks it strictly, says where each value came from, and reports which
// keys make up the identity of a run.
//
// It is the only package that reads the environment. It knows nothing about
// what the values are used for.
package config

import (
	"strconv"

	"github.com/seed-f4525e22/skillopt/model"
)

// Config is everything that a run depends on. The comments of the tags are the
// documentation of the keys, shown by `config explain` and in the JSON Schema.
type Config struct {
	Extends    string           `key:"extends" doc:"another config file that this one builds on, for what several configs share; relative to this file" path:"file"`
	Protocol   string           `key:"protocol" doc:"whose numbers hold where nothing else is said, for figures to compare with published ones: skillopt (those of its publication: epochs 4, batch 40, minibatch 8, 4 to 2 edits a step, gate strict, guidance without a gate, no folds); absent: ours" enum:",skillopt" class:"operational" untrusted:"yes"`
	Skill      string           `key:"skill" doc:"the skill to train: a SKILL.md, a skill directory, or absent to start from an empty skill" path:"file" untrusted:"yes"`
	SkillFiles string           `key:"skill_files" doc:"what of the skill reaches the target: all (a directory with all that lies in it; a SKILL.md with scripts, references and assets next to it) or document (SKILL.md alone, for targets that get no other file in use either)" enum:"all,document" untrusted:"yes"`
	Bench      Bench            `key:"bench" doc:"a benchmark, whose folder says what holds beneath this file: what is asked, how it is scored, which guide analysts get"`
	Tasks      Tasks            `key:"tasks" doc:"the tasks to train on; a plain string is short for {path: ...}" short:"path"`
	Env        Env              `key:"env" doc:"your own environment instead of a chat turn"`
	Agent      Agent            `key:"agent" doc:"a coding agent instead of a chat turn; models.target is the model that it uses"`
	Split      Split            `key:"split" doc:"how tasks are divided into train, selection and test"`
	Models     Models           `key:"models" doc:"the models by role"`
	Train      Train            `key:"train" doc:"epochs, batches and the order of tasks"`
	Reflect    Reflect          `key:"reflect" doc:"how trajectories become proposed edits"`
	Aggregate  Aggregate        `key:"aggregate" doc:"how proposed edits are merged"`
	Edits      Edits            `key:"edits" doc:"what a step may change, and how much"`
	Gate       Gate             `key:"gate" doc:"how a candidate is accepted"`
	SlowUpdate SlowUpdate       `key:"slow_update" doc:"guidance written at epoch ends into a protected region of the skill"`
	MetaSkill  MetaSkill        `key:"meta_skill" doc:"the optimizer's own memory, kept between epochs and never part of the skill"`
	Eval       Eval             `key:"eval" doc:"what is scored in addition to the steps"`
	Record     Record           `key:"record" doc:"how the record of model calls is used within a run"`
	Prompts    string           `key:"prompts" doc:"a directory with templates that override the built-in prompts" path:"file" untrusted:"yes"`
	Extras     map[string]any   `key:"extras" doc:"free values passed to environments and templates as extras.NAME"`
	Limits     Limits           `key:"limits" doc:"ceilings; they may change between resumes"`
	Prices     map[string]Price `key:"prices" doc:"USD per million tokens, by model name; without a price the cost is unknown"`
	PriceFile  string           `key:"price_file" doc:"the table of prices that LiteLLM publishes (model_prices_and_context_window.json), or a CSV file; its rows win over those that the program brings, and prices over both" path:"file" class:"operational"`
	Telemetry  Telemetry        `key:"telemetry" doc:"OpenTelemetry traces and metrics of a run; docs/serve.md says what is sent"`
	Run        Run              `key:"run" doc:"where the run is kept"`
	Sleep      Sleep            `key:"sleep" doc:"what the sleep commands read of the sessions of coding agents, and where they keep it; runs do not look at it"`
}

// Bench is a benchmark that a configuration builds on. What its folder says counts through the keys
// that it sets, and its data through the tasks.
type Bench struct {
	Name    string `key:"name" doc:"the benchmark to measure on: a name of skillopt bench list, or a folder of your own such as ./my-bench; skillopt bench list NAME says what it sets" class:"operational"`
	Data    string `key:"data" doc:"a folder that skillopt bench prepare wrote, or rows in the form of SkillOpt's own splits, which are prepared when they are needed" path:"file" class:"operational"`
	Scoring string `key:"scoring" doc:"how answers are scored: reference (as by the program whose figures are published) or robust; absent: the benchmark's default" enum:",reference,robust" class:"operational"`
}

// Tasks says where tasks are and how they are asked and scored.
type Tasks struct {
	Path     string            `key:"path" doc:"a .jsonl, .json, .yaml or .csv file, or a directory with train/, val/ and test/" path:"file" untrusted:"yes"`
	Columns  map[string]string `key:"columns" doc:"tables alone: the column that a field of the tasks is read from, by field, such as {prompt: Question, gold: Answer, id: No.}; other columns are fields of their own names" untrusted:"yes"`
	Prompt   string            `key:"prompt" doc:"template of what the target is asked, over the fields of a task, where tasks come as data without a prompt; absent: the task's prompt" untrusted:"yes"`
	System   string            `key:"system" doc:"template of the system message over the fields of a task and {{skill}}, to train with the message that is in use elsewhere; absent: the built-in one" untrusted:"yes"`
	Pictures string            `key:"pictures" doc:"marked: the target is shown the pictures of a task where its prompt has {image#1} and so on, and those without a mark after it; absent: all behind it" enum:",marked" untrusted:"yes"`
	Pages    Pages             `key:"pages"`
	Extract  any               `key:"extract" doc:"where the answer is in replies that say more than it: last_line, all, boxed, choice, tag:NAME, {tag|regex|json_path: ...}, or a list of these" untrusted:"yes"`
	Checks   []any             `key:"checks" doc:"how an answer is scored; absent: equals gold, with token F1 as the soft score" untrusted:"yes"`
	// Threshold is on top of what the checks require.
	Threshold float64 `key:"threshold" doc:"soft score that an answer needs for a hard score of 1, in addition to passing the required checks, where only part of it has to be right; 0 = none" min:"0" max:"1" untrusted:"yes"`
	Limit     int     `key:"limit" doc:"the first N tasks of each split, once the tasks are divided, to try out a configuration at little cost; results say so, since they are none of the whole set; trigger tasks are all used; 0 = all tasks" min:"0" untrusted:"yes"`
}

// Pages says which pages of the web a chat target is handed when its reply holds no answer.
type Pages struct {
	Fetch int    `key:"fetch" doc:"how many pages that a task names are fetched when a chat target's reply holds no answer by tasks.extract; the target then gets their texts and is asked again; 0 = none, and no target is asked twice" min:"0" max:"5"`
	Field string `key:"field" doc:"the field of a task that names its pages: https or http addresses, as a list or in a text"`
}

// Env is a process that carries out tasks.
type Env struct {
	Command []string  `key:"command" doc:"argv of a process that reads one JSON line a task and writes one JSON line an outcome; relative to the config file"`
	Timeout Duration  `key:"timeout" doc:"deadline of one task, longer for slow ones; beyond it the task counts as not measured, and a process is ended" min:"1ms"`
	PassEnv []string  `key:"pass_env" doc:"environment variables that the process needs in addition to PATH, HOME, LANG and TMPDIR, such as keys of its services"`
	Gateway bool      `key:"gateway" doc:"where models.target is set, lead the program of command to it: base URL, key and name are in its variables and in each task, and its calls are counted, limited, recorded and paid for as those of the run; false: the program calls models by itself"`
	World   string    `key:"world" doc:"what the target acts in over several turns, instead of one question and one answer: corpus (it searches a folder of documents), spreadsheet (it writes a program in Python that changes a workbook) or textgame (it plays a game.tw-pddl by commands)" enum:",corpus,spreadsheet,textgame"`
	Mode    string    `key:"mode" doc:"how the target acts in env.world: corpus has tools (glob, read and grep; the default), pages (it is shown the pages that the task names) and search (rounds of questions to env.search.url); spreadsheet has multi (an error is answered until the program runs; the default), single (one program) and react (tools that write files and run Python)" enum:",tools,pages,search,multi,single,react"`
	Turns   int       `key:"turns" doc:"replies of the target to one task in env.world, more where it has to look at much; beyond them it has failed at the task" min:"1" max:"1000"`
	Tokens  int64     `key:"tokens" doc:"tokens of all requests and replies of one task in env.world, where long dialogues cost too much; beyond them the target has failed at the task; 0 = no bound" min:"0"`
	Action  string    `key:"action" doc:"how the target gives a command in a world of commands: tag (between <action> and </action>) or tool (by a call of the tool act, for models that are better at those)" enum:"tag,tool"`
	History string    `key:"history" doc:"turns that a request shows in a world of commands: chat (all, as a conversation), or the last N after the task, where a conversation grows too long"`
	Docs    string    `key:"docs" doc:"the folder of documents of world corpus, or of games of world textgame; absent: docs in bench.data" path:"dir"`
	Python  string    `key:"python" doc:"the interpreter that runs the programs of world spreadsheet, where it is not the first python3 that has openpyxl and pandas" class:"operational"`
	Recalc  string    `key:"recalc" doc:"which formulas of a workbook LibreOffice computes before it is compared: none (as SkillOpt does: a formula without a cached value is empty), missing (those without a cached value) or all" enum:"none,missing,all"`
	Search  EnvSearch `key:"search"`
	URL     string    `key:"url" doc:"a server of OpenEnv that the target acts in, such as ws://127.0.0.1:8000: an episode of a task is one session, reset with the seed and the task's field reset"`
	Reward  []float64 `key:"reward" doc:"the rewards of env.url that are a score of 0 and of 1, where the server has others than 0 and 1; what is outside of them counts as the nearer one"`
	MCP     []EnvMCP  `key:"mcp" doc:"servers that speak MCP, whose tools the target has: a list of {command: [argv]} or {url: address}, each with shared, and with network, pass_env and read (of a command) or api_key_env (of a url); see docs/worlds.md"`

	Protocol string `key:"protocol" doc:"how the program of command is spoken to: line (one line of JSON a task) or episode (skill-env/1: many turns, or tasks that the program plays with the models of the run; docs/worlds.md)" enum:"line,episode"`
}

// HistoryChat is env.history where requests show all turns.
const HistoryChat = "chat"

// HistoryTurns returns how many turns a request shows; 0 is all of them.
func (e Env) HistoryTurns() int {
	n, _ := strconv.Atoi(e.History) // which was validated
	return n
}

// ProtocolEpisode is env.protocol of a program that plays episodes.
const ProtocolEpisode = "episode"

// EnvSearch is the search of mode search.
type EnvSearch struct {
	URL       string `key:"url" doc:"an endpoint of your own for mode search, which gets {query, max_num_results} by POST and answers with a list of results"`
	APIKeyEnv string `key:"api_key_env" doc:"the environment variable with the value of the header Authorization for env.search.url; absent: none is sent" class:"operational"`
}

// EnvMCP is a server of tools.
type EnvMCP struct {
	Command   []string `key:"command" json:"command,omitempty" doc:"argv of a server that speaks MCP by its input and output; it starts in the folder of the task, and files next to the config are meant by their names"`
	URL       string   `key:"url" json:"url,omitempty" doc:"address of a server that speaks streamable HTTP"`
	APIKeyEnv string   `key:"api_key_env" json:"api_key_env,omitempty" doc:"the environment variable with the value of the header Authorization for url; absent: none is sent"`
	Shared    bool     `key:"shared" json:"shared,omitempty" doc:"one process, or one session, serves all tasks of the run, where it keeps nothing of one for the next and takes long to start; a process then works in a folder of its own"`
	Network   bool     `key:"network" json:"network,omitempty" doc:"the command may connect to anything"`
	PassEnv   []string `key:"pass_env" json:"pass_env,omitempty" doc:"environment variables that the command needs, such as keys of its services"`
	Read      []string `key:"read" json:"read,omitempty" doc:"folders that the command may read in addition to its own package; as agent.read"`
}

// Agent is a coding agent that carries out tasks in a folder of their own.
type Agent struct {
	Name           string            `key:"name" doc:"codex, claude, copilot, cursor, opencode, gemini, qwen, pi, builtin (our own, nothing to install) or custom; absent: no agent" enum:",builtin,claude,codex,copilot,cursor,custom,gemini,opencode,pi,qwen"`
	Command        string            `key:"command" doc:"the agent's program; absent: found on the PATH" class:"operational"`
	Mode           string            `key:"mode" doc:"native (the agent discovers the skill by itself), read (the task asks it to read the skill first) or file (the trained document is file of its workspace, which it reads by itself)" enum:"native,read,file"`
	File           string            `key:"file" doc:"mode file: where the trained document is in the workspace, such as AGENTS.md, CLAUDE.md or .github/copilot-instructions.md, instead of a file of that name that the workspace brings"`
	Documents      map[string]string `key:"documents" path:"file" doc:"what else is copied into each workspace, the same in all: a path in the workspace such as CLAUDE.md, and the file to lay there; or the name of a skill, and its directory; instead of what the workspace brings under that name"`
	SkillName      string            `key:"skill_name" doc:"the folder of the skill within the workspace, where the skill or its tasks name it by path; absent: the name in the skill's front matter, else skill"`
	Workspace      string            `key:"workspace" doc:"a folder whose content each workspace starts with; a task's fields workspace (a folder next to the tasks) and files (path: text) come on top" path:"file"`
	Repository     string            `key:"repository" doc:"the folder of a repository that init --repo wrote: each workspace starts with the tree of its task, and the check tests runs the repository's own tests on what the agent left" path:"file"`
	Timeout        Duration          `key:"timeout" doc:"deadline of one task, longer for slow ones; an agent that passes it has failed at the task" min:"1ms"`
	Gateway        bool              `key:"gateway" doc:"lead the agent's model calls through the program, which counts, limits and records them and keeps the key; false: the agent uses its own login and endpoint"`
	Sandbox        string            `key:"sandbox" doc:"auto (the agent is confined to its workspace; refused where the system cannot do it) or off, where a container confines it already" enum:"auto,off"`
	Read           []string          `key:"read" doc:"folders that the confined agent, and commands that check its work, may read in addition to the system's, such as those of a language's tools; absolute, from ~, or relative to the config file; none that holds the home folder, or that holds or lies in tasks, runs or the config's folder"`
	Network        bool              `key:"network" doc:"the agent may connect to anything, not only to the gateway, for tasks that need a network"`
	HostedTools    []string          `key:"hosted_tools" doc:"tools of the vendor that an agent's model may use where the vendor speaks the agent's protocol, by their kinds, such as web_search; others are left out"`
	WorkspaceTools bool              `key:"workspace_tools" doc:"servers of tools (MCP), hooks and plugins that a workspace declares for the agent may start, where tasks are about them; false: the agent starts none"`
	PassEnv        []string          `key:"pass_env" doc:"environment variables that the agent or its tools need beyond those that every program gets"`
	Slots          int               `key:"slots" doc:"agents at a time, more where they mostly wait for models; 0 = one for each processor" min:"0" max:"1000" class:"operational"`
	Keep           string            `key:"keep" doc:"workspaces kept in the run after they are scored, to look at what an agent left: none, failed or all" enum:"none,failed,all" class:"operational"`
	Limits         AgentLimits       `key:"limits" doc:"what an agent, or a command of a check, may use with all that it starts, where it is confined; one that uses more has failed at the task" class:"operational"`
	Custom         map[string]any    `key:"custom" doc:"name custom: how the agent is started and its output read, see docs/agents.md"`
}

// AgentLimits bound what a confined program uses.
type AgentLimits struct {
	Memory    Size     `key:"memory" doc:"memory that is resident, counted once where it is shared; more for large builds, less where many agents run at a time" min:"1MiB"`
	Processes int      `key:"processes" doc:"processes at a time, more for builds and tests that start many" min:"1"`
	Written   Size     `key:"written" doc:"what is written to disks, more for tasks with large data" min:"1MiB"`
	CPU       Duration `key:"cpu" doc:"processor time of all processors together, more for tasks that use many; 0 = four times the deadline of the task or command" min:"0s"`
}

// Split divides tasks.
type Split struct {
	Ratio string `key:"ratio" doc:"train:selection:test, for example 2:2:1; absent: 2:2:1 up to 300 tasks, above that 2:1:7 with at most 300 for test" untrusted:"yes"`
	Seed  int64  `key:"seed" doc:"seed of the shuffle before the split; another one shows what depends on which tasks are in which split" untrusted:"yes"`

	CrossFit Auto `key:"cross_fit" doc:"train and selection tasks as one pool in this number of folds: a step learns from all folds but one, which judges its candidate, and the folds take turns; 1 = all of the pool teaches and judges; 0 = no pool; auto = 1 with 8 to 59 tasks that came without splits, if no ratio is set and nothing else rules folds out" min:"0" max:"20" untrusted:"yes"`
}

// Models are the models by role.
type Models struct {
	Target    Model `key:"target" doc:"carries out the tasks with the skill"`
	Optimizer Model `key:"optimizer" doc:"reads trajectories and proposes edits"`
	Judge     Model `key:"judge" doc:"scores what rules cannot"`
}

// Of returns the model of a role; any other name is the target's.
func (m Models) Of(role string) Model {
	switch role {
	case model.Optimizer:
		return m.Optimizer
	case model.Judge:
		return m.Judge
	}
	return m.Target
}

// Model is one model behind one endpoint.
type Model struct {
	Provider        string            `key:"provider" doc:"who serves the model: a vendor, a server (compatible: any that speaks Chat Completions), a seat (claude-cli, codex-cli, copilot-cli), handoff (questions and answers as files) or sim (the simulated world); docs/models.md lists them" enum:",anthropic,azure,bedrock,claude-cli,codex-cli,compatible,copilot-cli,deepseek,fireworks,gemini,groq,handoff,litellm,minimax,mistral,moonshot,ollama,openai,openrouter,qwen,sglang,sim,together,vertex,vllm,xai,zai" untrusted:"yes"`
	Model           string            `key:"model" doc:"the model's name, as the server knows it" untrusted:"yes"`
	BaseURL         string            `key:"base_url" doc:"the server's URL up to /v1, of provider azure with ?api-version=DATE for the older form of its addresses; absent: the provider's own" class:"operational"`
	Region          string            `key:"region" doc:"the provider's region, where it has several" class:"operational"`
	Endpoints       []string          `key:"endpoints" doc:"further URLs of servers with the same model and key, asked when the first fails" class:"operational"`
	APIKeyEnv       *string           `key:"api_key_env" doc:"the environment variable that holds the key; \"\" = no key; absent: the provider's usual one" class:"operational"`
	Headers         map[string]string `key:"headers" doc:"extra HTTP headers, for a proxy that wants some or separates traffic; templates over {{stage}}, {{role}} and {{run}}" class:"operational"`
	MaxTokens       int               `key:"max_tokens" doc:"output limit in tokens, more where replies are cut and less to bound their cost; 0 = the server's default, of a local server at most 8192" min:"0" untrusted:"yes"`
	Temperature     *float64          `key:"temperature" doc:"sampling temperature, 0 for answers that repeat; null = the server's default" min:"0" max:"2" untrusted:"yes"`
	ReasoningEffort string            `key:"reasoning_effort" doc:"reasoning effort, where the model has it: less is cheaper, more is better at hard tasks; absent: the server's default" untrusted:"yes"`
	Thinking        string            `key:"thinking" doc:"thinking of Qwen, vLLM, SGLang, MiniMax and the like: server_default (nothing is sent), enabled or disabled" enum:",server_default,enabled,disabled" untrusted:"yes"`
	API             string            `key:"api" doc:"chat (Chat Completions), responses (Responses), or auto: what the server has; set it where one of the two works worse at your server" enum:",auto,chat,responses" untrusted:"yes"`
	Context         int               `key:"context" doc:"length of the context in tokens, for provider ollama (0 = 16384, or the model's own if that is less) and for agents that take it (docs/agents.md)" min:"0" untrusted:"yes"`
	Structured      string            `key:"structured_output" doc:"ask for replies by JSON Schema: on, where your server can and replies are lost without; off, where it fails at it; or auto (on for the provider's own endpoint)" enum:"auto,on,off" untrusted:"yes"`
	Stream          bool              `key:"stream" doc:"have answers sent as they are made: a long one may then take its time, but not be silent for longer than 2m (5m of gemini)" class:"operational" untrusted:"yes"`
	Timeout         Duration          `key:"timeout" doc:"deadline of one request attempt, longer for models that think long; expiry is retried" min:"1ms" class:"operational" untrusted:"yes"`
	Command         string            `key:"command" doc:"seats: the program; absent: found on the PATH" class:"operational"`
	Folder          string            `key:"folder" doc:"provider handoff: where questions are written and answers read" path:"file" class:"operational"`
	AzureAuth       string            `key:"azure_auth" doc:"provider azure: api_key, azure_cli, managed_identity or compatible (a bearer token)" enum:",api_key,azure_cli,managed_identity,compatible" class:"operational"`
	World           string            `key:"world" doc:"provider sim: the world file" path:"file" untrusted:"yes"`

	// Key is the key itself, instead of a variable that holds it. No file can set it, and none is written with it.
	Key Secret
}

// Train is the outer loop.
type Train struct {
	Epochs       Auto       `key:"epochs" doc:"passes over the train split, more where scores still rise at the end; auto = as many as make 12 steps, at least 4, at most 12" min:"1" max:"10000" untrusted:"yes"`
	BatchSize    Auto       `key:"batch_size" doc:"tasks rolled out per microbatch, fewer for more and smaller steps; auto = the train split in equal parts of at most 30, 0 = min(40, a third of train)" min:"0" untrusted:"yes"`
	Accumulation int        `key:"accumulation" doc:"microbatches per step, as a published setting has them" min:"1" max:"1000" untrusted:"yes"`
	Seed         int64      `key:"seed" doc:"seed of everything random in training; another one repeats a training with other draws" untrusted:"yes"`
	Curriculum   Curriculum `key:"curriculum" doc:"which tasks a batch draws"`
	Warm         string     `key:"warm" doc:"on: the first step learns from the whole train split (of at most 400 tasks, or what a ceiling has room for) and makes as many edits as its failures call for; off: it is like the others; auto = on where reflect.minibatch_size and edits.budget are auto" enum:"auto,on,off" untrusted:"yes"`
	Stop         Stop       `key:"stop" doc:"by which rules training ends before its last step; the final evaluation follows"`
	SecondTry    bool       `key:"second_try" doc:"when the gate rejects the edits of a step, parts of them are judged: those that the optimizer would keep when it sees by type of task what they won and lost, then either half of them; where edits.mode is patch and a gate scores them; false saves the calls" untrusted:"yes"`
}

// Stop are the rules by which training ends before its last step.
type Stop struct {
	Perfect  bool    `key:"perfect" doc:"stop when every selection task is measured with the current skill, each draw of it is at the metric's maximum, and so is a second draw of each task: nothing is left to gain; false = train on" untrusted:"yes"`
	Score    float64 `key:"score" doc:"stop when the current skill has this selection score, by the gate's metric; 0 = no such rule" min:"0" max:"1" untrusted:"yes"`
	Patience int     `key:"patience" doc:"stop when that many steps in a row have not changed the best skill, where a gate scores them; 0 = no such rule" min:"0" max:"10000" untrusted:"yes"`
	Evidence bool    `key:"evidence" doc:"stop when less is left to gain than the selection tasks can show: fewer than 5 of them (or of their groups) below the maximum, or less than changing answers let them separate from chance" untrusted:"yes"`
}

// Curriculum chooses the tasks of a train batch.
type Curriculum struct {
	Strategy string `key:"strategy" doc:"none (each epoch one pass), uniform, or easy_first and competence_based, where most tasks are too hard at the start" enum:"none,uniform,easy_first,competence_based" untrusted:"yes"`
}

// Reflect is how analysts read trajectories.
type Reflect struct {
	Mode          string `key:"mode" doc:"deep (minibatches, systemic patterns) or shallow (each trajectory by itself, where tasks have nothing in common)" enum:"deep,shallow" untrusted:"yes"`
	MinibatchSize Auto   `key:"minibatch_size" doc:"trajectories per analyst in deep mode, fewer for optimizers that overlook much of a long prompt; auto = those of one kind together, at most 16 and no more than fit into reflect.window" min:"1" untrusted:"yes"`
	Window        Auto   `key:"window" doc:"tokens (of four bytes) of rollouts that one prompt of the optimizer holds; auto = 60k, or half of models.optimizer.context if that is less" min:"1000" untrusted:"yes"`
	View          string `key:"view" doc:"what the optimizer is shown of rollouts: agent (the whole prompt of the target apart from the skill, tool calls and outputs, cut only where they do not fit into reflect.window) or task (task and what was said, cut to fixed lengths, with the prompts of protocol: skillopt)" enum:"agent,task" untrusted:"yes"`
	Guide         string `key:"guide" doc:"words for analysts, at most 4 KB: what the domain is, kinds of failure, what an edit must not hold; they are in the prompts of analysts alone" untrusted:"yes"`
	Rollouts      int    `key:"rollouts" doc:"answers to each train task of a batch, several where one task is solved at times only; where they differ by the gate's metric analysts see the best next to the worst, widest spread first, else a single one; a task's training score is their mean" min:"1" max:"16" untrusted:"yes"`
	FailureOnly   bool   `key:"failure_only" doc:"no analysts for successes, to save their calls" untrusted:"yes"`
	SkillAware    bool   `key:"skill_aware" doc:"separate defects of the skill from lapses in following it, and keep notes on the latter in the appendix, where the target forgets rules that the skill has" untrusted:"yes"`
}

// Aggregate is how patches are merged.
type Aggregate struct {
	FanIn int `key:"fan_in" doc:"patches merged by one call, fewer for optimizers that drop edits as they merge" min:"2" untrusted:"yes"`
}

// Edits is what a step may change.
type Edits struct {
	Mode      string `key:"mode" doc:"patch (few edits), or, where the whole document is to be written again, rewrite_from_suggestions or full_rewrite_minibatch" enum:"patch,rewrite_from_suggestions,full_rewrite_minibatch" untrusted:"yes"`
	Budget    Auto   `key:"budget" doc:"most edits a step, at the start, fewer to change a good skill with care; auto = 16" min:"1" untrusted:"yes"`
	MinBudget int    `key:"min_budget" doc:"most edits a step, at the end, where edits.schedule lowers it" min:"1" untrusted:"yes"`
	Schedule  string `key:"schedule" doc:"how the budget falls from edits.budget to edits.min_budget: constant (it does not), linear, cosine, unlimited (there is none; alias autonomous) or model (the optimizer chooses)" enum:"constant,linear,cosine,unlimited,autonomous,model" untrusted:"yes"`

	Examples Auto `key:"examples" doc:"how many worked examples a candidate that no model writes puts into the skill: train tasks with their answers, none equal or near to a selection or test task; draws are compared on other train tasks, the best meets the gate; auto = 4, 8 or 16, for chat tasks without pictures whose prompt and answer have at most 1,000 bytes together (8 fill the section of 8,000); off, or 0: none. Agents, environments, folds and learned regions have none" untrusted:"yes"`

	Files       []string `key:"files" doc:"the files of the skill that edits may change, or the optimizer may write again: SKILL.md and patterns such as references/*.md (* ? [...] within a name, ** for folders); texts of at most 256 KB; scripts and other programs by name alone, with edits.verify; absent: SKILL.md alone" untrusted:"yes"`
	NewFiles    int      `key:"new_files" doc:"how many files edits may add where a pattern of edits.files allows them" min:"0" max:"64" untrusted:"yes"`
	Description bool     `key:"description" doc:"edits may replace the description in the front matter, which alone decides whether an agent loads the skill; it needs trigger tasks (docs/tasks.md): a candidate whose description loads the skill on fewer prompts that should load it, or on more that should not, is not accepted with it; with trigger tasks alone their balanced rate is the metric" untrusted:"yes"`
	Tidy        bool     `key:"tidy" doc:"edits are fitted into Markdown: list items join their list, blocks are parted by one blank line, an insert goes after the whole paragraph or item, and what is taken out leaves no second blank line; false: edits are put where they say, between blank lines" untrusted:"yes"`
	Region      string   `key:"region" doc:"learned: what is between the lines <!-- SKILLOPT-SLEEP:LEARNED START --> and <!-- SKILLOPT-SLEEP:LEARNED END --> is all of the document that may change, in every mode; guidance and notes go there too; absent: the whole document" enum:",learned" untrusted:"yes"`
	Verify      Verify   `key:"verify" doc:"a command that each candidate has to pass before it is judged"`
}

// Verify is a command that reports whether a skill can be used at all.
type Verify struct {
	Command []string `key:"command" doc:"argv of a program that is run in a copy of the candidate's folder, confined as the commands of checks are; the candidate is refused unless it ends with exit code 0; absent: none"`
	Timeout Duration `key:"timeout" doc:"deadline of the command, longer for slow tests; a candidate that passes it is refused" min:"1ms" max:"1h"`
}

// Gate is how candidates are judged.
type Gate struct {
	Mode          string  `key:"mode" doc:"strict (one pass over the selection split, any higher mean is accepted), observe (scores, accepts all, to see what training does by itself) or off (no scoring, where no selection tasks are there)" enum:"strict,observe,off" untrusted:"yes"`
	Fresh         bool    `key:"fresh" doc:"score the skill that is shipped again on the selection split, since the luck of its first pass has chosen it too, and ask some tasks of the seed skill twice to see how far answers vary; false saves the calls" untrusted:"yes"`
	Keep          bool    `key:"keep" doc:"of strict: a candidate that would be accepted is rejected if it loses a selection task that the current skill wins, once 6 to 10 fresh answers of each confirm it; false: only means count" untrusted:"yes"`
	Alpha         float64 `key:"alpha" doc:"of all claims on the same test tasks that the best skill is better than the seed skill, this share may be wrong: the certificate of a first reading spends 0.8 of it, that of the 2nd 0.1, of the 3rd 0.05, and so on" min:"0.0001" max:"0.5" untrusted:"yes"`
	Group         string  `key:"group" doc:"field of the tasks; those with the same value (one document, one template) count as one in gate and certificate" untrusted:"yes"`
	Metric        string  `key:"metric" doc:"hard, or, where scores in part say more, soft or mixed" enum:"hard,soft,mixed" untrusted:"yes"`
	MixedWeight   float64 `key:"mixed_weight" doc:"weight of soft in mixed" min:"0" max:"1" untrusted:"yes"`
	DensityWeight float64 `key:"density_weight" doc:"bonus for directive words in the skill, as a published setting has it; 0 = off" untrusted:"yes"`
}

// SlowUpdate is the longitudinal comparison at epoch ends.
type SlowUpdate struct {
	Enabled bool   `key:"enabled" doc:"write slow-update guidance from epoch 2 on; false saves its calls" untrusted:"yes"`
	Samples int    `key:"samples" doc:"train tasks compared, fewer to save calls" min:"1" untrusted:"yes"`
	Gated   bool   `key:"gated" doc:"keep the guidance only if the selection score does not fall; false: forced in, and never part of best" untrusted:"yes"`
	Pairs   string `key:"pairs" doc:"which comparisons are shown, as a published setting has it: mixed, changed or unchanged" enum:"mixed,changed,unchanged" untrusted:"yes"`
}

// MetaSkill is the optimizer's memory.
type MetaSkill struct {
	Enabled bool `key:"enabled" doc:"distil what worked between epochs, from epoch 2 on; false saves its calls" untrusted:"yes"`
}

// Eval is what is scored apart from the steps.
type Eval struct {
	Selection string `key:"selection" doc:"the split that the gate uses: train, where there are no tasks for a selection split; absent: selection" enum:",selection,train" untrusted:"yes"`
	Test      bool   `key:"test" doc:"score seed, best and final skill on the test split at the end; false leaves it unread while settings are still tried" untrusted:"yes"`
	NoSkill   bool   `key:"no_skill" doc:"score the target without any skill as well, to see what the skill is worth" untrusted:"yes"`
}

// Record is how the record is used within a run.
type Record struct {
	Reuse    string `key:"reuse" doc:"auto (equal requests at temperature 0 are answered once, also across the runs below run.dir) or never, where equal requests get other answers" enum:"auto,never" untrusted:"yes"`
	Episodes string `key:"episodes" doc:"what is kept of the model calls inside episodes of agents and environments: full (what was sent and answered, without secrets) or usage (that they were made, with tokens and costs, where texts may not stay or take too much room); nothing depends on it" enum:"full,usage" class:"operational" untrusted:"yes"`
}

// What is kept of the model calls inside episodes.
const (
	EpisodesFull  = "full"
	EpisodesUsage = "usage"
)

// Limits are ceilings.
type Limits struct {
	Concurrency int       `key:"concurrency" doc:"most requests in flight, all models together: what your servers bear" min:"1" max:"10000" untrusted:"yes"`
	Patience    Duration  `key:"patience" doc:"how long an endpoint, or the environment, may give nothing but failures before the run stops, longer where servers restart or limits last" min:"1ms" untrusted:"yes"`
	USD         *float64  `key:"usd" doc:"stop before a call beyond this cost; null = none; needs prices" min:"0" untrusted:"yes"`
	Tokens      *int64    `key:"tokens" doc:"stop before a call beyond this many tokens, input and output; null = none" min:"0" untrusted:"yes"`
	Calls       *int64    `key:"calls" doc:"stop after this many model calls; null = none" min:"0" untrusted:"yes"`
	Time        *Duration `key:"time" doc:"stop after this long; counted again in every session, a resumed run begins at 0; null = none" min:"1ms" untrusted:"yes"`
	// Reserve is "auto", "none" or a share of the ceilings from 0 to 0.5.
	Reserve string `key:"reserve" doc:"what training leaves of usd, tokens and calls for the final evaluation: auto (as much as it will need, from what was measured), none, or a share of each ceiling from 0 to 0.5" untrusted:"yes"`
}

// Price is USD per million tokens. Cached and CacheWrite absent: as input.
type Price struct {
	Input      float64  `key:"input" doc:"USD per million input tokens" min:"0"`
	Output     float64  `key:"output" doc:"USD per million output tokens" min:"0"`
	Cached     *float64 `key:"cached" doc:"USD per million input tokens read from the provider's cache; absent: as input" min:"0"`
	CacheWrite *float64 `key:"cache_write" doc:"USD per million input tokens written to the provider's cache; absent: as input" min:"0"`
	MaxOutput  int64    `key:"max_output" doc:"most tokens of a reply, which limits.usd and limits.tokens hold back for a call where max_tokens does not say; 0 = not known" min:"0"`
}

// Telemetry is where traces and metrics of a run are sent.
type Telemetry struct {
	Endpoint string            `key:"endpoint" doc:"URL of an OTLP/HTTP receiver, without v1/traces; absent: nothing is sent. Variables are not looked at: write ${OTEL_EXPORTER_OTLP_ENDPOINT} to use one"`
	Headers  map[string]string `key:"headers" doc:"HTTP headers of what is sent, such as the key of the receiver"`
	Service  string            `key:"service" doc:"service.name of what is sent, to separate installations at one receiver"`
	Content  bool              `key:"content" doc:"send what models are asked and answer too, known secrets taken out; false: only numbers and names"`
}

// Run is where the run is kept.
type Run struct {
	Dir  string `key:"dir" doc:"the folder of run directories; relative to the working directory" untrusted:"yes"`
	Name string `key:"name" doc:"name of runs of this config; absent: the name of the config's folder or file" untrusted:"yes"`
}

// Sleep is what the profile of the sleep commands says. Nothing of it concerns a run.
type Sleep struct {
	Projects []string          `key:"projects" doc:"folders whose sessions may be read, with all below them; absolute, from ~, or relative to the profile; empty: no session is read" class:"operational"`
	Sources  []string          `key:"sources" doc:"the agents whose sessions are read, such as claude and codex; empty: all that are known" class:"operational"`
	Stores   map[string]string `key:"stores" doc:"where an agent keeps its sessions, by source, if not in its usual place; jsonl, the format of ours, has no usual place" class:"operational"`
	Dir      string            `key:"dir" doc:"the folder of what is kept; absolute, from ~, or relative to the profile; absent: the system's folder for state" class:"operational"`
	Keep     Age               `key:"keep" doc:"sessions that ended longer ago are deleted from what is kept" min:"24h" class:"operational"`
	Disk     Size              `key:"disk" doc:"the most that what is kept may take; the oldest sessions are deleted first" class:"operational"`

	Targets      []string `key:"targets" doc:"what nights train: skills, by the tasks in which they were at work; memory, the project's file for agents such as AGENTS.md, by tasks without a skill" class:"operational"`
	DefaultSkill string   `key:"default_skill" doc:"the skill that tasks without one train; absent: they train the memory file" class:"operational"`
	Memory       string   `key:"memory" doc:"the project's memory file: AGENTS.md, CLAUDE.md, GEMINI.md, QWEN.md, .github/copilot-instructions.md, or a rule that is there, such as .cursor/rules/style.mdc; absent: that of the agent, in a chat the only one that there is" class:"operational"`
	Roots        []string `key:"roots" doc:"further folders of skills, in addition to those of agents in the project and in the home folder; absolute, from ~, or relative to the profile" class:"operational"`
	Whole        []string `key:"whole" doc:"names of skills, or of the memory file, of which nights may change all; of the others only the learned region" class:"operational"`
	Tasks        int      `key:"tasks" doc:"new tasks of a document that a night works with at most: fewer cost less" min:"1" max:"300" class:"operational"`
	Recall       int      `key:"recall" doc:"older tasks of a document that a night works with too, those most like the new ones: more keep old habits, fewer cost less" min:"0" max:"300" class:"operational"`
	HalfLife     Age      `key:"half_life" doc:"the weight of a task halves whenever it was not seen again for so long; below a tenth it sleeps until it is; shorter where work changes often" min:"24h" class:"operational"`
	Preferences  string   `key:"preferences" doc:"your wishes, for the analysts of nights, after reflect.guide; at most 4 KB with it" class:"operational"`
	AutoAdopt    string   `key:"auto_adopt" doc:"certified: a night writes what it has certified into the documents by itself, if it rests on no unreviewed task; only the profile itself may say it, not --set, a file that it extends, or a profile in a project" enum:"off,certified" class:"operational"`
	OwnLogin     bool     `key:"own_login" doc:"nights may use agents and seats with a login of their own; consent names them" class:"operational"`
	OnBattery    bool     `key:"on_battery" doc:"nights that a timer starts are carried out on battery too; false: skipped, and said" class:"operational"`
	Notify       []string `key:"notify" doc:"argv of a program that is started when a night is over, with counts and no text in its environment; absent: none" class:"operational"`
}
