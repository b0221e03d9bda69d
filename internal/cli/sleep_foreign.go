package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// foreignProposal refuses what SkillOpt-Sleep has staged, named as a folder or as a night: what is written by it rests on nothing that this
// program could check, and names by itself where it would be written.
func foreignProposal(a *app, at sleepFlags, id string) error {
	if id == "" {
		return nil
	}
	folders := []string{a.absolute(id)}
	if setup, err := a.sleepSetup(at); err == nil && filepath.IsLocal(id) {
		for _, project := range setup.allowedFolders() {
			folders = append(folders, filepath.Join(project, ".skillopt-sleep", "staging", id))
		}
	}
	for _, folder := range folders {
		if _, err := os.Lstat(filepath.Join(folder, "manifest.json")); err == nil {
			return usagef("%s was staged by another program (SkillOpt-Sleep), and nothing of it is adopted: adopt it with that, or let skillopt sleep run learn it again; rules that are between the same markers in a document already are taken over as they are", oneLine(folder))
		}
	}
	if strings.ContainsAny(id, `/\`) {
		return usagef("%q is no night; skillopt sleep shows the last one", id)
	}
	return nil
}
