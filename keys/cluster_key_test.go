package keys_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

func newClusterKey(t testing.TB) keys.ClusterKey {
	t.Helper()
	k, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	return k
}

func TestClusterKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.key")
	k := newClusterKey(t)
	require.NoError(t, k.WriteFile(path))

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Regexp(t, `^[A-Za-z0-9_-]{43}\n$`, string(text))

	got, err := keys.ReadClusterKey(path)
	require.NoError(t, err)
	assert.True(t, got.Equal(k))
	assert.False(t, got.Equal(newClusterKey(t)))

	// A second key doesn't replace the first.
	require.ErrorIs(t, newClusterKey(t).WriteFile(path), fs.ErrExist)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, again)
}

func TestReadClusterKeyRefusesExposedFiles(t *testing.T) {
	for mode, want := range map[fs.FileMode]struct{ file, credential bool }{
		0o600: {true, true}, 0o400: {true, true}, 0o700: {true, true},
		0o440: {false, true}, 0o640: {false, true}, // as systemd creates them
		0o604: {}, 0o644: {}, 0o620: {}, 0o601: {}, 0o660: {}, 0o450: {}, 0o444: {},
	} {
		t.Run(mode.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "k")
			require.NoError(t, newClusterKey(t).WriteFile(path))
			require.NoError(t, os.Chmod(path, mode))
			check := func(ok bool, err error) {
				t.Helper()
				if ok {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, keys.ErrExposed)
				}
			}
			_, err := keys.ReadClusterKey(path)
			check(want.file, err)
			_, err = keys.ReadClusterCredential(path)
			check(want.credential, err)
		})
	}
}

func TestReadClusterKeyRefusesOtherThings(t *testing.T) {
	_, err := keys.ReadClusterKey(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = keys.ReadClusterKey(t.TempDir())
	require.Error(t, err)
}

func TestParseClusterKey(t *testing.T) {
	good := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xFB}, 32))
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"bare":                   {good, true},
		"line":                   {good + "\n", true},
		"line of another system": {good + "\r\n", true},
		"empty":                  {"", false},
		"two line endings":       {good + "\n\n", false},
		"space":                  {" " + good, false},
		"padding":                {good + "=", false},
		"short":                  {good[:42], false},
		"long":                   {good + "A", false},
		"break inside":           {good[:20] + "\n" + good[21:], false},
		"other base64 alphabet":  {strings.ReplaceAll(good, "-", "+"), false},
		"non-canonical last bit": {good[:42] + "t", false},
		"all zero":               {strings.Repeat("A", 43), false},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := keys.ParseClusterKey([]byte(tc.text))
			assert.Equal(t, !tc.ok, k.IsZero())
			if tc.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, keys.ErrBadKey)
			assert.NotContains(t, err.Error(), good[:8])
		})
	}
}

func TestZeroClusterKeyIsRefused(t *testing.T) {
	var zero keys.ClusterKey
	_, err := zero.Seal(rand.Reader, "c", []byte("p"))
	require.ErrorIs(t, err, keys.ErrNoKey)
	_, err = zero.Open("c", make([]byte, 64))
	require.ErrorIs(t, err, keys.ErrNoKey)
	require.ErrorIs(t, zero.WriteFile(filepath.Join(t.TempDir(), "k")), keys.ErrNoKey)
	assert.False(t, zero.Equal(zero))
	_, err = keys.NewClusterKey(bytes.NewReader(make([]byte, 32)))
	require.ErrorIs(t, err, keys.ErrBadKey)
}
