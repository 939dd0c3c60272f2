package apply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A cluster is a ledger in memory behind a real socket.
type cluster struct {
	*admintest.Env
	t *testing.T
	c *admin.Caller
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	w := admintest.New(t)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://id.example", "https://id.example", "https://id.example"
	w.Do(&ledger.Configure{Settings: s})
	c, err := admin.NewCaller(w.Serve())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return &cluster{w, t, c}
}

func declaration(t require.TestingT, text string) *declare.Declaration {
	d, err := declare.Reader{}.Text("f.yaml", []byte(text))
	require.NoError(t, err)
	return d
}

var options = apply.Options{Manager: "apply"}

func (c *cluster) plan(t require.TestingT, d *declare.Declaration, o apply.Options) *apply.Plan {
	state, err := apply.ReadState(context.Background(), c.c, d, o)
	require.NoError(t, err)
	p, err := apply.New(d, state, o)
	require.NoError(t, err)
	return p
}

func ignore(*apply.Step, string) error { return nil }

func (c *cluster) apply(t require.TestingT, d *declare.Declaration, o apply.Options) {
	require.NoError(t, c.plan(t, d, o).Do(context.Background(), c.c, ignore))
}

func (c *cluster) export(t require.TestingT) string {
	d, comment, err := apply.Export(context.Background(), c.c)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, d.Write(&b, comment))
	return b.String()
}

const three = `
users: [{username: ada, name: Ada}]
clients:
  - {id: one, name: One, owner: ada, redirect_uris: ["https://one.example/"], scopes: [PROFILE_READ], secret: secret-of-one}
  - {id: two, name: Two, owner: ada, redirect_uris: ["https://two.example/"], scopes: [PROFILE_READ], secret: secret-of-two}
  - {id: three, name: Three, owner: ada, type: public, redirect_uris: ["https://three.example/"], scopes: [PROFILE_READ]}
resource_servers:
  - {id: "https://api.example", name: api, scopes: [BOOKING_READ], secret: secret-of-api}
settings: {code_lifetime: 60s}
`

// TestInterrupted: if an apply is interrupted, the error names what is done and what is
// not. A second run does only the rest.
func TestInterrupted(t *testing.T) {
	for _, crash := range []bool{false, true} { // whether the program that applies ends, or the cluster loses its leader
		c := newCluster(t)
		d := declaration(t, three)
		gone := errors.New("the program ends here")
		err := c.plan(t, d, options).Do(t.Context(), c.c, func(s *apply.Step, _ string) error {
			if s.ID != "one" {
				return nil
			}
			if crash {
				return gone
			}
			c.SetNoLeader(true)
			return nil
		})
		if crash {
			require.ErrorIs(t, err, gone)
		} else {
			var interrupted *apply.InterruptedError
			require.ErrorAs(t, err, &interrupted)
			require.Equal(t, 3, interrupted.Done)
			require.ErrorContains(t, err, "3 of 6 changes are done, and not: client two, client three, resource server https://api.example")
			var p *admin.Problem
			require.ErrorAs(t, err, &p)
			require.Equal(t, admin.Unavailable, p.Class)
			c.SetNoLeader(false)
		}
		rest := c.plan(t, d, options)
		require.Equal(t, []string{"client two", "client three", "resource server https://api.example"}, subjects(rest))
		require.Equal(t, 3, rest.Unchanged)
		c.apply(t, d, options)
		require.Empty(t, c.plan(t, d, options).Steps)
	}
}

func subjects(p *apply.Plan) (all []string) {
	for i := range p.Steps {
		all = append(all, p.Steps[i].Subject())
	}
	return all
}

// TestAtOnce: if many programs apply one file at the same time, each change is made once.
func TestAtOnce(t *testing.T) {
	c := newCluster(t)
	d := declaration(t, three)
	plans := make([]*apply.Plan, 6)
	for i := range plans {
		plans[i] = c.plan(t, d, options)
	}
	before := c.Proposals.Load()
	var wg sync.WaitGroup
	failures := make([]error, len(plans))
	for i, p := range plans {
		wg.Go(func() { failures[i] = p.Do(t.Context(), c.c, ignore) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Equal(t, before+6, c.Proposals.Load())
	require.Empty(t, c.plan(t, d, options).Steps)
}

// TestConflict: an apply never overwrites a change that was made after its plan.
func TestConflict(t *testing.T) {
	operator := ledger.Actor{Operator: true}
	for name, test := range map[string]struct {
		file    string
		between func(c *cluster)
		refused string
	}{
		"edited client": {"clients: [{id: one, name: New, owner: ada, redirect_uris: ['https://one.example/'], scopes: [PROFILE_READ]}]", func(c *cluster) {
			p := c.View().Client("one").Profile
			p.Website = "https://one.example"
			c.Do(&ledger.EditClient{Actor: operator, ID: "one", Revision: 1, Profile: p})
		}, "client one: it has changed"},
		"suspended client": {"clients: [{id: one, name: New, owner: ada, redirect_uris: ['https://one.example/'], scopes: [PROFILE_READ]}]", func(c *cluster) {
			c.Do(&ledger.ReviewClient{Actor: operator, ID: "one", Verdict: ledger.Suspend, Revision: 1})
		}, "client one: it has changed"},
		"another secret": {"clients: [{id: one, name: One, owner: ada, redirect_uris: ['https://one.example/'], scopes: [PROFILE_READ], secret: new}]", func(c *cluster) {
			s, _ := c.Secret("emergency")
			c.Do(&ledger.AddSecret{Actor: operator, Client: "one", Secret: s})
		}, "client one: it has changed"},
		"made meanwhile": {"clients: [{id: new, name: New, owner: ada, type: public, redirect_uris: ['https://one.example/'], scopes: [PROFILE_READ]}]", func(c *cluster) {
			c.Do(&ledger.CreateClient{Actor: operator, ID: "new", Owner: "u_ada", Type: ledger.Public, Profile: ledger.Profile{
				Name: "Other", RedirectURIs: []string{"https://x.example/"}, Scopes: []string{"PROFILE_READ"},
			}})
		}, "client new: it has changed"},
		"edited user": {"users: [{username: ada, email: new@example.com}]", func(c *cluster) {
			c.Do(&ledger.SetPerson{Actor: operator, User: "u_ada", Username: "ada", Person: ledger.Person{Email: "own@example.com"}})
		}, "user ada: it has changed"},
		"setting": {"settings: {code_lifetime: 50s}", func(c *cluster) {
			_, err := admin.SetSettings.Call(context.Background(), c.c, admin.SettingsChange{Set: map[string]string{"code_lifetime": "40s"}})
			require.NoError(c.t, err)
		}, "settings: it has changed"},
		"another setting": {"settings: {code_lifetime: 50s}", func(c *cluster) {
			_, err := admin.SetSettings.Call(context.Background(), c.c, admin.SettingsChange{Set: map[string]string{"jwks_max_age": "40s"}})
			require.NoError(c.t, err)
		}, ""},
		"edited resource server": {"resource_servers: [{id: 'https://api.example', name: other}]", func(c *cluster) {
			c.Do(&ledger.PutResourceServer{Actor: operator, ID: "https://api.example", Name: "mine"})
		}, "resource server https://api.example: it has changed"},
		"another secret of one": {"resource_servers: [{id: 'https://api.example', name: api, secret: new}]", func(c *cluster) {
			s, _ := c.Secret("emergency")
			c.Do(&ledger.AddResourceSecret{Actor: operator, Resource: "https://api.example", Secret: s})
		}, "resource server https://api.example: it has changed"},
		"registered meanwhile": {"resource_servers: [{id: 'https://new.example', name: new}]", func(c *cluster) {
			c.Do(&ledger.PutResourceServer{Actor: operator, ID: "https://new.example", Name: "theirs"})
		}, "resource server https://new.example: it has changed"},
		"edited before its removal": {"clients: []", func(c *cluster) {
			c.Do(&ledger.PutResourceServer{Actor: operator, ID: "https://api.example", Name: "mine"})
		}, "resource server https://api.example: it has changed"},
		"use of a removed client": {"clients: []", func(c *cluster) {
			c.Do(&ledger.ReviewClient{Actor: operator, ID: "one", Verdict: ledger.Suspend, Revision: 1})
		}, "client one: it has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Do(&ledger.PutUser{ID: "u_ada", Username: "ada", Password: "hash"})
			c.apply(t, declaration(t, three), options)
			p := c.plan(t, declaration(t, test.file), apply.Options{Manager: "apply", Prune: true})
			test.between(c)
			err := p.Do(t.Context(), c.c, ignore)
			if test.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.refused)
			var problem *admin.Problem
			require.ErrorAs(t, err, &problem)
			require.Equal(t, ledger.Conflict, problem.Cause)
		})
	}
}

// TestExportPlansNothing: the export of any state, applied to the same cluster, changes
// nothing. Applied to an empty cluster, it makes the same clients.
func TestExportPlansNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newCluster(t)
		c.random(r)
		text := c.export(r)
		plan := c.plan(r, declaration(r, text), options)
		require.Empty(r, plan.Steps, text)

		// In another cluster, the owners must be able to own clients, and confidential
		// clients need secrets.
		d := declaration(r, text)
		d.Clients = slices.DeleteFunc(d.Clients, func(one declare.Client) bool {
			owner := c.View().User(c.View().Client(one.ID).Owner)
			return owner.Disabled || owner.Deleted || owner.Upstream != ""
		})
		var want []string
		for i := range d.Clients {
			one := &d.Clients[i]
			want = append(want, clientText(c.View(), one.ID))
			if one.Type == string(ledger.Confidential) {
				one.Place.Lines["secret"] = 1
				one.Secrets = []declare.Secret{{Text: admin.Plain("secret of " + one.ID), Field: "secret"}}
			}
		}
		elsewhere := newCluster(t)
		elsewhere.apply(r, d, options)
		var got []string
		for i := range d.Clients {
			got = append(got, clientText(elsewhere.View(), d.Clients[i].ID))
		}
		require.Equal(r, want, got, text)
		require.Empty(r, elsewhere.plan(r, d, options).Steps, text)
		for s := range c.View().ResourceServers() {
			there := elsewhere.View().ResourceServer(s.ID)
			require.Equal(r, []any{s.Name, s.Scopes}, []any{there.Name, there.Scopes}, text)
		}
		require.Equal(r, *shown(c.View().Settings()), *shown(elsewhere.View().Settings()))
	})
}

// clientText returns the fields of a client that an export has.
func clientText(v ledger.View, id string) string {
	c := v.Client(id)
	return fmt.Sprint(c.ID, c.Type, c.State, v.User(c.Owner).Username, c.Name, c.Purpose, c.Website, c.PrivacyURL, c.TermsURL, c.RedirectURIs, c.Scopes, c.Legacy)
}

func shown(s *ledger.Settings) *ledger.Settings {
	row := *s
	row.Last, row.CachedJWKSUntil = [16]byte{}, 0
	return &row
}

// random puts the cluster into a random state.
func (c *cluster) random(r *rapid.T) {
	operator := ledger.Actor{Operator: true}
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(r, label) }
	text := func(label string) string { return pick(label, "", "Plain", "a: b # c", "yes", "O'Neil \"x\"", "ünï") }
	users := []string{"u-ada", "u_0123456789abcdef", "u-carol"}
	for i, id := range users {
		c.Do(&ledger.PutUser{ID: id, Username: []string{"Ada", "bob", "carol"}[i], Password: "hash", Admin: i == 0, Person: ledger.Person{
			Name: text("name"), Bio: pick("bio", "", "Two\nlines", " x"), TimeFormat: rapid.SampledFrom([]int{0, 12, 24}).Draw(r, "format"),
		}})
	}
	for i := range rapid.IntRange(0, 4).Draw(r, "clients") {
		imported := &ledger.ImportClient{
			ID: fmt.Sprintf("client-%d", i), Owner: pick("owner", users...), Type: ledger.ClientType(pick("type", "confidential", "public")),
			State: ledger.ClientState(pick("state", "pending", "approved", "rejected", "suspended")), Legacy: rapid.Bool().Draw(r, "legacy"),
			Profile: ledger.Profile{
				Name: "N" + text("client"), Purpose: text("purpose"), Website: pick("website", "", "https://w.example/?a=b#c"),
				PrivacyURL: pick("privacy", "", "https://w.example/privacy"), TermsURL: pick("terms", "", "https://w.example/terms"),
				RedirectURIs: []string{"https://b.example/cb?x=1", "https://a.example/cb"},
			},
		}
		if !imported.Legacy {
			imported.Profile.Scopes = []string{"PROFILE_READ", "BOOKING_READ"}
		}
		if imported.Type == ledger.Confidential {
			s, _ := c.Secret("old")
			imported.Secrets = append(imported.Secrets, s)
		}
		c.Do(imported)
		id, row := imported.ID, c.View().Client(imported.ID)
		for range rapid.IntRange(0, 2).Draw(r, "deeds") {
			switch pick("deed", "propose", "delete", "adopt") {
			case "propose":
				p := row.Profile
				p.Name = "Proposed"
				c.Do(&ledger.EditClient{Actor: c.SignIn(row.Owner), ID: id, Revision: row.Revision, Profile: p})
			case "adopt":
				c.Do(&ledger.ApplyClient{
					Actor: operator, ID: id, Owner: row.Owner, Type: row.Type, State: row.State, Legacy: row.Legacy, Profile: row.Profile,
					Revision: row.Revision, Manager: options.Manager, Adopt: true,
				})
			case "delete":
				c.Do(&ledger.DeleteClient{Actor: operator, ID: id})
			}
			if row = c.View().Client(id); row.State == ledger.Deleted {
				break
			}
		}
	}
	if rapid.Bool().Draw(r, "disable") {
		c.Do(&ledger.SetUserState{Actor: operator, User: "u-carol", State: ledger.UserState(pick("to", "disable", "delete"))})
	}
	for i := range rapid.IntRange(0, 3).Draw(r, "resource servers") {
		name := fmt.Sprintf("%s%d", pick("resource", "yes-", "a|b~", "@"), i)
		s, _ := c.Secret(name)
		id := fmt.Sprintf("https://r%d.example%s", i, pick("path", "", "/v2", "/a:b"))
		scopes := rapid.SampledFrom([][]string{nil, {"PROFILE_READ"}, {"TEAM_BOOKING_READ", "PROFILE_READ"}}).Draw(r, "resource scopes")
		c.Do(&ledger.PutResourceServer{Actor: operator, ID: id, Name: name, Scopes: scopes, Secret: rapid.SampledFrom([]*ledger.NewSecret{nil, &s}).Draw(r, "secret"), New: true})
	}
	s := *c.View().Settings()
	s.CodeLifetime *= 2
	if rapid.Bool().Draw(r, "rotate") {
		s.RotateEvery = ledger.RotateNever
	}
	s.Brand = ledger.Brand{
		Name: pick("service", "", "Zeta"), Accent: pick("accent", "", "#0b6b50"), HelpURL: pick("help", "", "https://z.example/help"), Forgot: text("forgot"),
	}
	c.Do(&ledger.Configure{Settings: s})
}

// TestRemovedNameIsFree: a resource server may get the name of another one that the same
// plan removes.
func TestRemovedNameIsFree(t *testing.T) {
	c := newCluster(t)
	c.apply(t, declaration(t, three), options)
	d := declaration(t, "resource_servers: [{id: 'https://api.example/v2', name: api}]")
	plan := c.plan(t, d, apply.Options{Manager: "apply", Prune: true})
	require.Equal(t, 1, plan.CountOf(apply.Remove, apply.KindResourceServer))
	require.NoError(t, plan.Do(t.Context(), c.c, ignore))
	require.Nil(t, c.View().ResourceServer("https://api.example"))
	require.Equal(t, "https://api.example/v2", c.View().ResourceServerNamed("api").ID)
}

// TestPlan compares files with a state, and checks which differences are changes in the
// plan.
func TestPlan(t *testing.T) {
	app := func() *admin.DescribedClient {
		return &admin.DescribedClient{Client: admin.Client{
			ClientSummary: admin.ClientSummary{ID: "app", Name: "App", Type: "confidential", State: "approved", Kind: "scoped", Owner: "ada", Revision: 7},
			OwnerID:       "u_1", RedirectURIs: []string{"https://a.example/", "https://b.example/"}, Scopes: []string{"BOOKING_READ", "PROFILE_READ"},
			Secrets: []admin.Secret{{ID: "s_0", State: "revoked"}, {ID: "s_1", State: "active"}, {ID: "s_2", State: "active"}},
		}, SecretIDs: []string{"s_1"}}
	}
	const same = "id: app, name: App, owner: ada, redirect_uris: ['https://a.example/', 'https://b.example/'], scopes: [PROFILE_READ, BOOKING_READ]"
	for name, test := range map[string]struct {
		file   string
		change func(c *admin.DescribedClient)
		o      apply.Options
		want   string // the changed fields, or the error
	}{
		"the same":                {file: same},
		"owner by id":             {file: strings.Replace(same, "owner: ada", "owner: u_1", 1)},
		"owner in another case":   {file: strings.Replace(same, "owner: ada", "owner: Ada", 1)},
		"name":                    {file: strings.Replace(same, "name: App", "name: B", 1), want: "name App>B"},
		"uris in another order":   {file: strings.Replace(same, "['https://a.example/', 'https://b.example/']", "['https://b.example/', 'https://a.example/']", 1), want: "redirect_uris https://a.example/ https://b.example/>https://b.example/ https://a.example/"},
		"a scope less":            {file: strings.Replace(same, "PROFILE_READ, ", "", 1), want: "scopes -PROFILE_READ"},
		"purpose is cleared":      {file: same, change: func(c *admin.DescribedClient) { c.Purpose = "x" }, want: "purpose x>"},
		"pending is approved":     {file: same, change: func(c *admin.DescribedClient) { c.State = "pending" }, want: "state pending>approved"},
		"rejected is approved":    {file: same, change: func(c *admin.DescribedClient) { c.State = "rejected" }, want: "state rejected>approved"},
		"suspended stays":         {file: same, change: func(c *admin.DescribedClient) { c.State = "suspended" }},
		"suspended is resumed":    {file: same + ", state: approved", change: func(c *admin.DescribedClient) { c.State = "suspended" }, want: "state suspended>approved"},
		"to be suspended":         {file: same + ", state: suspended", want: "state approved>suspended"},
		"one secret kept":         {file: same + ", secret: a", want: "secrets -s_2"},
		"both secrets":            {file: same + ", secrets: [a, b]", change: func(c *admin.DescribedClient) { c.SecretIDs = []string{"s_1", "s_2"} }},
		"a new secret":            {file: same + ", secrets: [a, b]", change: func(c *admin.DescribedClient) { c.SecretIDs = []string{"s_1", ""} }, want: "secrets +the one of secrets[1] -s_2"},
		"a revoked secret":        {file: same + ", secret: a", change: func(c *admin.DescribedClient) { c.SecretIDs = []string{"s_0"} }, want: "line 1: client app: secret was revoked"},
		"no secret at all":        {file: same + ", secrets: []", want: "the last active secret can only be replaced"},
		"type":                    {file: same + ", type: public", want: "type never changes"},
		"deleted":                 {file: same, change: func(c *admin.DescribedClient) { c.State = "deleted" }, want: "id is that of a deleted client, and can not be used again"},
		"legacy":                  {file: strings.Replace(same, ", scopes: [PROFILE_READ, BOOKING_READ]", ", legacy: true", 1), want: "legacy never returns"},
		"migration":               {file: same, change: func(c *admin.DescribedClient) { c.Kind, c.Scopes = "legacy", nil }, want: "scopes +BOOKING_READ +PROFILE_READ; legacy true>false"},
		"another manager":         {file: same, change: func(c *admin.DescribedClient) { c.ManagedBy = "team" }, want: "is managed under another name (team)"},
		"adopted from another":    {file: same, change: func(c *admin.DescribedClient) { c.ManagedBy = "team" }, o: apply.Options{Adopt: true}, want: "managed_by team>apply"},
		"adopted":                 {file: same, o: apply.Options{Adopt: true}, want: "managed_by >apply"},
		"adopted before":          {file: same, change: func(c *admin.DescribedClient) { c.ManagedBy = "apply" }, o: apply.Options{Adopt: true}},
		"unknown owner":           {file: strings.Replace(same, "owner: ada", "owner: bob", 1), want: "owner is not a user"},
		"disabled owner":          {file: strings.Replace(same, "owner: ada", "owner: eve", 1), want: "owner is not a user: the account is disabled"},
		"owner who left stays":    {file: strings.Replace(same, "owner: ada", "owner: eve", 1), change: func(c *admin.DescribedClient) { c.OwnerID = "u_2" }},
		"void secrets are active": {file: same + ", secret: a", change: func(c *admin.DescribedClient) { c.Secrets[2].State = "void" }, want: "secrets -s_2"},
	} {
		t.Run(name, func(t *testing.T) {
			have := app()
			if test.change != nil {
				test.change(have)
			}
			ada := &admin.DescribedUser{User: admin.User{ID: "u_1", Username: "ada", State: "enabled"}}
			s := &apply.State{
				Settings: admin.DefaultSettings().Settings,
				Clients:  map[string]*admin.DescribedClient{"app": have},
				Users: map[string]*admin.DescribedUser{
					"ada": ada, "Ada": ada, "u_1": ada, "eve": {User: admin.User{ID: "u_2", Username: "eve", State: "disabled"}},
				},
			}
			for i := range s.Settings {
				if strings.HasSuffix(s.Settings[i].Key, "_url") || s.Settings[i].Key == "audience" {
					s.Settings[i].Value = "https://id.example"
				}
			}
			test.o.Manager = "apply"
			p, err := apply.New(declaration(t, "clients: [{"+test.file+"}]"), s, test.o)
			if err != nil {
				require.NotEmpty(t, test.want, err)
				require.ErrorContains(t, err, test.want)
				return
			}
			var got []string
			for i := range p.Steps {
				for _, f := range p.Steps[i].Fields {
					text := f.Before + ">" + f.After
					if len(f.Added)+len(f.Removed) > 0 {
						text = strings.TrimSpace(joined("+", f.Added) + joined("-", f.Removed))
					}
					got = append(got, f.Name+" "+text)
				}
			}
			require.Equal(t, test.want, strings.Join(got, "; "))
		})
	}
}

func joined(sign string, words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(sign + w + " ")
	}
	return b.String()
}
