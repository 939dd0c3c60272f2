package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Major types of RFC 8949 §3.1, shifted into place.
const (
	majorUint  = 0 << 5
	majorBytes = 2 << 5
	majorArray = 4 << 5
)

// appendHead writes the head of a data item in its shortest form.
func appendHead(b []byte, major byte, v uint64) []byte {
	switch {
	case v < 24:
		return append(b, major|byte(v))
	case v < 1<<8:
		return append(b, major|24, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), v)
	}
}

// reader reads data items from the front of b until the first error.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(text string) {
	if r.err == nil {
		r.err = errors.New("damaged log entry: " + text)
	}
}

// head reads a head of the given type, in shortest form, with a value of at most limit.
func (r *reader) head(major byte, limit uint64) uint64 {
	if r.err != nil {
		return 0
	}
	if len(r.b) == 0 {
		r.fail("unexpected end")
		return 0
	}
	first := r.b[0]
	if first&0xe0 != major {
		r.fail(fmt.Sprintf("byte %#x, expected type %d", first, major>>5))
		return 0
	}
	v, size := uint64(first&0x1f), 0
	if v >= 24 {
		if v > 27 {
			r.fail("unknown form of a length")
			return 0
		}
		size = 1 << (v - 24)
	}
	if len(r.b) < 1+size {
		r.fail("unexpected end")
		return 0
	}
	if size > 0 {
		v = 0
		for _, c := range r.b[1 : 1+size] {
			v = v<<8 | uint64(c)
		}
		if v < 24 || size > 1 && v>>(4*size) == 0 {
			r.fail("number is not in its shortest form")
			return 0
		}
	}
	r.b = r.b[1+size:]
	if v > limit {
		r.fail(fmt.Sprintf("%d, expected at most %d", v, limit))
		return 0
	}
	return v
}

// bytes reads a byte string of at most limit bytes. It shares memory with r.
func (r *reader) bytes(limit uint64) []byte {
	n := r.head(majorBytes, limit)
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.b)) {
		r.fail("unexpected end")
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}
