package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func sha256Hex(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestSecretGenerate(t *testing.T) {
	r := runLine(t, "secret", "generate")
	secret := strings.TrimSuffix(r.Out, "\n")
	require.Zero(t, r.Code, r.Err)
	require.True(t, credential.IsSecret(secret), "such a client is not throttled")
	require.NotEqual(t, r.Out, runLine(t, "secret", "generate").Out)

	lines := strings.Split(runLine(t, "secret", "generate", "--digest").Out, "\n")
	require.Len(t, lines, 3)
	require.Equal(t, sha256Hex(lines[0]), lines[1])

	var made map[string]string
	require.NoError(t, json.Unmarshal([]byte(runLine(t, "secret", "generate", "-o", "json").Out), &made))
	require.Equal(t, sha256Hex(made["secret"]), made["sha256"])

	file := filepath.Join(t.TempDir(), "cal-app.secret")
	r = runLine(t, "secret", "generate", file)
	require.Zero(t, r.Code, r.Err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, sha256Hex(strings.TrimSuffix(string(text), "\n"))+"\n", r.Out)
	require.Equal(t, ExitLocal, runLine(t, "secret", "generate", file).Code, "an existing secret is not overwritten")
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, kept)
	require.Equal(t, ExitLocal, runLine(t, "secret", "generate", "-o", "xml").Code)
}
