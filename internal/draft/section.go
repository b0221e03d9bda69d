package draft

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Section is what is under one heading of a file: what a task can test.
type Section struct {
	File     int    // index into Material.Files
	Title    string // of the heading, "" before the first one
	From, To int    // lines, 1-based, both included
	Rules    int    // lines that state something
}

var headingLine = pattern.New(`^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// Sections takes the files apart at their headings. What holds no text but
// headings, examples in code fences and comments is no part.
func Sections(m Material) []Section {
	var all []Section
	for i, f := range m.Files {
		p := Section{File: i, From: f.First + 1}
		end := func(to int) {
			if p.To = to; p.Rules > 0 {
				all = append(all, p)
			}
		}
		states := statements(f)
		for n := f.First; n < len(f.Lines); n++ {
			if h := headingLine.FindStringSubmatch(f.Lines[n]); h != nil && !states[n].fenced {
				end(n)
				p = Section{File: i, Title: h[1], From: n + 1}
				continue
			}
			if states[n].rule {
				p.Rules++
			}
		}
		end(len(f.Lines))
	}
	return all
}

// lineKind says what a line is.
type lineKind struct{ rule, fenced bool }

// statements distinguishes the lines that state something from blank lines, headings,
// fences with what they hold, comments and front matter.
func statements(f File) []lineKind {
	kinds := make([]lineKind, len(f.Lines))
	fence, comment := "", false
	for n := f.First; n < len(f.Lines); n++ {
		line := strings.TrimSpace(f.Lines[n])
		switch {
		case fence != "":
			kinds[n].fenced = true
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			kinds[n].fenced, fence = true, line[:3]
		case comment || strings.HasPrefix(line, "<!--"):
			comment = !strings.Contains(line, "-->")
		default:
			kinds[n].rule = line != "" && !headingLine.MatchString(f.Lines[n]) && strings.Trim(line, "-=*_|: ") != ""
		}
	}
	return kinds
}

// Allot divides n tasks over parts by how much they state. With at least as many
// tasks as parts each gets one; with fewer, those that state most do. All
// references together weigh no more than SKILL.md, so that a long one does not
// crowd it out. Between equals the seed decides. The result has an entry a part.
func Allot(parts []Section, n int, seed int64) []int {
	counts := make([]int, len(parts))
	if len(parts) == 0 || n <= 0 {
		return counts
	}
	weights := weigh(parts)
	order := rand.New(rand.NewPCG(uint64(seed), 0x6472616674)).Perm(len(parts))
	by := func(key []float64) []int {
		list := slices.Clone(order)
		slices.SortStableFunc(list, func(a, b int) int {
			switch {
			case key[a] > key[b]:
				return -1
			case key[a] < key[b]:
				return 1
			}
			return 0
		})
		return list
	}
	first := by(weights)[:min(n, len(parts))]
	sum := 0.0
	for _, i := range first {
		counts[i], sum = 1, sum+weights[i]
	}
	left := n - len(first)
	rest, given := make([]float64, len(parts)), 0
	for _, i := range first {
		share := float64(left) * weights[i] / sum
		counts[i] += int(share)
		given += int(share)
		rest[i] = share - float64(int(share))
	}
	for _, i := range by(rest)[:left-given] {
		counts[i]++
	}
	return counts
}

func weigh(parts []Section) []float64 {
	var main, others float64
	weights := make([]float64, len(parts))
	for i, p := range parts {
		weights[i] = float64(p.Rules)
		if p.File == 0 {
			main += weights[i]
		} else {
			others += weights[i]
		}
	}
	if main > 0 && others > main {
		for i, p := range parts {
			if p.File != 0 {
				weights[i] *= main / others
			}
		}
	}
	return weights
}

// TasksPerCall is how many tasks one call is asked for, at most.
const TasksPerCall = 5

// share is how many tasks of a call are to test a part.
type share struct{ part, n int }

// chunk is what one call is asked for: tasks on parts of one file.
type chunk struct {
	file   int
	shares []share
}

func (c chunk) tasks() int {
	n := 0
	for _, s := range c.shares {
		n += s.n
	}
	return n
}

// chunks packs the tasks that parts want into calls, in the order of the parts.
func chunks(parts []Section, counts []int) []chunk {
	var all []chunk
	room := 0
	for i, n := range counts {
		for n > 0 {
			if room == 0 || all[len(all)-1].file != parts[i].File {
				all, room = append(all, chunk{file: parts[i].File}), TasksPerCall
			}
			take := min(n, room)
			last := &all[len(all)-1]
			last.shares = append(last.shares, share{part: i, n: take})
			n, room = n-take, room-take
		}
	}
	return all
}
