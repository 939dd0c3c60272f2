package verifiertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

// The resource server that may read the feed of revocations.
const (
	ReaderName   = "resource-server"
	ReaderSecret = "reader-secret"
)

// revocation is one entry of the feed.
type revocation struct {
	Grant   string `json:"grant_id,omitempty"`
	Subject string `json:"sub,omitempty"`
	Client  string `json:"client_id,omitempty"`
	At      int64  `json:"at"`
}

// RevocationsConfig is a configuration for the feed of this issuer.
func (i *Issuer) RevocationsConfig() *verifier.RevocationsConfig {
	return &verifier.RevocationsConfig{Name: ReaderName, Secret: ReaderSecret, Client: i.Client()}
}

// RevokeGrant revokes the tokens of a grant that were issued until now.
func (i *Issuer) RevokeGrant(id string) { i.revoke(revocation{Grant: id}) }

// RevokeUser revokes the tokens of a user that were issued until now.
func (i *Issuer) RevokeUser(subject string) { i.revoke(revocation{Subject: subject}) }

// RevokeClient revokes the tokens of a client that were issued until now.
func (i *Issuer) RevokeClient(id string) { i.revoke(revocation{Client: id}) }

func (i *Issuer) revoke(r revocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r.At = i.Now().Unix()
	i.revoked = append(i.revoked, r)
	if i.news != nil {
		close(i.news)
		i.news = nil
	}
}

// revocationCount returns the number of revocations, and a channel that is closed at the
// next one.
func (i *Issuer) revocationCount() (int, <-chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.news == nil {
		i.news = make(chan struct{})
	}
	return len(i.revoked), i.news
}

// feedVersion is the version after n revocations.
func feedVersion(n int) string { return fmt.Sprintf("feed-%d", n) }

// feed serves all revocations, as soon as there is a new one or the wait ends.
func (i *Issuer) feed(w http.ResponseWriter, r *http.Request) {
	name, secret, _ := r.BasicAuth()
	if name != ReaderName || secret != ReaderSecret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	wait, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	if n, news := i.revocationCount(); r.URL.Query().Get("after") == feedVersion(n) {
		select {
		case <-news:
		case <-time.After(time.Duration(wait) * time.Second):
		case <-r.Context().Done():
			return
		}
	}
	i.mu.Lock()
	all := append([]revocation{}, i.revoked...)
	i.mu.Unlock()
	claims := must(json.Marshal(map[string]any{
		"iss": i.URL, "iat": i.Now().Unix(), "version": feedVersion(len(all)), "after": "",
		"complete_since": 0, "window": 1860, "revoked": all,
	}))
	k := i.signer()
	w.Header().Set("Content-Type", "application/mintmark-revocations+jwt")
	fmt.Fprint(w, k.seal(text(map[string]any{"alg": k.alg, "kid": k.kid, "typ": "mintmark-revocations+jwt"}), string(claims)))
}
