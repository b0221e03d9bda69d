package importer

// Convert converts a configuration in its flat form, as Flatten returns it.
func Convert(flat map[string]any, o Options) ([]byte, Report, error) {
	c := newConverter(flat, o)
	c.all()
	return c.finish()
}

// Keys lists the settings that have a section, as section.key.
func Keys() []string {
	var out []string
	for _, s := range settings() {
		out = append(out, s.section+"."+s.key)
	}
	return sorted(out)
}
