package adopt

// At has a store call at before each step of a transaction; an error of it is one of that step.
func (s *Store) At(at func(point string) error) { s.at = at }

// ErrKilled leaves a transaction as it is at a point, without undoing it.
var ErrKilled = errKilled

// Signed is a record under the HMAC of the store's key.
func (s *Store) Signed(r Record) Record {
	r.HMAC, _ = s.sign(r)
	return r
}
