package backup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Inspect reads a whole file and returns its header if the checksum is correct. It needs
// no key, so it can't tell who wrote the file.
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

// ReadHeader returns the header of a file, without looking at anything behind it.
func ReadHeader(r io.Reader) (Header, error) {
	h, _, err := readHeader(bufio.NewReader(r))
	if err != nil {
		return Header{}, fmt.Errorf("read header of backup: %w", err)
	}
	return h, nil
}

// Open returns the header and a reader of the body. It calls open with the header, whose
// ClusterKey names the required key, the sealed bytes, and the context that they are bound
// to. If open fails, the header is returned nevertheless.
//
// The body ends with io.EOF only if all of it has been read and the checksum is correct,
// and otherwise with an error, which is ErrDamaged if the file rather than the key is at
// fault. Nothing that was read may take effect before io.EOF.
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

// A body reads what was sealed.
type body struct {
	plain  io.Reader
	sealed *checksumReader
	err    error // returned by every later Read
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

// explain replaces an error of the opener with ErrDamaged if the checksum is wrong.
// Otherwise an operator might search for another key because of a damaged file.
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

// atEnd returns nil if everything was read and the checksum is correct.
func (c *checksumReader) atEnd() error {
	switch n, err := io.Copy(io.Discard, c); {
	case err != nil:
		return err
	case n > 0:
		return ErrDamaged // sealed bytes that the opener didn't read
	default:
		return nil
	}
}
