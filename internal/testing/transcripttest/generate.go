package transcripttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Generate writes sessions as Claude Code writes them, below home: so many files of together
// about so many bytes. Nine tenths of the bytes are results of tools that read files, of 20 in a
// session. Equal seeds write equal bytes. It returns how many turns there are.
func Generate(home string, files int, bytes int64, seed uint64) (turns int, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	g := generator{r: r, text: vocabulary(r), at: time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)}
	for i := range files {
		dir := filepath.Join(home, ".claude", "projects", fmt.Sprintf("-srv-p%d", i%20))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return turns, err
		}
		g.session, g.project = fmt.Sprintf("%08x-0000-4000-8000-%012x", i, seed), fmt.Sprintf("/srv/p%d", i%20)
		if err := g.file(filepath.Join(dir, g.session+".jsonl"), bytes/int64(files)); err != nil {
			return turns, err
		}
	}
	return g.turns, nil
}

// generator writes the records of sessions.
type generator struct {
	r                *rand.Rand
	text             string
	at               time.Time
	session, project string
	n, turns         int
}

// vocabulary is prose and code to cut from.
func vocabulary(r *rand.Rand) string {
	list := []string{"the", "order", "date", "func", "return", "err", "nil", "if", "written", "as", "total", "{", "}", "token", "budget", "file", "line\n", "test", "passes", "\t", "\"quoted\"", "of", "key", "value,"}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(list[r.IntN(len(list))])
		b.WriteByte(' ')
	}
	return b.String()
}

func (g *generator) some(n int) string {
	from := g.r.IntN(len(g.text) - n)
	return g.text[from : from+n]
}

func (g *generator) file(path string, size int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	for written := int64(0); written < size; {
		n, err := g.turn(w)
		if err != nil {
			return err
		}
		written += n
	}
	return w.Flush()
}

// Records have their members in the order in which the program writes them.
type (
	genRecord struct {
		Sidechain  bool       `json:"isSidechain"`
		Type       string     `json:"type"`
		Message    genMessage `json:"message"`
		UUID       string     `json:"uuid"`
		Timestamp  string     `json:"timestamp"`
		UserType   string     `json:"userType"`
		Entrypoint string     `json:"entrypoint"`
		Cwd        string     `json:"cwd"`
		Session    string     `json:"sessionId"`
		Version    string     `json:"version"`
		Branch     string     `json:"gitBranch"`
	}
	genMessage struct {
		Role    string `json:"role"`
		Model   string `json:"model,omitempty"`
		Content any    `json:"content"`
	}
	genText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	genUse struct {
		Type  string            `json:"type"`
		ID    string            `json:"id"`
		Name  string            `json:"name"`
		Input map[string]string `json:"input"`
	}
	genResult struct {
		ID      string `json:"tool_use_id"`
		Type    string `json:"type"`
		Content string `json:"content"`
	}
)

// turn writes what a user says, some calls of tools with their results, and the answer.
func (g *generator) turn(w *bufio.Writer) (written int64, err error) {
	g.turns++
	recs := []genRecord{g.record("user", g.some(100+g.r.IntN(400)))}
	for i := range 3 + g.r.IntN(4) {
		id := fmt.Sprintf("toolu_%d_%d", g.turns, i)
		recs = append(recs,
			g.record("assistant", []genText{{"text", g.some(80)}}),
			g.record("assistant", []genUse{{"tool_use", id, "Read", map[string]string{"file_path": fmt.Sprintf("%s/%c.go", g.project, 'a'+g.r.IntN(20))}}}),
			g.record("user", []genResult{{id, "tool_result", numbered(g.some(1000 + g.r.IntN(12000)))}}))
	}
	recs = append(recs, g.record("assistant", []genText{{"text", g.some(300 + g.r.IntN(900))}}))
	for i := range recs {
		data, err := json.Marshal(recs[i])
		if err != nil {
			return written, err
		}
		if _, err := w.Write(append(data, '\n')); err != nil {
			return written, err
		}
		written += int64(len(data)) + 1
	}
	return written, nil
}

// numbered is a text as the tool shows it that reads files.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%6d→%s", n, line)
	}
	return b.String()
}

func (g *generator) record(kind string, content any) genRecord {
	g.n++
	g.at = g.at.Add(time.Second)
	r := genRecord{
		Type: kind, Message: genMessage{Role: kind, Content: content}, UUID: fmt.Sprintf("u-%d", g.n), Timestamp: g.at.Format(time.RFC3339Nano), UserType: "external",
		Entrypoint: "cli", Cwd: g.project, Session: g.session, Version: "2.1.197", Branch: "main",
	}
	if kind == "assistant" {
		r.Message.Model = "claude-sonnet-4-6"
	}
	return r
}
