package issuer

import (
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// descriptions are the public texts of refusals: one for each code, so that a response
// doesn't reveal which check failed.
var descriptions = map[oauth.Code]string{
	oauth.InvalidClient:        "Client authentication failed.",
	oauth.UnauthorizedClient:   "The client can not be used now.",
	oauth.InvalidGrant:         "The code or refresh token is not valid for this request.",
	oauth.UnsupportedTokenType: "Access tokens can not be revoked here.",
	oauth.InvalidScope:         "The scope is unknown, or wider than what was granted.",
	oauth.InvalidTarget:        "The resource is unknown, removed, or not the one that was granted.",
	oauth.InvalidRequest:       "The request does not fit the authorization that it belongs to.",
}

// publicError returns the public form of a refusal: its code, the text of the code, and
// the cause sealed in the error_id.
func (i *Issuer) publicError(client string, r ledger.Refusal) *oauth.Error {
	return &oauth.Error{Code: r.Code, Description: descriptions[r.Code], ID: i.ErrorID(client, r), Cause: uint16(r.Cause)}
}

// ErrorID seals the cause of a refusal for the client's owner. Nothing is stored, so a
// refusal costs no log entry.
func (i *Issuer) ErrorID(client string, r ledger.Refusal) string {
	id, existing := i.SealRefusal(client, r), i.existingClientID(client)
	i.config.Observer.Refused(existing, r.Code, r.Cause, id)
	i.CountRefusal(existing)
	return id
}

// SealRefusal is ErrorID for a refusal that its caller counts.
func (i *Issuer) SealRefusal(client string, r ledger.Refusal) string {
	number, key := i.Keyring.Ring().Active()
	return credential.SealCause(i.config.Rand, key.Errors, number, credential.Cause{
		Code: uint16(r.Cause), At: int64(i.Now()), Client: credential.ClientDigest(client),
		Named: r.Named, Grant: r.Grant, Presented: r.Presented, Due: r.Due, When: int64(r.When),
		Detail: oauth.MalformedNumber(r.Note),
	})
}

// existingClientID returns the id of a client that exists, and otherwise "": an Observer
// must not count by ids that senders invented.
func (i *Issuer) existingClientID(client string) string {
	if c := i.View().ClientNamed(client); c != nil {
		return c.ID
	}
	return ""
}

// ErrNotAnErrorID reports a text that no node of this cluster made.
var ErrNotAnErrorID = errors.New("this is not an error_id of this server")

// Explain opens an error_id. The caller must check who may see it.
func (i *Issuer) Explain(id string) (ledger.Explanation, error) {
	c, err := credential.OpenCause(i.Keyring.Ring().AEADs(ofErrors), id)
	if err != nil {
		return ledger.Explanation{}, fmt.Errorf("%w: %w", ErrNotAnErrorID, err)
	}
	return ledger.Explanation{
		Client: c.Client, Cause: ledger.Cause(c.Code), At: ledger.Time(c.At),
		Named: c.Named, Grant: c.Grant, Presented: c.Presented, Due: c.Due, When: ledger.Time(c.When),
		Note: oauth.MalformedDescription(c.Detail),
	}, nil
}
