package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAdministrationProbesStayText verifies that texts in clients, users, reviews and
// filters are escaped on the pages of the administration.
func TestAdministrationProbesStayText(t *testing.T) {
	t.Parallel()
	for i, probe := range Probes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w, root := Administration(t)
			website := "https://x.example/?" + strings.NewReplacer(" ", "", `"`, "", "<", "", ">", "", `\`, "", "{", "", "}", "").Replace(probe)
			w.Client("probe", func(c *ledger.ImportClient) { c.Profile.Name, c.Profile.Website = probe, website })
			w.ProposeRevision("probe", func(p *ledger.Profile) {
				p.Name, p.Purpose, p.Website = probe+"2", probe, website+"&2"
				p.RedirectURIs = append(p.RedirectURIs, website)
			})
			username := "p'`&{{}}" + fmt.Sprint(i)
			w.Must(&ledger.PutUser{ID: "u-probe", Username: username, Person: ledger.Person{Name: probe, Email: probe}, Password: PasswordHash()})
			w.Client("probes-own", func(c *ledger.ImportClient) { c.Owner, c.State = "u-probe", ledger.Pending })
			w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "probes-own", Verdict: ledger.Reject, Reason: probe, Revision: 1})

			anything := url.Values{}
			for _, name := range []string{"q", "after", "before", "done", "state", "owner", "only", "client", "user", "kind", "from", "to"} {
				anything.Set(name, probe)
			}
			for _, path := range []string{
				"/admin", "/admin/clients", "/admin/clients/probe", "/admin/clients/probes-own",
				"/admin/clients?owner=u-probe", "/admin/users", "/admin/users/u-probe", "/admin/users/u-probe/password", "/admin/users/u-probe/edit", "/admin/new-user", "/admin/audit",
			} {
				page := root.Get(path)
				assert.Equal(t, http.StatusOK, page.StatusCode, path)
				CheckProbe(t, page, probe)
				path, _, _ = strings.Cut(path, "?")
				CheckProbe(t, root.Get(path+"?"+anything.Encode()), probe)
			}
			CheckProbe(t, root.Press("/admin/clients/probe", "/admin/clients/probe/review", "reason", probe+"\u202e", "verdict", "reject"), probe)
			CheckProbe(t, root.Press("/admin/clients/probe/suspend", "/admin/clients/probe/suspend", "reason", probe+"\u202e"), probe)
			CheckProbe(t, root.Press("/admin/users/u-ada/password", "/admin/users/u-ada/password", "password", probe[:4]), probe)
			page := root.Press("/admin/new-user", "/admin/new-user", "username", probe, "name", probe, "email", probe, "password", probe[:4], "admin", probe)
			assert.Equal(t, http.StatusUnprocessableEntity, page.StatusCode)
			CheckProbe(t, page, probe)
			fields := []string{"username", ""}
			for _, name := range []string{"name", "email", "bio", "avatar_url", "locale", "time_zone", "time_format", "week_start", "default_schedule_id", "organization_id"} {
				fields = append(fields, name, probe)
			}
			CheckProbe(t, root.Press("/admin/users/u-ada/edit", "/admin/users/u-ada/edit", fields...), probe)
		})
	}
}

// TestAdministrationPagesAreSmall verifies the size of the largest pages with lists.
func TestAdministrationPagesAreSmall(t *testing.T) {
	t.Parallel()
	w, root := Administration(t)
	long := strings.Repeat("Name ", 8)
	for i := range 30 {
		id := fmt.Sprintf("u_abcdefghijklmnopqr%02d", i)
		w.User(id, fmt.Sprintf("some-longer-name-%02d", i), long)
		w.Client(fmt.Sprintf("c_abcdefghijklmnopqr%02d", i), func(c *ledger.ImportClient) {
			c.Owner, c.State, c.Profile.Name = id, ledger.Pending, long
		})
	}
	for i := range 30 {
		w.Must(&ledger.ReviewClient{
			Actor: ledger.Actor{Operator: true}, ID: fmt.Sprintf("c_abcdefghijklmnopqr%02d", i),
			Verdict: ledger.Approve, Reason: strings.Repeat("reason ", 6), Revision: 1,
		})
		for _, path := range []string{"/admin", "/admin/clients", "/admin/users", "/admin/audit"} {
			root.Get(path) // the test's browser verifies the size
		}
	}
}
