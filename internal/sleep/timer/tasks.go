package timer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf16"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// tasks are those of the Task Scheduler.
type tasks struct{ h Host }

func (t tasks) name(id string) string { return `\` + prefix + id }

// query returns a task as XML; nil: there is none. What is compared of it is ASCII.
func (t tasks) query(ctx context.Context, id string) ([]byte, error) {
	out, err := t.h.run(ctx, nil, "schtasks", "/Query", "/TN", t.name(id), "/XML", "ONE")
	var failed *ProgramError
	if errors.As(err, &failed) && !failed.Missing {
		list, err := t.names(ctx)
		if err == nil && !slices.Contains(list, id) {
			return nil, nil
		}
		return nil, errors.Join(failed, err)
	}
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(out, []byte{0}, nil), nil
}

// ours fails if the task of an ID is not ours; false: there is none.
func (t tasks) ours(ctx context.Context, id string) (Found, bool, error) {
	text, err := t.query(ctx, id)
	if err != nil || text == nil {
		return Found{}, false, err
	}
	text = bytes.ReplaceAll(text, []byte("&quot;"), []byte(`"`))
	found, profile, ok := readTag(string(text))
	if !ok || found != id {
		return Found{}, false, &ForeignError{Where: "task " + t.name(id), What: "it has the name of an entry of skillopt and was not written by it", Help: "delete or rename it in the Task Scheduler"}
	}
	return Found{Kind: Tasks, ID: id, Profile: profile}, true, nil
}

func (t tasks) Install(ctx context.Context, e Entry) (err error) {
	files, err := Text(Tasks, e, t.h.Folders)
	if err != nil {
		return err
	}
	if _, _, err := t.ours(ctx, e.ID); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(t.h.Temp, "skillopt-task-")
	if err != nil {
		return fmt.Errorf("make a folder for the task: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "task.xml")
	if err := os.WriteFile(name, utf16Text(files[0].Text), 0o600); err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	if _, err := t.h.run(ctx, nil, "schtasks", "/Create", "/TN", t.name(e.ID), "/XML", name, "/F"); err != nil {
		return err
	}
	_, there, err := t.ours(ctx, e.ID)
	if err == nil && !there {
		err = errors.New("schtasks has made the task, and does not show it")
	}
	return err
}

// utf16Text returns a text as the Task Scheduler reads it.
func utf16Text(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func (t tasks) Remove(ctx context.Context, id string) (bool, error) {
	if _, there, err := t.ours(ctx, id); err != nil || !there {
		return false, err
	}
	_, err := t.h.run(ctx, nil, "schtasks", "/Delete", "/TN", t.name(id), "/F")
	return true, err
}

var taskName = pattern.New(`\\skillopt-sleep-([0-9a-f]{16})`)

// names returns the IDs of tasks that have the name of an entry.
func (t tasks) names(ctx context.Context) ([]string, error) {
	out, err := t.h.run(ctx, nil, "schtasks", "/Query", "/FO", "CSV", "/NH")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range taskName.Regexp().FindAllSubmatch(bytes.ReplaceAll(out, []byte{0}, nil), -1) {
		if id := string(m[1]); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (t tasks) List(ctx context.Context) ([]Found, error) {
	ids, err := t.names(ctx)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, id := range ids {
		found, there, err := t.ours(ctx, id)
		var other *ForeignError
		if errors.As(err, &other) {
			continue // it is none
		}
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, found)
		}
	}
	return out, nil
}
