package middleware

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// wellKnown is where metadata is, between host and path (RFC 9728 §3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// MetadataConfig describes a resource server (RFC 9728 §2). It is read once by
// NewMetadata.
type MetadataConfig struct {
	// Resource is this server's resource identifier: an https URL, or http on
	// loopback, without query and fragment. Required.
	Resource string

	// AuthorizationServers are the issuers at which clients obtain tokens. While an
	// issuer's public URL changes, name the one that issues tokens now. Required.
	AuthorizationServers []string

	// Scopes are the scopes that requests to this server may require, such as
	// [policy.Table.Scopes] of its table. Empty means that the document has none.
	Scopes []string

	Name          string // for people; may be empty
	Documentation string // URL of a page for developers; may be empty
}

// Metadata is a handler that serves a resource server's metadata, in which clients find
// the authorization server. Serve it at [Metadata.Path], without a guard.
type Metadata struct {
	path, url string
	body      []byte
	tag       string // ETag, the same on every replica
}

// NewMetadata checks the configuration and renders the document.
func NewMetadata(c MetadataConfig) (*Metadata, error) {
	resource, err := identifier(c.Resource)
	if err != nil {
		return nil, fmt.Errorf("new metadata: Resource: %w", err)
	}
	if len(c.AuthorizationServers) == 0 {
		return nil, errors.New("new metadata: no AuthorizationServers")
	}
	for _, issuer := range c.AuthorizationServers {
		if _, err := identifier(issuer); err != nil {
			return nil, fmt.Errorf("new metadata: AuthorizationServers: %w", err)
		}
	}
	if _, err := scope.Of(c.Scopes...); err != nil {
		return nil, fmt.Errorf("new metadata: Scopes: %w", err)
	}
	body, err := json.Marshal(struct {
		Resource      string   `json:"resource"`
		Servers       []string `json:"authorization_servers"`
		Scopes        []string `json:"scopes_supported,omitempty"`
		Methods       []string `json:"bearer_methods_supported"`
		Name          string   `json:"resource_name,omitempty"`
		Documentation string   `json:"resource_documentation,omitempty"`
	}{c.Resource, c.AuthorizationServers, c.Scopes, []string{"header"}, c.Name, c.Documentation})
	if err != nil {
		return nil, fmt.Errorf("new metadata: %w", err)
	}
	digest := sha256.Sum256(body)
	m := &Metadata{path: wellKnown, body: body, tag: `"` + hex.EncodeToString(digest[:12]) + `"`}
	if path := resource.EscapedPath(); path != "/" {
		m.path += path
	}
	m.url = resource.Scheme + "://" + resource.Host + m.path
	return m, nil
}

// Path is the path of the document.
func (m *Metadata) Path() string { return m.path }

// URL is the document's address, for [Config.ResourceMetadata].
func (m *Metadata) URL() string { return m.url }

// ServeHTTP answers GET and HEAD. Clients in browsers may read the document:
// nothing in it is secret.
func (m *Metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", m.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.body))
}

// identifier checks a resource or issuer identifier (RFC 9728 §1.2, RFC 8414
// §2).
func identifier(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case u.Host == "" || u.User != nil || strings.ContainsAny(text, "?#"):
		return nil, fmt.Errorf("%q is not an absolute URL without userinfo, query and fragment", text)
	case strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }):
		return nil, fmt.Errorf("%q has a character that a URL can't: a host in other letters is written as xn--", text)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%q is not https", text)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
