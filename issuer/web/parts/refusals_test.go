package parts_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestRefusalsAreBounded verifies that memory is bounded.
func TestRefusalsAreBounded(t *testing.T) {
	r := parts.NewRefusals()
	for i := range 100 {
		r.Record("c", oauth.InvalidGrant, ledger.Cause(i), "", ledger.Time(i))
	}
	list := CausesOf(r, "c")
	require.Len(t, list, 40)
	assert.Equal(t, ledger.Cause(99), list[0])
	assert.Equal(t, ledger.Cause(60), list[39])
	for i := range 5000 {
		r.Record(fmt.Sprint(i), oauth.InvalidClient, ledger.SecretWrong, "", 1)
		r.Record("busy", oauth.InvalidClient, ledger.SecretWrong, "", 1)
	}
	assert.Empty(t, CausesOf(r, "c"), "the oldest client must be dropped first")
	assert.Len(t, CausesOf(r, "busy"), 1)
	assert.Len(t, CausesOf(r, "4999"), 1)
	assert.Equal(t, 2000, parts.RefusedClients(r))
}
