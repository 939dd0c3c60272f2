package keys

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpenStreamRefusesAnEmptyLastChunk: each plain text is divided in one way, so an
// empty chunk after a full one is refused although its tag is valid.
func TestOpenStreamRefusesAnEmptyLastChunk(t *testing.T) {
	k, err := NewClusterKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	require.NoError(t, err)
	seal := func(extra bool) []byte {
		var out bytes.Buffer
		w, err := k.SealStream(bytes.NewReader(make([]byte, 64)), &out, nil)
		require.NoError(t, err)
		_, err = w.Write(make([]byte, streamChunk))
		require.NoError(t, err)
		if extra {
			w.(*streamWriter).seal(false)
		}
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	open := func(sealed []byte) error {
		r, err := k.OpenStream(bytes.NewReader(sealed), nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, r)
		return err
	}
	require.NoError(t, open(seal(false)))
	require.ErrorIs(t, open(seal(true)), ErrUnsealable)
}
