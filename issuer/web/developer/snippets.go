package developer

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

//go:embed snippets
var snippetFiles embed.FS

// snippets are code for developers to copy. Values are quoted for the language of the
// code, since a redirect URI may contain quotes and dollar signs.
var snippets = template.Must(template.New("").Funcs(template.FuncMap{
	"shell": shellQuote, "quote": strconv.Quote, "js": jsQuote, "duration": ui.Duration,
}).ParseFS(snippetFiles, "snippets/*.tmpl"))

// connecting has the values for the code.
type connecting struct {
	ClientID, RedirectURI         string
	AuthorizeURL, TokenURL, MeURL string
	Issuer                        string
	Scopes                        []string
	Public                        bool
	Secret                        string // only on the page that shows it
	Active                        string // its active secrets
	State, Verifier, Challenge    string // generated for this page
	CodeLifetime                  time.Duration
}

// Native reports whether the redirect URI doesn't lead to a web server: the system
// opens an application for its private-use scheme (RFC 8252 §7.1).
func (c connecting) Native() bool {
	return !leadsToServer(c.RedirectURI)
}

// leadsToServer reports whether a browser can follow a redirect URI wherever it runs.
func leadsToServer(uri string) bool {
	return strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:")
}

// Scope returns the parameter scope.
func (c connecting) Scope() string { return strings.Join(c.Scopes, " ") }

// ReadsProfile reports whether a token of the application may read the user's profile.
func (c connecting) ReadsProfile() bool {
	return len(c.Scopes) == 0 || slices.Contains(c.Scopes, scope.ProfileRead)
}

func (c connecting) snippet(name string) string {
	var b strings.Builder
	if err := snippets.ExecuteTemplate(&b, name+".tmpl", c); err != nil {
		panic(fmt.Errorf("write snippet %s: %w", name, err)) // template and data don't match
	}
	return b.String()
}

// plainWords have no character that a POSIX shell takes for more than itself.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9_./:@%+-]+$`)

// shellQuote quotes a word for a POSIX shell, if it has to be.
func shellQuote(s string) string {
	if plainWords.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func jsQuote(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}
