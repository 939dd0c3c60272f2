package backup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Inspect reads a whole file and returns its header when the checksum is right.
// It needs no key, and so cannot tell who wrote the file.
func Inspect(r io.Reader) (Header, error) {
	in := bufio.NewReader(r)
	h, head, err := readHeader(in)
	if err != nil {
		return Header{}, fmt.Errorf("inspect backup: %w", err)
	}
	n, err := io.Copy(io.Discard, newChecksumReader(in, head))
	if err != nil {
		return Header{}, fmt.Errorf("inspect backup: %w", err)
	}
	h.Size = int64(len(head)) + n + checksumSize
	return h, nil
}

// Open returns the header and a reader of the body. open is given the header,
// whose ClusterKey names the key that is needed, the sealed bytes and the context
// they are bound to. Where it fails the header is returned all the same.
//
// The body ends with io.EOF only when all of it has been read and the checksum
// is right, otherwise with an error, which is ErrDamaged where the file, rather
// than the key, is at fault. Nothing that is read may take effect before that.
func Open(r io.Reader, open func(h Header, r io.Reader, context []byte) (io.Reader, error)) (Header, io.Reader, error) {
	in := bufio.NewReader(r)
	h, head, err := readHeader(in)
	if err != nil {
		return Header{}, nil, fmt.Errorf("open backup: %w", err)
	}
	sealed := newChecksumReader(in, head)
	plain, err := open(h, sealed, head)
	if err != nil {
		return h, nil, fmt.Errorf("open backup: %w", sealed.explain(err))
	}
	return h, &body{plain: plain, sealed: sealed}, nil
}

// body is the reader of what was sealed.
type body struct {
	plain  io.Reader
	sealed *checksumReader
	err    error // what Read returns from now on
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.plain.Read(p)
	if err == io.EOF {
		if err = b.sealed.atEnd(); err == nil {
			err = io.EOF
		} else {
			err = fmt.Errorf("read backup: %w", err)
		}
	} else if err != nil {
		err = fmt.Errorf("read backup: %w", b.sealed.explain(err))
	}
	b.err = err
	return n, err
}

// explain is ErrDamaged in the place of an error of the opener where the checksum
// says that the file is not what was written: a person is then not sent to look
// for another key, of which no more is known than such a file says.
func (c *checksumReader) explain(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	switch _, rest := io.Copy(io.Discard, c); {
	case errors.Is(rest, ErrDamaged):
		return rest
	case rest != nil:
		return errors.Join(err, rest)
	}
	return err
}

// atEnd is nil when everything was read and the checksum is right.
func (c *checksumReader) atEnd() error {
	switch n, err := io.Copy(io.Discard, c); {
	case err != nil:
		return err
	case n > 0:
		return ErrDamaged // sealed bytes that the opener had no use for
	default:
		return nil
	}
}
