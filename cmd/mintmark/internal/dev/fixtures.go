package dev

import (
	"fmt"
	"os"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// fixtures are the users, clients and settings that a file declares, checked as a whole.
type fixtures struct {
	file     string
	users    []userFixture
	clients  []clientFixture
	declared settingsFixture
}

// A userFixture is a user that the file declares. The digest of its JSON shows whether the
// entry has changed, so a new field must be omitted when empty.
type userFixture struct {
	ID       string        `json:"id"`
	Username string        `json:"username"`
	Person   ledger.Person `json:"person"`
	Password admin.Plain   `json:"password,omitempty"`
	Admin    bool          `json:"admin,omitempty"`
}

// A clientFixture is a client that the file declares; as userFixture.
type clientFixture struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Purpose      string        `json:"purpose,omitempty"`
	Website      string        `json:"website,omitempty"`
	Owner        string        `json:"owner"` // a username
	Type         string        `json:"type"`
	RedirectURIs []string      `json:"redirect_uris"`
	Scopes       []string      `json:"scopes,omitempty"`
	Secrets      []admin.Plain `json:"secrets,omitempty"`
	Revoked      []admin.Plain `json:"revoked_secrets,omitempty"`
	State        string        `json:"state"`
	Legacy       bool          `json:"legacy,omitempty"`
}

// A settingsFixture has the settings that the file declares, nil for the others.
type settingsFixture struct {
	retryWindow, retryWindowPublic           *time.Duration
	codeLifetime, refreshIdle, grantAbsolute *time.Duration
	sessionIdle, sessionAbsolute, jwksMaxAge *time.Duration
	algorithm, audience                      *string
}

// loadFixtures reads a file and checks all of it.
func loadFixtures(path string) (*fixtures, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseFixtures(path, text)
}

// ParseFixtures checks the text of a file as a whole; name is for errors. Checks that need
// the state of a cluster are left to apply.
func ParseFixtures(name string, text []byte) (*fixtures, error) {
	f, err := readFixtures(name, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "http://localhost", "http://localhost", "http://localhost" // a file has none
	f.settings(&s)
	if field, note := s.Check(); field != "" {
		return nil, fmt.Errorf("%s: settings: %s %s", name, field, note)
	}
	if err := f.dryRun(); err != nil {
		return nil, err
	}
	return f, nil
}

// publicRetryWindow is the longest retry window of public clients if only retry_window is
// declared: a public client authenticates with nothing but the refresh token.
const publicRetryWindow = 30 * time.Second

// settings overwrites settings with those declared.
func (f *fixtures) settings(s *ledger.Settings) {
	d := &f.declared
	if d.retryWindow != nil {
		s.RetryWindowPublic = min(*d.retryWindow, publicRetryWindow)
	}
	declare(&s.RetryWindow, d.retryWindow)
	declare(&s.RetryWindowPublic, d.retryWindowPublic)
	declare(&s.CodeLifetime, d.codeLifetime)
	declare(&s.RefreshIdle, d.refreshIdle)
	declare(&s.GrantAbsolute, d.grantAbsolute)
	declare(&s.SessionIdle, d.sessionIdle)
	declare(&s.SessionAbsolute, d.sessionAbsolute)
	declare(&s.JWKSMaxAge, d.jwksMaxAge)
	declare(&s.Algorithm, d.algorithm)
	declare(&s.Audience, d.audience)
}

func declare[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
