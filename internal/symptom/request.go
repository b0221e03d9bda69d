package symptom

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

//go:embed text/report.md
var reportPrompt string

const reportSchema = `{"type":"object","properties":{"report":{"type":"string"}},"required":["report"],"additionalProperties":false}`

// shown is how much a model is shown of one text, and longest the longest report.
const (
	shown   = 20_000
	longest = 4000
)

// Request returns what a model is asked that words a report of a user who met the bug, and the schema of its
// reply, which Read reads.
func Request(s Source) (system, user string, schema json.RawMessage) {
	var b strings.Builder
	part := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, wording.Middle(text, shown))
		}
	}
	part("The fix", s.Diff)
	part("The tests", s.TestText)
	part("The message of the commit", s.Subject+"\n\n"+s.Body)
	for i, f := range s.Failing {
		if i < maxTests {
			part("What test "+f.Name+" reports without the fix", wording.Middle(f.Message, shown/maxTests))
		}
	}
	part("Names that the report must have", strings.Join(s.Undefined, ", "))
	part("Words that it must not have", strings.Join(slices.Sorted(maps.Keys(know(s).names)), ", "))
	return strings.TrimSpace(reportPrompt), b.String(), json.RawMessage(reportSchema)
}

// Read returns the text of a task out of a model's reply. It fails for one that is no
// report, or that Leaks refuses: the error says what.
func Read(reply string, s Source) (string, error) {
	object, err := jsonx.UniqueObject(reply)
	if err != nil {
		return "", fmt.Errorf("read report of a bug: %w", err)
	}
	text, _ := object["report"].(string)
	text = strings.TrimSpace(wording.Plain(text))
	switch leaks := Leaks(text, s); {
	case specific(text) < 4:
		return "", errors.New("read report of a bug: it says nothing")
	case len(text) > longest:
		return "", fmt.Errorf("read report of a bug: it is longer than %d bytes", longest)
	case len(leaks) > 0:
		return "", fmt.Errorf("read report of a bug: it gives away %s", wording.Cut(strings.Join(leaks, ", "), 300))
	case len(s.Undefined) > 0 && !Names(text, s.Undefined):
		return "", errors.New("read report of a bug: it does not name what the tests need")
	}
	return asked + "\n\n" + text + "\n", nil
}

// Prompts returns a digest of the texts that Request is made of: part of the key of a call.
func Prompts() string {
	sum := sha256.Sum256([]byte(reportPrompt + reportSchema + asked))
	return hex.EncodeToString(sum[:])[:16]
}
