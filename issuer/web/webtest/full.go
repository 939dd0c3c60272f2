package webtest

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
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A Full env has the maximum of everything: the longest names, notes and addresses that
// the ledger accepts, and more rows than any page shows. One user, an administrator, owns
// everything.
type Full struct {
	*Env
	Owner *Browser
	Extent
}

// An Extent is the length of texts.
type Extent struct {
	letter     string
	Name, Note int // characters of the longest names and notes
	Many, Uri  int // number of redirect URIs, and bytes of each
	site       int // bytes of a website's address
}

var (
	Usual   = Extent{letter: "x", Name: 40, Note: 200, Many: 3, Uri: 80, site: 60}
	Long10  = Extent{letter: "x", Name: 80, Note: 500, Many: 10, Uri: 120, site: 120}
	Extreme = Extent{letter: "長", Name: 80, Note: 500, Many: 10, Uri: 1024, site: 1024}
)

// Wide returns a text of that many characters.
func (e Extent) Wide(letters int) string { return strings.Repeat(e.letter, letters) }

// Long returns an identifier with the length of generated ones.
func Long(id string) string { return id + strings.Repeat("~", 47-len(id)) }

// ScopeNames returns the names of all scopes.
func ScopeNames() (all []string) {
	for _, s := range scope.Catalogue() {
		all = append(all, s.Name)
	}
	return all
}

// Uris returns the maximum number of redirect URIs of a client.
func (e Extent) Uris(kind string) (list []string) {
	for i := range e.Many {
		uri := fmt.Sprintf("https://%s.example.com/%d/", kind, i)
		list = append(list, uri+strings.Repeat("a", e.Uri-len(uri)))
	}
	return list
}

func (e Extent) Website(kind string) string {
	s := "https://" + kind + ".some-company.example.com/"
	return s + strings.Repeat("w", e.site-len(s))
}

var OwnerID, OtherID, goneID = Long("u_owner"), Long("u_other"), Long("u_gone")

func NewFull(t testing.TB, e Extent, change ...func(*web.Config)) *Full {
	t.Helper()
	refusals := parts.NewRefusals()
	change = append([]func(*web.Config){WithProvider, func(c *web.Config) { c.Refusals = refusals }}, change...)
	f := &Full{Env: NewEnv(t, change...), Extent: e}
	f.put(OwnerID, "owner", true)
	f.put(OtherID, "other", false)
	f.Owner = f.SignedInAs(f.View().User(OwnerID).Username)
	for i := range 30 {
		f.put(Long(fmt.Sprintf("u_%02d", i)), fmt.Sprintf("%02d", i), true)
		f.app(fmt.Sprintf("c_%02d", i), nil)
		f.app(fmt.Sprintf("waiting_%02d", i), func(c *ledger.ImportClient) { c.State = ledger.Pending })
		f.app(fmt.Sprintf("offered_%02d", i), func(c *ledger.ImportClient) { c.Owner = OtherID })
		f.Must(&ledger.OfferClient{Actor: Operator, ID: Long(fmt.Sprintf("offered_%02d", i)), Username: f.View().User(OwnerID).Username})
		f.allow(fmt.Sprintf("c_%02d", i), i)
	}
	f.app("mine", func(c *ledger.ImportClient) {
		c.Profile.RedirectURIs, c.Profile.Scopes = c.Profile.RedirectURIs[1:], c.Profile.Scopes[1:]
		c.Secrets = []ledger.NewSecret{f.Secret("s_1"), f.Secret("s_2")}
		for i := range 8 {
			c.Revoked = append(c.Revoked, f.Secret(fmt.Sprint("s_old", i)))
		}
	})
	for range 15 {
		f.edit("mine", "proposed")
		f.judge("mine", ledger.Reject)
	}
	f.edit("mine", "proposed")
	f.Must(&ledger.OfferClient{Actor: f.actor(), ID: Long("mine"), Username: f.View().User(OtherID).Username})
	f.app("turned-down", func(c *ledger.ImportClient) {
		c.Profile.RedirectURIs, c.Profile.Scopes = c.Profile.RedirectURIs[1:], c.Profile.Scopes[1:]
	})
	f.edit("turned-down", "proposed")
	f.judge("turned-down", ledger.Reject)
	f.put(goneID, "gone", false)
	f.app("orphan", func(c *ledger.ImportClient) { c.Owner = goneID })
	f.Must(&ledger.SetUserState{Actor: Operator, User: goneID, State: ledger.Disable})
	f.app("single", func(c *ledger.ImportClient) { c.Secrets = []ledger.NewSecret{f.Secret("s_only")} })
	f.app("public", func(c *ledger.ImportClient) { c.Type = ledger.Public })
	f.app("old", func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil })
	f.Must(&ledger.KeepDraft{Actor: f.actor(), Client: Long("old"), Scopes: ScopeNames()[1:]})
	f.allow("old", 99)
	f.allow("old", 98, "scope", "")
	f.app("stopped", nil)
	f.judge("stopped", ledger.Suspend)
	for i := range 30 {
		f.api(fmt.Sprintf("api%02d", i))
	}
	for i := range 10 {
		f.Must(&ledger.AddResourceSecret{Actor: Operator, Resource: f.ResourceURI("api00"), Secret: f.Secret(fmt.Sprint("s_api", i))})
		if i < 8 {
			f.Must(&ledger.RevokeResourceSecret{Actor: Operator, Resource: f.ResourceURI("api00"), Secret: fmt.Sprint("s_api", i)})
		}
	}
	f.listAgents()
	f.Explanations = map[string]ledger.Explanation{"mme_1": {
		Client: credential.ClientDigest(Long("mine")), Cause: ledger.RefreshReused, At: f.Now(), When: f.Now(),
		Named: true, Presented: 4_000_000, Due: 5_000_000,
	}}
	for cause := ledger.NotACredential; cause <= ledger.GrantEndedByClient; cause++ {
		id := fmt.Sprintf("mme_%0144d", cause)
		f.Explanations[id] = ledger.Explanation{Client: credential.ClientDigest(Long("mine")), Cause: cause, At: f.Now()}
		refusals.Record(Long("mine"), oauth.InvalidGrant, cause, id, f.Now())
	}
	return f
}

// Host returns the host of a publisher.
func (f *Full) Host(id string) string {
	if f.Extent == Usual {
		return id + ".example.com"
	}
	return id + strings.Repeat("."+strings.Repeat("h", 63), 3) + ".example.com"
}

// listAgents lists publishers, one with many clients, and has others wait for a review.
func (f *Full) listAgents() {
	f.Agents(ledger.AgentsReviewed)
	for i := range 30 {
		f.listed(f.Host(fmt.Sprintf("h%02d", i)))
	}
	f.listed(f.Host("agent"))
	f.listed(ledger.LocalPublisher)
	for i := range 30 {
		f.documentOf(f.Owner, f.Host("agent"), fmt.Sprint("agent", i))
	}
	other := f.SignedInAs(f.View().User(OtherID).Username)
	for i := range 6 {
		f.documentOf([]*Browser{f.Owner, other}[i%2], f.Host(fmt.Sprint("waiting", i)), "waiting")
	}
}

func (f *Full) listed(host string) {
	var reads []string
	for _, s := range scope.Catalogue() {
		if !s.Writes {
			reads = append(reads, s.Name)
		}
	}
	c := &ledger.PutPublisher{Actor: f.actor(), Host: host, Name: f.Wide(f.Name), Scopes: ScopeNames(), Defaults: reads, MaxClients: 100, LongRetry: true}
	if host == ledger.LocalPublisher {
		for i := range f.Many {
			uri := fmt.Sprintf("agent://%d/", i)
			c.RedirectURIs = append(c.RedirectURIs, uri+strings.Repeat("a", f.Uri-2-len(uri)))
		}
	}
	f.Must(c)
}

func (f *Full) documentOf(b *Browser, host, name string) {
	c := &ledger.NoteDocument{
		Actor: ledger.Actor{Session: credential.SessionDigest(b.Session())}, Name: name + f.Wide(f.Name-len(name)), URL: "https://" + host + "/" + name,
	}
	for i := range f.Many {
		uri := fmt.Sprintf("https://%s/%d/", host, i)
		c.RedirectURIs = append(c.RedirectURIs, uri+strings.Repeat("a", max(0, f.Uri-len(uri))))
	}
	f.Must(c)
}

var Operator = ledger.Actor{Operator: true}

func (f *Full) actor() ledger.Actor {
	return ledger.Actor{Session: credential.SessionDigest(f.Owner.Session())}
}

func (f *Full) put(id, name string, admin bool) {
	f.Must(&ledger.PutUser{
		ID: id, Username: name + f.Wide(min(64, f.Name)-len(name)), Password: PasswordHash(), Admin: admin,
		Person: ledger.Person{
			Name: f.Wide(f.Name), Email: strings.Repeat("e", 242) + "@example.com", Bio: f.Wide(1000), AvatarURL: f.Website("pictures"),
			DefaultScheduleID: f.Wide(64), WeekStart: f.Wide(16), TimeZone: f.Wide(64), Locale: f.Wide(35), OrganizationID: f.Wide(64),
		},
	})
}

func (f *Full) app(id string, change func(*ledger.ImportClient)) {
	c := &ledger.ImportClient{
		ID: Long(id), Owner: OwnerID, Type: ledger.Confidential, State: ledger.Approved,
		Profile: ledger.Profile{
			Name: id + f.Wide(f.Name-len(id)), Purpose: f.Wide(f.Note), Website: f.Website("app"), PrivacyURL: f.Website("app"), TermsURL: f.Website("app"), RedirectURIs: f.Uris("app"), Scopes: ScopeNames(),
		},
	}
	if change != nil {
		change(c)
	}
	f.Must(c)
}

// ApiName returns the longest name of a resource server.
func ApiName(id string) string { return id + strings.Repeat("~", ledger.MaxResourceName-len(id)) }

func (f *Full) ResourceURI(id string) string {
	uri := "https://" + id + ".example.com/"
	return uri + strings.Repeat("r", min(f.Uri, oauth.MaxResource)-len(uri))
}

func (f *Full) api(id string) {
	f.Must(&ledger.PutResourceServer{Actor: Operator, ID: f.ResourceURI(id), Name: ApiName(id), Scopes: ScopeNames()})
}

func (f *Full) judge(id string, verdict ledger.Verdict) {
	f.Must(&ledger.ReviewClient{
		Actor: f.actor(), ID: Long(id), Verdict: verdict, Reason: f.Wide(f.Note), Revision: f.View().Client(Long(id)).Revision,
	})
}

// edit proposes another value for each field with one value, and adds values to lists.
func (f *Full) edit(id, kind string) {
	client := f.View().Client(Long(id))
	f.Must(&ledger.EditClient{
		Actor: f.actor(), ID: client.ID, Revision: client.Revision, Logo: Drawn(32, 32),
		Profile: ledger.Profile{
			Name: kind + f.Wide(f.Name-len(kind)), Purpose: kind + f.Wide(f.Note-len(kind)), Website: f.Website(kind), PrivacyURL: f.Website(kind), TermsURL: f.Website(kind), Logo: DigestOf(Drawn(32, 32)),
			RedirectURIs: append(f.Uris(kind)[:1], f.Uris("app")[1:]...), Scopes: ScopeNames(),
		},
	})
}

// Asks returns an authorization request of a client for all scopes, with a long state.
func (f *Full) Asks(id string, pairs ...string) url.Values {
	return With(With(Good(), "client_id", Long(id), "redirect_uri", f.Uris("app")[0],
		"scope", strings.Join(ScopeNames(), " "), "state", strings.Repeat("s", 512)), pairs...)
}

func (f *Full) allow(id string, n int, pairs ...string) {
	request, _ := oauth.ParseAuthorizationRequest(f.Asks(id, pairs...).Encode())
	revision := f.View().Client(Long(id)).Revision
	f.Must(&ledger.Allow{Actor: f.actor(), User: OwnerID, Request: request, Revision: revision, Grant: ledger.GrantID{1, byte(n), byte(len(pairs))}})
	f.Advance(time.Second)
}
