package acceptance_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// picture is a PNG of n by n black points.
func picture(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, n, n))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pictured evaluates one task about pics/a.png in dir.
func pictured(t *testing.T, dir, run string, client model.Client, change func(*config.Config)) error {
	t.Helper()
	cfg := config.Default()
	cfg.Skill = filepath.Join(guaranteeDir, "SKILL.md")
	cfg.Tasks.Path = filepath.Join(dir, "tasks.jsonl")
	cfg.Models.Target.Temperature = new(float64)
	change(&cfg)
	write(t, cfg.Tasks.Path, `{"id":"one","prompt":"What is it?","gold":"done","split":"test","images":["pics/a.png"]}`+"\n")
	l, err := config.Load(config.Options{Dir: dir, Lookup: func(name string) (string, bool) { return os.Getenv(name), name == "PATH" }})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	_, err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithRunDir(run), skillopt.WithLoaded(l), skillopt.WithClient(model.Target, "scripted", client))
	return err
}

// The pictures of a task reach whoever carries it out, and are part of what a run
// is. The record does not hold them.
func TestPicturesReachTheTarget(t *testing.T) {
	t.Parallel()
	shown := func(_ *testing.T, h *heard) (images []model.Image, text string) {
		for _, m := range h.reqs[0].Messages {
			for _, p := range m.Parts {
				if p.Image != nil {
					images = append(images, *p.Image)
				}
			}
			text += m.Text()
		}
		return images, text
	}
	custom := map[string]any{
		"argv": []any{"bash", "-c", `case "$p" in *.attachments/image-1.png*) test -s .attachments/image-1.png && printf done;; *) printf nothing;; esac`},
		"env":  map[string]any{"p": "{{prompt}}"},
	}
	for name, tt := range map[string]struct {
		change func(*config.Config)
		model  bool // it sees the picture
	}{
		"chat":          {func(*config.Config) {}, true},
		"builtin agent": {func(c *config.Config) { c.Agent.Name = "builtin" }, true},
		"custom agent":  {func(c *config.Config) { c.Agent.Name, c.Agent.Custom, c.Agent.Gateway = "custom", custom, false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "chat" {
				needsSandbox(t)
			}
			dir, run := t.TempDir(), filepath.Join(t.TempDir(), "run")
			file := filepath.Join(dir, "pics", "a.png")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, file, picture(t, 300))
			client := &heard{}
			if err := pictured(t, dir, run, client, tt.change); err != nil {
				t.Fatal(err)
			}
			o := outcomesIn(t, run)["one"]
			if o.Hard != 1 || !strings.Contains(o.Question, "pics/a.png") {
				t.Errorf("%+v", o)
			}
			if tt.model {
				images, text := shown(t, client)
				if len(images) != 1 || images[0].MIME != "image/png" || string(images[0].Data) != picture(t, 300) || !strings.Contains(text, "What is it?") {
					t.Errorf("the model was shown %d images and %q", len(images), text)
				}
			}
			db, err := os.ReadFile(filepath.Join(run, "run.db"))
			if err != nil {
				t.Fatal(err)
			}
			if pixels := base64.StdEncoding.EncodeToString([]byte(picture(t, 300))); strings.Contains(string(db), pixels[:100]) {
				t.Error("the record holds the picture")
			}
			n := len(client.reqs)
			if err := pictured(t, dir, run, client, tt.change); err != nil || len(client.reqs) != n {
				t.Errorf("resumed: %v, %d requests and then %d", err, n, len(client.reqs))
			}
			write(t, file, picture(t, 301))
			if err := pictured(t, dir, run, client, tt.change); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "tasks.path") {
				t.Errorf("with another picture: %v", err)
			}
		})
	}
}

// A picture that cannot be shown is found before anything is spent.
func TestPicturesAreLookedAtFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		leave func(t *testing.T, file string)
		want  string
	}{
		"missing":   {func(*testing.T, string) {}, "no such file"},
		"text":      {func(t *testing.T, file string) { write(t, file, "hello") }, "png, jpeg, gif, webp"},
		"a folder":  {func(t *testing.T, file string) { _ = os.Mkdir(file, 0o755) }, "a file of at most 20 MB"},
		"too large": {func(t *testing.T, file string) { write(t, file, ""); _ = os.Truncate(file, 21<<20) }, "a file of at most 20 MB"},
		"a way out": {func(t *testing.T, file string) { _ = os.Symlink("/etc/passwd", file) }, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "pics", "a.png")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			tt.leave(t, file)
			err := pictured(t, dir, filepath.Join(t.TempDir(), "run"), noCalls{t}, func(*config.Config) {})
			if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "tasks.jsonl:1") {
				t.Errorf("%v", err)
			}
		})
	}
}
