package declare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Declaration is what one or several files declare.
type Declaration struct {
	Users           []User
	Clients         []Client
	ResourceServers []ResourceServer
	Publishers      []Publisher
	Settings        Settings
}

// A Place is where an entry is, for errors. Entries of the same content may have different
// places, so it is not part of the entry's JSON.
type Place struct {
	File  string
	Entry string         // "client cal-app"
	Lines map[string]int // of the fields that the entry names, and of their members; "" is the entry's own
}

// Named reports whether the entry has a field.
func (p *Place) Named(field string) bool {
	_, ok := p.Lines[field]
	return ok && field != ""
}

// Errorf returns an error about a field, whose members are as in redirect_uris[0]. What the
// entry does not name is reported at the line where the entry begins.
func (p *Place) Errorf(field, format string, args ...any) error {
	line, ok := p.Lines[field]
	if !ok {
		base, _, _ := strings.Cut(field, "[")
		if line, ok = p.Lines[base]; !ok {
			line = p.Lines[""]
		}
	}
	text := strings.TrimSpace(field + " " + fmt.Sprintf(format, args...))
	return fmt.Errorf("%s: line %d: %s: %s", p.File, line, p.Entry, text)
}

// A User is a user that a file declares. Its JSON shows whether the entry has changed, so a
// new field must be omitted when empty.
type User struct {
	ID            string        `json:"id,omitempty"` // "" if the file has none
	Username      string        `json:"username"`
	Person        ledger.Person `json:"person"`
	Password      admin.Plain   `json:"password,omitempty"`
	PasswordHash  admin.Plain   `json:"password_hash,omitempty"`  // that another system made, instead of Password
	ResetPassword bool          `json:"reset_password,omitempty"` // give Password to a user who has another one
	Admin         bool          `json:"admin,omitempty"`
	Place         Place         `json:"-"`
}

// DefaultID is the id of a user of fixtures whose entry has none: the same one at each start.
func (u *User) DefaultID() string {
	if u.ID != "" {
		return u.ID
	}
	return "u-" + strings.ToLower(u.Username)
}

// A Client is a client that a file declares; as User.
type Client struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Purpose      string   `json:"purpose,omitempty"`
	Website      string   `json:"website,omitempty"`
	PrivacyURL   string   `json:"privacy_url,omitempty"`
	TermsURL     string   `json:"terms_url,omitempty"`
	Owner        string   `json:"owner"` // a user's name or id
	Type         string   `json:"type"`
	RedirectURIs []string `json:"redirect_uris"`
	Scopes       []string `json:"scopes,omitempty"`
	Secrets      []Secret `json:"secrets,omitempty"`
	Revoked      []Secret `json:"revoked_secrets,omitempty"`
	State        string   `json:"state,omitempty"` // "" if the file has none
	Legacy       bool     `json:"legacy,omitempty"`
	Place        Place    `json:"-"`
	Comment      string   `json:"-"` // for Write: what the entry does not say
}

// A ResourceServer is a resource server that a file declares; as User.
type ResourceServer struct {
	ID      string   `json:"id"` // identifier URI
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes,omitempty"` // none means every scope
	Secrets []Secret `json:"secrets,omitempty"`
	Place   Place    `json:"-"`
	Comment string   `json:"-"` // as Client.Comment
}

// A Publisher is a publisher that a file declares; as User.
type Publisher struct {
	Host         string   `json:"host"`
	Name         string   `json:"name,omitempty"`
	Scopes       []string `json:"scopes"`
	Defaults     []string `json:"default_scopes,omitempty"`
	MaxClients   int      `json:"max_clients,omitempty"` // 0 means ledger.DefaultMaxClients
	LongRetry    bool     `json:"long_retry,omitempty"`
	RedirectURIs []string `json:"redirect_uris,omitempty"`
	Place        Place    `json:"-"`
}

// secretKeys are the keys of secrets, in clear, in files, as digests, and as hashes of another
// system.
var secretKeys = []string{"secret", "secrets", "secret_file", "secret_files", "secret_sha256", "secrets_sha256", "secret_hash", "secret_hashes"}

// NamesSecrets reports whether the entry says which secrets its client or resource server has.
func (p *Place) NamesSecrets() bool {
	for _, key := range secretKeys {
		if p.Named(key) {
			return true
		}
	}
	return false
}

// A Secret is a secret of a declaration: in clear, or only its SHA-256, or only a hash that
// another system made.
type Secret struct {
	Text   admin.Plain `json:"text,omitempty"`
	SHA256 admin.Plain `json:"sha256,omitempty"` // hexadecimal, if Text is ""
	Hash   admin.Plain `json:"hash,omitempty"`   // if Text and SHA256 are ""
	Field  string      `json:"-"`                // such as secrets[0], for errors
}

// Declared returns the secret as an operation of package admin takes it.
func (s *Secret) Declared() admin.DeclaredSecret {
	if s.Hash != "" {
		return admin.DeclaredSecret{Hash: s.Hash}
	}
	sum := s.Sum()
	return admin.DeclaredSecret{SHA256: admin.Plain(hex.EncodeToString(sum[:])), Tail: s.Tail()}
}

// Sum returns the SHA-256 of a secret without Hash. The file was read with correct digests only.
func (s *Secret) Sum() (sum [sha256.Size]byte) {
	if s.Text != "" {
		return sha256.Sum256([]byte(s.Text.Reveal()))
	}
	_, _ = hex.Decode(sum[:], []byte(s.SHA256.Reveal()))
	return sum
}

// Tail returns the last characters of the secret, "" if they are not known.
func (s *Secret) Tail() string { return credential.Tail(s.Text.Reveal()) }

// Settings are the settings that the files declare, as ShowSettings shows them.
type Settings struct {
	Values map[string]string
	Places map[string]Place
}

// merge adds the entries of another file.
func (d *Declaration) merge(o *Declaration) error {
	d.Users = append(d.Users, o.Users...)
	d.Clients = append(d.Clients, o.Clients...)
	d.ResourceServers = append(d.ResourceServers, o.ResourceServers...)
	d.Publishers = append(d.Publishers, o.Publishers...)
	for key, value := range o.Settings.Values {
		p := o.Settings.Places[key]
		if first, twice := d.Settings.Places[key]; twice {
			return p.Errorf(key, "is declared in %s too", first.File)
		}
		d.Settings.set(key, value, p)
	}
	return nil
}

func (s *Settings) set(key, value string, p Place) {
	if s.Values == nil {
		s.Values, s.Places = map[string]string{}, map[string]Place{}
	}
	s.Values[key], s.Places[key] = value, p
}

// User returns the user with a name or an id, or nil.
func (d *Declaration) User(ref string) *User {
	for i := range d.Users {
		if u := &d.Users[i]; strings.EqualFold(u.Username, ref) || u.ID != "" && u.ID == ref {
			return u
		}
	}
	return nil
}
