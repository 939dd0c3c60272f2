package admin

import (
	"fmt"
	"io"
	"log/slog"
)

// Plain is a secret or a password in clear, sent over the socket. It is encoded in JSON,
// but prints and logs as REDACTED.
type Plain string

// Reveal returns the text.
func (p Plain) Reveal() string { return string(p) }

// Format implements fmt.Formatter for all verbs.
func (Plain) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "REDACTED") }

// LogValue implements slog.LogValuer.
func (Plain) LogValue() slog.Value { return slog.StringValue("REDACTED") }
