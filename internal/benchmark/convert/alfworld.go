package convert

import (
	"path"
	"slices"
	"strings"
)

// ALFWorld makes a task of a game: of a row that names its file, as the splits of SkillOpt do, or of the file itself. Its
// id is then the last three folders of the path, which no two games share.
func ALFWorld(r Row, _ Options) (Task, error) {
	file := text(r, "gamefile", "file")
	if file == "" {
		return Task{}, newMissingError("gamefile")
	}
	t := Task{ID: text(r, "id"), Type: text(r, "task_type"), Game: strings.TrimPrefix(path.Clean(file), "docs/")}
	if t.ID == "" {
		dirs := strings.Split(path.Dir(t.Game), "/")
		t.ID = path.Join(dirs[max(0, len(dirs)-3):]...)
	}
	if t.Type == "" {
		t.Type = gameType(file)
	}
	t.Fields = map[string]any{"game": t.Game, "instruction": "Play the game that begins below until your task in it is done."}
	return t, nil
}

// gameType returns the first type of task that a path names.
func gameType(file string) string {
	types := []string{
		"pick_and_place", "pick_two_obj_and_place", "look_at_obj_in_light", "pick_heat_then_place_in_recep",
		"pick_cool_then_place_in_recep", "pick_clean_then_place_in_recep",
	}
	if i := slices.IndexFunc(types, func(name string) bool { return strings.Contains(file, name) }); i >= 0 {
		return types[i]
	}
	return "other"
}
