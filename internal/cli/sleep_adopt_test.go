package cli

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// stagedHome is a user with a night that has staged a skill with another file of its folder, and a memory file.
type stagedHome struct {
	t        testing.TB
	dir      string
	proposal result.NightProposal
}

const stagedNight = "20261125-200000"

func newStagedHome(t testing.TB) *stagedHome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	h := &stagedHome{t: t, dir: dir}
	h.write("sleep.yaml", "sleep:\n  projects: [project]\n  dir: state\n  memory: CLAUDE.md\n  whole: [cards]\nedits:\n  files: [SKILL.md, \"references/*.md\"]\n")
	h.write("project/CLAUDE.md", "# House\n")
	h.write("project/.claude/skills/cards/SKILL.md", "# Cards\n")
	h.write("project/.claude/skills/cards/references/a.md", "# A\n")
	h.write("project/neighbour.txt", "untouched\n")
	h.write("outside/CLAUDE.md", "victim\n")
	h.write("outside/SKILL.md", "victim\n")
	project := filepath.Join(dir, "project")
	r := night.Report{Format: night.Format, ID: stagedNight, Project: project, Started: time.Now(), Ended: time.Now(), Targets: []night.Target{}, Skipped: []night.Skipped{}, Notes: []string{}}
	data, err := json.Marshal(r)
	must(t, err)
	b, err := bank.Open(t.Context(), filepath.Join(dir, "state"))
	must(t, err)
	must(t, errors.Join(b.PutNight(t.Context(), bank.Night{ID: r.ID, Project: project, Started: r.Started, Ended: r.Ended, Data: data}), b.Close()))

	region, err := skill.InjectLearned("# House\n")
	must(t, err)
	region, err = skill.ReplaceLearned(region, "- Rule one.\n- Rule two.\n")
	must(t, err)
	h.proposal = result.NightProposal{Format: night.Format, Night: r.ID, Project: project, Items: []result.NightItem{
		{
			Target: "skill:cards", Outcome: night.Supported, Reason: "r", File: "skill.proposed.md", Original: "skill.live.md", Whole: true, LiveSHA: target.Digest("# Cards\n"), SHA: target.Digest("# Cards\nNew.\n"),
			Rules: []result.NightRule{}, Files: []result.NightItemFile{{Path: "references/a.md", File: "f0.proposed", Original: "f0.live", LiveSHA: target.Digest("# A\n"), SHA: target.Digest("# Another\n")}},
		},
		{Target: "memory:CLAUDE.md", Outcome: night.Supported, Reason: "r", File: "memory.proposed.md", Original: "memory.live.md", LiveSHA: target.Digest("# House\n"), SHA: target.Digest(region), Rules: []result.NightRule{}},
	}}
	for name, text := range map[string]string{"skill.proposed.md": "# Cards\nNew.\n", "skill.live.md": "# Cards\n", "f0.proposed": "# Another\n", "f0.live": "# A\n", "memory.proposed.md": region, "memory.live.md": "# House\n"} {
		must(t, os.MkdirAll(h.folder(), 0o700))
		must(t, os.WriteFile(filepath.Join(h.folder(), name), []byte(text), 0o600))
	}
	h.stage(h.proposal)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *stagedHome) write(name, text string) {
	h.t.Helper()
	at := filepath.Join(h.dir, filepath.FromSlash(name))
	must(h.t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)))
}

func (h *stagedHome) folder() string {
	return night.Folder(filepath.Join(h.dir, "state"), filepath.Join(h.dir, "project"), stagedNight)
}

// signed is a proposal under the user's HMAC.
func (h *stagedHome) signed(p result.NightProposal) result.NightProposal {
	h.t.Helper()
	key, err := night.Key(filepath.Join(h.dir, "state"))
	must(h.t, err)
	p.HMAC = ""
	data, err := json.Marshal(p)
	must(h.t, err)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("skillopt proposal\n"))
	mac.Write(data)
	p.HMAC = hex.EncodeToString(mac.Sum(nil))
	return p
}

// stage writes a proposal that the user's night has signed.
func (h *stagedHome) stage(p result.NightProposal) {
	h.t.Helper()
	data, err := json.Marshal(h.signed(p))
	must(h.t, err)
	must(h.t, os.WriteFile(filepath.Join(h.folder(), result.NightProposalFile), data, 0o600))
}

// adopt runs sleep adopt without a terminal.
func (h *stagedHome) adopt(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Main(h.t.Context(), append([]string{"sleep", "adopt", "--profile", "sleep.yaml"}, args...), Streams{In: strings.NewReader(""), Out: &o, Err: &e, Dir: h.dir}, "test")
	return code, o.String(), e.String()
}

// hash is that of what would be written.
func (h *stagedHome) hash(args ...string) string {
	_, out, _ := h.adopt(args...)
	_, rest, _ := strings.Cut(out, "\nhash ")
	hash, _, _ := strings.Cut(rest, "\n")
	return hash
}

// tree is all that there is but for what is kept.
func (h *stagedHome) tree() map[string]string {
	out := map[string]string{}
	must(h.t, filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, path)
		if err != nil {
			return err
		}
		if rel == "state" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			out[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	}))
	return out
}

// TestTrap58TheUserSaysWhichDocuments: a bare adopt of several documents, --target beside --all, and names that are blank, unknown or given
// twice are refused; the names are listed, and nothing is written.
func TestTrap58TheUserSaysWhichDocuments(t *testing.T) {
	t.Parallel()
	h := newStagedHome(t)
	before := h.tree()
	const names = "proposes texts for skill:cards, memory:CLAUDE.md"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"bare":            {nil, names + ": name some by --target, or all by --all"},
		"both":            {[]string{"--all", "--target", "skill:cards"}, "exclude each other; night " + stagedNight + " " + names},
		"blank":           {[]string{"--target", ""}, `--target "": night ` + stagedNight + " " + names},
		"spaces":          {[]string{"--target", " skill:cards"}, names},
		"unknown":         {[]string{"--target", "skill:other"}, names},
		"a file of one":   {[]string{"--target", "skill:cards/references/a.md"}, names},
		"twice":           {[]string{"--target", "skill:cards", "--target", "skill:cards"}, "given twice"},
		"rules of both":   {[]string{"--all", "--rule", "1"}, "--rule is about one document"},
		"rules of all":    {[]string{"--target", "skill:cards", "--rule", "1"}, "it has no rules to choose from"},
		"measure of both": {[]string{"--all", "--measure"}, "--measure is about one document"},
	} {
		args := append(c.args, "--expect", "0123456789ab")
		if code, _, errs := h.adopt(args...); code != exitInput || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d: %s", name, code, errs)
		}
	}
	if diff := cmp.Diff(before, h.tree()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "state", adoptedDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was noted: %v", err)
	}
}

// A skill's folder is adopted as a whole, and where the profile no longer names what was trained, not at all.
func TestAFolderIsAdopted(t *testing.T) {
	t.Parallel()
	h := newStagedHome(t)
	before := h.tree()
	hash := h.hash("--target", "skill:cards")
	profile := before["sleep.yaml"]
	for name, change := range map[string]string{"no whole": strings.Replace(profile, "  whole: [cards]\n", "", 1), "no files": strings.Replace(profile, ", \"references/*.md\"", "", 1)} {
		h.write("sleep.yaml", change)
		if code, _, errs := h.adopt("--target", "skill:cards", "--expect", hash); code != exitInput || !strings.Contains(errs, ", so that ") {
			t.Errorf("%s: %d: %s", name, code, errs)
		}
	}
	h.write("sleep.yaml", profile)
	if code, out, errs := h.adopt("--target", "skill:cards", "--expect", hash); code != exitOK {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	after := h.tree()
	if after["project/.claude/skills/cards/references/a.md"] != "# Another\n" || after["project/.claude/skills/cards/SKILL.md"] != "# Cards\nNew.\n" || after["project/CLAUDE.md"] != "# House\n" {
		t.Errorf("%q", after)
	}
	var o, e bytes.Buffer
	if code := Main(t.Context(), []string{"sleep", "rollback", "1", "--profile", "sleep.yaml", "--yes"}, Streams{In: strings.NewReader(""), Out: &o, Err: &e, Dir: h.dir}, "test"); code != exitOK {
		t.Fatalf("%d: %s", code, e.String())
	}
	if diff := cmp.Diff(before, h.tree()); diff != "" {
		t.Error(diff)
	}
}

// FuzzStagedProposal adopts whatever stands in the place of a night's proposal, under the user's HMAC or not: nothing is written but
// documents that the profile and the project name.
func FuzzStagedProposal(f *testing.F) {
	seeds := []func(p *result.NightProposal){
		func(*result.NightProposal) {},
		func(p *result.NightProposal) { p.Items[0].Target = "skill:cards/../../../neighbour.txt" },
		func(p *result.NightProposal) { p.Items[0].Files[0].Path = "../../../neighbour.txt" },
		func(p *result.NightProposal) { p.Items[0].Files[0].Path = "/etc/passwd" },
		func(p *result.NightProposal) { p.Items[0].Files[0].Path = "SKILL.md" },
		func(p *result.NightProposal) { p.Items[0].Files[0].Path = "scripts/run.sh" },
		func(p *result.NightProposal) { p.Items[1].Target = "memory:../outside/CLAUDE.md" },
		func(p *result.NightProposal) { p.Items[1].Target = "memory:neighbour.txt" },
		func(p *result.NightProposal) { p.Items[1].Target = "skill:outside" },
		func(p *result.NightProposal) { p.Items[1].Target = "other:CLAUDE.md" },
		func(p *result.NightProposal) { p.Items[1].File = "../../../../../outside/CLAUDE.md" },
		func(p *result.NightProposal) { p.Items[1].Target = p.Items[0].Target },
		func(p *result.NightProposal) { p.Project = "/" },
		func(p *result.NightProposal) { p.Night = "../" + p.Night },
		func(p *result.NightProposal) {
			p.Items[1].Whole = true
			p.Items[1].File, p.Items[1].SHA = p.Items[0].File, p.Items[0].SHA
		},
	}
	for _, change := range seeds {
		for _, sign := range []bool{true, false} {
			p := newStagedHome(f).proposal
			p.Project = "PROJECT"
			change(&p)
			data, err := json.Marshal(p)
			must(f, err)
			f.Add(data, sign)
		}
	}
	f.Fuzz(forge)
}

// forge adopts what stands in the place of a night's proposal, and looks at all other files.
func forge(t *testing.T, data []byte, sign bool) {
	h := newStagedHome(t)
	data = bytes.ReplaceAll(data, []byte("PROJECT"), []byte(filepath.ToSlash(filepath.Join(h.dir, "project"))))
	var p result.NightProposal
	if json.Unmarshal(data, &p) == nil && sign {
		h.stage(p)
	} else {
		must(t, os.WriteFile(filepath.Join(h.folder(), result.NightProposalFile), data, 0o600))
	}
	before := h.tree()
	if hash := h.hash("--all"); hash != "" {
		h.adopt("--all", "--expect", hash)
	}
	after := h.tree()
	for _, name := range []string{"project/CLAUDE.md", "project/.claude/skills/cards/SKILL.md", "project/.claude/skills/cards/references/a.md"} {
		delete(before, name)
		delete(after, name)
	}
	for name := range after { // names that edits.files allows, and that other memory files may have
		if strings.HasPrefix(name, "project/.claude/skills/cards/references/") && strings.HasSuffix(name, ".md") || target.IsMemory(strings.TrimPrefix(name, "project/")) {
			delete(after, name)
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("other files (-was +is):\n%s", diff)
	}
}

// TestForgedProposals is a longer run of that, by SKILLOPT_LONG: proposals with names, paths and digests exchanged at random.
func TestForgedProposals(t *testing.T) {
	rounds := 20
	if os.Getenv("SKILLOPT_LONG") != "" {
		rounds = 3000
	}
	rng := rand.New(rand.NewPCG(20, 3))
	words := []string{
		"skill:cards", "memory:CLAUDE.md", "memory:AGENTS.md", "skill:cards/references/a.md", "skill:..", "memory:../outside/CLAUDE.md", "../", "/", "..", "", "references/a.md", "references/../../../../neighbour.txt",
		"SKILL.md", "skill.proposed.md", "memory.proposed.md", "memory.live.md", "../../../../outside/CLAUDE.md", "f0.live", "f0.proposed", "PROJECT", "PROJECT/../outside", "/etc", stagedNight, "memory:.cursor/rules/x.mdc",
		"references/new.md", "scripts/x.sh", ".hidden.md", "references/\u202e.md", "references/A.md", "Memory:CLAUDE.md", "memory:claude.md",
	}
	base := newStagedHome(t).proposal
	for range rounds {
		p := base
		p.Project, p.Items = "PROJECT", slices.Clone(base.Items)
		p.Items[0].Files = slices.Clone(base.Items[0].Files)
		word := func() string { return words[rng.IntN(len(words))] }
		for range 1 + rng.IntN(4) {
			it := &p.Items[rng.IntN(len(p.Items))]
			fields := []*string{&it.Target, &it.File, &it.Original, &it.SHA, &it.LiveSHA, &p.Project, &p.Night}
			if len(it.Files) > 0 {
				f := &it.Files[0]
				fields = append(fields, &f.Path, &f.Path, &f.File, &f.Original, &f.SHA, &f.LiveSHA)
			}
			switch rng.IntN(4) {
			case 0:
				it.Whole = !it.Whole
			case 1:
				*it = p.Items[rng.IntN(len(p.Items))]
			default:
				*fields[rng.IntN(len(fields))] = word()
			}
		}
		data, err := json.Marshal(p)
		must(t, err)
		sign := rng.IntN(8) > 0
		if !t.Run("", func(t *testing.T) { forge(t, data, sign) }) {
			t.Fatalf("%s", data)
		}
	}
}

// What nights adopt by themselves: what they have certified, of reviewed tasks alone, and what an earlier night has staged that they certify.
func TestWhatNightsAdoptByThemselves(t *testing.T) {
	t.Parallel()
	ended := time.Now()
	certified := night.Target{Target: "skill:a", Outcome: night.Certified}
	carried := night.Target{Target: "skill:b", Outcome: night.NoData, Continued: &night.Continued{Night: "old", State: string(bank.Certified)}}
	held, unreviewed, waits := certified, certified, carried
	held.Held = []night.HeldRule{{Text: "x"}}
	unreviewed.Groups.Unreviewed = 1
	waits.Continued = &night.Continued{Night: "old", State: string(bank.Carried)}
	for name, c := range map[string]struct {
		r    *night.Report
		want map[string][]string
	}{
		"certified":    {&night.Report{ID: "n", Ended: ended, Targets: []night.Target{certified, carried}}, map[string][]string{"n": {"skill:a"}, "old": {"skill:b"}}},
		"supported":    {&night.Report{ID: "n", Ended: ended, Targets: []night.Target{{Target: "skill:a", Outcome: night.Supported}, waits}}, map[string][]string{}},
		"held":         {&night.Report{ID: "n", Ended: ended, Targets: []night.Target{held}}, map[string][]string{}},
		"unreviewed":   {&night.Report{ID: "n", Ended: ended, Targets: []night.Target{unreviewed}}, map[string][]string{}},
		"exploratory":  {&night.Report{ID: "n", Ended: ended, Exploratory: true, Targets: []night.Target{certified, carried}}, map[string][]string{"old": {"skill:b"}}},
		"explored":     {&night.Report{ID: "n", Ended: ended, Explore: true, Targets: []night.Target{certified}}, map[string][]string{}},
		"not over yet": {&night.Report{ID: "n", Targets: []night.Target{certified}}, map[string][]string{}},
		"no night":     {nil, map[string][]string{}},
	} {
		if diff := cmp.Diff(c.want, certifiedBy(c.r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
