package dataset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// scalar returns a value of a column as JSON would have it. NaN is nil, which is what writers of
// tables mean by it; infinities are "Infinity" and "-Infinity".
func (n *node) scalar(v parquet.Value) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean(), nil
	case parquet.Int32:
		return n.integer(int64(v.Int32()), 32)
	case parquet.Int64:
		return n.integer(v.Int64(), 64)
	case parquet.Int96:
		return int96(v.Int96()), nil
	case parquet.Float:
		return float(float64(v.Float()), 32), nil
	case parquet.Double:
		return float(v.Double(), 64), nil
	}
	return n.binary(v.ByteArray())
}

// integer returns a number, or what it represents.
func (n *node) integer(v int64, bits int) (any, error) {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.DecimalType:
		return decimal(big.NewInt(v), t.Scale)
	case *format.DateType:
		return date(v), nil
	case *format.TimeType:
		return clock(v, unit(&t.Unit)), nil
	case *format.TimestampType:
		return moment(v, unit(&t.Unit), t.IsAdjustedToUTC), nil
	case *format.IntType:
		if !t.IsSigned {
			return formatUnsigned(v, bits), nil
		}
		return json.Number(strconv.FormatInt(v, 10)), nil
	}
	if n.element.ConvertedType.Valid {
		switch n.element.ConvertedType.V {
		case deprecated.Decimal:
			return decimal(big.NewInt(v), n.element.Scale.V)
		case deprecated.Date:
			return date(v), nil
		case deprecated.TimeMillis:
			return clock(v, time.Millisecond), nil
		case deprecated.TimeMicros:
			return clock(v, time.Microsecond), nil
		case deprecated.TimestampMillis:
			return moment(v, time.Millisecond, true), nil
		case deprecated.TimestampMicros:
			return moment(v, time.Microsecond, true), nil
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			return formatUnsigned(v, bits), nil
		}
	}
	return json.Number(strconv.FormatInt(v, 10)), nil
}

func formatUnsigned(v int64, bits int) json.Number {
	if bits == 32 {
		return json.Number(strconv.FormatUint(uint64(uint32(v)), 10))
	}
	return json.Number(strconv.FormatUint(uint64(v), 10))
}

// binary returns a text, or what the bytes represent, or the bytes.
func (n *node) binary(data []byte) (any, error) {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return text(data)
	case *format.DecimalType:
		return decimal(parseSigned(data), t.Scale)
	case *format.UUIDType:
		id, err := uuid.FromBytes(data)
		if err != nil {
			return nil, &Error{Err: ErrBroken, Msg: err.Error()}
		}
		return id.String(), nil
	case *format.Float16Type:
		if len(data) != 2 {
			return nil, &Error{Err: ErrBroken, Msg: "a number of 16 bits has not two bytes"}
		}
		return float(half(binary.LittleEndian.Uint16(data)), 32), nil
	}
	if n.element.ConvertedType.Valid {
		switch n.element.ConvertedType.V {
		case deprecated.UTF8, deprecated.Enum, deprecated.Json:
			return text(data)
		case deprecated.Decimal:
			return decimal(parseSigned(data), n.element.Scale.V)
		case deprecated.Interval:
			return nil, &Error{Err: ErrUnsupported, Msg: "intervals are not read: take the column out"}
		}
	}
	return bytes.Clone(data), nil
}

func text(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, &Error{Err: ErrBroken, Msg: "a text is not valid UTF-8"}
	}
	return string(data), nil
}

// float writes a number as JSON does.
func float(v float64, bits int) any {
	switch {
	case math.IsNaN(v):
		return nil
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	sign := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		sign = 'e'
	}
	return json.Number(strconv.FormatFloat(v, sign, -1, bits))
}

// half returns the value of a number of 16 bits.
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&31), float64(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// parseSigned reads an integer in two's complement, its highest byte first.
func parseSigned(data []byte) *big.Int {
	v := new(big.Int).SetBytes(data)
	if len(data) > 0 && data[0]>>7 == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(len(data))*8))
	}
	return v
}

// mostDigits bounds the digits of a decimal number.
const mostDigits = 1000

// decimal writes a number with a point before its last scale digits.
func decimal(v *big.Int, scale int32) (any, error) {
	if scale < 0 || scale > mostDigits || v.BitLen() > 4*mostDigits {
		return nil, &Error{Err: ErrUnsupported, Msg: fmt.Sprintf("a decimal number of more than %d digits", mostDigits)}
	}
	digits := new(big.Int).Abs(v).String()
	if n := int(scale) + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	if at := len(digits) - int(scale); scale > 0 {
		digits = digits[:at] + "." + digits[at:]
	}
	if v.Sign() < 0 {
		digits = "-" + digits
	}
	return digits, nil
}

// secondsOfDay are those of a day without leaps.
const secondsOfDay = 24 * 60 * 60

func date(days int64) string {
	return time.Unix(days*secondsOfDay, 0).UTC().Format(time.DateOnly)
}

func unit(u *format.TimeUnit) time.Duration {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return time.Millisecond
	case *format.MicroSeconds:
		return time.Microsecond
	}
	return time.Nanosecond
}

// clock returns a time of day as text.
func clock(v int64, unit time.Duration) string { return at(v, unit).Format("15:04:05.999999999") }

// moment returns a date with a time as text, with its zone where it has one.
func moment(v int64, unit time.Duration, utc bool) string {
	if utc {
		return at(v, unit).Format(time.RFC3339Nano)
	}
	return at(v, unit).Format("2006-01-02T15:04:05.999999999")
}

func at(v int64, unit time.Duration) time.Time {
	per := int64(time.Second / unit)
	seconds, rest := v/per, v%per
	return time.Unix(seconds, rest*int64(unit)).UTC()
}

// int96 returns the text of a moment as older writers have it: nanoseconds of a day, and the day,
// counted from noon of the first of January 4713 BC.
func int96(v deprecated.Int96) string {
	const epoch = 2440588
	nanos := int64(uint64(v[1])<<32 | uint64(v[0]))
	return time.Unix((int64(v[2])-epoch)*secondsOfDay, nanos).UTC().Format(time.RFC3339Nano)
}
