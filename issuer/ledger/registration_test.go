package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestCheckRegistration verifies which publisher a registered client has, and what a refusal says.
func TestCheckRegistration(t *testing.T) {
	const notOne = "redirect_uris must all be of one host, or on the user's computer"
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Agents = "https://api.example.com", "https://app.example.com", ledger.AgentsListed
	v := viewOf(t, tableOf(ledger.TableSettings, []*ledger.Settings{&s}), tableOf(ledger.TablePublishers, []*ledger.Publisher{
		{Host: "vscode.dev", State: ledger.PublisherApproved},
		{Host: "pending.dev", State: ledger.PublisherPending},
		{Host: "rejected.dev", State: ledger.PublisherRejected},
		{Host: ledger.LocalPublisher, State: ledger.PublisherApproved, RedirectURIs: []string{"cursor://a/cb"}},
	}))
	for name, c := range map[string]struct {
		uris      []string
		publisher string // or the field and the note of the refusal
	}{
		"loopback":      {[]string{"http://127.0.0.1/", "http://localhost/"}, "local"},
		"private-use":   {[]string{"http://127.0.0.1/", "cursor://a/cb"}, "local"},
		"host":          {[]string{"https://vscode.dev/redirect"}, "vscode.dev"},
		"two of a host": {[]string{"https://vscode.dev/a", "https://vscode.dev/b"}, "vscode.dev"},

		"host and loopback":    {[]string{"https://vscode.dev/redirect", "http://127.0.0.1:33418/", "http://localhost/"}, notOne},
		"loopback and host":    {[]string{"http://[::1]/", "https://vscode.dev/a", "https://vscode.dev/b"}, notOne},
		"private-use and host": {[]string{"cursor://a/cb", "https://vscode.dev/redirect"}, notOne},
		"two hosts":            {[]string{"https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect"}, notOne},
		"unlisted private-use": {[]string{"vscode://a/cb"}, "redirect_uris has a private-use URI that is not listed here"},
		"this service's":       {[]string{"https://vscode.dev/redirect", "https://app.example.com/cb"}, "redirect_uris[1] is an address of this service, not of the application"},
		"http":                 {[]string{"http://vscode.dev/"}, "redirect_uris[0] must be https; http is for localhost, 127.0.0.1 and [::1] only"},
		"http of the host":     {[]string{"https://vscode.dev/a", "http://vscode.dev/"}, "redirect_uris[1] must be https; http is for localhost, 127.0.0.1 and [::1] only"},
		"none":                 {nil, "redirect_uris must have from 1 to 5 members"},
		"too many":             {[]string{"http://[::1]/1", "http://[::1]/2", "http://[::1]/3", "http://[::1]/4", "http://[::1]/5", "http://[::1]/6"}, "redirect_uris must have from 1 to 5 members"},
	} {
		t.Run(name, func(t *testing.T) {
			p, refused := v.CheckRegistration(&oauth.Registration{Name: "Agent", RedirectURIs: c.uris})
			if refused != nil {
				require.Equal(t, c.publisher, refused.Field+" "+refused.Note)
				require.Equal(t, oauth.InvalidRedirectURI, refused.Code)
				return
			}
			require.Equal(t, c.publisher, p.Host)
		})
	}
	for host, cause := range map[string]ledger.Cause{
		"unknown.dev": ledger.PublisherUnlisted, "pending.dev": ledger.PublisherUnlisted, "rejected.dev": ledger.PublisherIsRejected,
	} {
		_, refused := v.CheckRegistration(&oauth.Registration{Name: "Agent", RedirectURIs: []string{"https://" + host + "/cb"}})
		require.NotNil(t, refused, host)
		require.Equal(t, cause, refused.Cause, host)
	}
}
