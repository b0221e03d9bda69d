package caller

// RowOf returns the number of the entry of the record that has the reply to the call or the
// episode under a key, that of the last attempt. 0: it has none of its own, since an equal
// call was answered before, or nothing was.
func RowOf(c *Caller, key string) int64 {
	if row, ok := c.journal.Row(key); ok {
		return row
	}
	var last int64
	for n := 0; ; n++ {
		row, ok := c.journal.Row(stepKey(key, n, 1))
		if !ok {
			return last
		}
		last = row
	}
}
