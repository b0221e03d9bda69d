package dataset

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	thriftlib "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func TestValuesThatStandForOthers(t *testing.T) {
	t.Parallel()
	dec := func(v int64, scale int32) any {
		out, err := decimal(big.NewInt(v), scale)
		if err != nil {
			return err
		}
		return out
	}
	for _, c := range []struct{ got, want any }{
		{dec(-5, 2), "-0.05"},
		{dec(0, 0), "0"},
		{dec(12345, 5), "0.12345"},
		{dec(7, 0), "7"},
		{parseSigned([]byte{0xff, 0x85}).Int64(), int64(-123)},
		{parseSigned([]byte{0, 0xff}).Int64(), int64(255)},
		{parseSigned(nil).Int64(), int64(0)},
		{half(0x3c00), 1.0},
		{half(0xc100), -2.5},
		{half(0x0001), math.Ldexp(1, -24)},
		{half(0xfc00), math.Inf(-1)},
		{math.IsNaN(half(0x7e00)), true},
		{float(1e21, 64), json.Number("1e+21")},
		{float(-0.5, 32), json.Number("-0.5")},
		{float(0, 64), json.Number("0")},
		{date(-1), "1969-12-31"},
		{clock(3_723_000_001, time.Microsecond), "01:02:03.000001"},
		{moment(-1, time.Nanosecond, true), "1969-12-31T23:59:59.999999999Z"},
		{moment(math.MaxInt64, time.Millisecond, false) != "", true},
		{int96(deprecated.Int96{1_000_000_000, 0, 2440588}), "1970-01-01T00:00:01Z"},
		{int96(deprecated.Int96{0, 0, 2440587}), "1969-12-31T00:00:00Z"},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if _, err := decimal(big.NewInt(1), 1<<30); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// element is an entry of a schema; children below 0: a column of whole numbers.
func element(name string, repetition format.FieldRepetitionType, children int32, as ...deprecated.ConvertedType) format.SchemaElement {
	e := format.SchemaElement{Name: name, RepetitionType: thriftlib.New(repetition)}
	if children < 0 {
		e.Type = thriftlib.New(format.Int32)
	} else {
		e.NumChildren = thriftlib.New(children)
	}
	if len(as) > 0 {
		e.ConvertedType = thriftlib.New(as[0])
	}
	return e
}

// TestListsOfOlderWriters: lists whose repeated field is the element itself, and maps.
func TestListsOfOlderWriters(t *testing.T) {
	t.Parallel()
	value := func(v int32, repetition, definition, column int) parquet.Value {
		return parquet.ValueOf(v).Level(repetition, definition, column)
	}
	one, two := json.Number("1"), json.Number("2")
	for name, c := range map[string]struct {
		schema []format.SchemaElement
		values [][]parquet.Value
		want   any
	}{
		"the repeated field is the element": {
			[]format.SchemaElement{element("a", format.Optional, 1, deprecated.List), element("element", format.Repeated, -1)},
			[][]parquet.Value{{value(1, 0, 2, 0), value(2, 1, 2, 0)}},
			[]any{one, two},
		},
		"a repeated group of two": {
			[]format.SchemaElement{element("a", format.Optional, 1, deprecated.List), element("bag", format.Repeated, 2), element("x", format.Required, -1), element("y", format.Optional, -1)},
			[][]parquet.Value{{value(1, 0, 2, 0), value(2, 1, 2, 0)}, {value(1, 0, 3, 1), value(0, 1, 2, 1)}},
			[]any{map[string]any{"x": one, "y": one}, map[string]any{"x": two, "y": nil}},
		},
		"a group named array": {
			[]format.SchemaElement{element("a", format.Required, 1, deprecated.List), element("array", format.Repeated, 1), element("x", format.Required, -1)},
			[][]parquet.Value{{value(1, 0, 1, 0)}},
			[]any{map[string]any{"x": one}},
		},
		"of three levels": {
			[]format.SchemaElement{element("a", format.Required, 1, deprecated.List), element("list", format.Repeated, 1), element("element", format.Optional, -1)},
			[][]parquet.Value{{value(1, 0, 2, 0), value(0, 1, 1, 0)}},
			[]any{one, nil},
		},
		"none": {
			[]format.SchemaElement{element("a", format.Optional, 1, deprecated.List), element("list", format.Repeated, 1), element("element", format.Optional, -1)},
			[][]parquet.Value{{value(0, 0, 0, 0)}},
			nil,
		},
		"empty": {
			[]format.SchemaElement{element("a", format.Optional, 1, deprecated.List), element("list", format.Repeated, 1), element("element", format.Optional, -1)},
			[][]parquet.Value{{value(0, 0, 1, 0)}},
			[]any{},
		},
		"a map": {
			[]format.SchemaElement{element("a", format.Required, 1, deprecated.Map), element("key_value", format.Repeated, 2), element("key", format.Required, -1), element("value", format.Optional, -1)},
			[][]parquet.Value{{value(1, 0, 1, 0), value(2, 1, 1, 0)}, {value(2, 0, 2, 1), value(0, 1, 1, 1)}},
			map[string]any{"1": two, "2": nil},
		},
		"a list that is built otherwise": {
			[]format.SchemaElement{element("a", format.Required, 1, deprecated.List), element("x", format.Required, -1)},
			[][]parquet.Value{{value(1, 0, 0, 0)}},
			map[string]any{"x": one},
		},
	} {
		root, err := newTree(append([]format.SchemaElement{{Name: "root", NumChildren: thriftlib.New(int32(1))}}, c.schema...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := root.fields(nulls(c.values))
		if diff := cmp.Diff(map[string]any{"a": c.want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// nulls makes what is 0 absent.
func nulls(columns [][]parquet.Value) [][]parquet.Value {
	for _, values := range columns {
		for i, v := range values {
			if v.Int32() == 0 {
				values[i] = parquet.NullValue().Level(v.RepetitionLevel(), v.DefinitionLevel(), v.Column())
			}
		}
	}
	return columns
}
