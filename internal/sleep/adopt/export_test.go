package adopt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
)

// At has a store call at before each step of a transaction; an error of it is one of that step.
func (s *Store) At(at func(point string) error) { s.at = at }

// ErrKilled leaves a transaction as it is at a point, without undoing it.
var ErrKilled = errKilled

// Signed is a record under the HMAC of the store's key.
func Signed(s *Store, r Record) Record {
	r.HMAC, _ = s.sign(r)
	return r
}

// Fill notes so many adoptions of a project, each of which adds a rule to its CLAUDE.md, without carrying them out.
func Fill(s *Store, project string, count int) error {
	text, err := skill.InjectLearned("# House\n")
	if err != nil {
		return err
	}
	rules := ""
	for n := 1; n <= count; n++ {
		before := text
		rules += fmt.Sprintf("- Rule %d of what a night has learned, about as long as rules are in real documents.\n", n)
		if len(rules) > 4000 { // documents do not grow for ever
			rules = rules[len(rules)/2:]
			rules = rules[strings.IndexByte(rules, '\n')+1:]
		}
		if text, err = skill.ReplaceLearned(before, rules); err != nil {
			return err
		}
		r := Record{Format: Format, N: n, Began: s.now(), Ended: s.now(), Kind: Adopted, Project: project, Night: fmt.Sprintf("n%d", n), Files: []Changed{{
			Target: "memory:CLAUDE.md", Root: project, Path: "CLAUDE.md", Before: target.Digest(before), After: target.Digest(text), Claim: "supported", Reason: "better on these tasks: won 13, lost 0 of 13 on fresh answers", Rules: []Rule{},
		}}}
		if err := os.MkdirAll(s.folder(n), 0o700); err != nil {
			return err
		}
		for name, data := range map[string]string{backupFile(0): before, afterFile(0): text} {
			if err := os.WriteFile(filepath.Join(s.folder(r.N), name), []byte(data), 0o400); err != nil {
				return err
			}
		}
		for _, name := range []string{intentFile, receiptFile} {
			r := Signed(s, r)
			data, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(s.folder(r.N), name), data, 0o600); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(project, "CLAUDE.md"), []byte(text), 0o644)
}
