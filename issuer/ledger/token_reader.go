package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A TokenReader is the client or resource server that authenticated to read about tokens. One
// of the fields is set.
type TokenReader struct {
	Client   *Client
	Resource *ResourceServer

	secret int // index of the secret that was used
}

// secrets returns the secrets of the reader's row.
func (r TokenReader) secrets() Secrets {
	if r.Resource != nil {
		return r.Resource.Secrets
	}
	return r.Client.Secrets
}

// SecretID returns the id of the secret that was used.
func (r TokenReader) SecretID() string { return r.secrets()[r.secret].ID }

// AuthenticateTokenReader authenticates a client or a resource server by a secret. A public
// client has none, so it is refused (RFC 7662 §2.1). The other results are like those of
// authenticate.
//
// A resource server is found by its identifier URI or name, which may also be the id of a
// client; the secret decides.
func (v View) AuthenticateTokenReader(p ClientAuth) (r TokenReader, cause Cause, again bool) {
	r, cause, again = v.AuthenticateFeedReader(p)
	if cause == NoCause {
		return r, cause, false
	}
	a, other, otherAgain := v.authenticate(p)
	switch {
	case a.bySecret():
		return TokenReader{Client: a.client, secret: a.secret}, NoCause, false
	case other == NoCause:
		return r, SecretMissing, false
	case cause == UnknownClient:
		cause = other
	}
	return TokenReader{}, cause, again || otherAgain
}

// AuthenticateFeedReader authenticates a resource server by a secret. The results are like
// those of AuthenticateTokenReader.
func (v View) AuthenticateFeedReader(p ClientAuth) (r TokenReader, cause Cause, again bool) {
	s := v.ResourceServerNamed(p.Client)
	switch {
	case s == nil:
		p.matches(&Secret{}) // takes the same time as a wrong secret
		return r, UnknownClient, false
	case !p.Secret:
		return r, SecretMissing, false
	}
	i, cause, again := v.matchSecret(p, s.Secrets)
	if cause != NoCause {
		return r, cause, again
	}
	return TokenReader{Resource: s, secret: i}, NoCause, false
}

// SecretUseDue reports whether a RecordSecretUse would record something at a time.
func (v View) SecretUseDue(r TokenReader, p ClientAuth, at Time) bool {
	_, changes := v.withSecretUse(command.Meta{At: int64(at)}, p, r.secrets(), r.secret)
	return changes
}

// RecordSecretUse records the use of a secret for a request that is answered without a
// command, to the minute. It authenticates again, since the secret may have been revoked.
type RecordSecretUse struct {
	ClientAuth ClientAuth `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*RecordSecretUse) Kind() command.Kind { return KindRecordSecretUse }

// Decide changes nothing but the time of the secret and the key that it is recorded under.
func (c *RecordSecretUse) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	r, cause, again := v.AuthenticateTokenReader(c.ClientAuth)
	switch {
	case again:
		return command.Decision{Outcome: Outcome{Unknown: true}}
	case cause != NoCause:
		return refuse(oauth.InvalidClient, cause)
	}
	secrets, changed := v.withSecretUse(m, c.ClientAuth, r.secrets(), r.secret)
	switch {
	case !changed:
		return accept(Outcome{})
	case r.Resource != nil:
		next := *r.Resource
		next.Secrets = secrets
		return accept(Outcome{}, put(TableResourceServers, &next))
	}
	next := *r.Client
	next.Secrets = secrets
	return accept(Outcome{}, put(TableClients, &next))
}
