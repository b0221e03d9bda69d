package night

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/level"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// What a night does with a target.
const (
	doesObserve = "observe"
	doesTrain   = "train"
	doesSealed  = "train and test"
	doesUngated = "train without a gate" // gate.mode: off
)

// job is what a night does with one document.
type job struct {
	out    Target
	doc    target.Target
	picked chosen
	past   []bank.Candidate // all that the target ever had
	level  float64          // of its next candidate
	terms  string           // digest of what scores depend on apart from the texts and the tasks
	folder skill.Skill      // the other files of a skill's folder, as the night has read them
	text   string           // what is staged; "": nothing
	made   skill.Skill      // the same with the other files of the folder
	others others           // what else lies in its workspaces

	won     map[string]bool // tasks that what is staged has won on fresh answers
	served  []string        // models that answered its last comparison; none: not known
	claimed *bank.Candidate // what the night claims for it; nil: nothing

	unjudged, unjudgedHelp string // why no judge decides anything of it, and what helps; "": one may
}

// settler settles, before anything is spent, which documents a night works on, on which tasks, and what that can show.
type settler struct{ *night }

// jobs returns the documents that there are tasks of: skills by name, then the memory file.
func (n settler) jobs(ctx context.Context) ([]job, error) {
	if !n.DryRun {
		if err := n.refit(ctx); err != nil {
			return nil, err
		}
	}
	of, err := n.groupClusters(ctx)
	if err != nil {
		return nil, err
	}
	var out []job
	for _, name := range slices.Sorted(maps.Keys(of)) {
		clusters := of[name]
		doc, err := n.document(name)
		var bad *target.Error
		switch {
		case errors.As(err, &bad):
			n.report.Skipped = append(n.report.Skipped, Skipped{Skill: name, Groups: len(clusters), Reason: bad.Error()})
			continue
		case err != nil:
			return nil, err
		}
		j, err := n.job(ctx, doc, clusters)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	out = n.dropCollisions(out)
	slices.SortStableFunc(out, func(a, b job) int { return kindRank(a.doc.Kind) - kindRank(b.doc.Kind) })
	docs := make([]target.Target, len(out))
	for i := range out {
		docs[i] = out[i].doc
	}
	if both := target.Collide(docs); both != "" {
		return nil, &target.Error{Name: "targets", Reason: both + " are one file"}
	}
	return out, nil
}

// groupClusters returns the clusters of the project by the skill that they are tasks of, in the order in which they came.
func (n settler) groupClusters(ctx context.Context) (map[string][]bank.Cluster, error) {
	groups, err := n.Bank.Groups(ctx)
	if err != nil {
		return nil, err
	}
	of := map[string][]bank.Cluster{}
	for _, g := range groups {
		if g.Project != n.Project {
			continue
		}
		name := g.Skill
		if name == "" {
			name = n.Config.Sleep.DefaultSkill
		}
		clusters, err := n.Bank.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return nil, err
		}
		if only := n.only(); only != nil && !slices.ContainsFunc(clusters, only) {
			continue
		}
		of[name] = append(of[name], clusters...)
	}
	for _, clusters := range of {
		slices.SortFunc(clusters, func(a, b bank.Cluster) int { return int(a.Number - b.Number) })
	}
	return of, nil
}

func kindRank(k target.Kind) int {
	if k == target.Skill {
		return 0
	}
	return 1
}

// document returns what tasks of a skill train; for tasks without a skill it returns the project's memory file.
func (n settler) document(name string) (target.Target, error) {
	s := n.Config.Sleep
	if name != "" {
		if !slices.Contains(s.Targets, "skills") {
			return target.Target{}, &target.Error{Name: name, Reason: "sleep.targets has no skills"}
		}
		return findSkill(n.Places, name)
	}
	if !slices.Contains(s.Targets, "memory") {
		return target.Target{}, &target.Error{Name: "tasks without a skill", Reason: "sleep.targets has no memory, and sleep.default_skill names no skill"}
	}
	file, err := n.memoryFile()
	if err != nil {
		return target.Target{}, err
	}
	return target.FindMemory(n.Places, file)
}

// findSkill finds a skill that agents load: its front matter is YAML.
func findSkill(at target.Places, name string) (target.Target, error) {
	t, err := target.FindSkill(at, name)
	if err != nil {
		return t, err
	}
	if _, err := skill.Parse(t.Text); err != nil {
		return t, &target.Error{Name: name, Reason: fmt.Sprintf("%s, %v; agents do not load such a skill", t.File(), err)}
	}
	return t, nil
}

// memoryFile returns the name of the project's memory file: the one that the profile names, that of the
// agent, or the only one that there is.
func (n settler) memoryFile() (string, error) {
	if name := n.Config.Sleep.Memory; name != "" {
		return name, nil
	}
	if name := target.AgentMemory(n.Config.Agent.Name, n.Project); name != "" {
		return name, nil
	}
	name, there := target.MemoryIn(n.Project)
	if name != "" {
		return name, nil
	}
	return "", &target.Error{Name: "tasks without a skill", Reason: fmt.Sprintf("the project has %d memory files; name one by sleep.memory", there)}
}

// job settles what is done with a document, before anything is spent.
func (n settler) job(ctx context.Context, doc target.Target, clusters []bank.Cluster) (job, error) {
	s := n.Config.Sleep
	c := choice{night: n.report.ID, since: n.report.Since, now: n.report.Started, halfLife: time.Duration(s.HalfLife), tasks: s.Tasks, recall: s.Recall, only: n.only(), files: n.files}
	j := job{doc: doc, picked: c.choose(clusters), folder: n.readFolder(doc)}
	j.terms = n.terms(doc, j.folder)
	past, err := n.Bank.Candidates(ctx, n.Project, doc.ID())
	if err != nil {
		return j, err
	}
	// The night's own candidate, where the night continues, is none that came before.
	j.past = slices.DeleteFunc(past, func(c bank.Candidate) bool { return c.Night == n.report.ID })
	certified := []bool{}
	for _, c := range j.past {
		if c.Exploratory {
			continue // it can never be certified, and spends nothing
		}
		// What this night finds out counts from the next one on: a night that continues has the same level.
		certified = append(certified, c.State == bank.Certified && c.Settled != n.report.ID)
	}
	j.level = level.Next(level.Alpha, certified)
	can, err := can(j.picked, j.level, n.Explore)
	if err != nil {
		return j, err
	}
	if n.Config.Gate.Mode == string(gate.ModeOff) {
		can.Does = doesUngated
	}
	j.out = Target{
		Target: doc.ID(), File: doc.File(), New: doc.New, LiveSHA: doc.Digest(), Can: can,
		Groups: Clusters{
			Open: j.picked.open, Fresh: len(j.picked.fresh), Asleep: j.picked.asleep, Waiting: j.picked.waiting,
			Tonight: len(j.picked.tonight), Recall: len(j.picked.recall), Unreviewed: countUnreviewed(j.picked.train()) + countUnreviewed(j.picked.fresh),
		},
		Consolidation: Consolidation{AppliedEdits: []Edit{}, RejectedEdits: []Edit{}},
		Rules:         []Rule{}, Remove: []string{}, Held: []HeldRule{}, Runs: []string{}, Places: listPlaces(clusters),
	}
	if j.out.Judge, _, err = n.planJudging(&j); err != nil {
		return j, err
	}
	return j, n.removals(ctx, &j, clusters)
}

func countUnreviewed(clusters []bank.Cluster) int {
	count := 0
	for _, c := range clusters {
		if c.Tasks[0].Reviewed != bank.Accepted {
			count++
		}
	}
	return count
}

// can returns what that many clusters can show at the level of the target's next candidate.
func can(picked chosen, next float64, explore bool) (Can, error) {
	out := Can{Does: doesTrain, Level: gate.LevelOf(level.Half(next), 1), Power: []Powered{}}
	floor, err := level.Floor(gate.LookExact, out.Level)
	if err != nil {
		return out, err
	}
	out.Needed = floor
	switch {
	case picked.open < MinTrain && !explore:
		out.Does = doesObserve
	case floor > 0 && len(picked.fresh) >= floor && !explore:
		out.Does = doesSealed
	}
	for _, gain := range []float64{0.2, 0.4, 0.6} {
		found, err := level.Power(gain, min(len(picked.fresh), 400), out.Level)
		if err != nil {
			return out, err
		}
		out.Power = append(out.Power, Powered{Gain: gain, Found: found})
	}
	return out, nil
}

// terms returns the digest of what scores depend on apart from texts and tasks: carried evidence is of one model,
// agent and way of scoring alone.
func (n settler) terms(doc target.Target, folder skill.Skill) string {
	m, a := n.Config.Models, n.Config.Agent
	of := []any{ // plain values
		"terms 1", doc.Kind, m.Target.Provider, m.Target.Model, m.Target.Temperature, m.Target.ReasoningEffort, m.Judge.Provider, m.Judge.Model,
		a.Name, a.Mode, n.Config.Tasks.System, n.Config.Tasks.Prompt, n.Config.Tasks.Extract, n.Config.Tasks.Threshold,
	}
	if len(folder.Others()) > 0 {
		of = append(of, folder.Digest())
	}
	data, _ := json.Marshal(of)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// clusterField is the field of a task that names its cluster.
const clusterField = "cluster"

// clusterTasks returns the tasks by which clusters are measured, each of a cluster of its own.
func clusterTasks(clusters []bank.Cluster, split func(i int) task.Split) []task.Task {
	out := make([]task.Task, 0, len(clusters))
	for i, c := range clusters {
		t := c.Tasks[0].Task.Task
		data := map[string]any{clusterField: fmt.Sprint(c.Number)}
		for k, v := range t.Data {
			data[k] = v
		}
		t.Data, t.Split = data, split(i)
		t.Origin = "bank:" + t.ID
		out = append(out, t)
	}
	return out
}

func numbers(clusters []bank.Cluster) []int64 {
	out := make([]int64, len(clusters))
	for i, c := range clusters {
		out[i] = c.Number
	}
	return out
}

// findClusterNumber finds the cluster of a task by the task's id.
func findClusterNumber(clusters []bank.Cluster, id string) (int64, bool) {
	for _, c := range clusters {
		if c.Tasks[0].Task.Task.ID == id {
			return c.Number, true
		}
	}
	return 0, false
}

// findSessions returns the sessions that showed clusters, for what is looked up in their users' words.
func (n settler) findSessions(clusters []bank.Cluster) []bank.Session {
	var out []bank.Session
	have := map[string]bool{}
	for _, c := range clusters {
		for _, t := range c.Tasks {
			for _, ref := range t.Seen {
				key := ref.Source + "/" + ref.Session
				if s, ok := n.seen[key]; ok && !have[key] {
					have[key] = true
					out = append(out, s)
				}
			}
		}
	}
	return out
}
