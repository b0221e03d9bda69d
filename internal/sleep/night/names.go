package night

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// maxSlug is how long the name of a document may be in names of files and runs.
const maxSlug = 80

// slug returns the name of a document as files and runs have it. No two documents have the same name, and none has a name
// that another one's runs have: where a name says too little by itself, its digest does.
func slug(id string) string {
	kind, name, _ := strings.Cut(id, ":")
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	ofRun := slices.ContainsFunc([]string{"-baseline", "-suggest", "-confirm", "-test", "-continued", judgeRun}, func(end string) bool { return strings.HasSuffix(plain, end) })
	ofRun = ofRun || strings.Contains(plain, bundleRun) || strings.Contains(plain, partRun)
	if plain == name && len(plain) <= maxSlug && !ofRun {
		return kind + "-" + plain
	}
	return kind + "-" + plain[:min(len(plain), maxSlug)] + "-" + target.Digest(id)[:8]
}

// dropCollisions leaves out documents whose names differ by case or Unicode form alone, with that as the reason: their files
// would be one where such names are, and it would be unclear for which of them a task was.
func (n settler) dropCollisions(jobs []job) []job {
	counts := map[string]int{}
	for i := range jobs {
		counts[target.FoldName(jobs[i].doc.ID())]++
	}
	return slices.DeleteFunc(jobs, func(j job) bool {
		if counts[target.FoldName(j.doc.ID())] == 1 {
			return false
		}
		c := j.out.Groups
		n.report.Skipped = append(n.report.Skipped, Skipped{Skill: j.doc.Name, Groups: c.Open + c.Fresh + c.Asleep + c.Waiting, Reason: j.doc.File() + ": another skill's name differs from it by case or Unicode form alone; rename one"})
		return true
	})
}
