package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A full env has the maximum of everything: the longest names, notes and addresses that
// the ledger accepts, and more rows than any page shows. One user, an administrator, owns
// everything.
type full struct {
	*env
	owner *browser
	extent
}

// An extent is the length of texts.
type extent struct {
	letter     string
	name, note int // characters of the longest names and notes
	many, uri  int // number of redirect URIs, and bytes of each
	site       int // bytes of a website's address
}

var (
	usual   = extent{letter: "x", name: 40, note: 200, many: 3, uri: 80, site: 60}
	long10  = extent{letter: "x", name: 80, note: 500, many: 10, uri: 120, site: 120}
	extreme = extent{letter: "長", name: 80, note: 500, many: 10, uri: 1024, site: 1024}
)

// wide returns a text of that many characters.
func (e extent) wide(letters int) string { return strings.Repeat(e.letter, letters) }

// long returns an identifier with the length of generated ones.
func long(id string) string { return id + strings.Repeat("~", 47-len(id)) }

// scopeNames returns the names of all scopes.
func scopeNames() (all []string) {
	for _, s := range scope.Catalogue() {
		all = append(all, s.Name)
	}
	return all
}

// uris returns the maximum number of redirect URIs of a client.
func (e extent) uris(kind string) (list []string) {
	for i := range e.many {
		uri := fmt.Sprintf("https://%s.example.com/%d/", kind, i)
		list = append(list, uri+strings.Repeat("a", e.uri-len(uri)))
	}
	return list
}

func (e extent) website(kind string) string {
	s := "https://" + kind + ".some-company.example.com/"
	return s + strings.Repeat("w", e.site-len(s))
}

var ownerID, otherID, goneID = long("u_owner"), long("u_other"), long("u_gone")

func newFull(t testing.TB, e extent, change ...func(*web.Config)) *full {
	t.Helper()
	refusals := web.NewRefusals()
	change = append([]func(*web.Config){withProvider, func(c *web.Config) { c.Refusals = refusals }}, change...)
	f := &full{env: newEnv(t, change...), extent: e}
	f.put(ownerID, "owner", true)
	f.put(otherID, "other", false)
	f.owner = f.signedInAs(f.View().User(ownerID).Username)
	for i := range 30 {
		f.put(long(fmt.Sprintf("u_%02d", i)), fmt.Sprintf("%02d", i), true)
		f.app(fmt.Sprintf("c_%02d", i), nil)
		f.app(fmt.Sprintf("waiting_%02d", i), func(c *ledger.ImportClient) { c.State = ledger.Pending })
		f.app(fmt.Sprintf("offered_%02d", i), func(c *ledger.ImportClient) { c.Owner = otherID })
		f.must(&ledger.OfferClient{Actor: operator, ID: long(fmt.Sprintf("offered_%02d", i)), Username: f.View().User(ownerID).Username})
		f.allow(fmt.Sprintf("c_%02d", i), i)
	}
	f.app("mine", func(c *ledger.ImportClient) {
		c.Profile.RedirectURIs, c.Profile.Scopes = c.Profile.RedirectURIs[1:], c.Profile.Scopes[1:]
		c.Secrets = []ledger.NewSecret{f.secret("s_1"), f.secret("s_2")}
		for i := range 8 {
			c.Revoked = append(c.Revoked, f.secret(fmt.Sprint("s_old", i)))
		}
	})
	for range 15 {
		f.edit("mine", "proposed")
		f.judge("mine", ledger.Reject)
	}
	f.edit("mine", "proposed")
	f.must(&ledger.OfferClient{Actor: f.actor(), ID: long("mine"), Username: f.View().User(otherID).Username})
	f.app("turned-down", func(c *ledger.ImportClient) {
		c.Profile.RedirectURIs, c.Profile.Scopes = c.Profile.RedirectURIs[1:], c.Profile.Scopes[1:]
	})
	f.edit("turned-down", "proposed")
	f.judge("turned-down", ledger.Reject)
	f.put(goneID, "gone", false)
	f.app("orphan", func(c *ledger.ImportClient) { c.Owner = goneID })
	f.must(&ledger.SetUserState{Actor: operator, User: goneID, State: ledger.Disable})
	f.app("single", func(c *ledger.ImportClient) { c.Secrets = []ledger.NewSecret{f.secret("s_only")} })
	f.app("public", func(c *ledger.ImportClient) { c.Type = ledger.Public })
	f.app("old", func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil })
	f.allow("old", 99)
	f.allow("old", 98, "scope", "")
	f.app("stopped", nil)
	f.judge("stopped", ledger.Suspend)
	for i := range 30 {
		f.api(fmt.Sprintf("api%02d", i))
	}
	for i := range 10 {
		f.must(&ledger.AddResourceSecret{Actor: operator, Resource: f.resourceURI("api00"), Secret: f.secret(fmt.Sprint("s_api", i))})
		if i < 8 {
			f.must(&ledger.RevokeResourceSecret{Actor: operator, Resource: f.resourceURI("api00"), Secret: fmt.Sprint("s_api", i)})
		}
	}
	f.listAgents()
	for i := range 25 {
		refusals.Record(long("mine"), ledger.Cause(1+i), f.Now())
	}
	f.explanations = map[string]ledger.Explanation{"mme_1": {
		Client: credential.ClientDigest(long("mine")), Cause: ledger.RefreshReused, At: f.Now(), When: f.Now(),
		Named: true, Presented: 4_000_000, Due: 5_000_000,
	}}
	return f
}

// host returns the host of a publisher.
func (f *full) host(id string) string {
	if f.extent == usual {
		return id + ".example.com"
	}
	return id + strings.Repeat("."+strings.Repeat("h", 63), 3) + ".example.com"
}

// listAgents lists publishers, one with many clients, and has others wait for a review.
func (f *full) listAgents() {
	f.agents(ledger.AgentsReviewed)
	for i := range 30 {
		f.listed(f.host(fmt.Sprintf("h%02d", i)))
	}
	f.listed(f.host("agent"))
	f.listed(ledger.LocalPublisher)
	for i := range 30 {
		f.documentOf(f.owner, f.host("agent"), fmt.Sprint("agent", i))
	}
	other := f.signedInAs(f.View().User(otherID).Username)
	for i := range 6 {
		f.documentOf([]*browser{f.owner, other}[i%2], f.host(fmt.Sprint("waiting", i)), "waiting")
	}
}

func (f *full) listed(host string) {
	var reads []string
	for _, s := range scope.Catalogue() {
		if !s.Writes {
			reads = append(reads, s.Name)
		}
	}
	c := &ledger.PutPublisher{Actor: f.actor(), Host: host, Name: f.wide(f.name), Scopes: scopeNames(), Defaults: reads, MaxClients: 100, LongRetry: true}
	if host == ledger.LocalPublisher {
		for i := range f.many {
			uri := fmt.Sprintf("agent://%d/", i)
			c.RedirectURIs = append(c.RedirectURIs, uri+strings.Repeat("a", f.uri-2-len(uri)))
		}
	}
	f.must(c)
}

func (f *full) documentOf(b *browser, host, name string) {
	c := &ledger.NoteDocument{
		Actor: ledger.Actor{Session: credential.SessionDigest(b.session())}, Name: name + f.wide(f.name-len(name)), URL: "https://" + host + "/" + name,
	}
	for i := range f.many {
		uri := fmt.Sprintf("https://%s/%d/", host, i)
		c.RedirectURIs = append(c.RedirectURIs, uri+strings.Repeat("a", max(0, f.uri-len(uri))))
	}
	f.must(c)
}

var operator = ledger.Actor{Operator: true}

func (f *full) actor() ledger.Actor {
	return ledger.Actor{Session: credential.SessionDigest(f.owner.session())}
}

func (f *full) put(id, name string, admin bool) {
	f.must(&ledger.PutUser{
		ID: id, Username: name + f.wide(min(64, f.name)-len(name)), Password: passwordHash(), Admin: admin,
		Person: ledger.Person{
			Name: f.wide(f.name), Email: strings.Repeat("e", 242) + "@example.com", Bio: f.wide(1000), AvatarURL: f.website("pictures"),
			DefaultScheduleID: f.wide(64), WeekStart: f.wide(16), TimeZone: f.wide(64), Locale: f.wide(35), OrganizationID: f.wide(64),
		},
	})
}

func (f *full) app(id string, change func(*ledger.ImportClient)) {
	c := &ledger.ImportClient{
		ID: long(id), Owner: ownerID, Type: ledger.Confidential, State: ledger.Approved,
		Profile: ledger.Profile{
			Name: id + f.wide(f.name-len(id)), Purpose: f.wide(f.note), Website: f.website("app"), PrivacyURL: f.website("app"), TermsURL: f.website("app"), RedirectURIs: f.uris("app"), Scopes: scopeNames(),
		},
	}
	if change != nil {
		change(c)
	}
	f.must(c)
}

// apiName returns the longest name of a resource server.
func apiName(id string) string { return id + strings.Repeat("~", ledger.MaxResourceName-len(id)) }

func (f *full) resourceURI(id string) string {
	uri := "https://" + id + ".example.com/"
	return uri + strings.Repeat("r", min(f.uri, oauth.MaxResource)-len(uri))
}

func (f *full) api(id string) {
	f.must(&ledger.PutResourceServer{Actor: operator, ID: f.resourceURI(id), Name: apiName(id), Scopes: scopeNames()})
}

func (f *full) judge(id string, verdict ledger.Verdict) {
	f.must(&ledger.ReviewClient{
		Actor: f.actor(), ID: long(id), Verdict: verdict, Reason: f.wide(f.note), Revision: f.View().Client(long(id)).Revision,
	})
}

// edit proposes another value for each field with one value, and adds values to lists.
func (f *full) edit(id, kind string) {
	client := f.View().Client(long(id))
	f.must(&ledger.EditClient{
		Actor: f.actor(), ID: client.ID, Revision: client.Revision, Logo: drawn(32, 32),
		Profile: ledger.Profile{
			Name: kind + f.wide(f.name-len(kind)), Purpose: kind + f.wide(f.note-len(kind)), Website: f.website(kind), PrivacyURL: f.website(kind), TermsURL: f.website(kind), Logo: digestOf(drawn(32, 32)),
			RedirectURIs: append(f.uris(kind)[:1], f.uris("app")[1:]...), Scopes: scopeNames(),
		},
	})
}

// asks returns an authorization request of a client for all scopes, with a long state.
func (f *full) asks(id string, pairs ...string) url.Values {
	return with(with(good(), "client_id", long(id), "redirect_uri", f.uris("app")[0],
		"scope", strings.Join(scopeNames(), " "), "state", strings.Repeat("s", 512)), pairs...)
}

func (f *full) allow(id string, n int, pairs ...string) {
	request, _ := oauth.ParseAuthorizationRequest(f.asks(id, pairs...).Encode())
	revision := f.View().Client(long(id)).Revision
	f.must(&ledger.Allow{Actor: f.actor(), User: ownerID, Request: request, Revision: revision, Grant: ledger.GrantID{1, byte(n), byte(len(pairs))}})
	f.advance(time.Second)
}
