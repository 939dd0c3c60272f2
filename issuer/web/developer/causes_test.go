package developer_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/developer"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// ofManagement are the causes of commands, sign-ins and operators: no request of an application
// is refused with them.
var ofManagement = []ledger.Cause{
	ledger.NotSignedIn, ledger.NotFound, ledger.AlreadyExists, ledger.BadField, ledger.WrongState, ledger.TooManySecrets,
	ledger.LastSecret, ledger.TooManyURIs, ledger.ConfirmMigration, ledger.PasswordChanged, ledger.KeyTooYoung,
	ledger.KeyInUse, ledger.PublicClientNoSecret, ledger.NotRestored, ledger.ClusterKeyNotStored, ledger.KeyringDiffers,
	ledger.SealedUnderOtherKey, ledger.ReplayTooLate, ledger.TooManyClients, ledger.OwnAccount, ledger.NoSuchUser,
	ledger.PasswordWrong, ledger.UpstreamRefused, ledger.SignInTooOld, ledger.OtherPerson, ledger.TooManyResources,
	ledger.LocalOnly, ledger.OperatorTokenUnknown, ledger.OperatorTokenExpired, ledger.OperatorTokenRevoked,
	ledger.OperatorCertificateRefused, ledger.OperatorUnauthenticated, ledger.OperatorScopeMissing,
	ledger.TooManyOperatorTokens, ledger.OperatorCrossOrigin, ledger.DocumentOwned,
}

// TestEveryCauseHasARemedy verifies that no cause lacks words on what to check, in words that
// owners of applications know.
func TestEveryCauseHasARemedy(t *testing.T) {
	_, none := developer.Remedy(ledger.NoCause)
	assert.Empty(t, none)
	for _, cause := range ledger.Causes() {
		name := cause.Name()
		title, check := developer.Remedy(cause)
		if slices.Contains(ofManagement, cause) {
			assert.Empty(t, check, "%s is also a cause of management", name)
			continue
		}
		assert.NotEmpty(t, check, "%s has no remedy", name)
		assert.NotRegexp(t, `^$|( \S+){6}`, title, name)
		assert.Regexp(t, `\.$`, check, name)
		assert.NotRegexp(t, `\bnodes?\b|cluster`, check, name)
	}
}

// TestRemedies verifies what an explained error_id leads to.
func TestRemedies(t *testing.T) {
	w, b := Mine(t, nil)
	w.Explanations = map[string]ledger.Explanation{}
	explain := func(b *Browser, client string, cause ledger.Cause) string {
		w.Explanations["mme_1"] = ledger.Explanation{Client: credential.ClientDigest(client), Cause: cause, At: w.Now()}
		return b.Get("/developer/clients/" + client + "/errors?error_id=mme_1").Text
	}
	page := explain(b, "mine", ledger.SecretWrong)
	assert.Contains(t, page, "Active secrets: ••••S_OLD-1111 and ••••S_NEW-2222.")
	assert.Contains(t, page, `href="`+MinePath+`/secrets">Go to Credentials</a>`)
	assert.Contains(t, explain(b, "calendar", ledger.SecretMissing), "Active secrets: none.")
	assert.NotContains(t, explain(b, "native", ledger.SecretWrong), "secret.</p>", "a public client has none")
	assert.Contains(t, explain(b, "mine", ledger.RedirectURIUnregistered), `href="`+MinePath+`/scopes">Go to Scopes`)
	assert.Contains(t, explain(b, "mine", ledger.VerifierWrong), `href="`+MinePath+`/connect">Go to Connect</a>`)
	assert.Contains(t, explain(b, "mine", ledger.ClientSuspended), `href="`+MinePath+`">Go to Overview</a>`)

	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	page = explain(w.SignedInAs("root"), "mine", ledger.SecretWrong)
	assert.Contains(t, page, "Compare the end of the secret")
	assert.NotContains(t, page, "S_OLD-1111", "administrators learn less")
	assert.NotContains(t, page, "Go to Credentials")
}
