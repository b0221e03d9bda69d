package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/skill"
)

// loadDocuments reads what lies next to the trained document, and checks that this one can
// are where agent.file says. What is next to is part of the identity according to what it holds.
func (s *loader) loadDocuments(ctx context.Context) error {
	c, sums := s.Config.Agent, map[string]string{}
	if c.Mode == string(agent.File) {
		if err := s.checkDocument(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Documents)) {
		b, err := s.readDocument(ctx, name, c.Documents[name])
		if err != nil {
			return err
		}
		s.Documents, sums[name] = append(s.Documents, b), b.Skill.Digest()
	}
	text, err := json.Marshal(sums)
	if err != nil {
		return fmt.Errorf("digest agent.documents: %w", err)
	}
	s.Contents["agent.documents"] = Digest(text)
	return nil
}

// checkDocument refuses a document that is no file of a workspace.
func (s *loader) checkDocument() error {
	if err := agent.CheckFile(s.Config.Agent.File); err != nil {
		return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "agent.file"), err))
	}
	if others := s.Skill.Others(); len(others) > 0 {
		return fault.Input(fmt.Errorf("%s: file is for one document, and the skill has other files, such as %s, which would have no place in the workspace: set skill_files: document, or train it with agent.mode: native", where(s.Loaded, "agent.mode"), others[0]))
	}
	if len(s.Config.Edits.Files) > 0 {
		return fault.Input(fmt.Errorf("edits.files: allowed with agent.mode file: absent, since the document is one file"))
	}
	return nil
}

// readDocument reads what is to lie under a name: a skill, or a document where the name is that
// of a file.
func (s *loader) readDocument(ctx context.Context, name, from string) (b agent.Document, err error) {
	key := "agent.documents." + name
	b = agent.Document{Name: name}
	if strings.ContainsAny(name, "./") {
		b = agent.Document{Path: name}
		if err := agent.CheckFile(name); err != nil {
			return b, fault.Input(fmt.Errorf("agent.documents: %w", err))
		}
	}
	if c := s.Config.Agent; strings.EqualFold(name, c.File) || b.Path == "" && c.Mode != string(agent.File) && wiring.SkillFolders(s.Skill, c.SkillName)[0] == wiring.SkillFolders(s.Skill, name)[0] {
		return b, fault.Input(fmt.Errorf("%s: it is what is trained, and cannot be laid next to itself: take it off the list", key))
	}
	info, err := os.Stat(from)
	switch {
	case err != nil:
	case b.Path == "" && !info.IsDir():
		return b, fault.Input(fmt.Errorf("%s: %s is no directory: want that of a skill; the name of a document is its path in the workspace, such as CLAUDE.md", key, from))
	case b.Path == "":
		b.Skill, err = skill.Read(s.Loaded.Guard.Dir(ctx, filepath.Dir(from), math.MaxInt64), filepath.Base(from))
	default:
		b.Skill, err = skill.ReadDocument(s.Loaded.Guard.Dir(ctx, filepath.Dir(from), math.MaxInt64), filepath.Base(from))
	}
	if err != nil {
		return b, s.fileError("agent.documents", from, "a skill directory, or a Markdown file", err)
	}
	if b.Path == "" {
		if err := CheckHead(documentName(from), b.Skill); err != nil {
			return b, fmt.Errorf("%s: %w", key, err)
		}
	}
	if b.Path == "" && !agent.GoodSkillName(name) {
		return b, fault.Input(errors.New(key + ": want up to 64 small letters, digits and single hyphens, as the name of a skill; the name of a document is its path in the workspace, such as CLAUDE.md"))
	}
	return b, nil
}
