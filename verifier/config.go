package verifier

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// KeySetPath is where Mintmark publishes its key set.
const KeySetPath = "/.well-known/jwks.json"

// DefaultCacheSize is how many accepted tokens are remembered unless Config says
// otherwise.
const DefaultCacheSize = 4096

// DefaultSkew is how far clocks may differ if Config.Skew is zero. It is the ten seconds
// by which the clocks of the issuer's nodes may differ, plus two seconds by which the
// iat of a token that follows a revocation may be ahead of the time of issue.
const DefaultSkew = 12 * time.Second

// Config says which tokens are ours. It is read once by New.
type Config struct {
	// Issuer is the exact iss that tokens must have: the issuer identifier in the
	// authorization server's metadata. It is an http or https URL without a query, a
	// fragment, or a slash at its end. Required.
	Issuer string

	// Audience must be among the token's aud. Required: without it, a token
	// meant for another service would open this one.
	Audience string

	// Keys finds the issuer's keys: NewJWKS over HTTP, StaticKeys, or one's own.
	// Nil means a JWKS of the Verifier's own at Issuer + [KeySetPath], where
	// Mintmark publishes its key set; Close ends it.
	Keys KeySource

	// Client makes the requests of the Verifier's own JWKS. Nil means a client of
	// its own.
	Client *http.Client

	// Skew is how far the issuer's clock and this one may differ, applied to
	// exp, nbf and iat. Zero means DefaultSkew; at most a minute.
	Skew time.Duration

	// CacheSize is how many accepted tokens in frequent use are cached. A cached token
	// needs no signature check when it comes again. The cache may also have up to four
	// times as many tokens that are not in frequent use. Each takes two to three times
	// its length in memory. Zero means DefaultCacheSize, a negative number no cache.
	CacheSize int

	// Revocations has the issuer's feed of what was taken back read, in the
	// background, until Close. Nil means that a token is good until it expires.
	Revocations *RevocationsConfig

	// Observer is told of each token, of each refresh of the Verifier's own JWKS,
	// and of the feed of revocations.
	Observer Observer

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Revoked is asked last, about a token that is valid in every other way: it
	// reports that the token was taken back before its time. Nil means that no
	// token is, which is all that can be known offline; the authorization
	// server itself knows better. It must not wait on anything.
	Revoked func(*Claims) bool
}

// New checks the configuration and returns a Verifier.
func New(c Config) (*Verifier, error) {
	switch {
	case c.Audience == "":
		return nil, errors.New("new verifier: Config.Audience is empty")
	case c.Skew < 0 || c.Skew > time.Minute:
		return nil, errors.New("new verifier: Config.Skew is not between 0 and 1 minute")
	case c.CacheSize > maxCacheSize:
		return nil, errors.New("new verifier: Config.CacheSize is greater than 1<<20")
	}
	if err := checkIssuer(c.Issuer); err != nil {
		return nil, fmt.Errorf("new verifier: Config.Issuer %w", err)
	}
	v := &Verifier{
		issuer: c.Issuer, audience: c.Audience, keys: c.Keys, skew: c.Skew,
		now: c.Now, revoked: c.Revoked, observer: c.Observer,
	}
	if v.skew == 0 {
		v.skew = DefaultSkew
	}
	if v.now == nil {
		v.now = time.Now
	}
	if c.CacheSize == 0 {
		c.CacheSize = DefaultCacheSize
	}
	if c.CacheSize > 0 {
		v.cache = newCache(c.CacheSize)
	}
	if v.keys == nil {
		own, err := NewJWKS(JWKSConfig{URL: c.Issuer + KeySetPath, Client: c.Client, Observer: c.Observer, Now: c.Now})
		if err != nil {
			return nil, fmt.Errorf("new verifier: %w", err)
		}
		v.keys, v.ownJWKS = own, own
	}
	if v.jwks, _ = v.keys.(*JWKS); v.jwks != nil {
		v.sameClock = v.jwks == v.ownJWKS || c.Now == nil && !v.jwks.ownClock
	}
	if c.Revocations != nil {
		feed, err := newRevocations(*c.Revocations, c, v.keys, v.skew, v.now)
		if err != nil {
			v.Close()
			return nil, fmt.Errorf("new verifier: %w", err)
		}
		v.feed = feed
		feed.start()
	}
	return v, nil
}

// checkIssuer refuses a text that can't be the iss of a Mintmark token, or to which the
// paths of the key set and of the feed can't be appended (RFC 8414 §2).
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case issuer == "":
		return errors.New("is empty")
	case err != nil:
		return fmt.Errorf("is no URL: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return errors.New("is not an absolute http URL without userinfo")
	case strings.HasSuffix(u.Host, ":"), u.Port() != "" && !isPort(u.Port()):
		return errors.New("has a port that is not one of 1 to 65535")
	case strings.ContainsAny(issuer, "?#"):
		return errors.New("has a query or a fragment")
	case strings.HasSuffix(issuer, "/"):
		return errors.New("ends with a slash")
	}
	return nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// Close ends what New started: the JWKS, if Config.Keys was nil, and the reading
// of revocations.
func (v *Verifier) Close() {
	if v.feed != nil {
		v.feed.stop()
		v.feed.done.Wait()
	}
	if v.ownJWKS != nil {
		v.ownJWKS.Close()
	}
}
