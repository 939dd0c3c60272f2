package keys

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "REDACTED"

// redacted is embedded in everything that must not be shown. It answers every
// way of printing, and its zero-size function array makes == a compile error:
// a secret is compared in constant time or not at all.
//
// fmt cannot call methods on unexported fields of somebody else's struct, so a
// type that embeds redacted must also keep its bytes where fmt prints an address:
// behind a pointer to a string or to an interface. (A pointer to an array, slice
// or struct it may follow: for a verb that does not fit, %s say.)
type redacted struct{ _ [0]func() }

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
