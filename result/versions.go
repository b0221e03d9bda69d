package result

import "github.com/seed-f4525e22/skillopt/score"

// Versions are the skills that a run has made.
type Versions struct {
	RunDir   string    `json:"run_dir"`
	Best     string    `json:"best"`     // the version that is the best skill; "": there is none yet
	Versions []Version `json:"versions"` // seed first
}

// Version is a skill that became the current one; of a run that does not train, a skill that
// it was about.
type Version struct {
	Version string   `json:"version"` // the step after which it was current; 0 is the seed skill. Of a comparison a and b; of an ablation or pruning whole and pruned
	Step    int      `json:"step"`
	Epoch   int      `json:"epoch,omitempty"`
	Origin  string   `json:"origin"` // seed, step 3, slow update, epoch 2
	Hash    string   `json:"hash"`
	Score   *float64 `json:"score"`       // gate score on the selection split; null: it was not measured
	N       int      `json:"n,omitempty"` // tasks, where that was written down
	score.Unanswered
	Taken string   `json:"action"` // by which it became the current one: baseline, accept, accept_new_best, forced
	Files []string `json:"files"`  // paths, SKILL.md first
}

// SkillFiles are the files of a version.
type SkillFiles struct {
	RunDir  string      `json:"run_dir"`
	Version string      `json:"version"`
	Files   []SkillFile `json:"files"`
}

// SkillFile is a file of a skill.
type SkillFile struct {
	Path string  `json:"path"`
	Size int     `json:"size"`           // bytes
	Text *string `json:"text,omitempty"` // missing: it is no text
}

// Difference is how one skill differs from another, file by file.
type Difference struct {
	From  string     `json:"from"`
	To    string     `json:"to"`
	Equal bool       `json:"equal"`
	Diff  string     `json:"diff"` // unified
	Files []FileDiff `json:"files"`
}

// FileDiff is how a file differs. Lines that are equal and far from any change are left out.
type FileDiff struct {
	Path  string     `json:"path"`
	State string     `json:"state"` // added, removed, changed
	Hunks []DiffHunk `json:"hunks"`
}

// DiffHunk is a stretch of lines around changes.
type DiffHunk struct {
	From  int        `json:"from"` // number of its first line in either file, from 1
	To    int        `json:"to"`
	Lines []DiffLine `json:"lines"`
}

// DiffLine is a line that is in both files, or in one.
type DiffLine struct {
	Op    string     `json:"op"` // equal, delete, insert
	From  int        `json:"from,omitempty"`
	To    int        `json:"to,omitempty"`
	Text  string     `json:"text"`
	NoEnd bool       `json:"no_line_break,omitempty"` // a last line without a line break
	Words []DiffWord `json:"words,omitempty"`         // of a line that took the place of another: which words changed
}

// DiffWord is a piece of a line.
type DiffWord struct {
	Text    string `json:"text"`
	Changed bool   `json:"changed,omitempty"`
}

// StepDetail is all that a step saw, proposed and decided.
type StepDetail struct {
	RunDir string       `json:"run_dir"`
	Record StepRecord   `json:"record"`
	Edits  []EditDetail `json:"edits"`
	Lost   []string     `json:"lost_replies,omitempty"` // keys of optimizer calls without a usable reply

	Rewritten []string         `json:"rewrite,omitempty"`  // of a rewrite: what was changed, by the optimizer's word
	Analyses  []AnalysisDetail `json:"analyses,omitempty"` // what the analysts replied
	Problems  []string         `json:"problems,omitempty"` // files that were damaged: what they had is missing here
}

// AnalysisDetail is the reply of an analyst.
type AnalysisDetail struct {
	Place    string          `json:"place,omitempty"` // within the step, of the call: mb0/analyst_error/0
	Source   string          `json:"source_type"`     // failure, success
	Tasks    []string        `json:"tasks"`           // that it read
	Why      string          `json:"why,omitempty"`
	Patterns []PatternDetail `json:"patterns,omitempty"`
}

// PatternDetail is a kind of failure, or a habit of successes, that an analyst saw.
type PatternDetail struct {
	Name        string `json:"name,omitempty"`
	Count       int    `json:"count,omitempty"` // trajectories that show it, by the analyst's word
	Description string `json:"description"`
}

// EditDetail is an edit of a step, with what happened to it and why it was asked for.
type EditDetail struct {
	Index      int      `json:"index"`               // from 1; 0 of one that was not chosen
	Candidate  int      `json:"candidate,omitempty"` // of several, from 1; 0: there was one alone
	Op         string   `json:"op"`
	File       string   `json:"file,omitempty"` // missing: SKILL.md
	Target     string   `json:"target,omitempty"`
	Content    string   `json:"content,omitempty"`
	Status     string   `json:"status"` // its result when the candidate was made; not_chosen: it is in none
	Detail     string   `json:"detail,omitempty"`
	Why        []string `json:"why,omitempty"`         // what the analysts wrote
	Tasks      []string `json:"tasks,omitempty"`       // that they read
	Link       string   `json:"link,omitempty"`        // verbatim, reworded or batch: how sure it is that they asked for it
	Source     string   `json:"source_type,omitempty"` // failure, success
	Trajectory int      `json:"support,omitempty"`     // trajectories behind it, by the optimizer's word
	Kept       bool     `json:"kept"`                  // it is part of a skill that was taken
}

// RunsCompared shows runs side by side.
type RunsCompared struct {
	Runs   []RunRow     `json:"runs"`
	Config []ConfigDiff `json:"config"` // keys on which they differ
}

// ConfigDiff is a key with its value in each run; null: the run has none.
type ConfigDiff struct {
	Key    string    `json:"key"`
	Class  string    `json:"class"` // identity, operational
	Values []*string `json:"values"`
}
