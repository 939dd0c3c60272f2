package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// rare are lists with few or no matches, which take the longest.
var rare = []weighing{
	{route: "GET /admin/audit", address: query("/admin/audit", "client", "nobody")},
	{route: "GET /admin/audit", address: query("/admin/audit", "client", Long("mine"))},
	{route: "GET /admin/audit", address: query("/admin/audit", "user", "nobody")},
	{route: "GET /admin/audit", address: query("/admin/audit", "kind", "grant.reuse")},
	{route: "GET /admin/audit", address: query("/admin/audit", "kind", "client.reviewed:suspend,resume")},
	{route: "GET /admin/audit", address: query("/admin/audit", "kind", "restore", "to", "2026-03-04")},
	{route: "GET /admin/clients", address: query("/admin/clients", "state", "deleted")},
	{route: "GET /admin/clients", address: query("/admin/clients", "state", "rejected")},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", "nothing")},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", "nothing", "owner", OwnerID)},
	{route: "GET /admin/users", address: query("/admin/users", "only", "disabled")},
	{route: "GET /admin/users", address: query("/admin/users", "only", "administrators")},
	{route: "GET /admin/users", address: query("/admin/users", "q", "nothing")},
	{route: "GET /developer", address: query("/developer", "q", "nothing")},
}

// BenchmarkPages requests each page of the table of weights in a state of 10,000 clients,
// as many users and 100,000 events. A page should take less than 10 ms.
func BenchmarkPages(b *testing.B) {
	f := NewFull(b, Long10, func(c *web.Config) { c.Log = slog.New(slog.DiscardHandler) })
	for i := range 10_000 {
		f.Client(fmt.Sprintf("c-%05d", i), func(c *ledger.ImportClient) {
			if c.Profile.Name = fmt.Sprintf("Application %d", i); i%2 == 0 {
				c.Owner = OwnerID
			}
		})
		f.Must(&ledger.PutUser{ID: fmt.Sprintf("u-%05d", i), Username: fmt.Sprintf("somebody-%d", i), Person: ledger.Person{Name: fmt.Sprintf("Some Body %d", i), Email: "somebody@example.com"}})
	}
	for i := range ledger.MaxEvents - 20_000 {
		f.Must(&ledger.PutUser{ID: fmt.Sprintf("u-%05d", i%10_000), Username: fmt.Sprintf("somebody-%d", i%10_000), Person: ledger.Person{Name: fmt.Sprintf("Some Body %d", i%10_000), Email: "somebody@example.com"}})
	}
	for _, one := range append(weighings, rare...) {
		if !strings.HasPrefix(one.route, http.MethodGet) {
			continue
		}
		name := strings.TrimPrefix(one.route, "GET ")
		if one.address != nil {
			if name = one.address(f); len(name) > 60 {
				name = name[:60]
			}
		}
		b.Run(strings.ReplaceAll(name, "~", ""), func(b *testing.B) {
			for b.Loop() {
				one.ask(f)
			}
		})
	}
}
