package site

import (
	"embed"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync/atomic"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A Config configures a Site. It must not be changed afterwards.
type Config struct {
	Ledger Ledger
	// Secure reports that browsers reach the pages by https: cookies are Secure with the
	// prefix __Host-, and HSTS is sent.
	Secure bool
	// Sessions seals the session cookie.
	Sessions Sessions
	// Forms seals the record, in a form, of the user to whom the form was shown.
	Forms Forms
	// ErrorID seals the cause of a refused request for the page of the refusal. client is "" if
	// no client is known.
	ErrorID func(client string, r ledger.Refusal) string
	// Rand must be safe for concurrent use.
	Rand io.Reader
	// Log receives why a page failed, and one record for each request whose context has
	// none of package requestlog.
	Log *slog.Logger
	// Navigation is what the pages of signed-in users offer, in order.
	Navigation []MenuGroup
}

// A Site handles what the requests of all pages have in common. Its methods are safe for
// concurrent use.
type Site struct {
	Config

	own      *Area // the pages that any route may answer with
	limits   *limits
	origin   *http.CrossOriginProtection
	table    []Route
	ownPages *httprouter.Router         // has the pages that need a session; used for matching only
	style    atomic.Pointer[brandStyle] // of the last accent
}

//go:embed templates
var templates embed.FS

// New returns a Site without routes.
func New(c Config) (*Site, error) {
	pages, err := ui.Parse(templates, nil, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	cards, err := ui.ParseCards(templates, nil, "templates/cards/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse cards: %w", err)
	}
	maps.Copy(pages, cards)
	s := &Site{Config: c, limits: newLimits(), origin: http.NewCrossOriginProtection()}
	s.own = &Area{Site: s, Pages: pages}
	return s, nil
}

// An Area is a Site with the pages of one of its areas.
type Area struct {
	*Site

	Pages ui.Pages
}

// NotFound responds for a path without a route.
func (w *Site) NotFound(rw http.ResponseWriter, r *http.Request) {
	w.serve(&Request{ResponseWriter: rw, R: r}, func(*Request) error { return ErrNotFound })
}

// MethodNotAllowed responds for a method that a path doesn't support. The router has set Allow.
func (w *Site) MethodNotAllowed(rw http.ResponseWriter, r *http.Request) {
	w.serve(&Request{ResponseWriter: rw, R: r}, func(*Request) error {
		if agentPath(r.URL.Path) && !w.Ledger.View().Settings().AcceptsAgents() {
			rw.Header().Del("Allow")
			return ErrNotFound
		}
		return MethodNotAllowed("")
	})
}
