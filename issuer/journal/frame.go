package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A frame contains all records of one command, so that they are present together or not at all.
// Its format is
//
//	length of the body       4 bytes, big endian
//	CRC-32C of the body      4 bytes
//	CRC-32C of the 8 before  4 bytes
//	body
//
// The body is varints: the point at which the previous frame ended, the point at which
// this frame ends (both as differences), the number of records, and for each its length
// and bytes. Since each frame states where it begins, the frame itself reveals that
// something before it is missing. The length has its own checksum, so that the frames
// after a damaged body can be found.
//
// A frame without records extends a span or, if it ends where it begins, starts one.
const (
	frameHead = 12
	maxFrame  = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errNoFrame  = errors.New("no frame begins here")   // the next frame can't be found either
	errBadFrame = errors.New("the frame is not valid") // the next frame begins after it
)

// A frame is a decoded frame. Its data refers to the buffer it was read from.
type frame struct {
	since, to point
	data      [][]byte
}

// appendFrame allocates only to grow buf.
func appendFrame(buf []byte, since, to point, data [][]byte) []byte {
	var head [frameHead]byte
	start := len(buf)
	buf = append(buf, head[:]...)
	buf = binary.AppendUvarint(buf, since.seq)
	buf = binary.AppendUvarint(buf, to.seq-since.seq)
	buf = binary.AppendVarint(buf, since.at)
	buf = binary.AppendVarint(buf, to.at-since.at)
	buf = binary.AppendUvarint(buf, uint64(len(data)))
	for _, d := range data {
		buf = binary.AppendUvarint(buf, uint64(len(d)))
		buf = append(buf, d...)
	}
	putHead(buf[start:])
	return buf
}

// putHead fills in the head of the only frame in b.
func putHead(b []byte) {
	body := b[frameHead:]
	binary.BigEndian.PutUint32(b, uint32(len(body)))
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(body, castagnoli))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
}

// frameSize returns an upper bound of what appendFrame appends.
func frameSize(data [][]byte) int {
	n := frameHead + 5*binary.MaxVarintLen64
	for _, d := range data {
		n += binary.MaxVarintLen64 + len(d)
	}
	return n
}

// bodySize returns the size of the body from the head of a frame, or false for an invalid head.
func bodySize(head []byte) (int, bool) {
	if crc32.Checksum(head[:8], castagnoli) != binary.BigEndian.Uint32(head[8:]) {
		return 0, false
	}
	n := binary.BigEndian.Uint32(head)
	return int(n), n <= maxFrame
}

// readFrame reads the frame at the beginning of b and returns its size, which is 0 if the
// error is errNoFrame.
func readFrame(b []byte) (frame, int, error) {
	if len(b) < frameHead {
		return frame{}, 0, errNoFrame
	}
	n, ok := bodySize(b[:frameHead])
	if !ok || n == 0 || len(b)-frameHead < n {
		return frame{}, 0, errNoFrame
	}
	size := frameHead + n
	f, err := decodeFrame(b[:frameHead], b[frameHead:size:size])
	return f, size, err
}

// decodeFrame decodes a body.
func decodeFrame(head, body []byte) (frame, error) {
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return frame{}, errBadFrame
	}
	d := decoder{rest: body}
	var f frame
	f.since.seq = d.uvarint()
	f.to.seq = f.since.seq + d.uvarint()
	f.since.at = d.varint()
	f.to.at = f.since.at + d.varint()
	n := d.uvarint()
	if d.bad || f.to.seq < f.since.seq || n > uint64(len(d.rest)) || n > 0 && f.to.seq == f.since.seq {
		return frame{}, errBadFrame
	}
	if n > 0 {
		f.data = make([][]byte, n)
	}
	for i := range f.data {
		f.data[i] = d.bytes(d.uvarint())
	}
	if d.bad || len(d.rest) > 0 {
		return frame{}, errBadFrame
	}
	return f, nil
}

// A decoder consumes the parts of a body from its beginning.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.bytes(uint64(max(n, 0)))
	d.bad = d.bad || n <= 0
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.bytes(uint64(max(n, 0)))
	d.bad = d.bad || n <= 0
	return v
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}
