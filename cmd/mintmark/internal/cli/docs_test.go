package cli

import (
	"encoding/json"
	"regexp"
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
	require.Equal(t, "mintmark: unknown document \"none\" (mintmark docs lists them)\n", r.Err)
	require.Empty(t, r.Out)
	require.Contains(t, runLine(t, "docs", "disater").Err, "; did you mean disaster? (mintmark docs")

	for _, name := range []string{"disaster", "openapi", "operators-openapi"} {
		require.Contains(t, runLine(t, "__complete", "docs", "").Out, name+"\t")
	}
	require.NotContains(t, runLine(t, "__complete", "docs", "disaster", "").Out, "install")
}

// TestDocumentsLinkToDocuments: documents link only to other documents that the docs
// command can show, and to README.md, which is not in the binary.
func TestDocumentsLinkToDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+\.md)`)
	found := 0
	for _, d := range docs.All {
		text, ok := docs.Read(d.Name)
		require.True(t, ok, d.Name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if m[1] == "../README.md" {
				continue
			}
			_, ok := docs.Read(strings.TrimSuffix(m[1], ".md"))
			require.True(t, ok, "%s links to %s", d.Name, m[1])
			found++
		}
	}
	require.NotZero(t, found)
}
