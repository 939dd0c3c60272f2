package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUpstreamSecret: a secret file that others can read is refused. No error contains
// the secret.
func TestUpstreamSecret(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{}
	read := func(name string) (string, error) {
		o := Upstream{}
		if name != "" {
			o.SecretFile = filepath.Join(dir, name)
		}
		return o.Secret(func(name string) string { return env[name] })
	}
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode)) // regardless of the umask
	}
	write("secret", "hunter2\n", 0o600)
	write("shared", "hunter2\n", 0o440)
	write("open", "hunter2\n", 0o604)
	write("empty", " \n", 0o600)

	got, err := read("")
	require.NoError(t, err)
	require.Empty(t, got, "the client needs no secret")
	env[EnvUpstreamSecret] = "of the environment"
	got, err = read("")
	require.NoError(t, err)
	require.Equal(t, "of the environment", got)
	got, err = read("secret")
	require.NoError(t, err)
	require.Equal(t, "hunter2", got, "a named file overrides the environment")
	for _, name := range []string{"shared", "open", "empty", "none", "."} {
		_, err = read(name)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
	env["CREDENTIALS_DIRECTORY"] = dir
	_, err = read("shared")
	require.NoError(t, err, "systemd's credentials are their group's")
	_, err = read("open")
	require.Error(t, err)
}
