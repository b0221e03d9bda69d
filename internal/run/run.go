// Package run is the run directory: opened under a lock, named in a manifest,
// with the record of paid calls (run.db) and, next to it, files for eyes. All of
// those are projections of the record: they are written again when a run is
// opened again.
//
// It knows nothing about models, or how training decides.
package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Names of the files of a run directory.
const (
	DBFile       = "run.db"
	ManifestFile = "manifest.json"
	ConfigFile   = "config.yaml"
	HistoryFile  = "history.json"
	MemoryFile   = "memory.json" // what other runs left to the optimizer of this one
	SummaryFile  = "summary.json"
	BestFile     = "best_skill.md"
	BestFolder   = "best_skill" // the best skill with its other files, if it has any
	TunedFolder  = "tuned"      // a skill that was edited by hand, with its other files
	ReportFile   = "report.html"
	PullFile     = "report.md"
	lockFile     = ".lock"
)

// FormatVersion is the version of the layout of a run directory.
const FormatVersion = 2

// Manifest names a run and says how far its record had got when it was last
// written, so that a record cut off or swapped is noticed.
type Manifest struct {
	Format    int               `json:"format"`
	RunID     string            `json:"run_id"`
	Name      string            `json:"name"`
	Kind      result.Kind       `json:"kind"` // of the command
	CreatedAt time.Time         `json:"created_at"`
	Version   string            `json:"version"` // of the program that began it
	Status    result.Status     `json:"status"`
	HighWater int64             `json:"high_water"`
	Identity  map[string]string `json:"identity"`
	Simulated bool              `json:"simulated"` // a model of the run is a simulation
	ForkedOf  string            `json:"forked_of,omitempty"`

	// Directory is the device and inode of the run directory in its last session, as
	// "DEVICE:INODE"; "" where the system gives none. See IsCopy.
	Directory string `json:"directory,omitempty"`

	// Ledgers are the folders, absolute, whose ledgers of test sets know what the run has read.
	Ledgers []string `json:"ledgers,omitempty"`

	// EndedAt is when the last session ended; nil while one is at work and after a kill.
	EndedAt *time.Time `json:"ended_at,omitempty"`

	// Plan is what the run has before it, from its last session; nil before that is
	// known.
	Plan *Plan `json:"plan,omitempty"`

	// Operational are the settings of the last session that may change between
	// sessions, by key and without secrets.
	Operational map[string]string `json:"operational,omitempty"`

	// Steering is what others have asked of the run. Run.Steering returns it for an open run.
	Steering *Steering `json:"steering,omitempty"`
}

// Run is an open run directory. One process has it open at a time.
type Run struct {
	Dir      string
	Manifest Manifest
	Journal  *journal.Journal
	Resumed  bool
	Lost     *journal.LostEnd // what is missing at the end of the record, nil if nothing is known to be; of a fork, of the run that it is a fork of
	Changed  []string         // operational settings that differ from the last session's: "key: was OLD, is NEW"

	lock *flock.Flock
	now  func() time.Time

	mu       sync.Mutex // of what SetStatus and Steer change
	steering Steering
}

// A LockedError says that another process has the run open.
type LockedError struct{ Dir string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("run %s is in use by another process; wait for it to end, or stop it", e.Dir)
}

// An IdentityError says that a run directory belongs to another configuration.
type IdentityError struct {
	Dir         string
	Changes     []string // "key: was OLD, is NEW"
	Begun, This string   // builds of the program, where they differ: a newer one may ask in other words
}

func (e *IdentityError) Error() string {
	msg := fmt.Sprintf("run %s was begun with another configuration", e.Dir)
	if e.Begun != e.This {
		msg += fmt.Sprintf(", by skillopt %s (this is %s)", e.Begun, e.This)
	}
	msg += ":"
	for _, c := range e.Changes {
		msg += "\n  " + c
	}
	return msg + "\nstart a new run without --run, or take over what was paid for with --fork NEW"
}

// A DamagedError says that the record of a run cannot be trusted, or read.
type DamagedError struct {
	Dir string
	Err error
}

func (e *DamagedError) Error() string {
	if advises(e.Err) {
		return fmt.Sprintf("run %s cannot be used: %v", e.Dir, e.Err)
	}
	return fmt.Sprintf("the record of run %s is damaged: %v; restore run.db and manifest.json from a copy, or start a new run", e.Dir, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// A MissingError says that a directory holds no run.
type MissingError struct{ Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is no run directory: it has no %s; `skillopt runs list` shows runs", e.Dir, ManifestFile)
}

// Unreadable says why the manifest or the record of a run cannot be read. It distinguishes
// a damaged one, which is a *DamagedError, from a disk that does not work, a file
// that may not be read, and a context that has ended.
func Unreadable(dir string, err error) error {
	var manifest *manifestError
	if advises(err) || errors.As(err, &manifest) || errors.Is(err, journal.ErrMissing) {
		return &DamagedError{Dir: dir, Err: err}
	}
	return fmt.Errorf("open the record of run %s: %w", dir, err)
}

// OtherFormat reports whether an error says that a run has a format that this program does not
// read.
func OtherFormat(err error) bool {
	var version *journal.VersionError
	var manifest *manifestError
	return errors.As(err, &version) || errors.As(err, &manifest) && manifest.err == nil
}

// advises reports whether an error says itself what helps.
func advises(err error) bool {
	var (
		corrupt  *journal.CorruptError
		mismatch *journal.MismatchError
		version  *journal.VersionError
		manifest *manifestError
	)
	return errors.As(err, &corrupt) || errors.As(err, &mismatch) || errors.As(err, &version) || (errors.As(err, &manifest) && manifest.err == nil)
}

// manifestError says that a manifest cannot be used.
type manifestError struct {
	format int   // that it has, where err is nil: this program does not read it
	err    error // it cannot be read
}

func (e *manifestError) Error() string {
	if e.err == nil {
		return FormatText(ManifestFile, e.format)
	}
	return fmt.Sprintf("read %s: %v", ManifestFile, e.err)
}

// FormatText says that the file of a run has a format that this program does not read.
func FormatText(file string, format int) string {
	return fmt.Sprintf("%s has format %d, and this program reads format %d: use the program that wrote it", file, format, FormatVersion)
}

func (e *manifestError) Unwrap() error { return e.err }

// OpenOptions say which run to open.
type OpenOptions struct {
	Dir       string
	Name      string
	Kind      result.Kind
	Version   string
	Identity  map[string]string
	Simulated bool
	ForkedOf  string // a new run may take over the entries that it finds
	// Keep says which decisions a fork takes over, by key: those that are about the
	// tasks and not about the run. Nil: none.
	Keep func(key string) bool
	Now  func() time.Time
	// Operational are settings that a run may change when it continues, by key. They
	// are in the manifest: the caller has taken the secrets out. Nil
	// leaves those of the last session.
	Operational map[string]string
	// Ledgers are folders whose ledgers of test sets the run notes its readings in. Those of
	// earlier sessions stay.
	Ledgers []string
	// Warn learns of what the user should know and what does the run no harm. Nil: it is
	// an error.
	Warn func(error)
	// Compare lists the differences of two identities, or of two operational
	// settings, for a message.
	Compare func(old, now map[string]string) []string
}

// Open begins or resumes a run. It takes the lock, checks that the directory
// belongs to the same configuration and that the record is whole. It returns
// *LockedError, *IdentityError, *DamagedError, an error of the file system or that
// of ctx.
func Open(ctx context.Context, o OpenOptions) (r *Run, err error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make run directory: %w", err)
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	opened := &Run{Dir: o.Dir, lock: lock, now: o.Now}
	defer func() {
		if err != nil {
			r, err = nil, errors.Join(err, opened.Close())
		}
	}()
	m, found, err := ReadManifest(o.Dir)
	if err != nil {
		return nil, Unreadable(o.Dir, err)
	}
	if found {
		return opened, opened.resume(ctx, o, m)
	}
	return opened, opened.begin(ctx, o)
}

func lockDir(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockFile))
	// Who looks whether a run is alive holds its lock for a moment.
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, lockPatience/10)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock run %s: %w", dir, err)
	}
	if !ok {
		return nil, &LockedError{Dir: dir}
	}
	return lock, nil
}

// lockPatience is how long a lock is waited for that somebody may only look at.
const lockPatience = 100 * time.Millisecond

// InUse reports whether a process works on the run in dir. A run whose status is Running
// and that no one works on was killed. Nothing is written; what cannot be known is an error.
func InUse(dir string) (bool, error) {
	path := filepath.Join(dir, lockFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if err = errors.Join(err, lock.Close()); err != nil {
		return false, fmt.Errorf("look at the lock of run %s: %w", dir, err)
	}
	return !free, nil
}

// ReadManifest reads the manifest of a run directory; found is false when there
// is none. See Unreadable for its errors.
func ReadManifest(dir string) (m Manifest, found bool, err error) {
	data, there, err := ReadFile(dir, ManifestFile, Most(ManifestFile))
	if err != nil {
		return m, false, fmt.Errorf("read manifest: %w", err)
	}
	if !there {
		return m, false, nil
	}
	if err := Decode(ManifestFile, data, &m); err != nil {
		return m, false, &manifestError{err: err}
	}
	if m.Format != FormatVersion {
		return m, false, &manifestError{format: m.Format}
	}
	return m, true, nil
}

func (r *Run) resume(ctx context.Context, o OpenOptions, m Manifest) error {
	if changes := o.Compare(m.Identity, o.Identity); len(changes) > 0 {
		return &IdentityError{Dir: o.Dir, Changes: changes, Begun: m.Version, This: o.Version}
	}
	if _, err := os.Stat(filepath.Join(o.Dir, DBFile)); err != nil {
		return &DamagedError{Dir: o.Dir, Err: fmt.Errorf("%s is missing but %s says that %s recorded", DBFile, ManifestFile, wording.Plural(m.HighWater, "entry was", "entries were"))}
	}
	j, err := journal.Open(ctx, filepath.Join(o.Dir, DBFile), journal.Options{Existing: true, Warn: o.Warn})
	if err != nil {
		return Unreadable(o.Dir, err)
	}
	if m.Steering != nil {
		r.steering, m.Steering = *m.Steering, nil
	}
	for _, folder := range o.Ledgers {
		if !slices.Contains(m.Ledgers, folder) {
			m.Ledgers = append(m.Ledgers, folder)
		}
	}
	r.Journal, r.Manifest, r.Resumed = j, m, true
	if err := j.Verify(m.RunID, m.HighWater); err != nil {
		return &DamagedError{Dir: o.Dir, Err: err}
	}
	r.Lost = j.Lost()
	r.settings(o)
	// They report an end that is no longer the end.
	for _, name := range []string{SummaryFile, ReportFile, PullFile} {
		if err := os.Remove(filepath.Join(o.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s of the last session: %w", name, err)
		}
	}
	return r.SetStatus(result.Running)
}

// settings notes the operational settings of this session and what differs from
// the last one.
func (r *Run) settings(o OpenOptions) {
	if o.Operational == nil {
		return
	}
	if last := r.Manifest.Operational; last != nil {
		r.Changed = o.Compare(last, o.Operational)
	}
	r.Manifest.Operational = o.Operational
}

// begin starts a run in a directory without a manifest. A record with paid
// calls there is somebody's work: it is refused. What a killed fork left was
// paid for elsewhere.
func (r *Run) begin(ctx context.Context, o OpenOptions) error {
	if o.ForkedOf == "" {
		if err := clearRecord(ctx, o.Dir); err != nil {
			return err
		}
	}
	j, err := journal.Open(ctx, filepath.Join(o.Dir, DBFile), journal.Options{Warn: o.Warn})
	if err != nil {
		return Unreadable(o.Dir, err)
	}
	r.Journal = j
	r.Manifest = Manifest{
		Format: FormatVersion, RunID: uuid.Must(uuid.NewV7()).String(), Name: o.Name, Kind: o.Kind, CreatedAt: o.Now().UTC().Truncate(time.Second),
		Version: o.Version, Status: result.Running, Identity: o.Identity, Simulated: o.Simulated, ForkedOf: o.ForkedOf, Operational: o.Operational, Ledgers: o.Ledgers,
	}
	if err := j.SetMeta(ctx, journal.MetaRunID, r.Manifest.RunID); err != nil {
		return fmt.Errorf("name the record: %w", err)
	}
	return r.SetStatus(result.Running)
}

// SetStatus writes the manifest with the status and the record's high water. At
// the end of a run the files that users take away are flushed to the disk.
func (r *Run) SetStatus(status result.Status) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Manifest.Status, r.Manifest.HighWater, r.Manifest.EndedAt = status, r.Journal.HighWater(), nil
	if status == result.Running {
		r.Manifest.Directory = folderIdentity(r.Dir)
	} else {
		at := r.now().UTC().Truncate(time.Second)
		r.Manifest.EndedAt = &at
		if err := r.flush(BestFile, HistoryFile, SummaryFile); err != nil {
			return err
		}
	}
	return r.writeManifest()
}

// flush writes files that are there to the disk.
func (r *Run) flush(names ...string) error {
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(r.Dir, name), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("flush %s: %w", name, err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("flush %s: %w", name, err)
		}
	}
	return nil
}

// Close releases the record and the lock.
func (r *Run) Close() error {
	var errs []error
	if r.Journal != nil {
		errs = append(errs, r.Journal.Close())
	}
	if r.lock != nil {
		errs = append(errs, r.lock.Unlock())
	}
	return errors.Join(errs...)
}

// WriteJSON writes v to the named file as WriteFile does: indented, or by lines if
// it has a layout of that kind.
func (r *Run) WriteJSON(name string, v any) error {
	data, err := encodeJSON(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return r.WriteFile(name, append(data, '\n'))
}

// lined is a long list of records. Indented it would be too long to look through,
// and it would take longer to write than all else of a run.
type lined interface {
	// WriteLines writes the list as JSON, a record a line.
	WriteLines(w io.Writer) error
}

func encodeJSON(v any) ([]byte, error) {
	list, ok := v.(lined)
	if !ok {
		return json.MarshalIndent(v, "", "  ")
	}
	var b bytes.Buffer
	err := list.WriteLines(&b)
	return b.Bytes(), err
}

// WriteFile writes a file of the run directory atomically. It is a projection of the record
// and not flushed to the disk, because opening the run again writes it again. name is
// slash-separated and must stay inside.
func (r *Run) WriteFile(name string, data []byte) error { return r.write(name, data, 0o644) }

// WriteProgram writes a file that may be executed, otherwise as WriteFile does.
func (r *Run) WriteProgram(name string, data []byte) error { return r.write(name, data, 0o755) }

func (r *Run) write(name string, data []byte, mode fs.FileMode) error {
	path, err := r.resolvePath(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of %s: %w", name, err)
	}
	return disk.Replace(path, data, mode)
}

// resolvePath returns the path of a file of the run directory.
func (r *Run) resolvePath(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("write %q: outside of the run directory", name)
	}
	return filepath.Join(r.Dir, filepath.FromSlash(name)), nil
}

// WriteSkill writes all files of a skill into a folder of the run directory, each as
// WriteFile and WriteProgram do.
func (r *Run) WriteSkill(folder string, s skill.Skill) error {
	for _, name := range s.Files() {
		if err := r.WriteSkillFile(folder, name, s); err != nil {
			return err
		}
	}
	return nil
}

// WriteSkillFile writes one file of a skill into a folder of the run directory.
func (r *Run) WriteSkillFile(folder, name string, s skill.Skill) error {
	write := r.WriteFile
	if s.Executable(name) {
		write = r.WriteProgram
	}
	content, _ := s.File(name)
	return write(path.Join(folder, name), []byte(content))
}

// RemoveFile removes a file of the run directory, if it is there.
func (r *Run) RemoveFile(name string) error {
	path, err := r.resolvePath(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}
