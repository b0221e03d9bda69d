package dataset

import (
	"encoding/binary"
	"errors"
)

// The library that reads Parquet takes memory for what the metadata says is coming: a list of
// two billion entries, a text of two gigabytes. So the metadata is gone over before, in which
// nothing is taken for anything.

var (
	errThrift      = errors.New("the metadata is none")
	errThriftShort = errors.New("the metadata is cut")
	errThriftMuch  = errors.New("the metadata has too many entries")
)

// Types of the compact protocol of Thrift.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// mostEntries bounds the entries of all lists of one piece of metadata.
const mostEntries = 1 << 20

// thrift goes over values in the compact protocol.
type thrift struct {
	data    []byte
	pos     int
	entries int
	depth   int
}

// thriftEnd returns where the struct at the beginning of data ends. errThriftShort: not in
// data.
func thriftEnd(data []byte) (int, error) {
	t := thrift{data: data}
	err := t.structure()
	return t.pos, err
}

func (t *thrift) skip(n uint64) error {
	if n > uint64(len(t.data)-t.pos) {
		return errThriftShort
	}
	t.pos += int(n)
	return nil
}

func (t *thrift) byte() (byte, error) {
	if t.pos == len(t.data) {
		return 0, errThriftShort
	}
	t.pos++
	return t.data[t.pos-1], nil
}

func (t *thrift) varint() (uint64, error) {
	v, n := binary.Uvarint(t.data[t.pos:])
	switch {
	case n == 0:
		return 0, errThriftShort
	case n < 0:
		return 0, errThrift
	}
	t.pos += n
	return v, nil
}

func (t *thrift) structure() error {
	if t.depth++; t.depth > 32 {
		return errThrift
	}
	for {
		head, err := t.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			t.depth--
			return nil
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := t.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse { // those are in the head
			if err := t.value(kind); err != nil {
				return err
			}
		}
	}
}

func (t *thrift) value(kind byte) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return t.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := t.varint()
		return err
	case thriftDouble:
		return t.skip(8)
	case thriftUUID:
		return t.skip(16)
	case thriftBinary:
		n, err := t.varint()
		if err != nil {
			return err
		}
		return t.skip(n)
	case thriftList, thriftSet:
		return t.list()
	case thriftMap:
		return t.pairs()
	case thriftStruct:
		return t.structure()
	}
	return errThrift
}

func (t *thrift) list() error {
	head, err := t.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = t.varint(); err != nil {
			return err
		}
	}
	return t.items(n, head&15)
}

func (t *thrift) pairs() error {
	n, err := t.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	return t.items(n, kinds>>4, kinds&15)
}

// items goes over n times values of the kinds.
func (t *thrift) items(n uint64, kinds ...byte) error {
	if n > uint64(mostEntries-t.entries) {
		return errThriftMuch
	}
	t.entries += int(n)
	for range n {
		for _, kind := range kinds {
			if err := t.value(kind); err != nil {
				return err
			}
		}
	}
	return nil
}
