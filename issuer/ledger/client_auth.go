package ledger

import (
	"crypto/subtle"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A ClientAuth is what a client presented to authenticate (RFC 6749 §2.3.1). A secret is
// represented by its digest under every credential key that the node has opened: five or six
// with the default settings, since retired keys are kept for Settings.GrantAbsolute.
type ClientAuth struct {
	Client  string   `cbor:"1,keyasint"`
	Secret  bool     `cbor:"2,keyasint,omitempty"` // whether a secret was presented
	Digests []Digest `cbor:"3,keyasint,omitempty"`
}

// A Digest is the digest of a secret under one credential key.
type Digest struct {
	Key uint32 `cbor:"1,keyasint"`
	MAC Sum    `cbor:"2,keyasint"`
}

// An authentication is an authenticated client and the secret that it used.
type authentication struct {
	client *Client
	secret int // index in client.Secrets; -1 for a public client
}

// bySecret reports whether the client authenticated by one of its secrets.
func (a authentication) bySecret() bool { return a.client != nil && a.secret >= 0 }

// confirmFresh marks a decision that changes nothing to be confirmed on an up-to-date view,
// since this node's view may be stale.
func (a authentication) confirmFresh(d command.Decision) command.Decision {
	d.ConfirmFresh, d.Authenticated = true, a.bySecret()
	return d
}

// authenticate finds the client and verifies its secret. Every failure is reported as
// invalid_client; only the sealed cause distinguishes them.
//
// again is true if the node could not compute the digest that decides, because the secret
// is recorded under a key that the node has not opened yet. A secret under a dropped key is
// refused even if its digest matches: the key may have leaked, and a node whose keyring lags
// still sends digests under it.
func (v View) authenticate(p ClientAuth) (a authentication, cause Cause, again bool) {
	c := v.Client(p.Client)
	if c == nil || c.State == Deleted {
		p.matches(&Secret{}) // takes the same time as a wrong secret
		if c == nil {
			return a, UnknownClient, false
		}
		return a, ClientDeleted, false
	}
	if c.Public() {
		if p.Secret {
			return a, PublicClientSecret, false
		}
		return authentication{client: c, secret: -1}, NoCause, false
	}
	if !p.Secret {
		return a, SecretMissing, false
	}
	i, cause, again := v.matchSecret(p, c.Secrets)
	if cause != NoCause {
		return a, cause, again
	}
	return authentication{client: c, secret: i}, NoCause, false
}

// matchSecret returns the index of the active secret that was presented, or why there is
// none. again is like that of authenticate.
func (v View) matchSecret(p ClientAuth, secrets Secrets) (index int, cause Cause, again bool) {
	cause = SecretWrong
	for i := range secrets {
		s := &secrets[i]
		known, match := p.matches(s)
		switch {
		case s.Hash != "": // the node verifies it first: see UpgradeSecret
		case match && s.Active() && v.keyKnown(s.Key):
			return i, NoCause, false
		case match && s.Active():
			cause = SecretKeyDropped
		case match:
			cause = SecretRevoked
		case known || !s.Active():
		case v.keyKnown(s.Key):
			again = true
		default:
			cause = SecretKeyDropped
		}
	}
	return -1, cause, again
}

// authenticateSender is authenticate with the decision for a sender that fails it. genuine
// reports whether the sender presented a genuine code or token: without one, a refusal
// harms nobody and needs no fresh view.
func (v View) authenticateSender(p ClientAuth, genuine bool) (a authentication, d command.Decision, ok bool) {
	a, cause, again := v.authenticate(p)
	switch {
	case cause == NoCause:
		return a, d, true
	case again:
		return a, command.Decision{Outcome: Outcome{Unknown: true}}, false
	}
	d = refuse(oauth.InvalidClient, cause)
	if genuine {
		d = a.confirmFresh(d)
	}
	return a, d, false
}

func (a ClientAuth) matches(s *Secret) (known, match bool) {
	for i := range a.Digests {
		if d := &a.Digests[i]; d.Key == s.Key {
			known = true
			match = subtle.ConstantTimeCompare(d.MAC[:], s.Digest[:]) == 1
		}
	}
	return known, match
}

const minute = Time(60_000)

// recordUse returns the change that records the use of a secret, to the minute. It is
// part of commands that are logged anyway. A secret recorded under another credential key
// than the active one is recorded again under the active key, so that the older key can
// be dropped in time.
func (a authentication) recordUse(v View, m command.Meta, p ClientAuth) []command.Change {
	if a.secret < 0 {
		return nil
	}
	secrets, changed := v.withSecretUse(m, p, a.client.Secrets, a.secret)
	if !changed {
		return nil
	}
	next := *a.client // Last and Changed stay: a use is not a change of the client
	next.Secrets = secrets
	return []command.Change{put(TableClients, &next)}
}

// withSecretUse returns the secrets of a row after the use of one of them, and whether they
// changed.
func (v View) withSecretUse(m command.Meta, p ClientAuth, secrets Secrets, index int) (Secrets, bool) {
	s := secrets[index]
	used := stateTime(m) - stateTime(m)%minute
	anew, ok := p.activeDigest(v, &s)
	if s.Used >= used && !ok {
		return secrets, false
	}
	s.Used = max(s.Used, used)
	if ok {
		s.Key, s.Digest = anew.Key, anew.MAC
	}
	secrets = slices.Clone(secrets)
	secrets[index] = s
	return secrets, true
}

// activeDigest returns the digest of the presented secret under the active key, if s is
// not recorded under that key already.
func (a ClientAuth) activeDigest(v View, s *Secret) (Digest, bool) {
	active := v.ActiveKey(ForCredentials)
	if active == nil || s.Key == active.Number {
		return Digest{}, false
	}
	for _, d := range a.Digests {
		if d.Key == active.Number {
			return d, true
		}
	}
	return Digest{}, false
}
