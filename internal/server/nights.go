package server

import (
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// Night is what the folder of a night says, its row of the list, and which of its runs are shown.
type Night struct {
	record.NightView

	Row    result.RunRow     `json:"row"`
	RunIDs map[string]string `json:"run_ids"` // by the names that the night has for them: those alone that are shown
}

// night shows a night.
func (s *Server) night(_ http.ResponseWriter, r *http.Request) (any, error) {
	f, at, err := findNight(s.folders, r.PathValue("night"))
	if err != nil {
		return nil, err
	}
	v, err := at.View(r.Context())
	if err != nil {
		return nil, err
	}
	out := Night{NightView: v, Row: at.Row(r.Context()), RunIDs: map[string]string{}}
	out.Row.ID = f.name + ":" + at.ID()
	for _, name := range listNightRuns(v) {
		if id, ok := shownRun(s.folders, at, name); ok {
			out.RunIDs[name] = id
		}
	}
	return out, nil
}

// findNight finds the night that an address names, among those of its folder: no part of the address becomes a part of a path.
func findNight(folders []folder, id string) (folder, record.NightAt, error) {
	none := notFoundError("there is no night " + quoteText(id) + " in the folders that are shown")
	name, rest, ok := strings.Cut(id, ":")
	at := slices.IndexFunc(folders, func(f folder) bool { return f.name == name })
	if !ok || at < 0 {
		return folder{}, record.NightAt{}, none
	}
	list, err := folders[at].Nights()
	if err != nil {
		return folder{}, record.NightAt{}, err
	}
	i := slices.IndexFunc(list, func(n record.NightAt) bool { return n.ID() == rest })
	if i < 0 {
		return folder{}, record.NightAt{}, none
	}
	return folders[at], list[i], nil
}

// listNightRuns lists the runs that a night names, as it names them: below its sleep.dir.
func listNightRuns(v record.NightView) []string {
	out := slices.Clone(v.Mined.Runs)
	if v.Joint != nil {
		out = append(out, v.Joint.Runs...)
	}
	for i := range v.Adopted {
		out = append(out, v.Adopted[i].Run)
	}
	for i := range v.Targets {
		t := &v.Targets[i]
		out = append(out, t.Runs...)
		for _, l := range []*result.NightLook{t.Confirmed, t.Test} {
			if l != nil {
				out = append(out, l.Run)
			}
		}
		if t.Continued != nil {
			out = append(out, t.Continued.Run)
		}
		if t.Judge != nil {
			out = append(out, t.Judge.Run)
		}
	}
	for i := range v.Answers {
		out = append(out, v.Answers[i].Run)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shownRun returns the id of a run that a night names, if its folder is shown and it is there.
func shownRun(folders []folder, n record.NightAt, name string) (string, bool) {
	below := filepath.Join(n.Dir(), "..", "..", "..", "runs")
	dir, base := path.Split(name)
	if dir != "runs/" {
		return "", false
	}
	for _, f := range folders {
		if f.Runs != below {
			continue
		}
		if at, err := f.find(base); err == nil {
			return at.id, true
		}
	}
	return "", false
}
