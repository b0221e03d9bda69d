package mine

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/template"
)

//go:embed text/*.md
var texts embed.FS

// Bounds on what is sent of a session, in bytes. Four of them are about a token.
const (
	maxShown  = 48 << 10 // of all turns
	maxText   = 6 << 10  // of what a user or an agent said in one turn that counts
	maxAside  = 600      // of the same in other turns
	nearTurns = 1        // that many turns before and after one that counts also count
)

// prompts are the texts that a model is asked with.
type prompts struct{ system, session *template.Template }

func loadPrompts() (p prompts, err error) {
	for _, f := range []struct {
		name string
		dst  **template.Template
	}{{"mine.md", &p.system}, {"session.md", &p.session}} {
		text, err := texts.ReadFile("text/" + f.name)
		if err != nil {
			return p, fmt.Errorf("read prompt: %w", err)
		}
		if *f.dst, err = template.Parse(f.name, strings.TrimSpace(string(text))); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Digest names the texts that a model is asked with: another one asks otherwise.
func Digest() (string, error) {
	h := sha256.New()
	for _, name := range []string{"mine.md", "session.md"} {
		text, err := texts.ReadFile("text/" + name)
		if err != nil {
			return "", fmt.Errorf("read prompt: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// about returns what is asked about a session, of which out is all that may leave.
func (p prompts) about(out []byte, e *evidence) (system, user string, err error) {
	if system, err = p.system.Render(map[string]any{"checks": strings.Join(draft.CheckTypes(), ", ")}); err != nil {
		return "", "", err
	}
	shown, err := window(out, e.candidateTurns())
	if err != nil {
		return "", "", err
	}
	mark := digest(shown) // the text cannot hold its own hash
	user, err = p.session.Render(map[string]any{
		"begin": "[[" + mark + " begin]]", "end": "[[" + mark + " end]]", "turns": shown, "corrected": e.hints(),
	})
	return system, user, err
}

// hints says which turns seem to be corrected. It says nothing that the turns do not.
func (e *evidence) hints() string {
	var turns []int
	for turn := range e.corrected {
		turns = append(turns, turn)
	}
	if len(turns) == 0 {
		return "No turn by words. Look for work that did not pass at first."
	}
	slices.Sort(turns)
	return "Turns: " + strings.Trim(fmt.Sprint(turns), "[]")
}

// candidateTurns returns the turns that tasks can come from.
func (e *evidence) candidateTurns() map[int]bool {
	out := map[int]bool{}
	near := func(from, to int) {
		for i := max(0, from-nearTurns); i <= min(len(e.t.Turns)-1, to+nearTurns); i++ {
			out[i] = true
		}
	}
	for turn := range e.corrected {
		near(turn, max(turn, e.acceptedAfter(turn)))
	}
	for _, f := range e.flips {
		near(f.from, f.from)
		near(f.to, f.to)
	}
	return out
}

// window returns the turns of a session with their numbers: whole if that is short enough, else
// with long texts cut in the middle, those of turns that do not count the most; then without
// these.
func window(out []byte, counts map[int]bool) (string, error) {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	head, turns := lines[0], lines[1:]
	steps := []struct{ text, aside int }{{1 << 30, 1 << 30}, {maxText, maxText}, {maxText, maxAside}, {maxText, 0}, {2 << 10, 0}, {maxAside, 0}}
	for n, limits := range steps {
		var b strings.Builder
		b.Write(head)
		left := 0
		for i, line := range turns {
			limit := limits.aside
			if counts[i] {
				limit = limits.text
			}
			if limit == 0 || b.Len() > maxShown {
				left++
				continue
			}
			short, err := shortenTurn(line, limit)
			if err != nil {
				return "", err
			}
			if n == len(steps)-1 && b.Len()+len(short) > maxShown {
				left++
				continue
			}
			fmt.Fprintf(&b, "\n%d %s", i, short)
		}
		if left > 0 {
			fmt.Fprintf(&b, "\n(%d turns are left out)", left)
		}
		if b.Len() <= maxShown+100 {
			return b.String(), nil
		}
	}
	return string(head), nil
}

// shortenTurn returns a line of a turn whose texts have at most limit bytes, and end where they ended.
func shortenTurn(line []byte, limit int) ([]byte, error) {
	if len(line) <= limit {
		return line, nil
	}
	var turn map[string]json.RawMessage
	if err := json.Unmarshal(line, &turn); err != nil {
		return nil, fmt.Errorf("mine: read a turn: %w", err)
	}
	for _, name := range []string{"user", "agent"} {
		var text string
		if turn[name] == nil {
			continue
		}
		if err := json.Unmarshal(turn[name], &text); err != nil {
			return nil, fmt.Errorf("mine: read a turn: %w", err)
		}
		short, err := encode(middleOut(text, limit))
		if err != nil {
			return nil, err
		}
		turn[name] = short
	}
	for _, name := range []string{"tools", "files"} {
		if len(turn[name]) > limit {
			delete(turn, name)
		}
	}
	return encode(turn)
}

// middleOut cuts a text in the middle.
func middleOut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	half := limit / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf(" [%d bytes are left out here] ", len(text)-2*half) + strings.ToValidUTF8(text[len(text)-half:], "")
}

// encode writes compact JSON that leaves text as it is.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("mine: encode: %w", err)
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}
