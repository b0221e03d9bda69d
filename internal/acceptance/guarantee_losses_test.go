package acceptance_test

import (
	"context"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// spoiled is the simulated optimizer, of which some stages say nothing that can be used,
// and of analysts those that are asked some questions.
type spoiled struct {
	model.Client

	stages []string
}

func (s spoiled) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(req.Messages[1].Text())) // a hash takes everything
	analyst := strings.HasPrefix(req.Tags.Stage, "analyst")
	for _, stage := range s.stages {
		if req.Tags.Stage == stage && (!analyst || h.Sum32()%2 == 0) {
			return model.Response{Text: "no", Finish: model.FinishStop}, nil
		}
	}
	return s.Client.Generate(ctx, req)
}

// losing is the program of the example, which breaks off at some tasks, each time or the
// first time only.
const losing = `import json, os, runpy, sys
real = sys.stdin
here = os.path.dirname(os.path.abspath(__file__))
def first(mark):
    path = os.path.join(here, "seen-" + mark)
    if os.path.exists(path):
        return False
    open(path, "w").close()
    return True
class Lines:
    def __iter__(self):
        for line in real:
            task = json.loads(line)
            n = int(task["id"].split("-")[1]) % 10
            if task["id"] in ("bought-1013", "carrier-1036"):
                sys.stderr.write("no such date\n")
                sys.stderr.flush()
                os._exit(9)
            if n in (1, 2, 3) and first(task["id"]):
                if n == 1:
                    os._exit(7)
                print("loading..." if n == 2 else json.dumps({"error": "the server is down"}), flush=True)
                continue
            yield line
sys.stdin = Lines()
runpy.run_path(os.path.join(here, "my_env.py"), run_name="__main__")
`

// A run that loses in every way tells all of it in its report: items, replies by stage,
// steps, and what was tried in vain.
func TestTheReportTellsAllThatWasLost(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/env-python")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "losing.py"), losing)
	l, err := config.Load(config.Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	cfg := l.Config
	cfg.Split.CrossFit = 0
	cfg.Env.Command, cfg.Reflect.MinibatchSize, cfg.Edits.Schedule = []string{"python3", "losing.py"}, 2, "model"
	cfg.Train.Warm = "off" // a warm start asks nobody how many edits to make
	world, err := sim.Load(filepath.Join(dir, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	stages := []string{model.StageAnalystError, model.StageLRAutonomous, model.StageMetaSkill, model.StageSlowUpdate}
	_, err = skillopt.Train(t.Context(), cfg, skillopt.WithLoaded(l), skillopt.WithRunDir(run), skillopt.WithAcceptedSeed(),
		skillopt.WithClient(model.Optimizer, "spoiled", spoiled{sim.New(world), stages}))
	data, rerr := os.ReadFile(filepath.Join(run, "report.md"))
	if rerr != nil {
		t.Fatalf("%v, after %v", rerr, err)
	}
	_, lost, _ := strings.Cut(string(data), "## What was lost, and why")
	lost, _, _ = strings.Cut(strings.ReplaceAll(lost, `\_`, "_"), "\n## ")
	for _, want := range []string{
		`seed skill.*not measured: carrier-1036.*no such date`, `step \d.*not measured: bought-1013.*no such date`, `of the optimizer: .*analyst_error \d`, `lr_autonomous 1`, `end of epoch 2.*meta_skill 1, slow_update 1`,
		`environment \| \d+ attempts failed: it ended before it answered`, `attempts? failed: it wrote what is no answer`, `attempts? failed: it said that it could not measure`,
	} {
		if !regexp.MustCompile(want).MatchString(lost) {
			t.Errorf("nothing like %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%v\n%s", err, lost)
	}
}
