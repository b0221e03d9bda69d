package transcript_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func vscodeCase() transcripttest.Case {
	return transcripttest.Case{
		Source: transcript.VSCode{}, Home: "testdata/vscode", Filled: "testdata/vscode-filled",
		Want: []transcript.Transcript{{
			Source: "vscode", ID: "6a1b", Project: "/PROJECT/shop", Origin: transcript.Interactive,
			Started: at("2026-11-23T08:00:00Z"), Ended: at("2026-11-23T08:01:11Z"),
			Turns: []transcript.Turn{{
				ID: "request_1", Started: at("2026-11-23T08:00:00Z"), Ended: at("2026-11-23T08:00:09Z"), User: "Add a test.", Agent: "Done: one test.",
				Tools: []transcript.Tool{{Name: "copilot_readFile"}, {Name: "run_in_terminal", OK: failed()}}, Files: []string{"a test.go"},
				Skill: "testing", SkillBy: transcript.ByRead,
			}, {
				ID: "request_2", Started: at("2026-11-23T08:01:00Z"), Ended: at("2026-11-23T08:01:01Z"), User: "No, use the table test.",
				Tools: []transcript.Tool{{Name: "copilot_applyPatch", OK: failed()}}, Files: []string{}, Interrupted: true,
			}, {
				ID: "request_7", Started: at("2026-11-23T08:01:10Z"), Ended: at("2026-11-23T08:01:11Z"), User: "Once more.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "rateLimited",
			}},
		}, {
			Source: "vscode", ID: "5f", Project: "/PROJECT/my shop", Origin: transcript.Interactive,
			Started: at("2026-11-22T08:00:00Z"), Ended: at("2026-11-22T08:00:00Z"),
			Turns: []transcript.Turn{{
				ID: "r1", Started: at("2026-11-22T08:00:00Z"), Ended: at("2026-11-22T08:00:00Z"), User: "Explain the total.", Agent: "It is the sum.",
				Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	}
}

func TestTrap38VSCode(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, vscodeCase())
}

// What a chat holds beside the user's words, the answers and the names of tools: wherever it
// stands, nothing of it is in a transcript.
func TestTrap38VSCodeNothingElseIsRead(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(vscodeCase().All(t, transcripttest.Lay(t, "testdata/vscode", func(_, text string) string { return text }), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NEVER-READ", "The program says", "Undone", "Another extension", "Continue", "Out of range", "draft", "Not cut", "Stale"} {
		if strings.Contains(string(out), bad) {
			t.Errorf("%q was read: %s", bad, out)
		}
	}
}

// chatLog is the store of one log of operations.
func chatLog(lines ...string) map[string]string {
	const dir = ".config/Code/User/workspaceStorage/w/"
	return map[string]string{dir + "workspace.json": `{"folder":"file:///PROJECT/shop"}`, dir + "chatSessions/s.jsonl": strings.Join(lines, "\n")}
}

func chatRequest(id, text string) string {
	return fmt.Sprintf(`{"requestId":%q,"timestamp":1795420800000,"agent":{"extensionId":"github.copilot-chat"},"message":{"text":%q},"response":[]}`, id, text)
}

func TestTrap38VSCodeOperations(t *testing.T) {
	t.Parallel()
	all := `{"kind":0,"v":{"requests":[` + chatRequest("1", "one") + `,` + chatRequest("2", "two") + `]}}`
	for name, c := range map[string]struct {
		ops  []string
		want []string
	}{
		"whole":              {nil, []string{"one", "two"}},
		"set a text":         {[]string{`{"kind":1,"k":["requests",1,"message","text"],"v":"2"}`}, []string{"one", "2"}},
		"set a request":      {[]string{`{"kind":1,"k":["requests",0],"v":` + chatRequest("3", "three") + `}`}, []string{"three", "two"}},
		"append":             {[]string{`{"kind":2,"k":["requests"],"v":[` + chatRequest("3", "three") + `]}`}, []string{"one", "two", "three"}},
		"cut and append":     {[]string{`{"kind":2,"k":["requests"],"i":1,"v":[` + chatRequest("3", "three") + `]}`}, []string{"one", "three"}},
		"cut":                {[]string{`{"kind":2,"k":["requests"],"i":1}`}, []string{"one"}},
		"cut, v is null":     {[]string{`{"kind":2,"k":["requests"],"i":1,"v":null}`}, []string{"one"}},
		"append without i":   {[]string{`{"kind":2,"k":["requests"],"v":null}`}, []string{"one", "two"}},
		"cut beyond":         {[]string{`{"kind":2,"k":["requests"],"i":3}`}, []string{"one", "two"}},
		"cut below":          {[]string{`{"kind":2,"k":["requests"],"i":-1}`}, []string{"one", "two"}},
		"cut at half":        {[]string{`{"kind":2,"k":["requests"],"i":0.5}`}, []string{"one", "two"}},
		"delete":             {[]string{`{"kind":3,"k":["requests",0,"message"]}`}, []string{"two"}},
		"a new state":        {[]string{`{"kind":0,"v":{"requests":[` + chatRequest("9", "nine") + `]}}`}, []string{"nine"}},
		"an index as text":   {[]string{`{"kind":1,"k":["requests","0","message","text"],"v":"x"}`}, []string{"one", "two"}},
		"a name as number":   {[]string{`{"kind":1,"k":[0],"v":"x"}`}, []string{"one", "two"}},
		"the root":           {[]string{`{"kind":1,"k":[],"v":{}}`}, []string{"one", "two"}},
		"no path":            {[]string{`{"kind":1,"v":{}}`}, []string{"one", "two"}},
		"an unknown kind":    {[]string{`{"kind":4,"k":["requests"]}`, `{"kind":"0","v":{}}`}, []string{"one", "two"}},
		"a list for a text":  {[]string{`{"kind":1,"k":["requests",0,"message","text"],"v":["x"]}`}, []string{"two"}},
		"a text for a list":  {[]string{`{"kind":1,"k":["requests"],"v":"x"}`, `{"kind":2,"k":["requests"],"v":[` + chatRequest("3", "three") + `]}`}, []string{"three"}},
		"a huge index":       {[]string{`{"kind":1,"k":["requests",1e18,"message"],"v":"x"}`}, []string{"one", "two"}},
		"half a last line":   {[]string{`{"kind":3,"k":["requests",0,"mess`}, []string{"one", "two"}},
		"a member not read":  {[]string{`{"kind":1,"k":["inputState","inputText"],"v":"draft"}`}, []string{"one", "two"}},
		"in front of others": {[]string{`{"kind":2,"k":["requests"],"i":0,"v":[` + chatRequest("0", "zero") + `]}`}, []string{"zero"}},
	} {
		res := readFiles(t, transcript.VSCode{}, chatLog(append([]string{all}, c.ops...)...))
		if diff := cmp.Diff(c.want, userWords(res)); diff != "" || len(res.Problems) > 0 {
			t.Errorf("%s: %s %v", name, diff, res.Problems)
		}
	}
	if res := readFiles(t, transcript.VSCode{}, chatLog(`{"kind":2,"k":["requests"],"v":[`+chatRequest("3", "three")+`]}`)); len(userWords(res)) > 0 {
		t.Errorf("without a first state: %v", userWords(res))
	}
}

func TestVSCodePlaces(t *testing.T) {
	t.Parallel()
	env := map[string]string{"APPDATA": `C:\Users\me\AppData\Roaming`, "VSCODE_PORTABLE": ""}
	for os, want := range map[string]string{"linux": ".config/Code", "darwin": "Library/Application Support/Code"} {
		home := t.TempDir()
		dir := filepath.Join(home, filepath.FromSlash(want), "User/workspaceStorage/w")
		writeFile(t, filepath.Join(dir, "workspace.json"), `{"folder":"file:///PROJECT/shop"}`)
		writeFile(t, filepath.Join(dir, "chatSessions/s.jsonl"), "{}\n")
		stores, err := transcript.VSCode{}.Stores(t.Context(), transcript.Places{Home: home, OS: os, Env: func(n string) string { return env[n] }})
		if err != nil || len(stores) != 1 || stores[0].Note != "/PROJECT/shop" {
			t.Errorf("%s: %+v %v", os, stores, err)
		}
	}
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "vs/user-data/User/workspaceStorage/w/workspace.json"), `{"folder":"file:///c%3A/shop"}`)
	writeFile(t, filepath.Join(home, "vs/user-data/User/workspaceStorage/w/chatSessions/s.jsonl"), "{}\n")
	stores, err := transcript.VSCode{}.Stores(t.Context(), transcript.Places{Home: home, OS: "windows", Env: func(n string) string {
		return map[string]string{"VSCODE_PORTABLE": filepath.Join(home, "vs")}[n]
	}})
	if err != nil || len(stores) != 1 || stores[0].Note != "c:/shop" {
		t.Errorf("portable: %+v %v", stores, err)
	}
}

func FuzzVSCode(f *testing.F) {
	const dir = "testdata/vscode/.config/Code/User/workspaceStorage/"
	fuzz(f, transcript.VSCode{}, "s.jsonl", "/PROJECT/shop", seed(f, dir+"0a1b/chatSessions/6a1b.jsonl"))
}

func FuzzVSCodeDocument(f *testing.F) {
	const dir = "testdata/vscode/.config/Code/User/workspaceStorage/"
	fuzz(f, transcript.VSCode{}, "s.json", "/PROJECT/shop", seed(f, dir+"0c2d/chatSessions/5f.json"))
}
