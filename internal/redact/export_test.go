package redact

// Looked returns how many bytes are looked at to take secrets out of a text.
func (r *Redactor) Looked(text string) (looked int) {
	r.text(text, &looked)
	return looked
}
