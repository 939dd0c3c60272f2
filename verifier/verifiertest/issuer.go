package verifiertest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

// Audience is the aud of tokens without the option ForAudience.
const Audience = "https://api.example.com"

// Issuer publishes a key set and mints tokens. NewIssuer serves it over HTTP on
// loopback; NewInMemoryIssuer answers in memory only, for testing/synctest.
type Issuer struct {
	// URL is the issuer identifier. Its key set is at URL + verifier.KeySetPath.
	URL string

	// Now is the clock of the tokens, and of Config. Set it before the first use.
	Now func() time.Time

	server *httptest.Server // nil in memory

	mu      sync.Mutex
	keys    []*key               // mu; newest first, which signs
	minted  int                  // mu; tokens
	fetches int                  // mu; of the key set
	maxAge  time.Duration        // mu
	change  func(map[string]any) // mu; nil: entries are not changed
	extra   []string             // mu; entries of the set, as JSON
	reply   *reply               // mu; nil: the issuer does not fail
	revoked []revocation         // mu; oldest first
	news    chan struct{}        // mu; closed at the next revocation; nil: no request waits for one
}

// NewIssuer starts an issuer with one ES256 key. The caller calls Close.
func NewIssuer() *Issuer {
	i := newIssuer()
	i.server = httptest.NewServer(i)
	i.URL = i.server.URL
	return i
}

// NewInMemoryIssuer returns an issuer that only its Client can reach.
func NewInMemoryIssuer() *Issuer {
	i := newIssuer()
	i.URL = "https://auth.example.com"
	return i
}

func newIssuer() *Issuer {
	i := &Issuer{Now: time.Now, maxAge: 5 * time.Minute}
	i.Rotate()
	return i
}

// Close stops serving.
func (i *Issuer) Close() {
	i.Up() // no further request hangs
	if i.server != nil {
		i.server.CloseClientConnections()
		i.server.Close()
	}
}

// Config is a configuration for tokens of this issuer. Keys is nil, so that the verifier
// makes a JWKS, and Client is the issuer's. The caller may change the configuration.
func (i *Issuer) Config() verifier.Config {
	return verifier.Config{Issuer: i.URL, Audience: Audience, Client: i.Client(), Now: i.Now}
}

// JWKSConfig is a configuration for the key set of this issuer.
func (i *Issuer) JWKSConfig() verifier.JWKSConfig {
	return verifier.JWKSConfig{URL: i.URL + verifier.KeySetPath, Client: i.Client(), Now: i.Now}
}

// Rotate makes a new ES256 key, which signs from now on. Older keys stay in the set until
// RemoveOldKeys.
func (i *Issuer) Rotate() { i.RotateTo(verifier.ES256) }

// RotateTo is Rotate to a key of another algorithm: ES256, RS256 or EdDSA.
func (i *Issuer) RotateTo(algorithm string) {
	k := newKey(algorithm)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append([]*key{k}, i.keys...)
}

// RemoveOldKeys removes all keys from the set, except the one that signs.
func (i *Issuer) RemoveOldKeys() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = i.keys[:1]
}

// AddEntry appends any JSON value to the entries of the set.
func (i *Issuer) AddEntry(json string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.extra = append(i.extra, json)
}

// ChangeEntries sets a function that changes each key's entry before the set is
// published, for instance to remove a member.
func (i *Issuer) ChangeEntries(change func(entry map[string]any)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.change = change
}

// Fetches is the number of requests for the key set.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// KeySet is the document that the issuer publishes.
func (i *Issuer) KeySet() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.document()
}

func (i *Issuer) document() []byte {
	var entries []string
	for _, k := range i.keys {
		entry := maps.Clone(k.jwk)
		if i.change != nil {
			i.change(entry)
		}
		entries = append(entries, string(must(json.Marshal(entry))))
	}
	return []byte(`{"keys":[` + strings.Join(append(entries, i.extra...), ",") + "]}")
}

func (i *Issuer) signer() *key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

func (i *Issuer) nextID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.minted++
	return fmt.Sprint("token-", i.minted)
}

// etag changes with the document.
func etag(document []byte) string {
	sum := sha256.Sum256(document)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
