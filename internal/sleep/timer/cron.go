package timer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// cron is the crontab of the user.
type cron struct{ h Host }

// read returns the crontab; one that there is not is empty.
func (c cron) read(ctx context.Context) ([]byte, error) {
	tab, err := c.h.run(ctx, nil, "crontab", "-l")
	var failed *ProgramError
	if errors.As(err, &failed) && !failed.Missing && (strings.Contains(failed.Said, "no crontab for") || strings.Contains(failed.Said, "No such file or directory")) {
		return nil, nil
	}
	return tab, err
}

// replace writes a crontab over the one that was read, unless that has changed since, and
// looks whether it is there.
func (c cron) replace(ctx context.Context, before, after []byte) error {
	now, err := c.read(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return errors.New("the crontab has changed at this moment, and was left as it is; try again")
	}
	if len(after) == 0 {
		_, err = c.h.run(ctx, nil, "crontab", "-r")
	} else {
		_, err = c.h.run(ctx, after, "crontab", "-")
	}
	if err != nil {
		return err
	}
	if now, err = c.read(ctx); err != nil {
		return err
	}
	if !bytes.Equal(now, after) {
		return fmt.Errorf("the crontab is not as it was written; `crontab -l` shows it")
	}
	return nil
}

func (c cron) Install(ctx context.Context, e Entry) error {
	files, err := Text(Cron, e, c.h.Folders)
	if err != nil {
		return err
	}
	before, err := c.read(ctx)
	if err != nil {
		return err
	}
	after, err := withBlock(before, e.ID, files[0].Text)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return c.replace(ctx, before, after)
}

func (c cron) Remove(ctx context.Context, id string) (bool, error) {
	before, err := c.read(ctx)
	if err != nil {
		return false, err
	}
	after, found, err := withoutBlock(before, id)
	if err != nil || !found {
		return false, err
	}
	return true, c.replace(ctx, before, after)
}

func (c cron) List(ctx context.Context) ([]Found, error) {
	tab, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	list, err := blocks(tab)
	var out []Found
	for _, b := range list {
		out = append(out, Found{Kind: Cron, ID: b.id, Profile: b.profile})
	}
	return out, err
}

// CronSeems reports whether a cron seems to be at work. What is not known counts as yes.
func CronSeems(system string, proc fs.FS) bool {
	if system != "linux" {
		return true
	}
	names, err := fs.Glob(proc, "[0-9]*/comm")
	if err != nil || len(names) == 0 {
		return true
	}
	for _, name := range names {
		comm, err := fs.ReadFile(proc, name)
		if err == nil && strings.Contains(string(comm), "cron") {
			return true
		}
	}
	return false
}
