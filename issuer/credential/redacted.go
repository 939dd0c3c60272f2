package credential

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "REDACTED"

// redacted carries a text that is handed out once and shown nowhere else. It
// prints as REDACTED, and the zero-size function array makes == a compile error.
//
// The text is behind a pointer because fmt cannot call methods on unexported
// fields of somebody else's struct: it prints a nested pointer as an address,
// and would print a nested string as it is.
type redacted struct {
	_    [0]func()
	text *string
}

func redact(text string) redacted { return redacted{text: &text} }

// Reveal returns the text, for the answer to the one it belongs to. It is empty
// for a zero value.
func (h redacted) Reveal() string {
	if h.text == nil {
		return ""
	}
	return *h.text
}

// Format implements [fmt.Formatter] for all verbs, %x and %d included.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedText) }

// String implements [fmt.Stringer].
func (redacted) String() string { return redactedText }

// GoString implements [fmt.GoStringer].
func (redacted) GoString() string { return redactedText }

// LogValue implements [slog.LogValuer].
func (redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json and most
// other encoders ask for.
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// What the issuer hands out, each of a type of its own so that one cannot be
// sent where another belongs.
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
