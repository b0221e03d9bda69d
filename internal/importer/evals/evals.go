package evals

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/task"
)

// Source is what is imported.
type Source struct {
	FS   fs.FS    // the folder below which everything lies; nothing else is read
	Root *os.Root // the same folder, for Parquet; nil: none is read
	File string   // what to import, as a path in FS; "." is the folder itself
}

// Options say how.
type Options struct {
	Format string            // one of Formats; "" = the one that the source looks like
	Map    map[string]string // of rows: which column is which field
}

// Folder is what a source became: an ordinary folder of tasks.
type Folder struct {
	Files  map[string][]byte // by their names in the folder
	Copies map[string]string // names in the folder of files of the source
}

// Formats returns the names of what can be imported.
func Formats() []string {
	return []string{"promptfoo", "inspect", "openai", "huggingface", "agent-skills"}
}

// work is an import on its way.
type work struct {
	ctx      context.Context
	read     reader
	root     *os.Root
	o        Options
	report   Report
	problems []task.Problem
	noted    map[Row]bool
	why      []task.Problem // of what is lost or left out, the first ones
	items    []item
	set      set
}

// set is what holds of all tasks.
type set struct {
	name    string
	skill   map[string]string // files of a skill in the source by their paths in it
	system  string            // what is said apart from the skill
	checks  []any
	extract any
	target  model
	judge   model
	unknown bool // the source names models, and none is known here
}

// item is what is made into a task.
type item struct {
	at     place
	id     string
	kind   string
	prompt string
	system string
	gold   []string
	checks []any
	hidden string
	images []picture
	meta   map[string]any
	split  string
}

// picture is a file of the source, or what it holds.
type picture struct {
	from string
	data []byte
	ext  string
}

// Import converts a source. The error is a *task.Error that names every problem with its
// file and row, or one of reading; then there is no folder.
func Import(ctx context.Context, src Source, o Options) (Folder, Report, error) {
	w := &work{ctx: ctx, read: reader{fsys: src.FS}, root: src.Root, o: o, noted: map[Row]bool{}, report: Report{Rows: []Row{}}, set: set{extract: "verbatim"}}
	file := path.Clean(strings.ReplaceAll(src.File, `\`, "/"))
	if o.Format != "" && !slices.Contains(Formats(), o.Format) {
		return Folder{}, w.report, problem(place{file: file}, "one of "+strings.Join(Formats(), ", ")+" is", "format %q is not known%s", o.Format, suggestWord(o.Format, Formats()))
	}
	file, format, err := w.detect(file)
	if err != nil {
		return Folder{}, w.report, err
	}
	w.report.Format = format
	w.set.name = deriveName(file)
	switch format {
	case "promptfoo":
		w.promptfoo(file)
	case "inspect":
		(&inspecting{work: w}).inspect(file)
	case "openai":
		(&registry{w}).openai(file)
	case "agent-skills":
		(&skillEvals{w}).agentSkills(file)
	default:
		w.rows(file)
	}
	if len(w.problems) > 0 {
		return Folder{}, w.report, &task.Error{Problems: w.problems}
	}
	return w.folder(place{file: file})
}

func problem(at place, help, format string, args ...any) error {
	w := &work{}
	w.fail(at, help, format, args...)
	return &task.Error{Problems: w.problems}
}

// deriveName returns the name of a set by that of its file.
func deriveName(file string) string {
	base := path.Base(file)
	for _, plain := range []string{"promptfooconfig", "evals", "samples", "data", "train", "test", "."} {
		if strings.TrimSuffix(base, path.Ext(base)) == plain && path.Dir(file) != "." {
			base = path.Base(path.Dir(file))
		}
	}
	name := slug(strings.TrimSuffix(base, path.Ext(base)))
	if name == "" {
		return "imported"
	}
	return name
}

// slug makes a name of a text: small letters, digits and hyphens.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// detect says which file is to be read, and as what.
func (w *work) detect(file string) (string, string, error) {
	info, err := fs.Stat(w.read.fsys, file)
	if err != nil {
		return "", "", problem(place{file: file}, "name a file or a folder that is there", "cannot be read: %v", plain(err))
	}
	if info.IsDir() {
		found, format, ok := w.inFolder(file)
		if !ok {
			return "", "", problem(place{file: file}, "name the file itself, or say what it is with --format", "holds none of promptfooconfig.yaml, evals/evals.json, an .eval log, a registry of OpenAI evals")
		}
		file, w.o.Format = found, or(w.o.Format, format)
	}
	if ext := path.Ext(file); slices.Contains(codeEndings(), ext) {
		return "", "", problem(place{file: file}, "save what it exports as JSON and import that: node -e 'import(\"./"+path.Base(file)+"\").then(m => console.log(JSON.stringify(m.default)))' > promptfooconfig.json", "it is code, which is not run")
	}
	if w.o.Format != "" {
		return file, w.o.Format, nil
	}
	format, err := w.looksLike(file)
	return file, format, err
}

func codeEndings() []string { return strings.Fields(".js .cjs .mjs .ts .cts .mts .py .rb") }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// inFolder finds what a folder is imported by.
func (w *work) inFolder(dir string) (file, format string, ok bool) {
	for _, c := range []struct{ pattern, format string }{
		{"promptfooconfig.yaml", "promptfoo"},
		{"promptfooconfig.yml", "promptfoo"},
		{"promptfooconfig.json", "promptfoo"},
		{"evals/evals.json", "agent-skills"},
		{"evals.json", "agent-skills"},
		{"*.eval", "inspect"},
		{"registry/evals/*.yaml", "openai"},
		{"evals/*.yaml", "openai"},
		{"promptfooconfig.*", "promptfoo"},
		{"*.parquet", "huggingface"},
		{"*.jsonl", ""},
		{"*.yaml", ""},
		{"*.json", ""},
	} {
		if w.o.Format != "" && c.format != "" && c.format != w.o.Format {
			continue
		}
		names, err := fs.Glob(w.read.fsys, path.Join(dir, c.pattern))
		if err == nil && len(names) > 0 {
			return names[0], c.format, true
		}
	}
	return "", "", false
}

// looksLike recognises the format of a file by its name and first rows.
func (w *work) looksLike(file string) (string, error) {
	switch ext := strings.ToLower(path.Ext(file)); {
	case ext == ".eval":
		return "inspect", nil
	case ext == ".parquet" || len(w.o.Map) > 0:
		return "huggingface", nil
	case ext == ".yaml" || ext == ".yml":
		return w.yamlFormat(file)
	}
	v, err := w.read.first(file)
	if err != nil {
		return "", problem(place{file: file}, "fix it, or say what it is with --format", "%v", err)
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	m, _ := v.(map[string]any)
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { _, ok := m[key]; return !ok })
	}
	switch {
	case has("eval", "version"), has("input", "target"):
		return "inspect", nil
	case has("prompts") || has("tests") || has("vars", "assert"):
		return "promptfoo", nil
	case has("input", "ideal"):
		return "openai", nil
	case has("evals") || has("query", "expected_behavior") || has("query", "should_trigger"):
		return "agent-skills", nil
	case has("__expected"):
		return "", problem(place{file: file}, "name the configuration that has its prompts", "these are tests of promptfoo, without prompts")
	}
	if len(m) == 0 {
		return "", problem(place{file: file}, "fix it, or say what it is with --format", "there is no row in it that is an object")
	}
	return "huggingface", nil
}

func (w *work) yamlFormat(file string) (string, error) {
	v, err := w.read.yaml(file)
	if err != nil {
		w.failFile(place{file: file}, err)
		return "", &task.Error{Problems: w.problems}
	}
	m, _ := v.(map[string]any)
	for _, value := range m {
		if inner, ok := value.(map[string]any); ok && (inner["class"] != nil || inner["id"] != nil && inner["metrics"] != nil) {
			return "openai", nil
		}
	}
	return "promptfoo", nil
}
