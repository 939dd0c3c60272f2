package keys_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

// keyFile returns the path of a file with a key.
func keyFile(t testing.TB, k keys.ClusterKey) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster.key")
	require.NoError(t, k.WriteFile(path))
	return path
}

func openKeys(t testing.TB, path string) *keys.ClusterKeys {
	t.Helper()
	c, err := keys.OpenClusterKeys(path)
	require.NoError(t, err)
	return c
}

func sealed(t testing.TB, k keys.ClusterKey) []byte {
	t.Helper()
	b, err := k.Seal(rand.Reader, "c", []byte("p"))
	require.NoError(t, err)
	return b
}

func TestChangeOfTheClusterKey(t *testing.T) {
	a, b := newClusterKey(t), newClusterKey(t)
	path := keyFile(t, a)
	c := openKeys(t, path)
	require.NoError(t, c.Changeable())
	require.Equal(t, []string{a.ID()}, c.StoredIDs())
	require.Empty(t, c.PendingIDs())
	_, err := c.Open("c", sealed(t, b))
	require.ErrorIs(t, err, keys.ErrUnsealable)

	require.NoError(t, c.AddPending(b.Text()))
	require.NoError(t, c.AddPending(b.Text()), "adding a key twice must succeed")
	held := []string{a.ID(), b.ID()}
	slices.Sort(held)
	for _, c := range []*keys.ClusterKeys{c, openKeys(t, path)} {
		require.Equal(t, held, c.StoredIDs())
		require.Equal(t, []string{b.ID()}, c.PendingIDs())
		require.True(t, c.Current().Equal(a))
		require.Equal(t, string(a.Text())+string(b.Text()), string(c.Text()))
		for _, k := range []keys.ClusterKey{a, b} {
			_, err = c.Open("c", sealed(t, k))
			require.NoError(t, err)
			got, err := c.Get(k.ID())
			require.NoError(t, err)
			require.True(t, got.Equal(k))
		}
	}
	info, err := os.Stat(path + ".new")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())

	require.NoError(t, c.Activate(b.ID()))
	require.NoError(t, c.Activate(b.ID()), "activating a key twice must succeed")
	require.Equal(t, []string{b.ID()}, c.StoredIDs())
	require.Equal(t, string(b.Text()), string(c.Text()), "the previous key must not be distributed")
	require.NoError(t, c.Drop(nil))
	_, err = c.Open("c", sealed(t, a))
	require.NoError(t, err, "the previous key must open until the next start")
	require.FileExists(t, path+".old")
	require.NoFileExists(t, path+".new")
	got, err := keys.ReadClusterKey(path)
	require.NoError(t, err)
	require.True(t, got.Equal(b))

	c = openKeys(t, path)
	_, err = c.Open("c", sealed(t, a))
	require.NoError(t, err, "the state of this node may be older than its key")
	require.NoError(t, c.Drop(nil))
	_, err = c.Open("c", sealed(t, a))
	require.ErrorIs(t, err, keys.ErrUnsealable)
	require.NoFileExists(t, path+".old")
}

// TestCrashWhileTheClusterKeyChanges ends the process before each change of a file: a stored
// key must not be lost, and a second attempt must finish.
func TestCrashWhileTheClusterKeyChanges(t *testing.T) {
	for step := 1; ; step++ {
		a, b, left := newClusterKey(t), newClusterKey(t), newClusterKey(t)
		path := keyFile(t, a)
		died := false
		reached := "nothing"
		t.Run(fmt.Sprint("step ", step), func(t *testing.T) {
			c := openKeys(t, path)
			n := 0
			c.OnWrite(func(suffix string) error {
				if n++; n >= step {
					died = true
					return errors.New("killed before " + path + suffix)
				}
				return nil
			})
			for _, do := range []struct {
				name string
				f    func() error
			}{
				{"took another that was left unfinished", func() error { return c.AddPending(left.Text()) }},
				{"took", func() error { return c.AddPending(b.Text()) }},
				{"used", func() error { return c.Activate(b.ID()) }},
				{"forgot", func() error { return c.Drop(c.PendingIDs()) }},
			} {
				if do.f() != nil {
					break
				}
				reached = do.name
			}
			require.NoError(t, os.WriteFile(path+".part", []byte("half a ke"), 0o600))

			c = openKeys(t, path)
			if reached == "took" || reached == "used" || reached == "forgot" {
				require.Contains(t, c.StoredIDs(), b.ID(), "an acknowledged key was lost")
			}
			if reached != "used" && reached != "forgot" {
				_, err := c.Open("c", sealed(t, a))
				require.NoError(t, err)
			}
			require.NoError(t, c.AddPending(b.Text()))
			require.NoError(t, c.Activate(b.ID()))
			require.NoError(t, c.Drop(c.PendingIDs()))
			c = openKeys(t, path)
			require.NoError(t, c.Drop(nil))
			require.Equal(t, []string{b.ID()}, openKeys(t, path).StoredIDs())
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			for _, e := range entries {
				require.NotContains(t, []string{"cluster.key.new", "cluster.key.old"}, e.Name())
			}
		})
		if !died {
			require.Equal(t, "forgot", reached)
			require.Greater(t, step, 5)
			return
		}
	}
}

func TestClusterKeysThatStay(t *testing.T) {
	a, b := newClusterKey(t), newClusterKey(t)
	for name, test := range map[string]struct {
		why  string
		make func(t *testing.T) *keys.ClusterKeys
	}{
		"given": {"it is in the environment", func(*testing.T) *keys.ClusterKeys { return keys.FixedClusterKey(a, "it is in the environment") }},
		"read-only": {keys.ErrReadOnlyFile.Error(), func(t *testing.T) *keys.ClusterKeys {
			path := keyFile(t, a)
			require.NoError(t, os.Chmod(path, 0o400))
			return openKeys(t, path)
		}},
		"link": {keys.ErrLinkedFile.Error(), func(t *testing.T) *keys.ClusterKeys {
			path := filepath.Join(t.TempDir(), "link")
			require.NoError(t, os.Symlink(keyFile(t, a), path))
			return openKeys(t, path)
		}},
		"folder that takes nothing": {"cluster.key.part: is a directory", func(t *testing.T) *keys.ClusterKeys {
			path := keyFile(t, a)
			require.NoError(t, os.Mkdir(path+".part", 0o700))
			return openKeys(t, path)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.make(t)
			require.ErrorContains(t, c.Changeable(), test.why)
			require.ErrorContains(t, c.AddPending(b.Text()), test.why)
			require.NoError(t, c.AddPending(a.Text()), "the key is stored already")
			require.ErrorIs(t, c.Activate(b.ID()), keys.ErrKeyNotStored)
			require.NoError(t, c.Activate(a.ID()))
			require.NoError(t, c.Drop([]string{a.ID()}))
			require.Equal(t, []string{a.ID()}, c.StoredIDs())
		})
	}
}

func TestStoreClusterKeys(t *testing.T) {
	a, b, other := newClusterKey(t), newClusterKey(t), newClusterKey(t)
	both := append(a.Text(), b.Text()...)
	for name, test := range map[string]struct {
		has  *keys.ClusterKey
		text []byte
		held []string
		err  string
	}{
		"one":                      {nil, a.Text(), []string{a.ID()}, ""},
		"two":                      {nil, both, []string{a.ID(), b.ID()}, ""},
		"the same":                 {&a, a.Text(), []string{a.ID()}, ""},
		"the first of two":         {&a, both, []string{a.ID(), b.ID()}, ""},
		"the second of two":        {&b, both, []string{a.ID(), b.ID()}, ""},
		"that of another cluster":  {&other, both, nil, "another cluster key"},
		"rubbish":                  {nil, []byte("rubbish"), nil, "not a valid key"},
		"rubbish after a good one": {nil, append(a.Text(), "rubbish"...), nil, "not a valid key"},
		"nothing":                  {nil, nil, nil, "not a valid key"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cluster.key")
			if test.has != nil {
				require.NoError(t, test.has.WriteFile(path))
			}
			err := keys.StoreClusterKeys(path, test.text)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			slices.Sort(test.held)
			require.Equal(t, test.held, openKeys(t, path).StoredIDs())
		})
	}
}

func TestOpenClusterKeysRefusesBadFiles(t *testing.T) {
	path := keyFile(t, newClusterKey(t))
	for _, suffix := range []string{".new", ".old"} {
		require.NoError(t, os.WriteFile(path+suffix, newClusterKey(t).Text(), 0o644))
		_, err := keys.OpenClusterKeys(path)
		require.ErrorIs(t, err, keys.ErrExposed)
		require.NoError(t, os.Chmod(path+suffix, 0o600))
		require.NoError(t, os.Truncate(path+suffix, 20))
		_, err = keys.OpenClusterKeys(path)
		require.ErrorIs(t, err, keys.ErrBadKey)
		require.ErrorIs(t, err, keys.ErrDamagedFile)
		require.NoError(t, os.Remove(path+suffix))
	}
	_, err := keys.OpenClusterKeys(path + ".none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	c := openKeys(t, path)
	for range 32 {
		require.NoError(t, c.AddPending(newClusterKey(t).Text()))
	}
	require.ErrorContains(t, c.AddPending(newClusterKey(t).Text()), "unfinished")
	require.Len(t, openKeys(t, path).StoredIDs(), 33)
}

// TestManyChangesOfTheClusterKey: a file has place for the keys of all changes that are accepted
// between two starts.
func TestManyChangesOfTheClusterKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.key")
	require.NoError(t, newClusterKey(t).WriteFile(path))
	c := openKeys(t, path)
	for range 64 {
		k := newClusterKey(t)
		require.NoError(t, c.AddPending(k.Text()))
		require.NoError(t, c.Activate(k.ID()))
	}
	require.Error(t, c.Changeable())
	require.ErrorContains(t, c.AddPending(newClusterKey(t).Text()), "replaced its key 64 times since its start")
	openKeys(t, path)
	require.NoError(t, os.WriteFile(path+".old", bytes.Repeat(newClusterKey(t).Text(), 100), 0o600))
	_, err := keys.OpenClusterKeys(path)
	require.ErrorIs(t, err, keys.ErrDamagedFile)
}

func TestClusterKeysDoNotShow(t *testing.T) {
	a := newClusterKey(t)
	c := openKeys(t, keyFile(t, a))
	secret := string(a.Text()[:43])
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(verb, c), secret)
		require.Equal(t, "REDACTED", fmt.Sprintf(verb, c))
	}
}

// TestAddOpenOnly verifies that such a key opens what was sealed under it, and is neither
// stored nor acknowledged.
func TestAddOpenOnly(t *testing.T) {
	a, b, c := newClusterKey(t), newClusterKey(t), newClusterKey(t)
	path := keyFile(t, a)
	other := keyFile(t, b)
	require.NoError(t, os.WriteFile(other, append(b.Text(), c.Text()...), 0o600))
	text, err := keys.ReadClusterKeys(other)
	require.NoError(t, err)
	for name, held := range map[string]*keys.ClusterKeys{"file": openKeys(t, path), "fixed": keys.FixedClusterKey(a, "because")} {
		require.NoError(t, held.AddOpenOnly(text), name)
		require.NoError(t, held.AddOpenOnly(a.Text()))
		require.Equal(t, []string{a.ID(), b.ID(), c.ID()}, held.IDs())
		require.Equal(t, []string{a.ID()}, held.StoredIDs())
		require.Equal(t, string(a.Text()), string(held.Text()))
		for _, k := range []keys.ClusterKey{a, b, c} {
			_, err := held.Open("c", sealed(t, k))
			require.NoError(t, err)
			got, err := held.Get(k.ID())
			require.NoError(t, err)
			require.True(t, got.Equal(k))
		}
		require.True(t, held.Current().Equal(a))
		require.Error(t, held.AddOpenOnly([]byte("no key")))
	}
	require.Equal(t, []string{a.ID()}, openKeys(t, path).IDs())
	require.NoError(t, os.Chmod(other, 0o644))
	_, err = keys.ReadClusterKeys(other)
	require.ErrorIs(t, err, keys.ErrExposed)
	_, err = keys.ReadClusterKeys(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestAnothersOldKey verifies that a file in place of the previous key's, which the node did
// not write, is not overwritten.
func TestAnothersOldKey(t *testing.T) {
	a, b, precious := newClusterKey(t), newClusterKey(t), newClusterKey(t)
	for name, test := range map[string]struct {
		text []byte
		why  error
	}{
		"a key":     {precious.Text(), keys.ErrForeignFile},
		"some text": {[]byte("do not lose this\n"), keys.ErrDamagedFile},
		"nothing":   {[]byte{}, keys.ErrDamagedFile},
	} {
		t.Run(name, func(t *testing.T) {
			text := test.text
			path := keyFile(t, a)
			c := openKeys(t, path)
			require.NoError(t, c.AddPending(b.Text()))
			require.NoError(t, os.WriteFile(path+".old", text, 0o600))

			err := c.Changeable()
			require.ErrorIs(t, err, test.why)
			require.ErrorContains(t, err, path+".old")
			require.NotContains(t, err.Error(), string(precious.Text()))
			require.Error(t, c.Activate(b.ID()), "a change that has begun")
			got, err := os.ReadFile(path + ".old")
			require.NoError(t, err)
			require.Equal(t, string(text), string(got))
			require.True(t, c.Current().Equal(a))

			require.NoError(t, os.Rename(path+".old", path+".mine"))
			require.NoError(t, c.Changeable())
			require.NoError(t, c.Activate(b.ID()))
			require.NoError(t, c.Changeable(), "the node's own file prevents no change")
			require.True(t, openKeys(t, path).Current().Equal(b))
		})
	}
}
