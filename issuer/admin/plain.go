package admin

import (
	"fmt"
	"io"
	"log/slog"
)

// Plain is a secret or a password in clear, on its way over the socket. JSON
// carries it; whatever prints or logs it shows REDACTED.
type Plain string

// Reveal is the text itself.
func (p Plain) Reveal() string { return string(p) }

// Format implements fmt.Formatter for all verbs.
func (Plain) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "REDACTED") }

// LogValue implements slog.LogValuer.
func (Plain) LogValue() slog.Value { return slog.StringValue("REDACTED") }
