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
// type that embeds redacted must also keep its bytes behind a pointer: fmt
// prints a nested pointer as an address and does not follow it.
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
