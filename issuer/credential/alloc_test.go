//go:build !race

package credential_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAllocations doesn't run with the race detector, which empties pools at random.
func TestAllocations(t *testing.T) {
	keys := keyring(t)
	m := mac(t, keys, 1)
	l := ledger.CredentialRef{Key: 1, Grant: grant, Generation: 2}
	refresh := credential.MintRefresh(m, l).Reveal()
	assert.LessOrEqual(t, testing.AllocsPerRun(500, func() { _, _ = credential.ParseRefresh(refresh, keys) }), 2.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(500, func() { credential.MintRefresh(m, l) }), 3.0)
	forged := refresh[:79] + flip(refresh[79])
	assert.LessOrEqual(t, testing.AllocsPerRun(500, func() { _, _ = credential.ParseRefresh(forged, keys) }), 2.0)
	assert.Zero(t, testing.AllocsPerRun(500, func() { _, _ = credential.ParseRefresh("mmr_garbage", keys) }))
}
