package sim

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// function is a named operation of expressions.
type function struct {
	arity int
	apply func(s scope, args []value) (value, error)
}

func functions() map[string]function {
	return map[string]function{
		"sum":    {1, sumItems},
		"count":  {1, func(_ scope, a []value) (value, error) { return scalar(strconv.Itoa(len(a[0].items))), nil }},
		"min":    {1, func(_ scope, a []value) (value, error) { return extreme(a[0], -1) }},
		"max":    {1, func(_ scope, a []value) (value, error) { return extreme(a[0], 1) }},
		"first":  {1, func(_ scope, a []value) (value, error) { return element(a[0], 0) }},
		"last":   {1, func(_ scope, a []value) (value, error) { return element(a[0], len(a[0].items)-1) }},
		"pick":   {2, pickBy},
		"join":   {2, func(_ scope, a []value) (value, error) { return scalar(strings.Join(a[0].items, a[1].at(0))), nil }},
		"cat":    {2, catenate},
		"fixed":  {2, formatFixed},
		"lookup": {2, lookup},
		"else":   {2, orElse},
	}
}

func functionNames() string {
	return strings.Join(slices.Sorted(maps.Keys(functions())), ", ")
}

func sumItems(_ scope, args []value) (value, error) {
	total := new(big.Rat)
	for _, item := range args[0].items {
		n, err := number(item)
		if err != nil {
			return value{}, err
		}
		total.Add(total, n)
	}
	return scalar(decimal(total)), nil
}

// extreme returns the first smallest (sign -1) or largest (sign 1) number.
func extreme(v value, sign int) (value, error) {
	if len(v.items) == 0 {
		return value{}, fmt.Errorf("the list is empty")
	}
	var best *big.Rat
	var text string
	for _, item := range v.items {
		n, err := number(item)
		if err != nil {
			return value{}, err
		}
		if best == nil || n.Cmp(best) == sign {
			best, text = n, item
		}
	}
	return scalar(text), nil
}

func element(v value, i int) (value, error) {
	if len(v.items) == 0 {
		return value{}, fmt.Errorf("the list is empty")
	}
	return scalar(v.items[i]), nil
}

// pickBy returns the elements of the first list where the second is true.
func pickBy(_ scope, args []value) (value, error) {
	out := value{list: true}
	_, err := pairwise(args[0], args[1], func(a, b string) (string, error) {
		if b != "0" && b != "" {
			out.items = append(out.items, a)
		}
		return "", nil
	})
	return out, err
}

// catenate joins texts element by element.
func catenate(_ scope, args []value) (value, error) {
	return pairwise(args[0], args[1], func(a, b string) (string, error) { return a + b, nil })
}

// formatFixed writes numbers with a fixed count of decimals, half away from zero.
func formatFixed(_ scope, args []value) (value, error) {
	return pairwise(args[0], args[1], func(a, b string) (string, error) {
		n, err := number(a)
		if err != nil {
			return "", err
		}
		digits, err := strconv.Atoi(b)
		if err != nil || digits < 0 || digits > maxDecimals {
			return "", fmt.Errorf("decimals: found %q, allowed are 0 to %d", b, maxDecimals)
		}
		return n.FloatString(digits), nil
	})
}

// lookup translates each text with a table; one that is missing is an error.
func lookup(s scope, args []value) (value, error) {
	name := args[0].at(0)
	table, ok := s.tables[name]
	if !ok {
		return value{}, fmt.Errorf("there is no table %q", name)
	}
	return pairwise(args[1], scalar(""), func(a, _ string) (string, error) {
		to, ok := table[a]
		if !ok {
			return "", fmt.Errorf("the table %s has no entry %q", name, a)
		}
		return to, nil
	})
}

// orElse returns the first value, or the second when the first is empty.
func orElse(_ scope, args []value) (value, error) {
	if args[0].text() == "" {
		return args[1], nil
	}
	return args[0], nil
}
