package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Cursor reads the sessions of Cursor's agent:
// projects/<folder>/agent-transcripts/<session>/<session>.jsonl below its folder, in older
// versions <session>.jsonl. Neither the chats of the editor (a database of tens of GB, which
// holds tokens too) nor store.db of the command line are read, and of a session that ran in the
// editor alone some versions write no more than the ends of its turns.
//
// The user's words are what is in <user_query>; a text of a user's record without it is the
// program's where the session has the tag elsewhere, or where it begins with a tag that only
// the program writes. A turn that ended with status error failed, aborted was interrupted.
// Neither results of tools nor ids are there: whether a tool succeeded is not known. A time is
// there only as a text before the user's words; without it a turn has the time of the file.
//
// The project is that of chats/*/<session>/meta.json, or of .workspace-trusted in its folder;
// without both the one of the paths that tools were given whose name the folder has, and without
// such a path the only folder of that name that is asked for or is on the disk. Helpers
// are recognized by subagents/ in their path and by isSubagent in meta.json.
//
// Not tried on a real store: written from public descriptions of versions to 2026.10.
type Cursor struct{}

// Name implements Source.
func (Cursor) Name() string { return "cursor" }

// cursorHelper is the note of a store that is a helper's, before its project.
const cursorHelper = "subagent\n"

// Stores implements Source.
func (c Cursor) Stores(ctx context.Context, p Places) ([]Store, error) {
	home := p.root(c.Name(), "CURSOR_DATA_DIR", ".cursor")
	root, err := os.OpenRoot(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	var out []Store
	chats := cursorChats(root)
	folders, err := listFolders(root, "projects")
	for _, folder := range folders {
		dir := path.Join("projects", folder)
		found, filesErr := files(ctx, c.Name(), home, dir+"/agent-transcripts", func(name string) bool {
			return path.Ext(name) == ".jsonl" && !strings.Contains(name, "/subagents/")
		})
		err = errors.Join(err, filesErr)
		if len(found) == 0 {
			continue
		}
		trusted, named := small(ctx, root, dir+"/.workspace-trusted").Get("workspacePath").Str, cursorFolder(folder, p)
		for i := range found {
			meta := small(ctx, root, chats[cursorSession(found[i])])
			found[i].Note = first(absolute(meta.Get("cwd").Str), absolute(trusted)) + "\n" + named
			if meta.Get("isSubagent").Bool() {
				found[i].Note = cursorHelper + found[i].Note
			}
		}
		out = append(out, found...)
	}
	return out, err
}

// listFolders returns the names of the folders in a folder, none where it is not there.
func listFolders(root *os.Root, dir string) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// cursorChats returns the files that say where a chat of the command line ran, by session.
func cursorChats(root *os.Root) map[string]string {
	out := map[string]string{}
	hashes, err := listFolders(root, "chats")
	if err != nil {
		return out // it only says where sessions ran
	}
	for _, hash := range hashes {
		sessions, err := listFolders(root, "chats/"+hash)
		if err != nil {
			continue
		}
		for _, s := range sessions {
			out[s] = "chats/" + hash + "/" + s + "/meta.json"
		}
	}
	return out
}

func cursorSession(s Store) string { return strings.TrimSuffix(path.Base(s.Name), ".jsonl") }

// absolute returns a path where it is absolute, by the rules of any system.
func absolute(dir string) string {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, "/") || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') {
		return dir
	}
	return ""
}

// Read implements Source.
func (c Cursor) Read(ctx context.Context, s Store, r *Reading) error {
	x := &cursorReader{b: r.Builder(c.Name()), said: map[string]int{}}
	x.b.Session(cursorSession(s), "")
	project, helper := strings.CutPrefix(s.Note, cursorHelper)
	project, named, _ := strings.Cut(project, "\n")
	if helper {
		x.b.Origin(Subagent)
	}
	if project == "" {
		var err error
		if project, err = c.project(ctx, s, r); err != nil {
			return err
		}
	}
	x.b.Project(first(project, named))
	if r.Wanted != nil && !r.Wanted(x.b.t.Project) {
		return r.mark(ctx, s)
	}
	err := r.lines(ctx, s, nil, func(_ int, rec gjson.Result) error {
		x.now = time.Unix(0, r.Mark.Time).UTC()
		x.record(rec)
		return nil
	})
	if err != nil {
		return err
	}
	return r.Done(x.b)
}

// project returns the folder whose name, as Cursor writes it, is that of the store's folder. It
// looks among the folders of the paths that tools were given.
func (Cursor) project(ctx context.Context, s Store, r *Reading) (string, error) {
	want, found := strings.Split(s.Name, "/")[1], ""
	err := r.lines(ctx, s, nil, func(_ int, rec gjson.Result) error {
		rec.Get("message.content").ForEach(func(_, block gjson.Result) bool {
			block.Get("input").ForEach(func(_, v gjson.Result) bool {
				found = ancestor(v.Str, want)
				return found == ""
			})
			return found == ""
		})
		if found != "" {
			return errStop
		}
		return nil
	})
	return found, err
}

// ancestor returns the folder on the way to an absolute path, or the path itself, of which slug is
// the name.
func ancestor(file, slug string) string {
	if len(file) > MaxPath || absolute(file) == "" {
		return ""
	}
	for dir := strings.TrimRight(file, `/\`); dir != ""; {
		if cursorSlug(dir) == slug {
			return dir
		}
		i := strings.LastIndexAny(dir, `/\`)
		if i < 0 {
			return ""
		}
		dir = dir[:i]
	}
	return ""
}

// cursorSlug returns a path as the name of a folder. All that is neither letter nor digit is a
// dash, and the letter of a drive is small.
func cursorSlug(dir string) string {
	if len(dir) > 1 && dir[1] == ':' {
		dir = strings.ToLower(dir[:1]) + dir[1:]
	}
	return strings.Join(strings.FieldsFunc(dir, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	}), "-")
}

// cursorFolder returns the only folder of which slug is the name, among those that are asked for and those
// that are on the disk; "" where there are several, as my-shop and my/shop have the same name.
func cursorFolder(slug string, p Places) string {
	top, rest := "/", slug
	if p.OS == "windows" {
		if len(slug) < 3 || slug[1] != '-' {
			return ""
		}
		top, rest = slug[:1]+`:\`, slug[2:]
	}
	lists := 100 // folders on the way that are listed
	found := listSlug(top, rest, &lists)
	for _, dir := range p.Projects {
		if cursorSlug(dir) == slug && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// listSlug returns the folders below dir of which the rest of a name is the name.
func listSlug(dir, rest string, lists *int) (out []string) {
	if *lists--; *lists < 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what cannot be listed is not known by its name
	}
	for _, e := range entries {
		name := cursorSlug(e.Name())
		more, is := strings.CutPrefix(rest, name)
		if !is || name == "" || more != "" && more[0] != '-' {
			continue
		}
		at := filepath.Join(dir, e.Name())
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		if more == "" {
			out = append(out, at)
			continue
		}
		out = append(out, listSlug(at, more[1:], lists)...)
	}
	return out
}

type cursorReader struct {
	b       *Builder
	said    map[string]int
	now     time.Time // of the file
	wrapped bool      // the version puts the user's words into a tag
}

func (x *cursorReader) record(rec gjson.Result) {
	switch pick(rec, "role", "message.role") { // first: to look for what is not there costs the whole record
	case "user":
		x.user(texts(rec.Get("message.content"), "text"))
	case "assistant":
		x.assistant(rec.Get("message.content"))
	case "":
		if rec.Get("type").Str == "turn_ended" {
			x.noteStatus(rec.Get("status").Str)
		}
	}
}

// pick returns the first of the members that is a text.
func pick(v gjson.Result, members ...string) string {
	for _, m := range members {
		if text := v.Get(m).Str; text != "" {
			return text
		}
	}
	return ""
}

func (x *cursorReader) noteStatus(status string) {
	switch status {
	case "error":
		x.b.Fail("error")
	case "aborted":
		x.b.Interrupt()
	}
}

func (x *cursorReader) user(text string) {
	at := x.now
	if stamp, ok := enclosedText(text, "<timestamp>", "</timestamp>"); ok {
		if t := cursorTime(stamp); !t.IsZero() {
			at = t
		}
	}
	query, wrapped := enclosedText(text, "<user_query>", "</user_query>")
	switch {
	case wrapped:
		x.wrapped, text = true, query
	case x.wrapped && strings.HasPrefix(strings.TrimSpace(text), "<"), cursorWrites(text):
		return
	}
	x.b.User(x.b.newMessageID(text, x.said), text, at)
}

// enclosedText returns what is between the first open and the last end after it.
func enclosedText(text, open, end string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	i := strings.LastIndex(rest, end)
	if !ok || i < 0 {
		return "", false
	}
	return rest[:i], true
}

// cursorWrites reports whether a text without the user's tag begins as only the program begins one.
func cursorWrites(text string) bool {
	for _, tag := range []string{
		"user_info", "dynamic_tools", "system_reminder", "system-reminder", "system_notification", "task_notification", "rules", "user_rules", "agent_skills",
		"git_status", "project_layout", "open_and_recently_viewed_files", "additional_data", "attached_files", "agent_transcripts", "mcp_file_system",
	} {
		if strings.HasPrefix(strings.TrimSpace(text), "<"+tag+">") {
			return true
		}
	}
	return false
}

// cursorTime reads a time such as "Friday, Sep 4, 2026, 2:21 AM (UTC+8)". Without a zone it is
// one of this machine. What is none is the zero time.
func cursorTime(text string) time.Time {
	clock, zone, zoned := strings.Cut(strings.TrimSpace(text), " (UTC")
	in := time.Local //nolint:gosmopolitan // the text is of this machine and names no zone
	if zoned {
		seconds, ok := zoneSeconds(strings.TrimSuffix(zone, ")"))
		if !ok {
			return time.Time{}
		}
		in = time.FixedZone("", seconds)
	}
	for _, layout := range []string{"Monday, Jan 2, 2006, 3:04 PM", "Mon, Jan 2, 2006, 3:04 PM"} {
		if t, err := time.ParseInLocation(layout, clock, in); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// zoneSeconds reads "", "+8", "-7", "+5:30".
func zoneSeconds(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	sign := 1
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	hours, minutes, _ := strings.Cut(text[1:], ":")
	h, ok := digits(hours)
	m, okMinutes := digits(first(minutes, "0"))
	if !ok || !okMinutes || h > 14 || m > 59 {
		return 0, false
	}
	return sign * (h*3600 + m*60), true
}

// digits reads a number of at most two digits.
func digits(text string) (n int, ok bool) {
	if text == "" || len(text) > 2 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func (x *cursorReader) assistant(content gjson.Result) {
	text := content.Str
	content.ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").Str {
		case "text":
			text = strings.TrimSpace(text + "\n" + block.Get("text").Str)
		case "tool_use":
			x.call(block.Get("name").Str, block)
		}
		return true
	})
	for strings.HasSuffix(text, "[REDACTED]") { // replaces what the model thought
		text = strings.TrimSpace(strings.TrimSuffix(text, "[REDACTED]"))
	}
	x.b.Agent(text, time.Time{})
}

func (x *cursorReader) call(name string, block gjson.Result) {
	x.b.Call("", name)
	switch name {
	case "Read", "ReadFile", "read_file":
		file := pick(block, "input.path", "input.file_path", "input.target_file")
		x.b.Read(file)
		x.b.AddRead(file)
	case "Shell", "run_terminal_cmd":
		x.b.Read(block.Get("input.command").Str)
		x.b.Command("", block.Get("input.command").Str)
	case "Write", "Edit", "StrReplace", "MultiEdit", "Delete", "EditNotebook", "edit_file", "search_replace", "write", "delete_file":
		x.b.Wrote(pick(block, "input.path", "input.file_path", "input.target_file"))
	}
}
