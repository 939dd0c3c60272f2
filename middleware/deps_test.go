package middleware_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that imports this package links the standard library, the verifier
// and the scope catalogue, nothing else.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"github.com/mintmark-auth/mintmark/verifier/scope",
		"github.com/mintmark-auth/mintmark/verifier",
		"github.com/mintmark-auth/mintmark/middleware",
	}, strings.Fields(string(out)))
}
