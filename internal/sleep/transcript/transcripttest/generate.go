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
// about so many bytes. Nine tenths of the bytes are results of tools, as in real ones. Equal
// seeds write equal bytes. It returns how many turns there are.
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

// turn writes what a user says, some calls of tools with their results, and the answer.
func (g *generator) turn(w *bufio.Writer) (written int64, err error) {
	g.turns++
	recs := []map[string]any{g.record("user", map[string]any{"role": "user", "content": g.some(100 + g.r.IntN(400))})}
	for i := range 3 + g.r.IntN(4) {
		id := fmt.Sprintf("toolu_%d_%d", g.turns, i)
		recs = append(recs,
			g.record("assistant", map[string]any{"role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": g.some(80)}}}),
			g.record("assistant", map[string]any{"role": "assistant", "model": "m", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Read", "input": map[string]any{"file_path": g.project + "/a.go"}}}}),
			g.record("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": g.some(1000 + g.r.IntN(12000))}}}))
	}
	recs = append(recs, g.record("assistant", map[string]any{"role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": g.some(300 + g.r.IntN(900))}}}))
	for _, rec := range recs {
		data, err := json.Marshal(rec)
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

func (g *generator) record(kind string, message map[string]any) map[string]any {
	g.n++
	g.at = g.at.Add(time.Second)
	return map[string]any{
		"type": kind, "message": message, "uuid": fmt.Sprintf("u-%d", g.n), "timestamp": g.at.Format(time.RFC3339Nano), "sessionId": g.session,
		"cwd": g.project, "gitBranch": "main", "version": "2.1.197", "entrypoint": "cli", "isSidechain": false, "userType": "external",
	}
}
