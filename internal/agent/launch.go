package agent

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// keyVar is the variable in which an agent finds the endpoint's key, where it
// lets us choose the name.
const keyVar = "AGENT_MODEL_KEY"

// launch is a program about to be started: an adapter adds to it.
type launch struct {
	job    Job
	home   string // what the program will take for the user's home folder
	prompt string // the job's, with what the mode and the images add
	images []string
	argv   []string
	env    []string
	stdin  string // the prompt unless the adapter says otherwise

	// ask has the program report something of itself, and returns what it printed;
	// nothing if it could not.
	ask func(args ...string) ([]byte, error)
}

// arg adds arguments.
func (l *launch) arg(args ...string) { l.argv = append(l.argv, args...) }

// set adds a variable.
func (l *launch) set(name, value string) { l.env = append(l.env, name+"="+value) }

// workspace returns the folder that the agent works in, as it sees it.
func (l *launch) workspace() string { return l.job.Show.Seen(l.job.Workspace) }

// login reports whether the agent uses a login of its own.
func (l *launch) login() bool { return l.job.Endpoint == nil }

// file writes a file of the agent's settings into its home folder, and returns
// its path as the agent sees it. The user's own home is never written to.
func (l *launch) file(name, content string) (string, error) {
	path := filepath.Join(l.job.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	return l.job.Show.Seen(path), nil
}

// settings writes a value as a file of JSON.
func (l *launch) settings(name string, value any) (string, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	return l.file(name, string(data)+"\n")
}

// toolsName is what agents call the server of tools that they are given.
const toolsName = "world"

// toolsKeyVar is the variable with its key, for agents that read it from one.
const toolsKeyVar = "AGENT_TOOLS_KEY"

// servers returns the server of tools in the form of most agents: one entry, under the name that the address has there.
func (l *launch) servers(address string, more map[string]any) map[string]any {
	entry := map[string]any{address: l.job.Tools.URL, "headers": map[string]string{"Authorization": "Bearer " + l.job.Tools.Key}}
	maps.Copy(entry, more)
	return map[string]any{toolsName: entry}
}

// baseEnv returns all that a program sees of its surroundings, as environment variables. There are
// no proxies among them: some agents would send even loopback traffic there.
func baseEnv(path, home, login string) []string {
	env := []string{
		"PATH=" + path, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "TZ=UTC",
		"TMPDIR=" + filepath.Join(home, "tmp"), "TEMP=" + filepath.Join(home, "tmp"), "TMP=" + filepath.Join(home, "tmp"),
	}
	if login != "" {
		return append(env, "HOME="+login, "USERPROFILE="+login)
	}
	return append(env,
		"HOME="+home, "USERPROFILE="+home,
		"XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_CACHE_HOME="+filepath.Join(home, ".cache"),
		"XDG_DATA_HOME="+filepath.Join(home, ".local", "share"), "XDG_STATE_HOME="+filepath.Join(home, ".local", "state"),
	)
}

// mergeEnv joins lists of variables. Of two of the same name the later one wins.
func mergeEnv(lists ...[]string) []string {
	seen := map[string]bool{}
	var out []string
	for _, list := range slices.Backward(lists) {
		for _, e := range slices.Backward(list) {
			if name, _, _ := strings.Cut(e, "="); !seen[name] {
				seen[name] = true
				out = append(out, e)
			}
		}
	}
	slices.Reverse(out)
	return out
}

// imageName returns the file name of the nth image, 0-based.
func imageName(n int, img model.Image) (string, error) {
	endings := map[string]string{"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
	ending, ok := endings[img.MIME]
	if !ok {
		return "", fmt.Errorf("image %d has the type %q: allowed are png, jpeg, gif and webp", n+1, img.MIME)
	}
	return fmt.Sprintf("image-%d.%s", n+1, ending), nil
}

// attach writes the images of the job into its home folder.
func (l *launch) attach() error {
	for i, img := range l.job.Images {
		name, err := imageName(i, img)
		if err != nil {
			return err
		}
		path, err := l.file("images/"+name, string(img.Data))
		if err != nil {
			return err
		}
		l.images = append(l.images, path)
	}
	return nil
}

// blocks returns a user's message with images, in the form of Anthropic's protocol.
func (l *launch) blocks() (string, error) {
	content := []any{map[string]string{"type": "text", "text": l.prompt}}
	for _, img := range l.job.Images {
		content = append(content, map[string]any{"type": "image", "source": map[string]string{
			"type": "base64", "media_type": img.MIME, "data": base64.StdEncoding.EncodeToString(img.Data),
		}})
	}
	data, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}})
	if err != nil {
		return "", fmt.Errorf("encode images: %w", err)
	}
	return string(data) + "\n", nil
}

// ErrNoEndpoint says that a job has an endpoint which the agent cannot use.
var ErrNoEndpoint = errors.New("this agent cannot be pointed at a model server: it needs a login of its own")
