package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/docs"
)

func TestDocs(t *testing.T) {
	r := runLine(t, "docs")
	require.Equal(t, ExitOK, r.Code, r.Err)
	for _, d := range docs.All {
		require.Contains(t, r.Out, "\n"+d.Name+" ")
	}
	require.Contains(t, r.Err, docs.Elsewhere)

	r = runLine(t, "docs", "disaster")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.True(t, strings.HasPrefix(r.Out, "# Disaster\n"), r.Out)

	r = runLine(t, "docs", "openapi")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.True(t, json.Valid([]byte(r.Out)))
	require.Contains(t, r.Out, `"openapi": "3.1.0"`)

	r = runLine(t, "docs", "none")
	require.Equal(t, ExitLocal, r.Code)
	require.Contains(t, r.Err, `"none"`)
	require.Empty(t, r.Out)

	require.Contains(t, runLine(t, "__complete", "docs", "").Out, "disaster\t")
	require.NotContains(t, runLine(t, "__complete", "docs", "disaster", "").Out, "install")
}
