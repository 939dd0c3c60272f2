package machine

import (
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// encoding is core-deterministic (RFC 8949 §4.2.1): the same row has the same
// bytes on every node, which the checksum of the state rests on.
var encoding = must(cbor.CoreDetEncOptions().UserBufferEncMode())

// decoding ignores unknown map keys, which is what lets an older node meet a
// newer row, and refuses duplicate ones, which could be read in two ways. Text
// that is no UTF-8 is taken as it is: whatever was encoded must decode, or one
// request with such text would stop every node.
var decoding = must(cbor.DecOptions{
	DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	MaxArrayElements: 1 << 20,
	MaxMapPairs:      1 << 20,
	UTF8:             cbor.UTF8DecodeInvalid,
}.DecMode())

// Marshal encodes a row, a command, or a message between nodes.
func Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// Unmarshal decodes what marshal encoded. A map with a key that stands in it twice is an
// error.
func Unmarshal(b []byte, v any) error { return decoding.Unmarshal(b, v) }

// must is for values that only depend on the program text.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("machine: %s: %v", reflect.TypeFor[T](), err))
	}
	return v
}
