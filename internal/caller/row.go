package caller

// FindReply returns which entry of the record has the reply to the call or the episode under
// a key, by number and key: that of the last attempt. 0: it has none of its own, since an
// equal call was answered before, or nothing was.
func FindReply(c *Caller, key string) (row int64, at string) {
	if row, ok := c.journal.Row(key); ok {
		return row, key
	}
	for n := 0; ; n++ {
		next := stepKey(key, n, 1)
		found, ok := c.journal.Row(next)
		if !ok {
			return row, at
		}
		row, at = found, next
	}
}

// SlotLimit returns how many requests at once the endpoint of a role is given now, 0 for a
// role that has none.
func SlotLimit(c *Caller, role string) int {
	r := c.roles[role]
	if r == nil {
		return 0
	}
	s := r.end.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit
}
