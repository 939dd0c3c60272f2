package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	require.Regexp(t, `^mintmark version \S+ \((?:revision [0-9a-f]{40}, )?feature level \d+, go\S+, \w+/\w+\)\n$`, runLine(t, "version").Out)
	var v shownVersion
	require.NoError(t, json.Unmarshal([]byte(runLine(t, "version", "-o", "json").Out), &v))
	require.Equal(t, "v1", v.Version)
	require.Equal(t, ExitLocal, runLine(t, "version", "-o", "xml").Code)
}
