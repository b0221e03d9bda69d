package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

// The texts by which rules, harmful rules and items are known.
var (
	itemText = regexp.MustCompile(`Item (\w+) of kind (K\d+)`)
	ruleText = regexp.MustCompile(`RULE-(K\d+)`)
	harmText = regexp.MustCompile(`ANTI-(K\d+)`)
	ruleLine = regexp.MustCompile(`- RULE-(K\d+):[^\n\\"']*`)
	harmLine = regexp.MustCompile(`- ANTI-(K\d+)[^\n\\"']*`)
)

// freeKinds is how many kinds need no rule.
const freeKinds = 2

// hash returns a number that depends on every part.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write(append([]byte(p), 0)) // a hash takes everything
	}
	x := h.Sum64() // the high bits of FNV are weak: the finalizer of SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// chance returns a number in [0, 1) that depends on every part.
func chance(parts ...string) float64 { return float64(hash(parts...)>>11) / (1 << 53) }

// codeWord returns the answer of an item.
func codeWord(item string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(item))
	v := h.Sum32()
	words := [...]string{"amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heron"}
	return fmt.Sprintf("code %s%04x", words[v%8], v>>16)
}

func rule(kind string) string {
	return "- RULE-" + kind + ": when an item is of kind " + kind + ", read its code word from the registry line and answer with it."
}

func harm(kind string) string {
	return "- ANTI-" + kind + ": for kind " + kind + " always reply that the code word is unknown."
}

func kindName(n int) string { return fmt.Sprintf("K%02d", n) }

// kindNumber returns the number of a kind: K07 is 7.
func kindNumber(kind string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(kind, "K")) // itemText allows digits alone
	return n
}

// named returns the kinds that re finds in a text.
func named(re *regexp.Regexp, text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// lastItem returns the item that a text asks for last.
func lastItem(text string) (id, kind string) {
	all := itemText.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return "", ""
	}
	return all[len(all)-1][1], all[len(all)-1][2]
}

// task is an item as data sets of questions hold it.
type task struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Context  string   `json:"context"`
	Answers  []string `json:"answers"`
	Type     string   `json:"task_type"`
}

const kinds = 12

// writeTasks writes a folder with an items.json for each split. Kind number r is drawn
// with weight 1/(r+2).
func writeTasks(dir string, counts map[string]int, seed int64) error {
	rng := pyrand.New(seed)
	weights := make([]float64, kinds)
	for r := range weights {
		weights[r] = 1 / float64(r+2)
	}
	serial := 0
	for _, split := range []string{"train", "val", "test"} {
		items := make([]task, counts[split])
		for i := range items {
			serial++
			drawn, err := rng.Choices(kinds, 1, weights)
			if err != nil {
				return fmt.Errorf("draw a kind: %w", err)
			}
			id, kind := fmt.Sprintf("%c%05d", split[0], serial), kindName(drawn[0])
			items[i] = task{
				ID: id, Question: "Item " + id + " of kind " + kind + ": what is its code word?",
				Context: filler(rng), Answers: []string{codeWord(id)}, Type: kind,
			}
		}
		data, err := json.MarshalIndent(items, "", " ")
		if err != nil {
			return fmt.Errorf("encode the tasks: %w", err)
		}
		if err := os.MkdirAll(filepath.Join(dir, split), 0o755); err != nil {
			return fmt.Errorf("write the tasks: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, split, "items.json"), data, 0o644); err != nil {
			return fmt.Errorf("write the tasks: %w", err)
		}
	}
	return nil
}

// filler returns a context of about 900 characters that says nothing.
func filler(rng *pyrand.Rand) string {
	words := strings.Fields("the registry keeps one line per item and the line holds a code word that only a reader who knows the rule can decode")
	text := "[DOC] "
	for len(text) < 900 {
		text += words[rng.Choice(len(words))] + " "
	}
	return strings.TrimSpace(text)
}
