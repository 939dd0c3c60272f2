package keys_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

const (
	chunk  = 64 << 10
	tag    = 16
	prefix = 1 + 32 // version, salt
)

func sealStream(t testing.TB, k keys.ClusterKey, random io.Reader, context string, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := k.SealStream(random, &out, []byte(context))
	require.NoError(t, err)
	n, err := w.Write(plain)
	require.NoError(t, err)
	require.Equal(t, len(plain), n)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func openStream(k keys.ClusterKey, context string, sealed io.Reader) ([]byte, error) {
	r, err := k.OpenStream(sealed, []byte(context))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func TestSealStreamSizes(t *testing.T) {
	k := newClusterKey(t)
	for _, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk - 1, 2 * chunk, 2*chunk + 1, 5*chunk + 7} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			plain := randomBytes(size)
			sealed := sealStream(t, k, rand.Reader, "file", plain)
			chunks := max(1, (size+chunk-1)/chunk)
			assert.Len(t, sealed, prefix+size+chunks*tag)
			for name, r := range map[string]io.Reader{
				"whole":           bytes.NewReader(sealed),
				"halves":          iotest.HalfReader(bytes.NewReader(sealed)),
				"data with error": iotest.DataErrReader(bytes.NewReader(sealed)),
			} {
				got, err := openStream(k, "file", r)
				require.NoError(t, err, name)
				require.True(t, bytes.Equal(plain, got), name)
			}
		})
	}
}

func TestSealStreamInPieces(t *testing.T) {
	k := newClusterKey(t)
	plain := randomBytes(3*chunk + 5)
	var out bytes.Buffer
	w, err := k.SealStream(bytes.NewReader(sequence()), &out, []byte("c"))
	require.NoError(t, err)
	for rest, n := plain, 1; len(rest) > 0; n = n*3 + 1 {
		n = min(n, len(rest))
		_, err := w.Write(rest[:n])
		require.NoError(t, err)
		rest = rest[n:]
	}
	require.NoError(t, w.Close())
	require.True(t, bytes.Equal(sealStream(t, k, bytes.NewReader(sequence()), "c", plain), out.Bytes()),
		"how it was written is not seen")

	_, err = w.Write([]byte("more"))
	require.Error(t, err)
	require.Error(t, w.Close())
	r, err := k.OpenStream(bytes.NewReader(out.Bytes()), []byte("c"))
	require.NoError(t, err)
	require.NoError(t, iotest.TestReader(r, plain))
}

func TestStreamsShareNoKey(t *testing.T) {
	k := newClusterKey(t)
	plain := make([]byte, 100)
	a, b := sealStream(t, k, rand.Reader, "c", plain), sealStream(t, k, rand.Reader, "c", plain)
	assert.NotEqual(t, a[:prefix], b[:prefix])
	assert.NotEqual(t, a[prefix:], b[prefix:])
}

func TestOpenStreamRefuses(t *testing.T) {
	k := newClusterKey(t)
	plain := randomBytes(3*chunk - 9)
	sealed := sealStream(t, k, rand.Reader, "file", plain)
	other := sealStream(t, k, rand.Reader, "file", plain)
	part := func(i int) []byte { // returns chunk i with its tag
		return sealed[prefix+i*(chunk+tag) : min(len(sealed), prefix+(i+1)*(chunk+tag))]
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	flip := func(i int) []byte {
		b := bytes.Clone(sealed)
		b[i] ^= 0x40
		return b
	}
	head := sealed[:prefix]
	empty := sealStream(t, k, bytes.NewReader(head[1:]), "file", nil)
	for name, tc := range map[string]struct {
		key     keys.ClusterKey
		context string
		sealed  []byte
	}{
		"another key":              {newClusterKey(t), "file", sealed},
		"another context":          {k, "fila", sealed},
		"context cut":              {k, "fil", sealed},
		"no context":               {k, "", sealed},
		"another version":          {k, "file", flip(0)},
		"salt changed":             {k, "file", flip(1)},
		"salt's end changed":       {k, "file", flip(prefix - 1)},
		"first chunk changed":      {k, "file", flip(prefix)},
		"a tag changed":            {k, "file", flip(prefix + chunk)},
		"last byte changed":        {k, "file", flip(len(sealed) - 1)},
		"cut by a byte":            {k, "file", sealed[:len(sealed)-1]},
		"cut at a chunk":           {k, "file", join(head, part(0), part(1))},
		"cut before all chunks":    {k, "file", head},
		"cut in a tag":             {k, "file", join(head, part(0), part(1)[:9])},
		"cut in the salt":          {k, "file", head[:prefix-1]},
		"nothing":                  {k, "file", nil},
		"longer by a byte":         {k, "file", join(sealed, []byte{0})},
		"followed by a chunk":      {k, "file", join(sealed, part(0))},
		"followed by itself":       {k, "file", join(sealed, sealed)},
		"followed by an empty one": {k, "file", join(head, part(0), part(1), part(2), empty[prefix:])},
		"chunks swapped":           {k, "file", join(head, part(1), part(0), part(2))},
		"chunk repeated":           {k, "file", join(head, part(0), part(0), part(1), part(2))},
		"chunk left out":           {k, "file", join(head, part(0), part(2))},
		"last chunk only":          {k, "file", join(head, part(2))},
		"chunk of another stream":  {k, "file", join(head, part(0), other[prefix+chunk+tag:])},
		"salt of another stream":   {k, "file", join(other[:prefix], sealed[prefix:])},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := openStream(tc.key, tc.context, bytes.NewReader(tc.sealed))
			require.ErrorIs(t, err, keys.ErrUnsealable)
			require.NotErrorIs(t, err, io.EOF)
			require.True(t, bytes.HasPrefix(plain, got), "data read before the error is not genuine")
		})
	}
}

// TestOpenStreamEveryTruncation verifies that a truncated stream never ends with io.EOF.
func TestOpenStreamEveryTruncation(t *testing.T) {
	k := newClusterKey(t)
	sealed := sealStream(t, k, rand.Reader, "c", randomBytes(100))
	for i := range sealed {
		_, err := openStream(k, "c", bytes.NewReader(sealed[:i]))
		require.ErrorIs(t, err, keys.ErrUnsealable, "cut at %d", i)
	}
}

func TestStreamPassesErrorsOn(t *testing.T) {
	k := newClusterKey(t)
	broken := errors.New("disk on fire")
	sealed := sealStream(t, k, rand.Reader, "c", randomBytes(2*chunk))
	for _, cut := range []int{0, 10, prefix, prefix + 5, prefix + chunk + tag, len(sealed)} {
		for _, cause := range []error{broken, io.ErrUnexpectedEOF} {
			r := io.MultiReader(bytes.NewReader(sealed[:cut]), iotest.ErrReader(cause))
			_, err := openStream(k, "c", r)
			require.Error(t, err)
			if cause == broken {
				require.ErrorIs(t, err, broken, "after %d bytes", cut)
			}
		}
	}
	for limit := range int64(4) { // number of successful writes: head, chunk, last chunk
		w, err := k.SealStream(rand.Reader, &brokenWriter{left: limit, err: broken}, nil)
		if err == nil {
			_, err = w.Write(randomBytes(chunk + 1))
			if err == nil {
				err = w.Close()
			} else {
				require.ErrorIs(t, w.Close(), broken, "the error must persist")
			}
		}
		if limit == 3 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, broken)
	}
	_, err := k.SealStream(iotest.ErrReader(broken), io.Discard, nil)
	require.ErrorIs(t, err, broken)
}

type brokenWriter struct {
	left int64
	err  error
}

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	b.left--
	return len(p), nil
}

func TestZeroKeySealsNoStream(t *testing.T) {
	var zero keys.ClusterKey
	var out bytes.Buffer
	_, err := zero.SealStream(rand.Reader, &out, nil)
	require.ErrorIs(t, err, keys.ErrNoKey)
	assert.Empty(t, out.Bytes())
	_, err = zero.OpenStream(bytes.NewReader(append([]byte{1}, make([]byte, 100)...)), nil)
	require.ErrorIs(t, err, keys.ErrNoKey)
	assert.Empty(t, zero.ID())
}

// TestStreamFormat pins the format: existing files must stay readable.
func TestStreamFormat(t *testing.T) {
	k, err := keys.NewClusterKey(bytes.NewReader(sequence()))
	require.NoError(t, err)
	sealed := sealStream(t, k, bytes.NewReader(sequence()), "context", []byte("plain"))
	assert.Equal(t, streamVector, fmt.Sprintf("%x", sealed))
	assert.Equal(t, clusterKeyIDVector, k.ID())
}

func TestClusterKeyID(t *testing.T) {
	a, b := newClusterKey(t), newClusterKey(t)
	assert.Regexp(t, `^[0-9a-f]{16}$`, a.ID())
	assert.Equal(t, a.ID(), a.ID())
	assert.NotEqual(t, a.ID(), b.ID())
}

func TestStreamIsNotPrinted(t *testing.T) {
	var out bytes.Buffer
	w, err := newClusterKey(t).SealStream(rand.Reader, &out, nil)
	require.NoError(t, err)
	_, err = w.Write([]byte("clear text"))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		assert.Equal(t, "REDACTED", fmt.Sprintf(verb, w), verb)
	}
}

// FuzzOpenStream verifies that what opens to its end equals what was sealed, and that
// what is read before an error is a prefix of it.
func FuzzOpenStream(f *testing.F) {
	k, err := keys.NewClusterKey(bytes.NewReader(sequence()))
	require.NoError(f, err)
	plain := bytes.Repeat([]byte("plain"), 14_000)
	sealed := sealStream(f, k, bytes.NewReader(sequence()), "context", plain)
	f.Add(0, 0, byte(0), []byte{})
	f.Add(len(sealed), 0, byte(0), []byte{})
	f.Add(len(sealed), 40, byte(1), []byte{})
	f.Add(len(sealed), 0, byte(0), []byte{0})
	f.Add(prefix+chunk+tag, 0, byte(0), []byte{})
	f.Add(prefix+chunk+tag, 0, byte(0), sealed[prefix:prefix+200])
	f.Fuzz(func(t *testing.T, cut, at int, flip byte, more []byte) {
		b := bytes.Clone(sealed[:max(0, min(cut, len(sealed)))])
		if at >= 0 && at < len(b) {
			b[at] ^= flip
		}
		b = append(b, more...)
		got, err := openStream(k, "context", bytes.NewReader(b))
		require.True(t, bytes.HasPrefix(plain, got))
		if err != nil {
			require.ErrorIs(t, err, keys.ErrUnsealable)
			return
		}
		require.True(t, bytes.Equal(sealed, b))
		require.Len(t, got, len(plain))
	})
}

func BenchmarkSealStream(b *testing.B) {
	k := newClusterKey(b)
	plain := make([]byte, 1<<20)
	b.SetBytes(int64(len(plain)))
	w, err := k.SealStream(rand.Reader, io.Discard, []byte("c"))
	require.NoError(b, err)
	for b.Loop() {
		if _, err := w.Write(plain); err != nil {
			b.Fatal(err)
		}
	}
}

const (
	streamVector = "01" +
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" +
		"385b17da14f631f27218ed156a481d058c3d3f9631"
	clusterKeyIDVector = "8b6481f3fd64497e"
)
