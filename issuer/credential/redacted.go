package credential

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "REDACTED"

// redacted contains a text that must not be printed. It formats as REDACTED, and the zero-size
// function array makes == a compile error.
//
// The text is behind a pointer because fmt can't call methods on unexported fields of other
// structs: it prints a nested pointer as an address, but would print a nested string as it is.
type redacted struct {
	_    [0]func()
	text *string
}

func redact(text string) redacted { return redacted{text: &text} }

// Reveal returns the text, to be sent to the party it belongs to. It is empty for a zero value.
func (h redacted) Reveal() string {
	if h.text == nil {
		return ""
	}
	return *h.text
}

// Format implements [fmt.Formatter] for all verbs, including %x and %d.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedText) }

// String implements [fmt.Stringer].
func (redacted) String() string { return redactedText }

// GoString implements [fmt.GoStringer].
func (redacted) GoString() string { return redactedText }

// LogValue implements [slog.LogValuer].
func (redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json and most other encoders
// use.
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// What the issuer hands out. Each has its own type, so that one can't be sent in place of
// another.
type (
	// Code is an authorization code (RFC 6749 §4.1.2).
	Code struct{ redacted }
	// RefreshToken is a refresh token (RFC 6749 §1.5).
	RefreshToken struct{ redacted }
	// AccessToken is a JWT access token (RFC 9068).
	AccessToken struct{ redacted }
	// Secret is a client secret (RFC 6749 §2.3.1).
	Secret struct{ redacted }
	// SessionID is the value of a session cookie.
	SessionID struct{ redacted }
)
