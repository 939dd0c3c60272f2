package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/doctor"
)

// checkedState runs doctor with a data folder and returns the state of one check.
func checkedState(t *testing.T, dir, check string, more ...string) (state doctor.State, code int) {
	t.Helper()
	r := runLine(t, append([]string{"doctor", "-o", "json", "--data-dir", dir}, more...)...)
	var all checkup
	require.NoError(t, json.Unmarshal([]byte(r.Out), &all), r.Err)
	require.Equal(t, doctor.Worst(all.Checks), all.State)
	for _, c := range all.Checks {
		if c.Check == check {
			return c.State, r.Code
		}
	}
	require.Fail(t, "no check "+check)
	return "", 0
}

// TestDoctor: doctor works without a node. Its exit code is 1 for warnings and 2 for
// failures.
func TestDoctor(t *testing.T) {
	require.Equal(t, ExitLocal, exitCode(&checkupError{warnings: 1}))
	require.Equal(t, ExitRefused, exitCode(&checkupError{failures: 1, warnings: 1}))
	dir := filepath.Join(t.TempDir(), "data")
	state, code := checkedState(t, dir, "data folder", "--trust-clock")
	require.Equal(t, doctor.OK, state)
	require.NoDirExists(t, dir)
	require.Contains(t, []int{ExitOK, ExitLocal}, code, "the test machine may have warnings, but no failure")

	state, code = checkedState(t, dir, "settings", "--trust-clock", "--listen", "nowhere")
	require.Equal(t, doctor.Failure, state)
	require.Equal(t, ExitRefused, code)

	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o755))
	state, code = checkedState(t, dir, "data folder", "--trust-clock")
	require.Equal(t, doctor.Warning, state)
	require.NotEqual(t, ExitOK, code) // not compared exactly: the disk of a busy machine may be a failure
	require.NoError(t, os.Chmod(dir, 0o777))
	state, code = checkedState(t, dir, "data folder")
	require.Equal(t, doctor.Failure, state)
	require.Equal(t, ExitRefused, code)

	r := runLine(t, "doctor", "--data-dir", dir)
	require.Equal(t, ExitRefused, r.Code)
	require.Contains(t, r.Out, "failure  data folder: "+dir+" has mode 0777\n         everybody may write to it: chmod 700 "+dir+"\n")
	require.Contains(t, r.Err, "mintmark: failures: ")
}
