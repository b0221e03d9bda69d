package task

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// FieldImages is the field of a task that names its pictures.
const FieldImages = "images"

// Images returns the paths of the pictures that a task shows, as its field images
// names them: one path or a list of them, in a CSV also as JSON. They are relative
// to the folder of the tasks. It fails for anything else, and for a path that leads
// out of that folder.
func (t Task) Images() ([]string, error) {
	var names []string
	switch v := t.Data[FieldImages].(type) {
	case nil:
		return nil, nil
	case string:
		if names = []string{v}; strings.HasPrefix(v, "[") && json.Unmarshal([]byte(v), &names) != nil {
			return nil, t.imagesError(v)
		}
	case []string:
		names = v
	case []any:
		for _, item := range v {
			name, ok := item.(string)
			if !ok {
				return nil, t.imagesError(item)
			}
			names = append(names, name)
		}
	default:
		return nil, t.imagesError(v)
	}
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, t.imagesError(name)
		}
	}
	return names, nil
}

func (t Task) imagesError(found any) error {
	return fmt.Errorf("the field %s has %.100q, want paths of pictures below the folder of the tasks", FieldImages, fmt.Sprint(found))
}
