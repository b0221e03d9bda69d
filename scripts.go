package skillopt

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
)

// besideForm finds the files in a command that are named by the folder of the
// config: "$CONFIG_DIR/a b.py", $CONFIG_DIR/grade.py, "${CONFIG_DIR}"/grade.py.
var besideForm = regexp.MustCompile(`"\$(?:CONFIG_DIR|\{CONFIG_DIR\})/([^"$]+)"|\$(?:CONFIG_DIR|\{CONFIG_DIR\})"?/([\w./@%+:=,~-]+)`)

// scripts returns the files, sorted, that the commands of checks name: absolute,
// or relative to the folder of the config. A command runs in a workspace, so that
// any other name is that of a file there.
func (s *setup) scripts() []string {
	if s.scorer != nil || s.suite == nil {
		return nil
	}
	files := map[string]bool{}
	for _, t := range s.set.Tasks() {
		for _, argv := range s.suite.Commands(t) {
			for _, word := range argv {
				if filepath.IsAbs(word) {
					files[word] = true
				}
				for _, m := range besideForm.FindAllStringSubmatch(word, -1) {
					files[filepath.Clean(m[1]+m[2])] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}
