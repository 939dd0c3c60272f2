package backup

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// Write writes a whole file to w: the header, the sealed output of body, and the checksum.
// seal receives the destination of the sealed bytes and the context to bind them to;
// closing its result ends the stream, not the file.
//
// After an error, w does not have a valid backup, and both Inspect and Open refuse it.
func Write(w io.Writer, h Header, seal func(w io.Writer, context []byte) (io.WriteCloser, error), body func(io.Writer) error) error {
	head, err := h.encode()
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	hash := sha256.New()
	out := io.MultiWriter(w, hash)
	if _, err := out.Write(head); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	sealed, err := seal(out, head)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	// sealed is not closed after an error, since that would make a valid stream of a
	// partial body.
	if err := body(sealed); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := sealed.Close(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if _, err := w.Write(hash.Sum(nil)); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}
