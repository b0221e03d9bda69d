package timer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// launchd are agents of the user.
type launchd struct{ h Host }

// domains returns where agents of the user are: with a desktop, and without.
func (l launchd) domains() []string {
	return []string{fmt.Sprintf("gui/%d", l.h.User), fmt.Sprintf("user/%d", l.h.User)}
}

// out has launchd drop an agent; it need not have it.
func (l launchd) out(ctx context.Context, id string) {
	for _, domain := range l.domains() {
		_, _ = l.h.run(ctx, nil, "launchctl", "bootout", domain+"/"+label(id)) // what is not there is out
	}
}

func (l launchd) Install(ctx context.Context, e Entry) error {
	files, err := Text(Launchd, e, l.h.Folders)
	if err != nil {
		return err
	}
	if err := l.h.has("launchctl"); err != nil {
		return err
	}
	undo, err := write(files, e.ID)
	if err != nil {
		return err
	}
	l.out(ctx, e.ID)
	for _, domain := range l.domains() {
		if _, err = l.h.run(ctx, nil, "launchctl", "bootstrap", domain, files[0].Path); err == nil {
			_, err = l.h.run(ctx, nil, "launchctl", "print", domain+"/"+label(e.ID))
			break
		}
	}
	if err != nil {
		return errors.Join(err, undo())
	}
	return nil
}

func (l launchd) Remove(ctx context.Context, id string) (bool, error) {
	name := l.h.Folders.plist(id)
	data, err := own(name, id)
	if err != nil || data == nil {
		return false, err
	}
	l.out(ctx, id)
	return true, remove(name)
}

func (l launchd) List(context.Context) ([]Found, error) {
	return findEntries(Launchd, filepath.Join(escapeGlob(l.h.Folders.agents()), label("*")+".plist"))
}
