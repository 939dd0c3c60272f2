package scope_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Other people's services import this package: it links the standard library,
// nothing else.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"github.com/mintmark-auth/mintmark/verifier/scope",
	}, strings.Fields(string(out)))
}
