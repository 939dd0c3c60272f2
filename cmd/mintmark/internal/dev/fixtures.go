package dev

import (
	"os"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// fixtures are the users, clients, resource servers and settings that a file declares, checked as a whole.
type fixtures struct {
	file string
	*declare.Declaration
}

// reader reads fixtures, which may hold secrets in clear: they are for trials and tests.
var reader = declare.Reader{
	Secret: func(path string) (admin.Plain, error) {
		return config.ReadSecretFile(path, os.Getenv("CREDENTIALS_DIRECTORY"))
	},
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
	d, err := reader.Text(name, text)
	if err != nil {
		return nil, err
	}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = nowhere, nowhere, nowhere
	if err := d.Check(s); err != nil {
		return nil, err
	}
	return &fixtures{name, d}, nil
}

// nowhere stands for the addresses of the node, which a file has not. No client has a
// redirection URI there, while one on the loopback may have any port.
const nowhere = "https://mintmark.invalid"

// publicRetryWindow is the longest retry window of public clients if only retry_window is
// declared: a public client authenticates with nothing but the refresh token.
const publicRetryWindow = 30 * time.Second

// settings overwrites settings with those declared.
func (f *fixtures) settings(s *ledger.Settings) {
	f.Settings.Onto(s)
	_, confidential := f.Settings.Values["retry_window"]
	if _, public := f.Settings.Values["retry_window_public"]; confidential && !public {
		s.RetryWindowPublic = min(s.RetryWindow, publicRetryWindow)
	}
}
