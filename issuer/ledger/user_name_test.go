package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReservedNames verifies which names look like an identifier that this service makes.
func TestReservedNames(t *testing.T) {
	random := strings.Repeat("a", 22)
	for name, reserved := range map[string]bool{
		"u_" + random: true, "c_" + random: true, "s_" + random: true, "U_" + strings.ToUpper(random): true, "u_" + random + "-_9": true,
		"x_" + random: false, "uu_" + random: false, "_" + random: false, "u" + random: false, "u-" + random: false,
		"u_" + random[1:]: false, "u_" + random + "@example": false,
	} {
		want := "ok"
		if reserved {
			want = "invalid_request: a field is not valid (username looks like an identifier that this service makes)"
		}
		w := newEnv(t)
		require.Equal(t, want, w.run("add-user 1 username="+name), name)
	}
}
