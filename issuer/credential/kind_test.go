package credential_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func TestKindOf(t *testing.T) {
	for text, want := range map[string]credential.Kind{
		credential.NewSecret(rand.Reader).Reveal():        credential.KindSecret,
		credential.NewOperatorToken(rand.Reader).Reveal(): credential.KindOperatorToken,
		credential.NewSessionID(rand.Reader).Reveal():     credential.KindSession,
		"mmc_x": credential.KindCode, "mmr_x": credential.KindRefresh, "mme_x": credential.KindErrorID,
		"": credential.NoKind, "mms": credential.NoKind, "eyJhbGciOi_J9": credential.NoKind, "_mms_": credential.NoKind,
	} {
		assert.Equal(t, want, credential.KindOf(text), text)
	}
}
