package credential_test

import (
	"bytes"
	"crypto/cipher"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/keys"
)

// Package keys implements the interfaces of this package.
var (
	_ credential.MAC    = (*keys.MACKey)(nil)
	_ credential.Signer = (*keys.Signer)(nil)
)

// secretOf returns a credential key of one repeated byte.
func secretOf(t testing.TB, b byte) keys.Secret {
	t.Helper()
	s, err := keys.ParseSecret(bytes.Repeat([]byte{b}, keys.SecretSize))
	require.NoError(t, err)
	return s
}

// keyring returns keys 1 and 2.
func keyring(t testing.TB) credential.MACs {
	macs := map[uint32]*keys.MACKey{1: secretOf(t, 1).MAC("chain"), 2: secretOf(t, 2).MAC("chain")}
	return func(id uint32) (credential.MAC, bool) {
		m, ok := macs[id]
		return m, ok
	}
}

// aeads returns key 1.
func aeads(t testing.TB) credential.AEADs {
	a := secretOf(t, 1).AEAD("error-id")
	return func(id uint32) (cipher.AEAD, bool) { return a, id == 1 }
}

func mac(t testing.TB, keys credential.MACs, id uint32) credential.MAC {
	t.Helper()
	m, ok := keys(id)
	require.True(t, ok)
	return m
}
