package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
)

// ContinuesKey is the entry of the identity for the run that one continues from, without
// "library.".
const ContinuesKey = "continues"

// StretchesKey is the key of the recorded stretches of the loop that other runs have carried
// out, which a run continues from.
const StretchesKey = "train/continues"

// endKey is the key of the recorded decision to end a loop before its last step.
const endKey = train.EndKey

// Continuation says from which finished run another one continues, and for how long.
type Continuation struct {
	Dir    string // of the finished run; "": none
	Epochs int    // in all, or in addition to those that it carried out
	More   bool   // the second
}

// mostEpochs is how many a run may have.
const mostEpochs = 10_000

// maxHistory bounds the history of a run, in bytes.
const maxHistory = 1 << 30

// Continue reads the run that is gone on from, and sets the options and the configuration for
// the one that does. Without o.Continue it does so for a run that was begun in this way and is
// resumed by its directory. It returns the stretches of the loop that are carried out.
func Continue(ctx context.Context, cfg *config.Config, o *Options) ([]train.Stretch, error) {
	if err := requireInside(o.Loaded, cfg.Run.Dir, o.RunDir, o.Continue.Dir); err != nil {
		return nil, err
	}
	if o.Continue.Dir == "" {
		restoreContinuation(cfg, o)
		return nil, nil
	}
	if o.Replay != nil || o.Finish {
		return nil, fault.Input(errors.New("a run continues another one by asking models: give neither --replay nor --finish with --continue"))
	}
	from := o.Continue.Dir
	m, err := loadFinishedRun(from)
	if err != nil {
		return nil, err
	}
	last, h, err := readStretch(ctx, from, m)
	if err != nil {
		return nil, fmt.Errorf("read what run %s has carried out: %w", from, err)
	}
	done := h.Steps[len(h.Steps)-1].Epoch
	total := o.Continue.Epochs
	if o.Continue.More {
		total += done
	}
	least := done + 1
	if last.Ended != "" || h.Final.EndedEarly { // in the middle of one, it may be
		least = max(1, done)
	}
	if total < least || total > mostEpochs {
		return nil, fault.Input(fmt.Errorf("--epochs: found %d in all, allowed are %d to %d: run %s has carried out %d; +3 adds three", total, least, mostEpochs, from, done))
	}
	earlier, err := recordedStretches(ctx, from)
	if err != nil {
		return nil, err
	}
	if last.Stop = last.Asked; len(earlier) > 0 {
		last.Stop = earlier[len(earlier)-1].After(last.Asked)
	}
	cfg.Train.Epochs = config.Auto(total)
	o.Fork, o.RunDir = o.RunDir, from
	o.Identify(ContinuesKey, m.RunID)
	return append(earlier, last), nil
}

// restoreContinuation takes what a run that continues from another one was begun with, if the run of the
// options is one.
func restoreContinuation(cfg *config.Config, o *Options) {
	m, found, err := run.ReadManifest(o.RunDir)
	id, is := m.Identity["library."+ContinuesKey]
	if o.RunDir == "" || err != nil || !found || !is {
		return // the code that opens it says what is wrong with it
	}
	if epochs, err := strconv.Atoi(m.Identity["train.epochs"]); err == nil {
		cfg.Train.Epochs = config.Auto(epochs)
	}
	o.Identify(ContinuesKey, id)
}

// loadFinishedRun returns the manifest of a run that has ended.
func loadFinishedRun(dir string) (run.Manifest, error) {
	m, found, err := run.ReadManifest(dir)
	switch {
	case err != nil:
		return m, run.Unreadable(dir, err)
	case !found:
		return m, fmt.Errorf("--continue: %w", &run.MissingError{Dir: dir})
	case m.Kind != result.Train:
		return m, fault.Input(fmt.Errorf("--continue: run %s is one of `skillopt %s`; only training continues", dir, m.Kind))
	case m.Replays() != "":
		return m, fault.Input(fmt.Errorf("--continue: run %s was answered from a cassette: no model can continue it", dir))
	case run.IsUnfinished(m.Status):
		return m, fault.Input(fmt.Errorf("--continue: run %s has not ended (%s): `skillopt train CONFIG --run %s` resumes it, with --finish it ends where it is", dir, m.Status, dir))
	}
	return m, nil
}

// readStretch returns what a finished run has carried out of the loop.
func readStretch(ctx context.Context, dir string, m run.Manifest) (s train.Stretch, h result.History, err error) {
	data, err := disk.Read(ctx, filepath.Join(dir, run.HistoryFile), maxHistory)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err == nil && (len(h.Steps) == 0 || h.Final == nil) {
		err = fmt.Errorf("%s holds no final evaluation", run.HistoryFile)
	}
	if err != nil {
		return s, h, err
	}
	epochs, err := readEpochs(ctx, dir, m)
	if err != nil {
		return s, h, err
	}
	s = train.Stretch{RunID: m.RunID, Name: filepath.Base(dir), Steps: len(h.Steps) - 1, Epochs: epochs, Asked: parseStop(m.Identity), Tested: h.Final.Test != nil}
	for _, step := range h.Steps {
		s.PerEpoch = max(s.PerEpoch, step.StepInEpoch)
	}
	s.Units = s.Steps + epochs // each step, and the end of each epoch
	if h.Stop != nil {
		s.Units, s.Ended = h.Stop.Units, h.Stop.Rule
	} else if h.Final.EndedEarly {
		s.Units, err = endedAfter(ctx, dir)
	}
	return s, h, err
}

// readEpochs returns how many epochs a run was planned with.
func readEpochs(ctx context.Context, dir string, m run.Manifest) (int, error) {
	var epochs config.Auto
	if err := json.Unmarshal([]byte(m.Identity["train.epochs"]), &epochs); err != nil {
		return 0, fmt.Errorf("train.epochs in %s: %w", run.ManifestFile, err)
	}
	if epochs != config.AutoCount {
		return int(epochs), nil
	}
	var start struct {
		Epochs int `json:"epochs"`
	}
	if found, err := readDecision(ctx, dir, StartKey, &start); err != nil || !found {
		return 0, errors.Join(err, fmt.Errorf("%s in the record of the run: not found", StartKey))
	}
	return start.Epochs, nil
}

// parseStop returns the stop rules of an identity.
func parseStop(identity map[string]string) (s train.Stop) {
	for key, to := range map[string]any{"perfect": &s.Perfect, "score": &s.Score, "patience": &s.Patience, "evidence": &s.Evidence} {
		if text, ok := identity["train.stop."+key]; ok {
			_ = json.Unmarshal([]byte(text), to) // what cannot be read is a change that is refused
		}
	}
	return s
}

// readDecision reads a recorded decision of a run that no one has open.
func readDecision(ctx context.Context, dir, key string, to any) (found bool, err error) {
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return false, run.Unreadable(dir, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	rec, ok := j.Decision(key)
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(rec.Result, to); err != nil {
		return false, fmt.Errorf("read the recorded decision %s: %w", key, err)
	}
	return true, nil
}

// endedAfter returns the number of units after which somebody has ended a run.
func endedAfter(ctx context.Context, dir string) (units int, err error) {
	var end train.LoopEnd
	found, err := readDecision(ctx, dir, endKey, &end)
	if err == nil && !found {
		err = errors.New("it ended early, and its record does not say where")
	}
	return end.Units, err
}

// recordedStretches returns the stretches that a run has itself continued from.
func recordedStretches(ctx context.Context, dir string) (out []train.Stretch, err error) {
	_, err = readDecision(ctx, dir, StretchesKey, &out)
	return out, err
}

// mayDiffer reports whether a key may differ in a run that continues from another one.
func mayDiffer(key string) bool {
	return key == "train.epochs" || key == "library."+ContinuesKey || strings.HasPrefix(key, "train.stop.")
}

// AsOrigin refuses, for a plan, a configuration that differs from that of the run that it
// continues in more than how long it trains.
func AsOrigin(s *Session) error {
	if s.Continue.Dir == "" {
		return nil
	}
	id, err := s.Identity()
	if err != nil {
		return err
	}
	return likeOrigin(s, id)
}

// likeOrigin refuses an identity that differs in more than may from that of the run that is
// gone on from.
func likeOrigin(s *Session, id map[string]string) error {
	if s.Continue.Dir == "" {
		return nil
	}
	m, _, err := run.ReadManifest(s.Continue.Dir)
	if err != nil {
		return run.Unreadable(s.Continue.Dir, err)
	}
	changes := slices.DeleteFunc(config.Changes(m.Identity, id), func(c config.Change) bool { return mayDiffer(c.Key) })
	if len(changes) == 0 {
		return nil
	}
	return fault.Input(fmt.Errorf("--continue: run %s was begun with another configuration:\n  %s\na run that continues it may differ in train.epochs, train.stop.* and in what may change when a run is resumed (limits, prices, endpoints, keys); to take over what was paid for with other settings: --run %s --fork NEW",
		s.Continue.Dir, strings.ReplaceAll(config.Describe(changes), "\n", "\n  "), s.Continue.Dir))
}

// chooseFork finds the directory of a run that continues from another one and for which no one has
// named a directory.
func chooseFork(s *Session, id map[string]string) error {
	if s.Continue.Dir == "" || s.Fork != "" {
		return nil
	}
	base, err := filepath.Abs(s.Config.Run.Dir)
	if err != nil {
		return fmt.Errorf("find run.dir: %w", err)
	}
	s.Fork, err = chooseIn(s, base, func(other map[string]string) bool { return len(config.Changes(other, id)) == 0 })
	return err
}

// keptBy reports which decisions the fork of a session takes over. A run that continues from
// another one opens the test split for skills of its own, and says itself what it continues from:
// that the test was read before, the ledger says.
func keptBy(s *Session) func(key string) bool {
	goesOn := s.Continue.Dir != ""
	return func(key string) bool {
		return isInherited(key) && !(goesOn && (train.IsOpening(key) || key == StretchesKey))
	}
}
