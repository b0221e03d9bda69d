package session

import (
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/skill"
)

// mostFindings is how many findings about a skill a load reports.
const mostFindings = 5

// SkillFolder returns the name of the folder of the skill at path, "" for a document that is no
// SKILL.md.
func SkillFolder(path string) string {
	if filepath.Base(path) == skill.Main {
		return filepath.Base(filepath.Dir(path))
	}
	if filepath.Ext(path) == ".md" {
		return ""
	}
	return filepath.Base(path)
}

// lint warns of what will fail when an agent uses the skill, and of secrets in it. What
// the standard also wants is reported by skill lint. A document without a folder names files
// that are elsewhere.
func (s *loader) lint(path string) {
	folder := SkillFolder(path)
	if s.Config.SkillFiles == config.FilesDocument || folder == "" {
		return
	}
	if doc, _ := skill.Parse(s.Skill.Text()); doc.Head == "" {
		s.Warn(fmt.Sprintf("skill: %s has no front matter: agents get it with a name and a description of ours; begin it with ---, name: and description: to have your own measured", documentName(s.Config.Skill)))
	}
	told := 0
	for _, f := range skill.Lint(s.Skill, folder) {
		if f.Rule != skill.RuleLink && f.Rule != skill.RuleScript && f.Rule != skill.RuleSecret {
			continue
		}
		if told++; told <= mostFindings {
			s.Warn(fmt.Sprintf("skill: %s, line %d: %s", f.File, max(1, f.Line), f.Message))
		}
	}
	if told > mostFindings {
		s.Warn(fmt.Sprintf("skill: %d more; `skillopt skill lint %s` lists all", told-mostFindings, s.Config.Skill))
	}
}
