package backup_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/keys"
)

func header() backup.Header {
	return backup.Header{
		Kind: backup.KindState, Cluster: "c-7", Node: "n1",
		Taken:     time.Date(2026, 11, 3, 4, 5, 6, 7e6, time.UTC),
		StateTime: time.Date(2026, 11, 3, 4, 5, 5, 0, time.UTC),
		Seq:       812, LogIndex: 900, Version: "1.2.3", Level: 2, ClusterKey: "0011223344556677",
		Counts: map[string]uint64{"grants": 3, "users": 1},
	}
}

// fixedKey returns the same key in each process of a fuzzing run.
func fixedKey(t testing.TB) keys.ClusterKey {
	t.Helper()
	k, err := keys.NewClusterKey(strings.NewReader("a key of thirty-two bytes, fixed"))
	require.NoError(t, err)
	return k
}

func file(t testing.TB, k keys.ClusterKey, random io.Reader, h backup.Header, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, backup.Write(&out, h, sealer(k, random), func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}))
	return out.Bytes()
}

func sealer(k keys.ClusterKey, random io.Reader) func(io.Writer, []byte) (io.WriteCloser, error) {
	return func(w io.Writer, context []byte) (io.WriteCloser, error) { return k.SealStream(random, w, context) }
}

func opener(k keys.ClusterKey) func(backup.Header, io.Reader, []byte) (io.Reader, error) {
	return func(_ backup.Header, r io.Reader, context []byte) (io.Reader, error) { return k.OpenStream(r, context) }
}

// read returns the header and the body of a file, or an error.
func read(k keys.ClusterKey, r io.Reader) (backup.Header, []byte, error) {
	h, body, err := backup.Open(r, opener(k))
	if err != nil {
		return h, nil, err
	}
	plain, err := io.ReadAll(body)
	return h, plain, err
}

func TestWriteInspectOpen(t *testing.T) {
	k := fixedKey(t)
	for _, size := range []int{0, 1, 31, 32, 33, 64 << 10, 200_001} {
		body := make([]byte, size)
		_, _ = rand.Read(body)
		data := file(t, k, rand.Reader, header(), body)
		want := header()
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
			"with error": iotest.DataErrReader,
		} {
			h, got, err := read(k, wrap(bytes.NewReader(data)))
			require.NoError(t, err, name)
			assert.Equal(t, want, h)
			require.True(t, bytes.Equal(body, got), name)

			h, err = backup.Inspect(wrap(bytes.NewReader(data)))
			require.NoError(t, err)
			assert.Equal(t, int64(len(data)), h.Size)
			h.Size = 0
			assert.Equal(t, want, h)
		}
		_, r, err := backup.Open(bytes.NewReader(data), opener(k))
		require.NoError(t, err)
		require.NoError(t, iotest.TestReader(r, body))
	}
}

func TestHeaderCanBeReadByPeople(t *testing.T) {
	data := file(t, fixedKey(t), rand.Reader, header(), []byte("inside"))
	lines := strings.SplitN(string(data), "\n", 3)
	assert.Equal(t, "mintmark backup 1", lines[0])
	assert.JSONEq(t, `{"kind":"state","cluster":"c-7","node":"n1","taken":"2026-11-03T04:05:06.007Z",
		"state_time":"2026-11-03T04:05:05Z","seq":812,"log_index":900,"version":"1.2.3","level":2,
		"cluster_key":"0011223344556677","counts":{"grants":3,"users":1}}`, lines[1])
	assert.NotContains(t, lines[2], "inside")
}

// TestLaterFieldsAreSkipped verifies that a header with unknown fields opens: the seal
// covers its bytes, not the parsed header.
func TestLaterFieldsAreSkipped(t *testing.T) {
	k := fixedKey(t)
	head := []byte("mintmark backup 1\n{\"later\":[1],\"kind\":\"state\",\"seq\":5}\n")
	var out bytes.Buffer
	out.Write(head)
	w, err := k.SealStream(rand.Reader, &out, head)
	require.NoError(t, err)
	_, err = w.Write([]byte("body"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	out.Write(sum(out.Bytes()))
	h, body, err := read(k, &out)
	require.NoError(t, err)
	assert.Equal(t, backup.Header{Kind: "state", Seq: 5}, h)
	assert.Equal(t, "body", string(body))
}

// TestEveryDamageIsFound flips each byte and truncates at each length.
func TestEveryDamageIsFound(t *testing.T) {
	k := fixedKey(t)
	body := []byte("a small body")
	good := file(t, k, rand.Reader, header(), body)
	refused := func(data []byte, what string, at int) {
		t.Helper()
		_, err := backup.Inspect(bytes.NewReader(data))
		require.Error(t, err, "inspect: %s at %d", what, at)
		require.True(t, errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrFormat), "%v", err)
		_, got, err := read(k, bytes.NewReader(data))
		require.Error(t, err, "open: %s at %d", what, at)
		require.True(t, errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrFormat), "%v", err)
		require.True(t, bytes.HasPrefix(body, got))
	}
	for i := range good {
		refused(good[:i], "cut", i)
		for _, bits := range []byte{0x01, 0x20, 0xFF} {
			bad := bytes.Clone(good)
			bad[i] ^= bits
			refused(bad, "flipped", i)
		}
		refused(slices.Insert(bytes.Clone(good), i, 'x'), "inserted", i)
	}
	refused(append(bytes.Clone(good), 0), "longer", len(good))
	refused(append(bytes.Clone(good), good...), "twice", len(good))
}

// TestForgeryIsFound: the checksum can be computed without the key, the seal can't.
func TestForgeryIsFound(t *testing.T) {
	k := fixedKey(t)
	good := file(t, k, rand.Reader, header(), []byte("a small body"))
	forged := bytes.Replace(good, []byte(`"seq":812`), []byte(`"seq":813`), 1)
	require.NotEqual(t, good, forged)
	forged = forged[:len(forged)-32]
	forged = append(forged, sum(forged)...)
	_, err := backup.Inspect(bytes.NewReader(forged))
	require.NoError(t, err)
	_, got, err := read(k, bytes.NewReader(forged))
	require.ErrorIs(t, err, keys.ErrUnsealable)
	require.NotErrorIs(t, err, backup.ErrDamaged, "the checksum is correct")
	assert.Empty(t, got)
}

func TestAnotherKeyIsNotDamage(t *testing.T) {
	other, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	good := file(t, fixedKey(t), rand.Reader, header(), []byte("body"))
	h, _, err := read(other, bytes.NewReader(good))
	require.ErrorIs(t, err, keys.ErrUnsealable)
	require.NotErrorIs(t, err, backup.ErrDamaged)
	assert.Equal(t, "0011223344556677", h.ClusterKey)

	refuse := errors.New("no such key here")
	h, _, err = backup.Open(bytes.NewReader(good), func(backup.Header, io.Reader, []byte) (io.Reader, error) { return nil, refuse })
	require.ErrorIs(t, err, refuse)
	assert.Equal(t, "0011223344556677", h.ClusterKey, "the header must name the required key")
}

// TestDamageGoesBeforeTheKey verifies that damage is reported before a missing key,
// whatever key the header names and however short the file is.
func TestDamageGoesBeforeTheKey(t *testing.T) {
	good := file(t, fixedKey(t), rand.Reader, header(), []byte("a small body"))
	for i := range good {
		refuse := errors.New("no such key here")
		_, _, err := backup.Open(bytes.NewReader(good[:i]), func(backup.Header, io.Reader, []byte) (io.Reader, error) { return nil, refuse })
		require.ErrorIs(t, err, backup.ErrDamaged, "%d bytes", i)
		require.NotErrorIs(t, err, refuse, "%d bytes", i)
		_, err = backup.Inspect(bytes.NewReader(good[:i]))
		require.ErrorIs(t, err, backup.ErrDamaged, "%d bytes", i)
	}
}

// TestOpenerThatStopsEarly verifies that unread sealed bytes are reported as damage.
func TestOpenerThatStopsEarly(t *testing.T) {
	good := file(t, fixedKey(t), rand.Reader, header(), []byte("body"))
	_, r, err := backup.Open(bytes.NewReader(good), func(_ backup.Header, r io.Reader, _ []byte) (io.Reader, error) {
		return io.LimitReader(r, 5), nil
	})
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, backup.ErrDamaged)
}

func TestErrorsArePassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	k := fixedKey(t)
	good := file(t, k, rand.Reader, header(), []byte("body"))
	for i := range len(good) + 1 {
		r := io.MultiReader(bytes.NewReader(good[:i]), iotest.ErrReader(broken))
		_, err := backup.Inspect(r)
		require.ErrorIs(t, err, broken, "%d", i)
		_, _, err = read(k, io.MultiReader(bytes.NewReader(good[:i]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, "%d", i)
	}
	// Whatever fails during writing, the result is not a valid backup.
	seal := sealer(k, rand.Reader)
	for name, write := range map[string]func(io.Writer) error{
		"body": func(w io.Writer) error {
			return backup.Write(w, header(), seal, func(w io.Writer) error {
				_, _ = w.Write([]byte("half"))
				return broken
			})
		},
		"seal": func(w io.Writer) error {
			none := func(io.Writer, []byte) (io.WriteCloser, error) { return nil, broken }
			return backup.Write(w, header(), none, func(io.Writer) error { return nil })
		},
		"close": func(w io.Writer) error {
			bad := func(w io.Writer, _ []byte) (io.WriteCloser, error) { return badCloser{w, broken}, nil }
			return backup.Write(w, header(), bad, func(io.Writer) error { return nil })
		},
		"file": func(w io.Writer) error {
			return backup.Write(failing{broken}, header(), seal, func(io.Writer) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := write(&out)
			require.ErrorIs(t, err, broken)
			_, err = backup.Inspect(&out)
			require.Error(t, err)
		})
	}
	large := header()
	large.Counts = maps.Collect(func(yield func(string, uint64) bool) {
		for i := range 70_000 {
			if !yield(strconv.Itoa(i), 1) {
				return
			}
		}
	})
	require.Error(t, backup.Write(io.Discard, large, seal, func(io.Writer) error { return nil }),
		"a header that could not be read again")
}

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}

type badCloser struct {
	io.Writer
	err error
}

func (b badCloser) Close() error { return b.err }

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzOpen verifies that a body that can be read to its end equals what was written.
func FuzzOpen(f *testing.F) {
	k := fixedKey(f)
	body := []byte("a small body")
	good := file(f, k, strings.NewReader("salt of 32 bytes, the same always"), header(), body)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(append(bytes.Clone(good), good...))
	f.Add([]byte("mintmark backup 1\n{}\n"))
	f.Add([]byte("mintmark backup 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, inspected := backup.Inspect(bytes.NewReader(data))
		_, got, err := read(k, bytes.NewReader(data))
		if err != nil {
			require.False(t, bytes.Equal(good, data))
			return
		}
		require.NoError(t, inspected)
		require.Equal(t, good, data)
		require.Equal(t, body, got)
	})
}
