package web_test

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/specimen.golden.html anew")

// TestSpecimen keeps a page with every element and its markup, for authors of pages to
// copy from. cmd/mintmark/e2e tests it in a browser.
func TestSpecimen(t *testing.T) {
	s := newSpecimen(t)
	b := s.signedIn()
	form := with(b.get(specimenPage).form(t, specimenPath), "name", "", "website", "bad", "redirect_uris", "https://app.example.com/cb")
	page := b.post(specimenPath, form).body
	for pattern, text := range map[string]string{
		`(name="(token|shown_to)" value=)"[^"]*"`: `$1"$2"`, `/assets/(style|icon)-[0-9a-f]{16}`: `/$1`,
	} {
		page = regexp.MustCompile(pattern).ReplaceAllString(page, text)
	}
	const file = "testdata/specimen.golden.html"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	}
	golden, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(golden), page, "update with: go test ./issuer/web -run TestSpecimen -update")
}
