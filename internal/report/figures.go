package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// tiles returns the figures at the head: first the score of the run.
func (r *Run) tiles() []tile {
	s := r.Summary
	out := []tile{r.scoreTile("Best skill", r.Score)}
	if s == nil {
		return out
	}
	if s.Test.Best != nil {
		if s.Test.Seed != nil {
			out = append(out, armTile("Seed skill, test split", s.Test.Seed))
		}
		out = append(out, r.differenceTile())
	}
	out = append(append(out, certificateTile(s)), loadTiles(s.Triggers)...)
	if of := s.SelectionScore(); r.Score.Split == "test" && of.Score != nil {
		out = append(out, r.scoreTile("Best skill", of))
	}
	return append(out, costTile(s))
}

// scoreTile returns a tile with a score of a skill, and of which answers it is.
func (r *Run) scoreTile(label string, of result.RunScore) tile {
	if of.Score == nil {
		return tile{label, absent, "nothing was scored"}
	}
	of.Split, of.Metric = line(of.Split, idLength), line(of.Metric, idLength)
	note := fmt.Sprintf("mean %s score from 0 to 1, 95 %% interval %s, on %s", of.Metric, formatRange(*of.Low, *of.High), of.After(of.Over()))
	if of.Split == "selection" {
		note += ". Training chose by these tasks"
		if s := r.Summary; s != nil && s.Best.Reported != nil && s.Best.Reported.Caveat() != "" {
			note += "; " + s.Best.Reported.Caveat()
		}
	}
	return tile{label + ", " + of.Split + " split", number(of.Score), note}
}

func armTile(label string, a *result.Score) tile {
	return tile{label, fmt.Sprintf("%.3f", a.Hard), fmt.Sprintf("mean hard score from 0 to 1, 95 %% interval %s, %s", formatRange(a.Low, a.High), a.After(fmt.Sprintf("n %d", a.N)))}
}

func (r *Run) differenceTile() tile {
	t := tile{Label: "Best minus seed", Value: absent, Note: "one of them was not measured"}
	s := r.Summary
	if c := s.Certificate; c != nil && c.Difference != nil {
		t.Value, t.Note = formatDifference(c.Difference), fmt.Sprintf("%s, %d worse, %d alike", wording.Plural(c.Wins, "item", "items")+" better", c.Losses, c.Ties)
		if c.Low != nil && c.High != nil {
			t.Note = fmt.Sprintf("95 %% interval %s to %s; ", formatDifference(c.Low), formatDifference(c.High)) + t.Note
		}
		if c.Metric != "" {
			t.Note = line(c.Metric, idLength) + " score, " + t.Note
		}
		return t
	}
	if s.Test.Seed != nil && s.Test.Best != nil {
		d := s.Test.Best.Hard - s.Test.Seed.Hard
		t.Value, t.Note = formatDifference(&d), strings.TrimSuffix("hard score, "+r.countPairs(), ", ")
	}
	return t
}

// countPairs counts the test items on which best and seed differ.
func (r *Run) countPairs() string {
	seed := map[string]float64{}
	for _, item := range r.Test["seed"] {
		if item.Status.Measured() {
			seed[item.ID] = item.Hard
		}
	}
	wins, losses, ties := 0, 0, 0
	for _, item := range r.Test["best"] {
		was, ok := seed[item.ID]
		switch {
		case !ok || !item.Status.Measured():
		case item.Hard > was:
			wins++
		case item.Hard < was:
			losses++
		default:
			ties++
		}
	}
	if wins+losses+ties == 0 {
		return ""
	}
	return fmt.Sprintf("%s better, %d worse, %d alike", wording.Plural(wins, "item", "items"), losses, ties)
}

func certificateTile(s *result.Summary) tile {
	t := tile{"Certificate", "none", "this run compared nothing on a sealed test"}
	c := s.Certificate
	switch {
	case c == nil && s.Test.Best != nil:
		return tile{t.Label, "none", "this run did not compute one"}
	case c == nil:
		return t
	case c.Certified:
		t.Value = "certified better"
		if c.AtLeast != nil && *c.AtLeast > 0 {
			t.Value = fmt.Sprintf("better by at least %.3f", math.Floor(1000**c.AtLeast)/1000) // a bound is never rounded up
		}
		t.Note = fmt.Sprintf("certified at the %.4g %% level on %s; %s", 100*certificateLevel(c), wording.Plural(max(c.N, c.Tasks), "test item", "test items"), basis(c))
		return t
	}
	t.Value, t.Note = "not certified", cmp.Or(line(c.Words, reasonLength), basis(c))
	return t
}

// certificateLevel returns the level at which a certificate is given; the file of a run may be without one.
func certificateLevel(c *result.Certificate) float64 {
	if c.Level != nil {
		return *c.Level
	}
	return c.Alpha
}

// basis says what a certificate rests on.
func basis(c *result.Certificate) string {
	text := c.Basis()
	if c.Reading > 0 {
		text += fmt.Sprintf("; reading %d of these tasks", c.Reading)
	}
	if c.Assumes != "" {
		text += "; taken for granted: " + line(c.Assumes, reasonLength)
	}
	return text
}

func costTile(s *result.Summary) tile {
	t := tile{"Cost", dollars(s.CostUSD), fmt.Sprintf("%s, %s in the last session", wording.Plural(s.Calls.Total, "model call", "model calls"), duration(s.WallS))}
	if n := s.Calls.Inherited; n > 0 {
		t.Note += fmt.Sprintf("; the record also took over %s paid for elsewhere", wording.Plural(n, "answer", "answers"))
	}
	if u := s.Unknown; u != nil && u.Calls > 0 {
		t.Note += "; usage unknown for " + wording.Plural(u.Calls, "call", "calls")
		if s.CostUSD != nil {
			t.Value = "~" + t.Value
		}
	}
	if s.Simulated {
		t.Value = "none: simulated"
	}
	return t
}

// arm is one row of the baselines, with its interval as a bar. Places are in
// percent of the width.
type arm struct {
	Name  string
	Score string
	Range string
	Soft  string
	N     string
	At    float64
	From  float64
	Wide  float64
	Known bool
}

// arms returns the skills that were compared on the test split, else on selection.
func (r *Run) arms() []arm {
	s := r.Summary
	if s == nil {
		return nil
	}
	var out []arm
	add := func(name string, a *result.Score) {
		if a == nil {
			return
		}
		out = append(out, arm{
			Name: name, Score: fmt.Sprintf("%.3f", a.Hard), Range: formatRange(a.Low, a.High), Soft: fmt.Sprintf("%.3f", a.Soft), N: a.After(fmt.Sprint(a.N)),
			At: percent(a.Hard), From: percent(a.Low), Wide: round(percent(a.High) - percent(a.Low)), Known: true,
		})
	}
	add("no skill", s.Test.NoSkill)
	add("seed skill", s.Test.Seed)
	add("best skill", s.Test.Best)
	add("final skill", s.Test.Final)
	for _, name := range slices.Sorted(maps.Keys(s.ByType)) {
		for _, of := range []string{"seed", "best"} {
			if score, measured := s.ByType[name][of]; measured {
				add(of+" skill, "+line(name, idLength), &score)
			}
		}
	}
	return out
}

func percent(v float64) float64 { return round(100 * min(max(v, 0), 1)) }

// armsLead returns a text on what the baselines are scores of.
func (r *Run) armsLead() string {
	if r.Summary == nil {
		return "The run has not ended yet: the test split is opened after its last decision."
	}
	if t := r.Summary.Test; t.Seed == nil && t.Best == nil {
		return "The test split was not opened, so that nothing can be said of tasks that training did not choose by."
	}
	return "Mean hard score on the test split, which nothing was decided by, with the 95 % Wilson interval. Each arm answered the same items."
}

// cost is a row of the table of costs. Subtotals follow the stages of a role.
type cost struct {
	Role, Stage            string
	Calls, In, Cached, Out string
	USD                    string
	Share                  float64 // of all tokens, in percent
	Bar                    float64 // the length of its bar, in percent
	Total                  bool
}

func costs(s *result.Summary) []cost {
	var all int64
	for _, st := range s.Stages {
		all += st.Input + st.Output
	}
	stages := slices.Clone(s.Stages)
	slices.SortStableFunc(stages, func(a, b result.Stage) int { return cmp.Compare(b.Role, a.Role) })
	var out []cost
	var sum result.Stage
	known := true
	flush := func() {
		if sum.Role != "" {
			if !known {
				sum.CostUSD = nil
			}
			out = append(out, costRow(sum, all, s.Simulated, true))
		}
		sum, known = result.Stage{}, true
	}
	for _, st := range stages {
		if st.Role == "" {
			continue // a program, such as the command of a check: no model was asked
		}
		if st.Role != sum.Role {
			flush()
			zero := 0.0
			sum = result.Stage{Role: st.Role, Stage: "all", CostUSD: &zero}
		}
		sum.Calls, sum.Input, sum.Output, sum.Cached = sum.Calls+st.Calls, sum.Input+st.Input, sum.Output+st.Output, sum.Cached+st.Cached
		if st.CostUSD != nil {
			*sum.CostUSD += *st.CostUSD
		} else if st.Calls > 0 || st.Input+st.Output > 0 { // episodes report tokens without calls
			known = false
		}
		out = append(out, costRow(st, all, s.Simulated, false))
	}
	flush()
	return out
}

func costRow(st result.Stage, all int64, simulated, total bool) cost {
	c := cost{
		Role: line(st.Role, idLength), Stage: line(strings.ReplaceAll(st.Stage, "_", " "), idLength), Calls: count(st.Calls),
		In: count(st.Input), Cached: count(st.Cached), Out: count(st.Output), USD: dollars(st.CostUSD), Total: total,
	}
	if simulated {
		c.USD = absent
	}
	if all > 0 {
		c.Share = percent(float64(st.Input+st.Output) / float64(all))
		c.Bar = round(c.Share * 0.65) // of its cell: the number follows
	}
	return c
}

func spendFacts(r *Run) []fact {
	s := r.Summary
	about := ""
	if u := s.Unknown; u != nil && u.Calls > 0 {
		about = "~"
	}
	out := []fact{
		{"model calls", count(s.Calls.Total)},
		{"tokens", about + count(s.Tokens.Input) + " in, " + about + count(s.Tokens.Output) + " out"},
	}
	if s.Tokens.Cached > 0 {
		out = append(out, fact{"from the provider's cache", count(s.Tokens.Cached)})
	}
	if s.Calls.FromRuns > 0 {
		out = append(out, fact{"answers taken from other runs, which had paid", count(s.Calls.FromRuns)})
	}
	if n := s.Calls.Inherited - s.Calls.FromRuns; n > 0 {
		out = append(out, fact{"answers taken over, paid for elsewhere (a forked run, a cache)", count(n)})
	}
	if s.Calls.Reused > 0 {
		out = append(out, fact{"answered from the record", count(s.Calls.Reused)})
	}
	for _, e := range s.Effort {
		of := ""
		if e.Type != "" {
			of = " of type " + line(e.Type, idLength)
		}
		out = append(out, fact{fmt.Sprintf("an episode%s, seed -> best (n %d)", of, e.N), fmt.Sprintf("%v turns; %v tokens; %v s", e.Turns, e.Tokens, e.Seconds)})
	}
	return append(out, fact{"cost", costTile(s).Value}, fact{"time of the last session", duration(s.WallS)})
}

// facts returns what a reader needs to know to do it again.
func (r *Run) facts() []fact {
	m := r.Manifest
	value := func(key string) string {
		v := m.Identity[key]
		if u, err := strconv.Unquote(v); err == nil {
			v = u
		}
		return line(v, reasonLength)
	}
	out := []fact{
		{"run", line(m.RunID, idLength)},
		{"begun", m.CreatedAt.UTC().Format("2006-01-02 15:04 MST")},
		{"version", line(m.Version, idLength)},
		{"configuration digest", digest(m.Identity)},
	}
	for _, f := range []fact{{"seed", "train.seed"}, {"split seed", "split.seed"}, {"gate", "gate.mode"}, {"metric", "gate.metric"}, {"skill digest", "skill"}, {"tasks digest", "tasks.path"}} {
		if v := value(f.Value); v != "" {
			out = append(out, fact{f.Name, v})
		}
	}
	for _, role := range []string{"target", "optimizer", "judge"} {
		model := strings.Trim(value("models."+role+".provider")+"/"+value("models."+role+".model"), "/")
		if model != "" {
			out = append(out, fact{role, model})
		}
	}
	if v := value("agent.name"); v != "" {
		out = append(out, fact{"agent", v})
	}
	if m.ForkedOf != "" {
		out = append(out, fact{"forked of", line(m.ForkedOf, idLength)})
	}
	return out
}

// digest names a configuration by the settings that make a run what it is.
func digest(identity map[string]string) string {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(identity)) {
		fmt.Fprintf(h, "%q %q\n", k, identity[k])
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// commands returns the commands that repeat the run, and show more of it.
func (r *Run) commands() []command {
	dir := quotePath(line(r.Name, reasonLength))
	out := []command{
		{"skillopt train " + dir + "/config.yaml --run " + dir + "-again", "the same run again, with the same seeds; it asks and pays again"},
		{"skillopt runs export " + dir + " --format cassette --to run.cassette", "its answers as a file"},
		{"skillopt train " + dir + "/config.yaml --replay run.cassette", "the same run from that file, without a model"},
		{"skillopt runs blame " + dir, "each line of the skill, in a terminal"},
	}
	if r.Summary == nil || r.Summary.Status != "completed" {
		out = append([]command{{"skillopt train " + dir + "/config.yaml --run " + dir, "continue this run"}}, out...)
	}
	return out
}

// quotePath returns a path as a shell takes it.
func quotePath(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r))
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
