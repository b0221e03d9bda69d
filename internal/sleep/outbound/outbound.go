// Package outbound is the only door through which anything of a session may leave this machine:
// the bytes that it returns are what a model may be asked with, and what
// `skillopt sleep harvest --show-outbound` prints. There is no other way from what is kept to
// a prompt.
//
// A session is written as lines of JSON: first the session, then each turn that counts. Names of
// folders, of the user, of branches and of sessions, and times, are not in it; of files, only
// those that lie in the project. Commands are in it word for word, but for the project's folder, which
// is $PROJECT there; one that is not word for word says so. Secrets are taken out again, since the profile may know
// some that it did not know when the session was read, and characters that steer a terminal
// are left out.
//
// It is pure, and knows nothing about models, consent, or where sessions are kept.
package outbound

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Version is that of the form. It changes when a line gets other members.
const Version = 2

type head struct {
	Type    string `json:"type"` // session
	Version int    `json:"version"`
	Agent   string `json:"agent"`
	Turns   int    `json:"turns"`
}

type turn struct {
	Type        string    `json:"type"` // turn
	User        string    `json:"user"`
	Agent       string    `json:"agent,omitempty"`
	Failed      bool      `json:"failed,omitempty"`
	Interrupted bool      `json:"interrupted,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Commands    []command `json:"commands,omitempty"`
	Files       []string  `json:"files,omitempty"`
	Skill       string    `json:"skill,omitempty"`
	Cut         bool      `json:"cut,omitempty"`
}

type command struct {
	Text    string `json:"text"`
	Exit    *int   `json:"exit"`
	Altered bool   `json:"altered,omitempty"`
}

type tool struct {
	Name string `json:"name"`
	OK   *bool  `json:"ok"`
}

// Render returns what may leave of a session: lines of JSON, each with its line break. Equal
// sessions give equal bytes.
func Render(t transcript.Transcript, clean transcript.Cleaner) ([]byte, error) {
	d := door{clean: clean}
	if len(t.Project) > 1 {
		d.project = t.Project
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head{Type: "session", Version: Version, Agent: t.Source, Turns: len(t.Turns)}); err != nil {
		return nil, err
	}
	for i := range t.Turns {
		if err := enc.Encode(d.turn(&t.Turns[i])); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

type door struct {
	clean   transcript.Cleaner
	project string // folder that no command names
}

func (d door) turn(t *transcript.Turn) turn {
	out := turn{Type: "turn", User: d.text(t.User), Agent: d.text(t.Agent), Failed: t.Failed != "", Interrupted: t.Interrupted, Skill: d.text(t.Skill), Cut: t.Cut}
	for _, call := range t.Tools {
		out.Tools = append(out.Tools, tool{Name: d.text(call.Name), OK: call.OK})
	}
	for _, c := range t.Commands {
		text := d.text(c.Text)
		if d.project != "" {
			text = strings.ReplaceAll(text, d.project, "$PROJECT")
		}
		out.Commands = append(out.Commands, command{Text: text, Exit: c.Exit, Altered: c.Altered || text != c.Text})
	}
	for _, file := range t.Files {
		if inProject(file) {
			out.Files = append(out.Files, d.text(file))
		}
	}
	return out
}

func (d door) text(s string) string { return d.clean.Text(wording.Plain(s)) }

// inProject reports whether a file is given relative to the project, and lies in it. A path of
// Windows is one on every system.
func inProject(file string) bool {
	slashed := path.Clean(strings.ReplaceAll(file, `\`, "/"))
	return file != "" && !filepath.IsAbs(file) && !path.IsAbs(slashed) && slashed != ".." && !strings.HasPrefix(slashed, "../") &&
		!strings.HasPrefix(slashed, "~") && (len(slashed) < 2 || slashed[1] != ':')
}
