package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

var queryTag = pattern.New(`(?is)<search_queries>(.*?)</search_queries>`)

// parseQueries reads the queries of a reply: JSON, one a line, or in one line with ; or , between them.
func parseQueries(reply string) (queries []string) {
	found := queryTag.FindStringSubmatch(reply)
	if found == nil {
		return nil
	}
	raw := strings.TrimSpace(found[1])
	list := queriesOfJSON(raw)
	if len(list) == 0 {
		list = queriesOfLines(raw)
	}
	for _, query := range list {
		query = wording.Cut(strings.TrimSpace(query), maxQuery)
		if query != "" && !slices.Contains(queries, query) {
			queries = append(queries, query)
		}
	}
	return queries
}

// queriesOfLines reads a query a line; a single line may have several.
func queriesOfLines(raw string) []string {
	list := trimSigns(strings.Split(raw, "\n"))
	if len(list) == 1 {
		list = trimSigns(strings.FieldsFunc(list[0], func(r rune) bool { return r == ';' || r == ',' }))
	}
	return list
}

// queriesOfJSON reads a list, a text, or an object with one of them; nil: it is none of these.
func queriesOfJSON(raw string) []string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return nil
	}
	if object, ok := v.(map[string]any); ok {
		v = nil
		for _, key := range []string{"query", "search_queries", "queries"} {
			if object[key] != nil {
				v = object[key]
			}
		}
	}
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, entry := range v {
			list = append(list, fmt.Sprint(entry))
		}
		return list
	}
	return nil
}

// trimSigns takes marks of lists and quotes off both ends of queries, and leaves empty ones out.
func trimSigns(list []string) []string {
	var out []string
	for _, query := range list {
		if query = strings.Trim(query, " -*\t\r\"'"); query != "" {
			out = append(out, query)
		}
	}
	return out
}
