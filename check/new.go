package check

// The functions here write the checks of a set as data, for config.Tasks.Checks: what they return is
// what a file says, and takes further keys such as weight and feedback. "$gold" is the accepted answers
// of the task.

// Equals holds if the answer is value.
func Equals(value any) map[string]any { return withValue("equals", value) }

// Contains holds if value is in the answer.
func Contains(value any) map[string]any { return withValue("contains", value) }

// Regex holds if the pattern matches in the answer.
func Regex(pattern string) map[string]any { return withValue("regex", pattern) }

// Number holds if the answer is the number value, as far as abs allows.
func Number(value any, abs float64) map[string]any {
	c := withValue("number", value)
	c["abs"] = abs
	return c
}

// Rubric has the model of the role judge grade the answer by criteria.
func Rubric(criteria string) map[string]any {
	return map[string]any{"type": "llm-rubric", "criteria": criteria}
}

func withValue(kind string, value any) map[string]any {
	return map[string]any{"type": kind, "value": value}
}
