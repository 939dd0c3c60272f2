package machine

import (
	"fmt"
	"io"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// encoding is core-deterministic (RFC 8949 §4.2.1): a row has the same bytes on every
// node, on which the checksum of the state depends.
var encoding = must(cbor.CoreDetEncOptions().UserBufferEncMode())

// decoding ignores unknown map keys, so that an older node can read a newer row. It
// refuses duplicate keys, which readers could resolve differently. It accepts text that
// is not UTF-8: everything that can be encoded must be decodable, or one request with
// such text would stop every node.
var decoding = must(cbor.DecOptions{
	DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	MaxArrayElements: 1 << 20,
	MaxMapPairs:      1 << 20,
	UTF8:             cbor.UTF8DecodeInvalid,
}.DecMode())

// Marshal encodes a row, a command, or a message between nodes.
func Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// Unmarshal decodes what Marshal encoded. A map with a duplicate key is an error.
func Unmarshal(b []byte, v any) error { return decoding.Unmarshal(b, v) }

// Read is Unmarshal of a message that ends by itself, of at most limit bytes of r. It may
// read more of r than the message.
func Read(r io.Reader, limit int64, v any) error {
	return decoding.NewDecoder(io.LimitReader(r, limit)).Decode(v)
}

// must panics on errors that depend only on the program's text.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("machine: %s: %v", reflect.TypeFor[T](), err))
	}
	return v
}
