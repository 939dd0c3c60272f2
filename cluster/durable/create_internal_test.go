package durable

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCreateWithoutHardLinks: removable media often have none.
func TestCreateWithoutHardLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, createHere(path, []byte("text")))
	require.ErrorIs(t, createHere(path, []byte("other")), fs.ErrExist)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}
