package join

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProtocolLimits(t *testing.T) {
	var fits bytes.Buffer
	require.NoError(t, Write(&fits, Request{ID: "a", Secret: make([]byte, maxMessage/2)}))
	var q Request
	require.NoError(t, Read(bytes.NewReader(fits.Bytes()), &q))
	require.Equal(t, "a", q.ID)

	var long bytes.Buffer
	require.NoError(t, Write(&long, Request{Secret: make([]byte, maxMessage)}))
	for name, message := range map[string]io.Reader{
		"longer than the limit": &long,
		"cut off":               bytes.NewReader(fits.Bytes()[:fits.Len()-1]),
		"empty":                 bytes.NewReader(nil),
		"a length without end":  bytes.NewReader([]byte("\x5b\xff\xff\xff\xff\xff\xff\xff\xff")),
		"a doubled key":         bytes.NewReader([]byte("\xa2\x02\x61a\x02\x61b")),
		"of another type":       bytes.NewReader([]byte("\x61a")),
	} {
		require.Error(t, Read(message, new(Request)), name)
	}
}

// FuzzRead reads messages as an unauthenticated client may send them.
func FuzzRead(f *testing.F) {
	var message bytes.Buffer
	if err := Write(&message, Request{Secret: []byte("secret"), ID: "a", Level: 1}); err != nil {
		f.Fatal(err)
	}
	f.Add(message.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var q, again Request
		if Read(bytes.NewReader(b), &q) != nil {
			return
		}
		message.Reset()
		require.NoError(t, Write(&message, q))
		require.NoError(t, Read(&message, &again))
		require.Equal(t, q, again)
	})
}
