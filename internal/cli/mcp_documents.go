package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Addresses of documents.
const (
	skillAddress = "skillopt://skill/"
	runAddress   = "skillopt://run/"
)

// documents returns the skills in the roots, and what runs in their folder runs have made.
func (s *mcpServer) documents() mcp.Documents {
	const markdown = "text/markdown"
	return mcp.Documents{
		List: s.listSkills, Read: s.readDocument,
		Templates: []mcp.Template{
			{URI: skillAddress + "{+path}", Name: "skill", Description: "a skill: the path of its SKILL.md below a folder of this server; the list has the first 100 that are found", Type: markdown},
			{URI: runAddress + "{name}/report", Name: "report", Description: "the report of a run in the folder runs, such as skillopt://run/my-skill-1/report", Type: markdown},
			{URI: runAddress + "{name}/diff", Name: "diff", Description: "how a run changed its skill, from the seed to the best", Type: "text/x-diff"},
		},
	}
}

// Bounds of the search for skills.
const (
	maxSkills  = 100
	maxEntries = 20_000 // files and folders that are looked at
	maxDepth   = 6
)

// listSkills finds the skills below the roots. Folders of tools and of runs have copies alone.
func (s *mcpServer) listSkills(ctx context.Context, p *mcp.Peer) ([]mcp.Document, error) {
	g, err := s.guard(ctx, p)
	if err != nil {
		return nil, err
	}
	var out []mcp.Document
	seen := 0
	for _, root := range g.Roots {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, path)
			name := e.Name()
			switch seen++; {
			case seen > maxEntries || len(out) == maxSkills || ctx.Err() != nil:
				return fs.SkipAll
			case err != nil && e.IsDir():
				return fs.SkipDir
			case e.IsDir() && path != root && (name == "node_modules" || name == ".git" || name == "runs" || strings.Count(rel, string(filepath.Separator)) >= maxDepth):
				return fs.SkipDir
			case name == skill.Main && e.Type().IsRegular():
				slashed := filepath.ToSlash(rel)
				out = append(out, mcp.Document{URI: skillAddress + escapePath(slashed), Name: slashed, Type: "text/markdown"})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, context.Cause(ctx)
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// readDocument reads a document by its address.
func (s *mcpServer) readDocument(ctx context.Context, p *mcp.Peer, uri string) (mcp.Document, error) {
	g, err := s.guard(ctx, p)
	if err != nil {
		return mcp.Document{}, err
	}
	if rest, ok := strings.CutPrefix(uri, skillAddress); ok {
		return readSkill(ctx, g, rest)
	}
	rest, _ := strings.CutPrefix(uri, runAddress)
	name, what, _ := strings.Cut(rest, "/")
	if !config.IsRunName(name) {
		return mcp.Document{}, nil
	}
	for _, root := range g.Roots {
		dir := filepath.Join(root, "runs", name)
		if exists(filepath.Join(dir, run.ManifestFile)) && g.Inside(dir) == nil {
			return readOfRun(dir, name, what)
		}
	}
	return mcp.Document{}, nil
}

// readSkill reads a SKILL.md below a root. Another file is none of the documents.
func readSkill(ctx context.Context, g *config.Guard, escaped string) (mcp.Document, error) {
	path, err := url.PathUnescape(escaped)
	if err != nil || !filepath.IsLocal(filepath.FromSlash(path)) || filepath.Base(path) != skill.Main {
		return mcp.Document{}, nil
	}
	for _, dir := range g.Roots {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		data, err := disk.ReadIn(ctx, root, filepath.FromSlash(path), skill.MaxBytes)
		if err = errors.Join(err, root.Close()); err == nil {
			return mcp.Document{Text: redact.Text(printable(string(data))), Type: "text/markdown"}, nil
		}
	}
	return mcp.Document{}, nil
}

// readOfRun reads what a run has made.
func readOfRun(dir, name, what string) (mcp.Document, error) {
	switch what {
	case "report":
		t, err := ask.ReadTraining(dir, name)
		if err != nil {
			return mcp.Document{}, err
		}
		ask.HideTestReasons(t)
		r := report.Of(t)
		r.Name = report.RunName(dir)
		return mcp.Document{Text: printable(string(report.Markdown(r))), Type: "text/markdown"}, nil
	case "diff":
		d, err := ask.Diff(ask.Side{Dir: dir, Path: name}, ask.Side{Dir: dir, Path: name})
		text := redact.Text(printable(d.Diff))
		if d.Equal {
			text = "no difference\n"
		}
		return mcp.Document{Text: text, Type: "text/x-diff"}, err
	}
	return mcp.Document{}, nil
}
