package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// RowUnfinished is the status of a night that is not over: it is at work, or the same command can continue it.
const RowUnfinished = "unfinished"

// maxNight bounds each document of a night, in bytes.
const maxNight = 8 << 20

// A NightError says that a document of a night cannot be used.
type NightError struct {
	Path string
	Err  error

	format bool // it has another format than this program reads
}

func (e *NightError) Error() string {
	if e.format {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s is damaged: %v; `skillopt sleep show` shows the night from sleep's bank", e.Path, e.Err)
}

func (e *NightError) Unwrap() error { return e.Err }

// ErrorKind says whose business the error is.
func (*NightError) ErrorKind() string { return string(fault.BadInput) }

// NightAt is a night that was found in a folder.
type NightAt struct {
	Project string // the folder with the nights of its project
	Name    string // its own

	folder, rel string // that it was found in, and its place there
}

// Dir returns the folder of the night.
func (n NightAt) Dir() string { return filepath.Join(n.folder, filepath.FromSlash(n.rel)) }

// ID returns the name of the night among all nights of a folder: PROJECT/NIGHT.
func (n NightAt) ID() string { return n.Project + "/" + n.Name }

// Nights finds the nights of a folder, by project and name. No link is followed. A folder that does not exist has none.
func (f Folder) Nights() ([]NightAt, error) {
	if f.Run != "" {
		return []NightAt{}, nil
	}
	root, err := os.OpenRoot(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return []NightAt{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list nights: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	at := "."
	if f.Sleep {
		at = sleepNights
	}
	out, err := nightsIn(root, at, f.Path, true)
	if err != nil {
		return nil, fmt.Errorf("list nights: %w", err)
	}
	out = slices.DeleteFunc(out, func(n NightAt) bool { return f.Night != "" && n.Name != f.Night })
	slices.SortFunc(out, func(a, b NightAt) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Project, b.Project)) })
	return out, nil
}

// nightsIn finds the nights in one folder of a root, and with deeper in those of projects below it.
func nightsIn(root *os.Root, at, base string, deeper bool) ([]NightAt, error) {
	out := []NightAt{}
	if info, err := root.Lstat(filepath.FromSlash(at)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return out, nil
	}
	entries, err := fs.ReadDir(root.FS(), at)
	if err != nil {
		return nil, err
	}
	project := path.Base(at)
	if at == "." {
		project = filepath.Base(base)
	}
	for _, e := range entries {
		rel := path.Join(at, e.Name())
		if !e.IsDir() {
			continue
		}
		if has(base, rel, result.NightFile) {
			if !has(base, rel, run.ManifestFile) {
				out = append(out, NightAt{Project: project, Name: e.Name(), folder: base, rel: rel})
			}
			continue
		}
		if !deeper || !projectName.MatchString(e.Name()) || has(base, rel, run.ManifestFile) {
			continue
		}
		below, err := nightsIn(root, rel, base, false)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

// has reports whether there is a file in a folder that was listed. It is read through a root, later; a look through one takes
// ten times as long, which counts with thousands of runs.
func has(base, rel, name string) bool {
	_, err := os.Lstat(filepath.Join(base, filepath.FromSlash(rel), name))
	return err == nil
}

// open opens the folder of a night; no link leads out of the folder that it was found in.
func (n NightAt) open() (*os.Root, error) {
	root, err := os.OpenRoot(n.folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // that of the night stays open
	return root.OpenRoot(filepath.FromSlash(n.rel))
}

// read reads a document of a night of which this program knows the format; found is false if there is none.
func (n NightAt) read(root *os.Root, name string, v any) (found bool, err error) {
	data, err := run.ReadIn(root, name, maxNight)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	shown := filepath.Join(n.Dir(), name)
	if errors.Is(err, disk.ErrTooLarge) || errors.Is(err, disk.ErrNotFile) {
		return false, &NightError{Path: shown, Err: errors.New(disk.Reason(err))} // which names the file again
	}
	if err != nil {
		return false, fmt.Errorf("read the night: %w", err)
	}
	var format struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &format); err != nil {
		return false, &NightError{Path: shown, Err: err}
	}
	if format.Format != result.NightFormat {
		err := fmt.Errorf("it has format %d, and this program reads format %d: use the program that wrote it", format.Format, result.NightFormat)
		return false, &NightError{Path: shown, Err: err, format: true}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, &NightError{Path: shown, Err: err}
	}
	return true, nil
}

// report reads the result of a night. As long as it is not over its account is that of its runs now.
func (n NightAt) report(ctx context.Context, root *os.Root) (result.Night, error) {
	var r result.Night
	found, err := n.read(root, result.NightFile, &r)
	if err == nil && !found {
		err = &fs.PathError{Op: "open", Path: filepath.Join(n.Dir(), result.NightFile), Err: fs.ErrNotExist}
	}
	if err == nil && r.Ended.IsZero() {
		err = Account(ctx, filepath.Join(n.Dir(), "..", "..", ".."), &r)
	}
	return r, err
}

// Row returns the night as a list shows it. One that cannot be read has a status that says so, and the reason.
func (n NightAt) Row(ctx context.Context) result.RunRow {
	row := result.RunRow{Dir: n.Dir(), Name: n.Name, Kind: result.SleepNight, Night: &result.NightRow{Outcomes: []result.NightCount{}}}
	root, err := n.open()
	if err != nil {
		return unreadable(row, err)
	}
	defer func() { _ = root.Close() }() // it was only read
	r, err := n.report(ctx, root)
	if err != nil {
		row = unreadable(row, err)
		var known *NightError
		if errors.As(err, &known) && known.format {
			row.Status = RowFormat
		}
		return row
	}
	describeNight(&row, r)
	return row
}

// describeNight takes from a night what a list shows of it.
func describeNight(row *result.RunRow, r result.Night) {
	row.RunID, row.Simulated, row.Unreviewed, row.Status = r.ID, r.Simulated, r.Exploratory, RowUnfinished
	if !r.Started.IsZero() {
		row.CreatedAt = &r.Started
	}
	if !r.Ended.IsZero() {
		row.EndedAt, row.Status = &r.Ended, string(result.Completed)
	}
	row.Calls, row.CostUSD = r.Spent.Calls, r.Spent.CostUSD
	row.Night.Project, row.Night.Tokens = r.Project, r.Spent.Input+r.Spent.Output
	for i := range r.Targets {
		out := r.Targets[i].Outcome
		at := slices.IndexFunc(row.Night.Outcomes, func(c result.NightCount) bool { return c.Outcome == out })
		if at < 0 {
			at = len(row.Night.Outcomes)
			row.Night.Outcomes = append(row.Night.Outcomes, result.NightCount{Outcome: out})
		}
		row.Night.Outcomes[at].N++
	}
}

// NightIndex lists nights, and reads those again that have changed or are not over. The zero value is ready to use. It may be used
// concurrently.
type NightIndex struct {
	mu   sync.Mutex
	rows map[string]keptNight // by folder
}

// keptNight is the row of a night, and what its file was when it was read.
type keptNight struct {
	stamp string
	row   result.RunRow
}

// Rows lists the nights of a folder, oldest first, and what each is called there.
func (x *NightIndex) Rows(ctx context.Context, f Folder) ([]result.RunRow, []NightAt, error) {
	list, err := f.Nights()
	rows := make([]result.RunRow, len(list))
	for i, n := range list {
		rows[i] = x.row(ctx, n)
	}
	return rows, list, err
}

func (x *NightIndex) row(ctx context.Context, n NightAt) result.RunRow {
	stamp := ""
	if info, err := os.Lstat(filepath.Join(n.Dir(), result.NightFile)); err == nil && info.Mode().IsRegular() {
		stamp = fmt.Sprintf("%d,%d,%s", info.Size(), info.ModTime().UnixNano(), run.FileIdentity(info))
	}
	x.mu.Lock()
	known := x.rows[n.Dir()]
	x.mu.Unlock()
	if stamp != "" && known.stamp == stamp && known.row.Status != RowUnfinished {
		return known.row
	}
	row := n.Row(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rows == nil {
		x.rows = map[string]keptNight{}
	}
	x.rows[n.Dir()] = keptNight{stamp, row}
	return row
}

// Bounds of what is shown of a night.
const (
	mostDiagnosed = 2000    // answers
	mostHead      = 1 << 10 // bytes of each of their texts
	mostStaged    = 1 << 20 // bytes of a text for a document
	mostStagedAll = 64      // such texts
)

// NightView is all that a night's folder says: night.json, and what belongs to it.
type NightView struct {
	result.Night

	Staged    []NightStaged           `json:"staged"`              // what it proposes, whose signature is not checked
	Answers   []result.NightDiagnosed `json:"answers"`             // of its comparisons, by diagnostics.json
	LeftOut   int                     `json:"answers_left_out"`    // further ones
	Problems  []string                `json:"problems"`            // documents that cannot be used: what they have is missing here
	Discarded bool                    `json:"discarded,omitempty"` // it had staged something, and that is not there any more
}

// NightStaged is a text for a document.
type NightStaged struct {
	Target     string              `json:"target"`
	Outcome    result.NightOutcome `json:"outcome"`
	Reason     string              `json:"reason"`
	Whole      bool                `json:"whole"` // all of the document was trained, not the learned region alone
	Made       time.Time           `json:"made"`
	Text       string              `json:"text"` // that is proposed
	Difference result.Difference   `json:"difference"`
	Before     map[string]string   `json:"before"` // the live texts, by the paths of the difference
}

// View reads the folder of a night. A damaged night.json is a *NightError; what else cannot be used is named in the view.
func (n NightAt) View(ctx context.Context) (NightView, error) {
	v := NightView{Staged: []NightStaged{}, Answers: []result.NightDiagnosed{}, Problems: []string{}}
	root, err := n.open()
	if err != nil {
		return v, fmt.Errorf("read the night: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if v.Night, err = n.report(ctx, root); err != nil {
		return v, err
	}
	var d result.NightDiagnostics
	if _, err := n.read(root, result.NightDiagnosticsFile, &d); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	v.LeftOut = max(0, len(d.Tasks)-mostDiagnosed)
	for _, t := range d.Tasks[:len(d.Tasks)-v.LeftOut] {
		t.Head, t.Why = clip(t.Head, mostHead), clip(t.Why, mostHead)
		v.Answers = append(v.Answers, t)
	}
	v.readStaged(n, root)
	return v, nil
}

// readStaged reads what the night proposes.
func (v *NightView) readStaged(n NightAt, root *os.Root) {
	var p result.NightProposal
	found, err := n.read(root, result.NightProposalFile, &p)
	switch {
	case err != nil:
		v.Problems = append(v.Problems, err.Error())
	case !found:
		v.Discarded = slices.ContainsFunc(v.Targets, func(t result.NightTarget) bool { return t.Proposal != "" })
	case p.Night != v.ID || p.Project != v.Project:
		v.Problems = append(v.Problems, result.NightProposalFile+": it is of another night or project: what is staged is not shown")
	default:
		for _, item := range p.Items[:min(len(p.Items), mostStagedAll)] {
			s, err := n.readStagedItem(root, item)
			if err != nil {
				v.Problems = append(v.Problems, err.Error())
				continue
			}
			s.Made = p.Made
			v.Staged = append(v.Staged, s)
		}
		if more := len(p.Items) - mostStagedAll; more > 0 {
			v.Problems = append(v.Problems, fmt.Sprintf("%s: %d further texts are not shown", result.NightProposalFile, more))
		}
	}
}

// readStagedItem reads a text and the live one that it was made from. Their digests have to be those of the manifest.
func (n NightAt) readStagedItem(root *os.Root, item result.NightItem) (NightStaged, error) {
	s := NightStaged{Target: item.Target, Outcome: item.Outcome, Reason: item.Reason, Whole: item.Whole}
	text, err := n.stagedText(root, item.File, item.SHA)
	if err != nil {
		return s, err
	}
	live, err := n.stagedText(root, item.Original, item.LiveSHA)
	if err != nil {
		return s, err
	}
	s.Text, s.Difference, s.Before = text, DiffText(live, text, item.Target, "live", "proposed"), map[string]string{item.Target: live}
	for _, f := range item.Files {
		if err := s.add(n, root, f); err != nil {
			return s, err
		}
	}
	return s, nil
}

// add adds another file of a skill's folder, which is adopted with the skill.
func (s *NightStaged) add(n NightAt, root *os.Root, f result.NightItemFile) error {
	text, err := n.stagedText(root, f.File, f.SHA)
	if err != nil {
		return err
	}
	live, err := n.stagedText(root, f.Original, f.LiveSHA)
	if err != nil {
		return err
	}
	name := s.Target + "/" + f.Path
	d := DiffText(live, text, name, "live", "proposed")
	s.Before[name] = live
	s.Difference.Files, s.Difference.Diff = append(s.Difference.Files, d.Files...), s.Difference.Diff+d.Diff
	s.Difference.Equal = s.Difference.Equal && d.Equal
	return nil
}

func (n NightAt) stagedText(root *os.Root, name, sha string) (string, error) {
	if name == "" || name != filepath.Base(name) || name == ".." {
		return "", fmt.Errorf("%s: %q is no name of a file: what is staged there is not shown", result.NightProposalFile, name)
	}
	data, err := run.ReadIn(root, name, mostStaged)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", name, err)
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != sha && (sha != "" || len(data) > 0) {
		return "", fmt.Errorf("%s is not as the night has written it: it is not shown; `skillopt sleep adopt --discard %s` removes what is staged", name, n.Name)
	}
	return string(data), nil
}

// clip returns the beginning of a text, of whole characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for i := range text {
		if i > most {
			return text[:i]
		}
	}
	return text
}
