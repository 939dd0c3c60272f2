package verifier_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// saving returns a source with a snapshot file, and a log of its refreshes.
func saving(t *testing.T, issuer *verifiertest.Issuer, path string) (*verifier.JWKS, *refreshLog) {
	t.Helper()
	log := new(refreshLog)
	c := issuer.JWKSConfig()
	c.Snapshot, c.Observer.Refreshed = path, log.add
	j, err := verifier.NewJWKS(c)
	require.NoError(t, err)
	t.Cleanup(j.Close)
	return j, log
}

// A service that restarts while the issuer is unavailable uses the stored keys, until
// they are stale.
func TestSnapshotOutlivesARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		before, _ := saving(t, issuer, path)
		synctest.Wait()
		saved := before.State().ConfirmedAt
		kid := before.State().Keys[0]
		before.Close()
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())

		issuer.Down()
		time.Sleep(time.Hour)
		after, log := saving(t, issuer, path)
		assert.NoError(t, find(after, kid), "at once")
		assert.True(t, after.State().Restored)
		assert.True(t, after.State().ConfirmedAt.Equal(saved.Truncate(time.Second)))
		synctest.Wait()
		assert.Error(t, after.State().Err)
		assert.Equal(t, verifier.CauseSnapshot, log.all()[0].Cause)
		assert.Equal(t, 1, log.all()[0].Keys)

		time.Sleep(23 * time.Hour)
		assert.ErrorIs(t, find(after, kid), verifier.ErrKeysUnavailable, "a restart doesn't extend their use")

		issuer.Up()
		time.Sleep(13 * time.Second)
		synctest.Wait()
		assert.NoError(t, find(after, kid))
		assert.False(t, after.State().Restored)
	})
}

// A removed key leaves the snapshot with the next refresh, and a restored key with the
// first.
func TestSnapshotFollowsRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		before, _ := saving(t, issuer, path)
		synctest.Wait()
		old := before.State().Keys[0]
		before.Close()
		issuer.Rotate()
		issuer.RemoveOldKeys()
		after, _ := saving(t, issuer, path)
		synctest.Wait()
		assert.ErrorIs(t, find(after, old), verifier.ErrUnknownKey)
		synctest.Wait()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(text), old)
		files, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		assert.Len(t, files, 1, "no temporary file is left")
	})
}

func TestSnapshotThatIsRefused(t *testing.T) {
	const url = "https://auth.example.com/.well-known/jwks.json"
	issuer := verifiertest.NewInMemoryIssuer()
	document := string(issuer.KeySet())
	line := func(word string, at time.Time, url string) string {
		return fmt.Sprintf("%s %d %s\n", word, at.Unix(), url)
	}
	now := time.Now()
	tests := []struct {
		name, content string
		mode          os.FileMode
		want          string // empty: the snapshot is used
	}{
		{"good", line("mintmark-jwks-1", now, url) + document, 0o600, ""},
		{"others can read", line("mintmark-jwks-1", now, url) + document, 0o644, ""},
		{"group can write", line("mintmark-jwks-1", now, url) + document, 0o660, "writable by others"},
		{"others can write", line("mintmark-jwks-1", now, url) + document, 0o602, "writable by others"},
		{"of another issuer", line("mintmark-jwks-1", now, "https://other.example.com/jwks") + document, 0o600, "another URL"},
		{"of a later version", line("mintmark-jwks-2", now, url) + document, 0o600, "not a snapshot"},
		{"from the future", line("mintmark-jwks-1", now.Add(time.Hour), url) + document, 0o600, "ahead"},
		{"too old", line("mintmark-jwks-1", now.Add(-24*time.Hour), url) + document, 0o600, "too old"},
		{"cut short", line("mintmark-jwks-1", now, url) + document[:len(document)-1], 0o600, "strict JSON"},
		{"without a time", "mintmark-jwks-1 x " + url + "\n" + document, 0o600, "not a snapshot"},
		{"a bare key set", document, 0o600, "not a snapshot"},
		{"empty", "", 0o600, "not a snapshot"},
		{"too long", line("mintmark-jwks-1", now, url) + document + strings.Repeat(" ", 1<<20), 0o600, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys")
			require.NoError(t, os.WriteFile(path, []byte(tt.content), tt.mode))
			require.NoError(t, os.Chmod(path, tt.mode))
			issuer := verifiertest.NewInMemoryIssuer()
			issuer.Down()
			j, log := saving(t, issuer, path)
			assert.Equal(t, tt.want == "", j.State().Ready)
			require.NotEmpty(t, log.all())
			if tt.want != "" {
				assert.ErrorContains(t, log.all()[0].Err, tt.want)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		issuer.Down()
		j, log := saving(t, issuer, t.TempDir())
		assert.False(t, j.State().Ready)
		assert.Error(t, log.all()[0].Err)
	})
	t.Run("none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			issuer := verifiertest.NewInMemoryIssuer()
			j, log := saving(t, issuer, filepath.Join(t.TempDir(), "no such folder", "keys"))
			synctest.Wait()
			assert.True(t, j.State().Ready, "keys are used although they can't be saved")
			require.Len(t, log.all(), 1, "a missing snapshot is not reported")
			assert.Error(t, log.all()[0].SaveErr)
		})
	})
}
