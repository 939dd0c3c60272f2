package keys

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "REDACTED"

// redacted is embedded in every type that must not be printed. It implements all
// interfaces for printing, and its zero-size function array makes == a compile error:
// secrets must be compared in constant time.
//
// fmt can't call methods on unexported fields of other structs, so a type that embeds
// redacted must also store its bytes where fmt prints an address: behind a pointer to a
// string or to an interface. (fmt may follow a pointer to an array, slice or struct, for
// a verb that doesn't fit, such as %s.)
type redacted struct{ _ [0]func() }

// Format implements [fmt.Formatter] for all verbs, including %x and %d.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedText) }

// String implements [fmt.Stringer].
func (redacted) String() string { return redactedText }

// GoString implements [fmt.GoStringer].
func (redacted) GoString() string { return redactedText }

// LogValue implements [slog.LogValuer].
func (redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json and most other
// encoders use.
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }
