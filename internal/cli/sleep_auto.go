package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// autoKey is the key by which nights adopt by themselves.
const autoKey = "sleep.auto_adopt"

// autoAdopt reports whether nights adopt what they have certified. Only the user may say so: in the profile itself, which lies where no agent
// works, and which no one else can write.
func (s sleepSetup) autoAdopt() (bool, error) {
	if s.loaded.Config.Sleep.AutoAdopt != "certified" {
		return false, nil
	}
	refuse := func(why string) (bool, error) {
		return false, usagef("%s: %s: %s; write it into a profile of your own, such as %s, or leave it out", s.profile, autoKey, why, s.folders.SleepProfile())
	}
	origin, at := s.loaded.Origins[autoKey], s.loaded.File
	same := 0
	for _, name := range s.loaded.Files {
		if filepath.Base(name) == filepath.Base(at) {
			same++
		}
	}
	file, _, _ := strings.Cut(filepath.Base(origin), ":")
	if at == "" || file != filepath.Base(at) || same != 1 {
		return refuse(fmt.Sprintf("it comes from %s, and only the profile itself may say it", oneLine(origin)))
	}
	info, err := os.Lstat(at)
	switch {
	case err != nil:
		return refuse(stripPath(err).Error())
	case !info.Mode().IsRegular():
		return refuse("the profile is a link or no file")
	case adopt.Foreign(info):
		return refuse("the profile belongs to another user")
	case s.folders.OS != "windows" && info.Mode().Perm()&0o022 != 0:
		return refuse(fmt.Sprintf("others may write the profile (mode %v)", info.Mode().Perm()))
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return refuse(stripPath(err).Error())
	}
	for _, dir := range s.allowedFolders() {
		if where, err := filepath.EvalSymlinks(dir); err == nil && containsFile(where, real) {
			return refuse("the profile lies in a project, where agents write")
		}
	}
	return true, nil
}

// containsFile reports whether a file lies below a folder.
func containsFile(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// certifiedBy returns the documents for which a night has certified a text, by the night that has staged it.
func certifiedBy(r *night.Report) map[string][]string {
	out := map[string][]string{}
	if r == nil || r.Ended.IsZero() || r.Explore {
		return out
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		switch c := t.Continued; {
		case len(t.Held) > 0:
		case t.Outcome == night.Certified && t.Groups.Unreviewed == 0 && !r.Exploratory:
			out[r.ID] = append(out[r.ID], t.Target)
		case c != nil && c.State == string(bank.Certified): // by reviewed tasks alone, whatever else the night worked with
			out[c.Night] = append(out[c.Night], t.Target)
		}
	}
	return out
}

// adoptCertified adopts what a night has certified, by the same transaction as sleep adopt. What cannot be adopted is reported, and waits for the user.
func (w *nightWork) adoptCertified(ctx context.Context, r *night.Report) []adopt.Record {
	var out []adopt.Record
	errs := w.app.printer(w.app.Err)
	for id, targets := range certifiedBy(r) {
		receipt, err := w.adoptTargets(ctx, r, id, targets)
		if err != nil {
			errs.line("warning: " + autoKey + ": what night " + oneLine(id) + " has certified was not adopted: " + oneLine(err.Error()))
			continue
		}
		for _, c := range receipt.Files {
			errs.line("adopted by " + autoKey + " as number " + fmt.Sprint(receipt.N) + ": wrote " + oneLine(c.File()))
		}
		errs.line(w.setup.command(fmt.Sprintf("skillopt sleep rollback %d", receipt.N)) + " takes it back")
		out = append(out, receipt)
	}
	return out
}

// adoptTargets adopts what a night has staged for documents.
func (w *nightWork) adoptTargets(ctx context.Context, r *night.Report, id string, targets []string) (adopt.Record, error) {
	of := r
	if id != r.ID {
		old, found, err := night.Last(ctx, w.bank, w.setup.dir, r.Project, id)
		if err != nil {
			return adopt.Record{}, err
		}
		if !found || old.Exploratory {
			return adopt.Record{}, usagef("night %s is not known any more, or was exploratory", id)
		}
		of = old
	}
	o := sleepAdoptOptions{targets: targets}
	what, err := o.prepare(ctx, w.app, w.setup, of)
	if err != nil {
		return adopt.Record{}, err
	}
	if what.staged.Exploratory {
		return adopt.Record{}, usagef("some of its tasks are not reviewed")
	}
	for i := range what.request.Items {
		it := &what.request.Items[i]
		if id != r.ID && !strings.HasPrefix(it.Reason, "a part of") {
			it.Claim, it.Reason = string(night.Certified), "certified by night "+r.ID+", on tasks that were new to it"
		}
		if it.Claim != string(night.Certified) {
			return adopt.Record{}, usagef("%s is %s: %s", it.Target, it.Claim, it.Reason)
		}
		it.Reason += "; adopted by " + autoKey
	}
	store, err := w.setup.adoptions(w.app.version)
	if err != nil {
		return adopt.Record{}, err
	}
	receipt, err := store.Adopt(ctx, what.request)
	if err != nil {
		return receipt, err
	}
	return receipt, noteAdopted(ctx, w.bank, what)
}
