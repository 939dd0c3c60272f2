package backup

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
)

const checksumSize = sha256.Size

// A checksumReader reads everything before the trailing checksum. At the end it returns
// ErrDamaged instead of io.EOF if the checksum is wrong.
type checksumReader struct {
	r    io.Reader
	hash hash.Hash // of the header and everything returned so far
	buf  []byte
	// buf[from:to] is read but not returned. Its last bytes are held back, since they may
	// be the checksum.
	from, to int
	err      error // returned by r
}

func newChecksumReader(r io.Reader, head []byte) *checksumReader {
	c := &checksumReader{r: r, hash: sha256.New(), buf: make([]byte, 64<<10)}
	c.hash.Write(head)
	return c
}

// Read implements io.Reader.
func (c *checksumReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for c.to-c.from <= checksumSize {
		if c.err == io.EOF && !bytes.Equal(c.buf[c.from:c.to], c.hash.Sum(nil)) {
			c.err = ErrDamaged
		}
		if c.err != nil {
			return 0, c.err
		}
		c.to = copy(c.buf, c.buf[c.from:c.to])
		c.from = 0
		var n int
		n, c.err = c.r.Read(c.buf[c.to:])
		c.to += n
	}
	n := copy(p, c.buf[c.from:c.to-checksumSize])
	c.hash.Write(p[:n])
	c.from += n
	return n, nil
}
