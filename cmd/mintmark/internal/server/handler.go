package server

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/verifier"
)

// handler returns the handler of the public listener, for Metrics.Timed: the endpoints for programs and the
// pages for people. people has the ways to sign in.
func handler(i *issuer.Issuer, s ledger.Settings, people web.Config, clientIP func(*http.Request) string, m *telemetry.Metrics, failures *security.Recorder, log *slog.Logger) (http.Handler, error) {
	v, err := verifier.New(verifier.Config{
		Issuer: s.BaseURL, Audience: s.Audience, Keys: i.Keyring, Now: i.Clock,
		Revoked: func(c *verifier.Claims) bool {
			id, ok := ledger.ParseGrantID(c.GrantID())
			return !ok || i.View().TokensRevoked(id) != ledger.NoCause
		},
	})
	if err != nil {
		return nil, err
	}
	router := endpoint.NewRouter()
	api := endpoint.Config{Server: i, KeySet: i.Keyring.KeySet, Verifier: v, Revocations: i.Revocations(), ClientIP: clientIP, Security: failures, Log: log, Now: i.Clock}
	endpoints := endpoint.New(api)
	endpoints.Register(m.Router(router))
	people.Ledger, people.Code, people.Secret, people.Explain, people.ErrorID = i, i.Code, i.Secret, i.Explain, i.SealRefusal
	people.Attempts, people.Devices, people.Sessions, people.NewSecrets, people.Forms = i, i, i, i, i
	people.Verify = v.Verify
	people.Issuer, people.Secure = func() string { return s.BaseURL }, strings.HasPrefix(s.AppURL, "https://")
	people.Rand, people.Log, people.ClientIP = rand.Reader, log, clientIP
	people.Security, people.Registration = failures, i.Registration
	if people.Documents == nil {
		people.Documents = clientdoc.New(clientdoc.Config{Own: func() []string { return i.View().Settings().Hosts() }, Now: i.Clock})
	}
	pages, err := web.New(people)
	if err != nil {
		return nil, err
	}
	pages.Register(m.Router(router))
	notFound := apiOrPage(endpoint.NotFound, pages.NotFound)
	router.NotFound = notFound
	router.MethodNotAllowed = endpoint.FixAllowHeader(router, apiOrPage(endpoints.MethodNotAllowed, pages.MethodNotAllowed))
	return endpoint.Guard(router, notFound, strings.HasPrefix(s.BaseURL, "https://"), log), nil
}

// apiOrPage answers with api below the paths of the API, and with page elsewhere.
func apiOrPage(api, page http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if endpoint.IsAPI(r.URL.Path) {
			api(w, r)
			return
		}
		page(w, r)
	})
}
