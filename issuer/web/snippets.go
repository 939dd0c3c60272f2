package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

//go:embed snippets
var snippetFiles embed.FS

// snippets are code for developers to copy. What is filled in is quoted for
// the language that it stands in: a redirection URI may hold quotes and
// dollars.
var snippets = template.Must(template.New("").Funcs(template.FuncMap{
	"shell": shellQuote, "quote": strconv.Quote, "js": jsQuote,
}).ParseFS(snippetFiles, "snippets/*.tmpl"))

// A connection is what code needs to know.
type connecting struct {
	ClientID, RedirectURI         string
	AuthorizeURL, TokenURL, MeURL string
	Issuer                        string
	Scopes                        []string
	Public                        bool
	State, Verifier, Challenge    string // made for this page
}

// Native reports whether the redirection URI leads to no web server: the system
// opens an application for its private-use scheme (RFC 8252 §7.1).
func (c connecting) Native() bool {
	return !strings.HasPrefix(c.RedirectURI, "https:") && !strings.HasPrefix(c.RedirectURI, "http:")
}

// Scope is the parameter of that name.
func (c connecting) Scope() string { return strings.Join(c.Scopes, " ") }

func (c connecting) snippet(name string) string {
	var b strings.Builder
	if err := snippets.ExecuteTemplate(&b, name+".tmpl", c); err != nil {
		panic(fmt.Errorf("write snippet %s: %w", name, err)) // a template and its data disagree
	}
	return b.String()
}

// shellQuote is one word of a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func jsQuote(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}
