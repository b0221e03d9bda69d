package testset

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/task"
)

// Key names a question, whatever the task that asks it is called.
type Key [16]byte

// sortKeys returns keys in the order in which an index takes them fastest.
func sortKeys(keys map[Key]bool) []Key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
}

// addKeys adds what the tasks of a set are known by. A task is known by its question: its prompt
// without regard to white space and case, and its prompt with its other fields; either only if
// no other task of the set has it too. A task that asks what another one of the set
// asks is known by that and its id. What does not change the question is no part of a
// key: id, type, split, gold, hidden text and checks. So a set that was renamed,
// dealt again or corrected is still the one that was read.
func addKeys(keys map[Key]bool, tasks []task.Task) error {
	prompts, whole := make([]Key, len(tasks)), make([]Key, len(tasks))
	count := map[Key]int{}
	for i, t := range tasks {
		prompt := strings.ToLower(foldSpace(t.Prompt))
		data, err := json.Marshal(t.Data) // sorts the names
		if err != nil {
			return fmt.Errorf("digest task %s: %w", t.ID, err)
		}
		prompts[i], whole[i] = newKey("prompt", prompt), newKey("task", prompt, string(data))
		count[prompts[i]]++
		count[whole[i]]++
	}
	for i, t := range tasks {
		asks := t.Prompt != "" || len(t.Data) > 0
		if count[prompts[i]] == 1 && t.Prompt != "" {
			keys[prompts[i]] = true
		}
		if count[whole[i]] == 1 && asks {
			keys[whole[i]] = true
			continue
		}
		keys[newKey("id", t.ID, string(whole[i][:]))] = true
	}
	return nil
}

func newKey(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	var key Key
	copy(key[:], h.Sum(nil))
	return key
}
