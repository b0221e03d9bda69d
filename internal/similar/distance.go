package similar

// word is how many characters of the pattern one machine word holds.
const word = 64

// Levenshtein returns the fewest characters to insert, delete or replace that make b of a.
// Characters are code points. It takes len(a)*len(b)/64 steps at most, by the bit vectors
// of G. Myers, "A fast bit-vector algorithm for approximate string matching based on
// dynamic programming", JACM 46(3), 1999, in the form for whole texts of H. Hyyrö (2003).
func Levenshtein(a, b []rune) int {
	a, b = trimCommon(a, b)
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return len(b)
	}
	return newColumn(a).through(b)
}

// trimCommon leaves out what both begin and end with: it costs nothing.
func trimCommon(a, b []rune) (restA, restB []rune) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// column is one column of the table of distances, as its differences from row to row:
// a bit of up says that the next row is one more, of down that it is one less.
type column struct {
	up, down []uint64
	where    map[rune][]uint64 // the rows of a character
	last     uint64            // the bit of the last row
	size     int
}

func newColumn(pattern []rune) *column {
	blocks := (len(pattern) + word - 1) / word
	c := &column{
		up: make([]uint64, blocks), down: make([]uint64, blocks), where: map[rune][]uint64{},
		last: 1 << ((len(pattern) - 1) % word), size: len(pattern),
	}
	for i := range c.up {
		c.up[i] = ^uint64(0)
	}
	for i, r := range pattern {
		if c.where[r] == nil {
			c.where[r] = make([]uint64, blocks)
		}
		c.where[r][i/word] |= 1 << (i % word)
	}
	return c
}

// through moves over the columns of a text and returns the distance in the last row.
func (c *column) through(text []rune) int {
	distance := c.size
	none := make([]uint64, len(c.up))
	for _, r := range text {
		rows := c.where[r]
		if rows == nil {
			rows = none
		}
		distance += c.next(rows)
	}
	return distance
}

// next moves to the next column, whose character is in rows, and returns by how much
// the last row changes.
func (c *column) next(rows []uint64) (change int) {
	carryUp, carryDown := uint64(1), uint64(0) // row 0 is one more in each column
	for i := range c.up {
		up, down := c.up[i], c.down[i]
		match := rows[i]
		diagonal := match | down
		match |= carryDown
		zero := (((match & up) + up) ^ up) | match
		more, less := down|^(zero|up), up&zero
		if i == len(c.up)-1 {
			switch {
			case more&c.last != 0:
				change = 1
			case less&c.last != 0:
				change = -1
			}
		}
		nextUp, nextDown := more>>(word-1), less>>(word-1)
		more, less = more<<1|carryUp, less<<1|carryDown
		carryUp, carryDown = nextUp, nextDown
		c.up[i], c.down[i] = less|^(diagonal|more), more&diagonal
	}
	return change
}
