package transcript

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// JSONL reads sessions in a format of ours, for agents that have no source of their own:
// *.jsonl below the folder that the profile names, one session a file, one record a line.
//
//	{"type": "session", "id": "s1", "project": "/srv/me/shop", "agent": "mine", "version": "2",
//	 "branch": "main", "commit": "9f2…", "headless": false}
//	{"type": "user", "id": "u1", "time": "2026-11-22T08:00:00Z", "text": "Fix the date."}
//	{"type": "tool", "id": "c1", "name": "edit", "ok": true, "wrote": ["out.txt"], "read": ["x/SKILL.md"]}
//	{"type": "tool", "id": "c2", "name": "shell", "ok": false, "command": "go test ./...", "exit": 1}
//	{"type": "skill", "name": "house-rules"}
//	{"type": "agent", "time": "2026-11-22T08:00:09Z", "text": "Done."}
//	{"type": "error", "time": "…", "text": "authentication failed"}
//	{"type": "interrupt"}
//
// The session comes first and has an id and a project, which is absolute, or from . or .. relative to
// the folder of the file; a user's record has a time, which is
// an instant by RFC 3339; ok may be absent or null where it is not known. Other types and
// other members are ignored.
type JSONL struct{}

// Name implements Source.
func (JSONL) Name() string { return "jsonl" }

// Stores implements Source: without a folder in the profile there are none.
func (j JSONL) Stores(ctx context.Context, p Places) ([]Store, error) {
	if p.Given[j.Name()] == "" {
		return nil, nil
	}
	return files(ctx, j.Name(), p.Given[j.Name()], ".", func(name string) bool { return path.Ext(name) == ".jsonl" })
}

// Read implements Source.
func (j JSONL) Read(ctx context.Context, s Store, r *Reading) error {
	b := r.Builder(j.Name())
	err := r.lines(ctx, s, nil, func(n int, rec gjson.Result) error {
		if rec.Get("type").Str == "session" {
			b.Session(rec.Get("id").Str, rec.Get("version").Str)
			b.Project(resolveProject(s.Path(), rec.Get("project").Str))
			b.At(rec.Get("branch").Str, rec.Get("commit").Str)
			if rec.Get("headless").Bool() {
				b.Origin(Headless)
			}
			if !r.wantsSession(b) {
				return errStop
			}
			return nil
		}
		if b.t.ID == "" {
			r.problem(Problem{Path: s.Path(), Line: n, What: `the first record is not of type "session" with an id; docs/sleep.md shows the format`})
			return errStop
		}
		j.record(b, rec)
		return nil
	})
	if err != nil {
		return err
	}
	return r.Done(b)
}

// resolveProject returns a project as a file names it.
func resolveProject(file, project string) string {
	if project == "." || project == ".." || strings.HasPrefix(project, "./") || strings.HasPrefix(project, "../") {
		return filepath.Join(filepath.Dir(file), filepath.FromSlash(project))
	}
	return project
}

func (JSONL) record(b *Builder, rec gjson.Result) {
	at := instant(rec.Get("time"))
	switch rec.Get("type").Str {
	case "user":
		b.User(rec.Get("id").Str, rec.Get("text").Str, at)
	case "agent":
		b.Agent(rec.Get("text").Str, at)
	case "error":
		b.Fail(rec.Get("text").Str)
		b.Seen(at)
	case "interrupt":
		b.Interrupt()
	case "skill":
		b.Skill(rec.Get("name").Str, ByRecord)
	case "tool":
		id := first(rec.Get("id").Str, rec.Raw)
		b.Call(id, rec.Get("name").Str)
		b.Command(id, rec.Get("command").Str)
		if exit := rec.Get("exit"); exit.Type == gjson.Number {
			b.Exit(id, int(exit.Int()))
		}
		if ok := rec.Get("ok"); ok.IsBool() {
			b.Result(id, ok.Bool())
		}
		b.After(id, func() {
			for _, f := range rec.Get("read").Array() {
				b.Read(f.Str)
				b.AddRead(f.Str)
			}
			for _, f := range rec.Get("wrote").Array() {
				b.Wrote(f.Str)
			}
		})
	}
}
