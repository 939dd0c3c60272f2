package backup

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
)

const checksumSize = sha256.Size

// checksumReader reads up to the checksum, which is what comes last, and ends with
// ErrDamaged instead of io.EOF where it is wrong.
type checksumReader struct {
	r    io.Reader
	hash hash.Hash // of everything handed out, and the header
	buf  []byte
	// buf[from:to] is read and not handed out. Its last bytes may be the
	// checksum, as long as nothing follows.
	from, to int
	err      error // of r
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
