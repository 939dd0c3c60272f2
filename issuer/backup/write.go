package backup

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// Write writes a whole file to w: the header, what body writes, sealed, and the
// checksum. seal is given where sealed bytes go and the context they are bound
// to; closing what it returns ends the stream, not the file.
//
// After an error what is in w is not a backup, and neither Inspect nor Open
// takes it for one.
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
	// Not closed on an error: it would make a whole stream of a half body.
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
