package importer

import (
	"math"
	"slices"
	"strings"
)

// words returns the keys whose value is one of a list of words, with that list. Their value is read
// in places that take anything else for nothing said.
func words() map[string]string {
	words := map[string]string{
		"model_backend": "the name of a backend", "optimizer_backend": "the name of a backend", "target_backend": "the name of a backend",
		"skill_update_mode": "patch, rewrite_from_suggestions, full_rewrite_minibatch", "lr_control_mode": "fixed, autonomous, none",
		"longitudinal_pair_policy": "mixed, changed, unchanged", "split_mode": "ratio, split_dir",
	}
	for _, role := range []string{"", "optimizer_", "target_"} {
		words[role+"azure_openai_auth_mode"] = "azure_cli, managed_identity, api_key, openai_compatible"
		words[role+"qwen_chat_thinking_mode"] = "server_default, enabled, disabled"
	}
	return words
}

// truths returns the keys that are read as yes or no in places that take anything else for nothing said.
func truths() []string {
	return []string{
		"use_semantic_density", "minimax_enable_thinking",
		"qwen_chat_enable_thinking", "optimizer_qwen_chat_enable_thinking", "target_qwen_chat_enable_thinking",
	}
}

// kinds finds the values that are of another kind than their key. A default in
// their place would pass for what the source says.
func (c *converter) kinds() {
	for flat, allowed := range words() {
		if _, isText := c.in[flat].(string); !isText && c.set(flat) {
			c.note(flat, Unusable, "found "+c.show(c.in[flat])+", allowed: "+allowed)
			c.wrong[flat] = true
		}
	}
	yesOrNo := field{kinds: []string{"boolean"}}
	for _, flat := range truths() {
		if _, ok := yesOrNo.kind(c.in[flat]); !ok && c.set(flat) {
			c.note(flat, Unusable, "found "+c.show(c.in[flat])+", allowed: true or false")
			c.wrong[flat] = true
		}
	}
}

// hasControl reports whether a text in v, or a key, holds a character that YAML has
// only by its number, and a terminal as an order.
func hasControl(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 })
	case []any:
		return slices.ContainsFunc(v, hasControl)
	case map[string]any:
		for key, inner := range v {
			if hasControl(key) || hasControl(inner) {
				return true
			}
		}
	}
	return false
}

// hasNaN reports whether there is a NaN in v.
func hasNaN(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsNaN(v)
	case []any:
		return slices.ContainsFunc(v, hasNaN)
	case map[string]any:
		for _, inner := range v {
			if hasNaN(inner) {
				return true
			}
		}
	}
	return false
}
