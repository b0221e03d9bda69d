package importer

// Structured reports whether a configuration has sections: at least one of
// model, train, gradient, optimizer, evaluation and env holds a mapping.
func Structured(cfg map[string]any) bool {
	for _, name := range sections() {
		if _, ok := cfg[name].(map[string]any); ok {
			return true
		}
	}
	return false
}

// Flatten returns the flat form of a configuration: one level of keys, with
// their present names. Where a setting occurs in both forms, that of the section
// wins. Keys of the section env that are not known are kept, as they are meant
// for an environment; those of other sections are left out (Lost lists them), and
// so is the value of a section that is not a mapping.
func Flatten(cfg map[string]any) map[string]any {
	cfg = moderniseConfig(cfg)
	if !Structured(cfg) {
		return cfg
	}
	flat := map[string]any{}
	for key, value := range cfg {
		if !isSection(key) {
			flat[key] = value
		}
	}
	for _, s := range settings() {
		section, _ := cfg[s.section].(map[string]any)
		if value, ok := section[s.key]; ok {
			flat[s.flat] = value
		}
	}
	env, _ := cfg["env"].(map[string]any)
	for key, value := range env {
		if _, known := settingAt("env", key); !known {
			flat[key] = value
		}
	}
	return flat
}

// Lost names what Flatten leaves out of a structured configuration, as
// section.key, or as section when it is no mapping; sorted.
func Lost(cfg map[string]any) []string {
	cfg = moderniseConfig(cfg)
	if !Structured(cfg) {
		return nil
	}
	var lost []string
	for _, name := range sections() {
		value, there := cfg[name]
		section, ok := value.(map[string]any)
		if there && !ok {
			lost = append(lost, name)
		}
		for _, key := range sortedKeys(section) {
			if _, known := settingAt(name, key); !known && name != "env" {
				lost = append(lost, name+"."+key)
			}
		}
	}
	return sortStrings(lost)
}
