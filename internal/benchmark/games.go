package benchmark

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// games finds the files that are a task each; nil: the folder has none.
func (p *preparation) games() (out []rowFile, err error) {
	if p.Folder.Task.Each == "" {
		return nil, nil
	}
	names, err := dataset.Files(p.ctx, p.from, p.Folder.Task.Each, dataset.Bounds{Files: maxBrought})
	for _, name := range names {
		out = append(out, rowFile{name: name, whole: true})
	}
	return out, err
}

// addGame brings the game of an item that has one into the folder that is made. A game that is not next to the rows is looked for in env.docs when it is played.
func (p *preparation) addGame(it *item) (fault string, err error) {
	if it.game == "" {
		return "", nil
	}
	if !filepath.IsLocal(it.game) {
		return fmt.Sprintf("the path %q of its game leads out of the folder of games", it.game), nil
	}
	from := ""
	for _, name := range []string{it.game, path.Join(config.FolderOfDocs, it.game)} {
		if info, err := fs.Stat(p.from.FS(), name); err == nil && info.Mode().IsRegular() {
			from = name
			break
		}
	}
	if from == "" {
		return "", nil
	}
	to := path.Join(config.FolderOfDocs, it.game)
	if slices.Contains(p.brought, to) {
		return "", nil
	}
	p.brought = append(p.brought, to)
	return "", p.bringOne(from, to)
}
