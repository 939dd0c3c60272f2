package verifier

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeySetPath is where Mintmark publishes its key set.
const KeySetPath = "/.well-known/jwks.json"

// DefaultCacheSize is how many accepted tokens are cached if Config.CacheSize is zero.
const DefaultCacheSize = 4096

// DefaultSkew is how far clocks may differ if Config.Skew is zero. It is the ten seconds
// by which the clocks of the issuer's nodes may differ, plus two seconds by which the
// iat of a token that follows a revocation may be ahead of the time of issue.
const DefaultSkew = 12 * time.Second

// Config describes the tokens to accept. New reads it once.
type Config struct {
	// Issuer is the exact iss that tokens must have: the issuer identifier in the
	// authorization server's metadata. It is an http or https URL without a query, a
	// fragment, or a slash at its end. Required.
	Issuer string

	// MoreIssuers are further issuer identifiers of the same authorization server, while
	// its public URL changes: tokens with one of them as iss are accepted too. They add
	// no source of keys and none of revocations. Every token is verified with the keys of
	// Issuer, so the owner of a former URL can't issue tokens, and a token of another
	// authorization server is refused even if its issuer is listed here. Each
	// authorization server needs a Verifier of its own.
	MoreIssuers []string

	// Audience is this resource server's identifier: one of the token's aud must equal
	// Audience, or one of MoreAudiences. Required: without it, a token for another
	// service would open this one.
	Audience string

	// MoreAudiences are further identifiers of this resource server.
	MoreAudiences []string

	// SkipAudience accepts tokens of every audience; Audience is then empty. The caller must
	// check [Claims.Audience]. The authorization server itself uses it, for tokens that are
	// presented to be revoked or introspected. A resource server must not.
	SkipAudience bool

	// Keys finds the issuer's keys: NewJWKS over HTTP, StaticKeys, or an implementation
	// of the caller's. Nil means that New makes a JWKS with the URL Issuer +
	// [KeySetPath], where Mintmark publishes its key set. Close closes that JWKS.
	Keys KeySource

	// Client makes the requests of the JWKS that New makes. Nil means a client of its
	// own.
	Client *http.Client

	// Skew is how far the issuer's clock and this one may differ, applied to
	// exp, nbf and iat. Zero means DefaultSkew; at most a minute.
	Skew time.Duration

	// CacheSize is how many accepted tokens in frequent use are cached. A cached token
	// needs no signature check when it comes again. The cache may also have up to four
	// times as many tokens that are not in frequent use. Each takes two to three times
	// its length in memory. Zero means DefaultCacheSize, a negative number no cache.
	CacheSize int

	// Revocations is how to read the issuer's feed of revocations, in the background and
	// until Close. Nil means that revocations are not read: a token is valid until it
	// expires.
	Revocations *RevocationsConfig

	// Observer is called for each token, for each refresh of the JWKS that New makes, and
	// for the feed of revocations.
	Observer Observer

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Revoked reports whether a token that passed every other check was revoked. It must
	// not wait. The authorization server itself uses it; a resource server has
	// Revocations. Nil means that no token is revoked.
	Revoked func(*Claims) bool
}

// New checks the configuration and returns a Verifier.
func New(c Config) (*Verifier, error) {
	switch {
	case c.Audience == "" && !c.SkipAudience:
		return nil, errors.New("new verifier: Config.Audience is empty")
	case c.SkipAudience && (c.Audience != "" || len(c.MoreAudiences) > 0):
		return nil, errors.New("new verifier: Config.SkipAudience is set, and so is an audience")
	case slices.Contains(c.MoreAudiences, ""):
		return nil, errors.New("new verifier: one of Config.MoreAudiences is empty")
	case c.Skew < 0 || c.Skew > time.Minute:
		return nil, errors.New("new verifier: Config.Skew is not between 0 and 1 minute")
	case c.CacheSize > maxCacheSize:
		return nil, errors.New("new verifier: Config.CacheSize is greater than 1<<20")
	}
	if err := checkIssuer(c.Issuer); err != nil {
		return nil, fmt.Errorf("new verifier: Config.Issuer %w", err)
	}
	for _, issuer := range c.MoreIssuers {
		if err := checkIssuer(issuer); err != nil {
			return nil, fmt.Errorf("new verifier: Config.MoreIssuers: %q %w", issuer, err)
		}
	}
	v := &Verifier{
		issuers: append([]string{c.Issuer}, c.MoreIssuers...),
		keys:    c.Keys, skew: c.Skew, now: c.Now, revoked: c.Revoked, observer: c.Observer,
	}
	if !c.SkipAudience {
		v.audiences = append([]string{c.Audience}, c.MoreAudiences...)
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
		feed, err := newRevocations(*c.Revocations, v)
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

// Close stops what New started: the JWKS, if Config.Keys was nil, and the reading of
// revocations.
func (v *Verifier) Close() {
	if v.feed != nil {
		v.feed.stop()
		v.feed.done.Wait()
	}
	if v.ownJWKS != nil {
		v.ownJWKS.Close()
	}
}
