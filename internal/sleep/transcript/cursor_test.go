package transcript_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// writeFile writes a file below folders that it makes.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func cursorCase() transcripttest.Case {
	return transcripttest.Case{
		Source: transcript.Cursor{}, Home: "testdata/cursor", Filled: "testdata/cursor-filled",
		Want: []transcript.Transcript{{
			Source: "cursor", ID: "aa", Project: "/PROJECT/shop", Origin: transcript.Interactive,
			Started: at("2026-09-03T18:21:00Z"), Ended: at("2026-09-04T09:40:00Z"),
			Turns: []transcript.Turn{{
				ID: "a", Started: at("2026-09-03T18:21:00Z"), Ended: at("2026-09-03T18:21:00Z"), User: "Add a discount.", Agent: "Added.",
				Tools: []transcript.Tool{{Name: "Read"}, {Name: "StrReplace"}}, Files: []string{"price.go"}, Skill: "pricing", SkillBy: transcript.ByRead,
				Read: []string{".cursor/skills/pricing/SKILL.md"},
			}, {
				ID: "b", Started: at("2026-09-03T18:30:00Z"), Ended: at("2026-09-03T18:30:00Z"), User: "No: in percent.",
				Tools: []transcript.Tool{{Name: "Shell"}}, Files: []string{}, Failed: "error", Commands: []transcript.Command{{Text: "go test ./..."}},
			}, {
				ID: "c", Started: at("2026-09-04T09:40:00Z"), Ended: at("2026-09-04T09:40:00Z"), User: "No: in percent.",
				Tools: []transcript.Tool{}, Files: []string{}, Interrupted: true,
			}},
		}, {
			Source: "cursor", ID: "cc", Project: "/PROJECT/shop/api", Origin: transcript.Interactive,
			Started: at("2026-09-04T13:00:00Z"), Ended: at("2026-09-04T13:00:00Z"),
			Turns: []transcript.Turn{{
				ID: "d", Started: at("2026-09-04T13:00:00Z"), Ended: at("2026-09-04T13:00:00Z"), User: "Name the routes.", Agent: "Three.",
				Tools: []transcript.Tool{{Name: "Read"}}, Files: []string{}, Read: []string{"routes.go"},
			}},
		}, {
			Source: "cursor", ID: "dd", Project: "/PROJECT/x", Origin: transcript.Interactive,
			Started: at("2026-09-04T09:30:00Z"), Ended: at("2026-09-04T09:30:00Z"),
			Turns: []transcript.Turn{{
				ID: "e", Started: at("2026-09-04T09:30:00Z"), Ended: at("2026-09-04T09:30:00Z"), User: "Where am I?", Agent: "Here.",
				Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "cursor", ID: "ee", Origin: transcript.Interactive,
			Started: at("2026-09-04T15:00:00Z"), Ended: at("2026-09-04T15:00:00Z"),
			Turns: []transcript.Turn{{
				ID: "f", Started: at("2026-09-04T15:00:00Z"), Ended: at("2026-09-04T15:00:00Z"), User: "Nobody knows where.",
				Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	}
}

func TestTrap42Cursor(t *testing.T) {
	t.Parallel()
	c := cursorCase()
	got := c.All(t, transcripttest.Lay(t, c.Home, func(_, text string) string { return text }), nil)
	ids := map[string]bool{}
	for i, tr := range got.Transcripts {
		for j := range tr.Turns { // ids are digests: what counts is that they differ and stay
			ids[tr.Turns[j].ID] = true
			if i < len(c.Want) && j < len(c.Want[i].Turns) {
				c.Want[i].Turns[j].ID = tr.Turns[j].ID
			}
		}
	}
	if len(ids) != 6 {
		t.Errorf("%d ids for 6 turns: %v", len(ids), ids)
	}
	transcripttest.Run(t, c)
}

func TestCursorNothingElseIsRead(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(cursorCase().All(t, transcripttest.Lay(t, "testdata/cursor", func(_, text string) string { return text }), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NEVER-READ", "REDACTED", "helper", "Be brief", "Workspace Path"} {
		if strings.Contains(string(out), bad) {
			t.Errorf("%q was read: %s", bad, out)
		}
	}
}

const cursorUser = `{"role":"user","message":{"content":[{"type":"text","text":"%"}]}}` + "\n"

// cursorSays is a user's record with a text.
func cursorSays(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	return strings.Replace(cursorUser, `"%"`, string(data), 1)
}

// Projects that lie in one another: a session is of the folder that its own records name, never
// of a sibling's or of one above, however alike the names of the folders are.
func TestTrap42CursorNestedProjects(t *testing.T) {
	t.Parallel()
	const dir = ".cursor/projects/"
	user := cursorSays("<user_query>hi</user_query>")
	read1 := `{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"path":"%"}}]}}` + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"recorded": {map[string]string{dir + "srv-shop/.workspace-trusted": `{"workspacePath":"/srv/shop"}`, dir + "srv-shop/agent-transcripts/s/s.jsonl": user}, "/srv/shop"},
		"nested, recorded above": {map[string]string{
			dir + "srv-shop/.workspace-trusted":                `{"workspacePath":"/srv/shop"}`,
			dir + "srv-shop-api/agent-transcripts/s/s.jsonl":   user + strings.Replace(read1, "%", "/srv/shop/api/x.go", 1),
			dir + "srv-shop-api/agent-transcripts/s/notes.txt": "x",
		}, "/srv/shop/api"},
		"a sibling, recorded beside": {map[string]string{
			dir + "srv-shop/.workspace-trusted":              `{"workspacePath":"/srv/shop"}`,
			dir + "srv-shop-api/agent-transcripts/s/s.jsonl": user + strings.Replace(read1, "%", "/srv/shop-api/x.go", 1),
		}, "/srv/shop-api"},
		"the name alone":      {map[string]string{dir + "srv-shop-api/agent-transcripts/s/s.jsonl": user}, ""},
		"a path elsewhere":    {map[string]string{dir + "srv-shop/agent-transcripts/s/s.jsonl": user + strings.Replace(read1, "%", "/etc/hosts", 1)}, ""},
		"a relative path":     {map[string]string{dir + "srv-shop/agent-transcripts/s/s.jsonl": user + strings.Replace(read1, "%", "srv/shop/x", 1)}, ""},
		"recorded, not whole": {map[string]string{dir + "srv-shop/.workspace-trusted": `{"workspacePath":"/sr`, dir + "srv-shop/agent-transcripts/s/s.jsonl": user}, ""},
	} {
		res := readFiles(t, transcript.Cursor{}, c.files)
		if len(res.Transcripts) != 1 || res.Transcripts[0].Project != c.want {
			t.Errorf("%s: %+v", name, res.Transcripts)
		}
	}
}

// A session that names no path is of the only folder that the name of its own may be.
func TestCursorFolderByItsName(t *testing.T) {
	t.Parallel()
	on := t.TempDir()
	for _, dir := range []string{"shop", "my-app", "my/app", "one/deep er"} {
		if err := os.MkdirAll(filepath.Join(on, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	slug := func(dir string) string {
		return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(dir, "-"), "-")
	}
	for dir, c := range map[string]struct {
		asked []string
		want  string
	}{
		on + "/shop":        {nil, on + "/shop"},
		on + "/one/deep er": {nil, on + "/one/deep er"},
		on + "/gone":        {nil, ""},
		on + "/gone.by":     {[]string{on + "/gone.by", on + "/shop"}, on + "/gone.by"},
		on + "/my-app":      {nil, ""}, // or my/app
		on + "/my/app":      {[]string{on + "/my/app"}, ""},
		on + "/shop.":       {[]string{on + "/shop."}, ""}, // or shop
	} {
		p := transcripttest.Case{Source: transcript.Cursor{}}.Places(layFiles(t, map[string]string{
			".cursor/projects/" + slug(dir) + "/agent-transcripts/s/s.jsonl": cursorSays("<user_query>hi</user_query>"),
		}))
		p.Projects = c.asked
		stores, err := transcript.Cursor{}.Stores(t.Context(), p)
		if err != nil || len(stores) != 1 {
			t.Fatal(stores, err)
		}
		got := ""
		r := transcript.Reading{Clean: redact.New(), Each: func(t transcript.Transcript) error { got = t.Project; return nil }}
		if err := (transcript.Cursor{}).Read(t.Context(), stores[0], &r); err != nil || got != c.want {
			t.Errorf("%s, asked for %q: %q %v", dir, c.asked, got, err)
		}
	}
}

func TestTrap42CursorTimes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".cursor/projects/x/agent-transcripts/s/s.jsonl")
	for stamp, want := range map[string]time.Time{
		"Friday, Sep 4, 2026, 2:21 AM (UTC+8)":      at("2026-09-03T18:21:00Z"),
		"Friday, Sep 4, 2026, 12:00 PM (UTC-3:30)":  at("2026-09-04T15:30:00Z"),
		"Friday, Sep 4, 2026, 12:00 PM (UTC)":       at("2026-09-04T12:00:00Z"),
		"Friday, Sep 4, 2026, 12:00 PM":             time.Date(2026, 9, 4, 12, 0, 0, 0, time.Local).UTC(), //nolint:gosmopolitan // what the text means
		"yesterday":                                 at("2026-09-05T00:00:00Z"),                           // the time of the file
		"Friday, Sep 4, 2026, 12:00 PM (UTC+99)":    at("2026-09-05T00:00:00Z"),
		"Friday, Sep 4, 2026, 12:00 PM (UTCtower3)": at("2026-09-05T00:00:00Z"),
	} {
		writeFile(t, path, cursorSays("<timestamp>"+stamp+"</timestamp>\n<user_query>hi</user_query>"))
		if err := os.Chtimes(path, at("2026-09-05T00:00:00Z"), at("2026-09-05T00:00:00Z")); err != nil {
			t.Fatal(err)
		}
		turn := transcripttest.Case{Source: transcript.Cursor{}}.All(t, home, nil).Transcripts[0].Turns[0]
		if !turn.Started.Equal(want) {
			t.Errorf("%s: %s, want %s", stamp, turn.Started, want)
		}
	}
}

// A turn that is there again, at another time and place of its file, is the same turn; equal
// words that are apart are two.
func TestTrap70CursorIdsStay(t *testing.T) {
	t.Parallel()
	ids := func(texts ...string) (out []string) {
		lines := ""
		for _, text := range texts {
			lines += cursorSays(text)
		}
		for _, turn := range readFiles(t, transcript.Cursor{}, map[string]string{".cursor/projects/x/agent-transcripts/s/s.jsonl": lines}).Transcripts[0].Turns {
			out = append(out, turn.ID)
		}
		return out
	}
	all := ids("one", "yes", "two", "yes")
	if all[1] == all[3] {
		t.Error("equal words that are apart are one turn")
	}
	if diff := cmp.Diff(all[:3], ids("one", "yes", "two")); diff != "" {
		t.Errorf("the ids changed when the file grew: %s", diff)
	}
	if got := ids("yes", "two", "yes"); got[0] != all[1] || got[1] != all[2] || got[2] != all[3] {
		t.Errorf("the ids changed when the first was taken out: %v %v", got, all)
	}
}

func TestCursorWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts []string
		want  []string
	}{
		"no tags at all":          {[]string{"hi", "<b>bold</b> please"}, []string{"hi", "<b>bold</b> please"}},
		"the program's":           {[]string{"<user_info>x</user_info>", "<rules>y</rules>", "hi"}, []string{"hi"}},
		"tags of the program new": {[]string{"<user_query>hi</user_query>", "<brand_new>x</brand_new>"}, []string{"hi"}},
		"the tag in the words":    {[]string{"<user_query>what is </user_query> for?</user_query>"}, []string{"what is </user_query> for?"}},
		"an open tag":             {[]string{"<user_query>hi"}, []string{"<user_query>hi"}},
		"labels":                  {[]string{"<user_query>hi</user_query>\n[Image]\n[File: a.pdf]"}, []string{"hi"}},
	} {
		lines := ""
		for _, text := range c.texts {
			lines += cursorSays(text)
		}
		res := readFiles(t, transcript.Cursor{}, map[string]string{".cursor/projects/x/agent-transcripts/s.jsonl": lines})
		if diff := cmp.Diff(c.want, userWords(res)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCursorHelper(t *testing.T) {
	t.Parallel()
	res := readFiles(t, transcript.Cursor{}, map[string]string{
		".cursor/projects/x/agent-transcripts/s/s.jsonl": cursorSays("hi"), ".cursor/chats/0/s/meta.json": `{"cwd":"/x","isSubagent":true}`,
	})
	if len(res.Transcripts) != 1 || res.Transcripts[0].Origin != transcript.Subagent || res.Transcripts[0].Project != "/x" {
		t.Errorf("got %+v", res.Transcripts)
	}
}

func FuzzCursor(f *testing.F) {
	fuzz(f, transcript.Cursor{}, "projects/PROJECT-shop/agent-transcripts/s/s.jsonl", "", seed(f, "testdata/cursor/.cursor/projects/PROJECT-shop/agent-transcripts/aa/aa.jsonl"))
}
