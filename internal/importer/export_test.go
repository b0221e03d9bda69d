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
	return sortStrings(out)
}

// EveryKey lists all keys that are known, those of data and of benchmarks too.
func EveryKey() []string {
	out := Keys()
	for _, key := range append(dataKeys(), benchmarkKeys()...) {
		out = append(out, "env."+key)
	}
	return sortStrings(out)
}
