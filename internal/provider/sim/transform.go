package sim

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
)

// transform changes the form of an answer. It is pure, and leaves an answer
// that it cannot be applied to as it is.
type transform func(answer string) string

// transformKinds are the allowed values of transform.kind.
const transformKinds = "constant, date, round, scale, prefix, suffix, replace, sort, separator, upper, lower, lookup"

// newTransform compiles a transformation. The key in the error names the key
// below transform that is at fault.
func newTransform(f transformFile, tables map[string]map[string]string) (t transform, key string, err error) {
	switch f.Kind {
	case "constant":
		return func(string) string { return f.Text }, "text", need(f.Text != "")
	case "prefix":
		return prefix(f.Text), "text", need(f.Text != "")
	case "suffix":
		return suffix(f.Text), "text", need(f.Text != "")
	case "upper":
		return strings.ToUpper, "", nil
	case "lower":
		return strings.ToLower, "", nil
	case "separator":
		return separator(f.Text), "text", need(f.Text != "")
	case "date":
		if len(f.From) == 0 {
			return nil, "from", need(false)
		}
		return layout(f.From, f.To), "to", need(f.To != "")
	case "round":
		if f.Digits == nil || *f.Digits < 0 || *f.Digits > maxDecimals {
			return nil, "digits", fmt.Errorf("needed, from 0 to %d", maxDecimals)
		}
		return numbers(func(n *big.Rat) string { return n.FloatString(*f.Digits) }), "", nil
	case "scale":
		if f.Factor == nil {
			return nil, "factor", need(false)
		}
		if len(f.From) > 1 {
			return nil, "from", fmt.Errorf("found %d units, one is allowed", len(f.From))
		}
		return scale(*f.Factor, strings.Join(f.From, ""), f.To), "", nil
	case "replace":
		re, err := regexp.Compile(f.Pattern)
		if err == nil {
			err = need(f.Pattern != "")
		}
		return func(answer string) string { return re.ReplaceAllString(answer, f.With) }, "pattern", err
	case "sort":
		if f.By != "text" && f.By != "number" {
			return nil, "by", fmt.Errorf("found %q, allowed are text and number", f.By)
		}
		return newSort(f.By == "number", f.Desc), "", nil
	case "lookup":
		table, ok := tables[f.Table]
		if !ok {
			return nil, "table", fmt.Errorf("there is no table %q", f.Table)
		}
		return translate(table), "", nil
	}
	return nil, "kind", fmt.Errorf("found %q, allowed are %s", f.Kind, transformKinds)
}

func need(ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("needed by this kind of transform")
}

func prefix(text string) transform {
	return func(answer string) string {
		if strings.HasPrefix(answer, text) {
			return answer
		}
		return text + answer
	}
}

func suffix(text string) transform {
	return func(answer string) string {
		if strings.HasSuffix(answer, text) {
			return answer
		}
		return answer + text
	}
}

// layout rewrites a date or time from the first layout that fits.
func layout(from []string, to string) transform {
	return func(answer string) string {
		for _, l := range from {
			if t, err := time.Parse(l, strings.TrimSpace(answer)); err == nil {
				return t.Format(to)
			}
		}
		return answer
	}
}

// scale multiplies every number, and replaces one unit by another. An
// answer without the unit is left alone.
func scale(factor float64, from, to string) transform {
	by := toRat(factor)
	multiply := numbers(func(n *big.Rat) string { return decimal(n.Mul(n, by)) })
	if from == "" {
		return multiply
	}
	unit := regexp.MustCompile(`(^|[\s\d])` + regexp.QuoteMeta(from) + `\b`)
	with := "${1}" + strings.ReplaceAll(to, "$", "$$")
	return func(answer string) string {
		if !unit.MatchString(answer) {
			return answer
		}
		return unit.ReplaceAllString(multiply(answer), with)
	}
}

// numbers rewrites every decimal number of an answer.
func numbers(f func(n *big.Rat) string) transform {
	return func(answer string) string {
		var b strings.Builder
		for answer != "" {
			i := strings.IndexAny(answer, "0123456789")
			if i < 0 {
				break
			}
			n := span(answer[i:], "0123456789")
			if i+n+1 < len(answer) && answer[i+n] == '.' && isDigit(answer[i+n+1]) {
				n += 1 + span(answer[i+n+1:], "0123456789")
			}
			b.WriteString(answer[:i])
			if r, err := number(answer[i : i+n]); err == nil {
				b.WriteString(f(r))
			} else {
				b.WriteString(answer[i : i+n])
			}
			answer = answer[i+n:]
		}
		b.WriteString(answer)
		return b.String()
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// listSeparators are tried in this order to take an answer apart.
var listSeparators = [...]string{"; ", " | ", ", ", " / ", "\n", ";", "|", ","}

// parts takes a list answer apart and returns what was between its elements,
// "" when there is one element only.
func parts(answer string) (items []string, between string) {
	for _, sep := range listSeparators {
		if strings.Contains(answer, sep) {
			return strings.Split(answer, sep), sep
		}
	}
	return []string{answer}, ""
}

func separator(text string) transform {
	return func(answer string) string {
		items, _ := parts(answer)
		return strings.Join(items, text)
	}
}

// newSort returns a transform that orders the elements of a list answer and keeps the separator. It
// does not sort a list by number that has an element that is no number.
func newSort(byNumber, descending bool) transform {
	compare := func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
	return func(answer string) string {
		items, between := parts(answer)
		order := compare
		if byNumber {
			values := map[string]*big.Rat{}
			for _, item := range items {
				n, err := number(item)
				if err != nil {
					return answer
				}
				values[item] = n
			}
			order = func(a, b string) int { return values[a].Cmp(values[b]) }
		}
		slices.SortStableFunc(items, func(a, b string) int {
			if descending {
				a, b = b, a
			}
			return order(a, b)
		})
		return strings.Join(items, between)
	}
}

// translate replaces each element of a list answer that the table knows.
func translate(table map[string]string) transform {
	return func(answer string) string {
		if to, ok := table[answer]; ok {
			return to
		}
		items, between := parts(answer)
		for i, item := range items {
			if to, ok := table[item]; ok {
				items[i] = to
			}
		}
		return strings.Join(items, between)
	}
}
