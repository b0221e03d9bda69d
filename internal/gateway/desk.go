package gateway

import "bytes"

// desk is where a request is read: its body, the strings in it whose escapes are
// resolved, and its tree. All are large, so that they are used again.
type desk struct {
	body bytes.Buffer
	room []byte
	used int    // of room
	open []node // of objects and lists whose end has not been read
	shut []node // of the others
}

// maxKept is the largest body whose desk is kept for the next one.
const maxKept = 1 << 20

// maxNodes is likewise the largest tree.
const maxNodes = 1 << 14

// ready makes room for the strings of the body. More is taken where that is not
// enough, or nobody has called it.
func (d *desk) ready() {
	if n := d.body.Len() + word; len(d.room) < n {
		d.room = make([]byte, n)
	}
}

// space returns at least n bytes that are free.
func (d *desk) space(n int) []byte {
	if len(d.room)-d.used < n {
		d.room, d.used = make([]byte, n), 0
	}
	return d.room[d.used:]
}

// close ends the object or list whose nodes are open from begun on.
func (d *desk) close(begun int) []node {
	n := len(d.open) - begun
	if n > cap(d.shut)-len(d.shut) { // what stands in the old array stays there
		d.shut = make([]node, 0, max(2*cap(d.shut), n, 8))
	}
	at := len(d.shut)
	d.shut = append(d.shut, d.open[begun:]...)
	clear(d.open[begun:]) // nodes hold on to what a session remembers
	d.open = d.open[:begun]
	return d.shut[at:len(d.shut):len(d.shut)]
}

// clear makes the desk ready for another body, and reports whether it is worth
// keeping.
func (d *desk) clear() bool {
	d.body.Reset()
	d.used = 0
	clear(d.open)
	clear(d.shut)
	d.open, d.shut = d.open[:0], d.shut[:0]
	return d.body.Cap() <= 2*maxKept && cap(d.shut) <= maxNodes && cap(d.open) <= maxNodes
}
