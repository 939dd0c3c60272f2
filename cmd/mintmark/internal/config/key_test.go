package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

func TestWhereTheClusterKeyComesFrom(t *testing.T) {
	key, err := keys.NewClusterKey(bytes.NewReader(bytes.Repeat([]byte{7}, 32)))
	require.NoError(t, err)
	other, err := keys.NewClusterKey(bytes.NewReader(bytes.Repeat([]byte{9}, 32)))
	require.NoError(t, err)
	credentials, data := t.TempDir(), t.TempDir()
	require.NoError(t, key.WriteFile(filepath.Join(credentials, "cluster.key")))
	require.NoError(t, os.Chmod(filepath.Join(credentials, "cluster.key"), 0o440)) // as systemd does
	require.NoError(t, key.WriteFile(filepath.Join(data, "cluster.key")))
	named := filepath.Join(t.TempDir(), "named")
	require.NoError(t, key.WriteFile(named))
	text := strings.TrimSpace(string(key.Text()))
	for name, test := range map[string]struct {
		file  string
		env   map[string]string
		fixed string
	}{
		"data folder":        {"", nil, ""},
		"named":              {named, map[string]string{EnvClusterKey: "x"}, ""},
		"environment":        {"", map[string]string{EnvClusterKey: text}, "comes from the environment"},
		"systemd credential": {"", map[string]string{"CREDENTIALS_DIRECTORY": credentials}, "systemd credential"},
		"named credential": {
			filepath.Join(credentials, "cluster.key"), map[string]string{"CREDENTIALS_DIRECTORY": credentials + "/"}, "systemd credential",
		},
		"other credentials": {"", map[string]string{"CREDENTIALS_DIRECTORY": t.TempDir()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := FindKey(test.file, data, func(name string) string { return test.env[name] })
			held, err := s.Create(slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			require.True(t, held.Current().Equal(key))
			require.NoError(t, s.Store(key.Text()))
			require.ErrorContains(t, s.Store(other.Text()), "another cluster key")
			if test.fixed == "" {
				require.NoError(t, held.Changeable())
				return
			}
			require.ErrorContains(t, held.Changeable(), test.fixed)
			require.ErrorContains(t, held.Changeable(), filepath.Join(data, "cluster.key"), "the error names the file")
			require.NotContains(t, held.Changeable().Error(), text)
		})
	}
}
