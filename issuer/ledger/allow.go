package ledger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// maxGrantsPerUser bounds the size of a user's row. Only a program that abuses an
// account reaches it.
const maxGrantsPerUser = 10_000

// maxAllowsPerDay is how often a user may allow clients within 24 hours, counted over
// all nodes. An Allow and the exchange of its code each add an event to the audit
// trail, and the grant adds more later: the bound prevents a program with one user's
// session from displacing the events of others. It is high enough for an automated
// test of an application that uses a single account.
const maxAllowsPerDay = 2_000

// Allow is the user's consent (RFC 6749 §4.1.1). It creates a grant whose generation 0,
// the authorization code, is due.
type Allow struct {
	Actor Actor  `cbor:"1,keyasint"`
	User  string `cbor:"2,keyasint"` // the user whom the consent page named
	// Request is as sent, except that Resource is the identifier of the resource server that
	// the consent page named, "" if it named none. The command is refused if the request is
	// for another one now.
	Request oauth.AuthorizationRequest `cbor:"3,keyasint"`
	Grant   GrantID                    `cbor:"4,keyasint"`
	// Revision is the client's revision that the consent page showed. The command is
	// refused if the client has another revision now, since its name, website or owner
	// may have changed after the page was shown.
	Revision uint64 `cbor:"5,keyasint"`
}

// Kind implements command.Command.
func (*Allow) Kind() command.Kind { return KindAllow }

// Decide repeats every check that the consent page made.
func (c *Allow) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.user == nil || who.user.ID != c.User:
		return deny(NotAllowed)
	}
	a, problem := v.Authorize(c.Request)
	if problem != nil {
		return refuse(problem.Error.Code, problem.Cause)
	}
	if g := v.Grant(c.Grant); g != nil {
		if g.Last == m.ID {
			return accept(c.outcome(g))
		}
		return deny(AlreadyExists)
	}
	if a.Client.Revision != c.Revision || a.ResourceID() != c.Request.Resource {
		return deny(Conflict)
	}
	if cause := a.Client.Stale(stateTime(m)); cause != NoCause {
		return refuse(oauth.TemporarilyUnavailable, cause)
	}
	key := v.ActiveKey(ForCredentials)
	if key == nil {
		return deny(KeyNotOpened)
	}
	if len(who.user.Grants) >= maxGrantsPerUser {
		return refuse(oauth.AccessDenied, TooManyGrants)
	}
	if d := a.Client.Document; d != nil {
		if v.agentGrants(who.user, stateTime(m)) >= maxAgentGrants {
			return refuse(oauth.AccessDenied, TooManyAgentGrants)
		}
		if a.Client.Created == 0 { // a registered client that nobody has allowed before
			if v.countClientsOfPublisher(d.Host(), true) >= maxRegistered(d.Host()) {
				return refuse(oauth.TemporarilyUnavailable, TooManyDocuments)
			}
			if when := v.nextRegisteredAt(who.user); stateTime(m) < when {
				return allowLater(when)
			}
		}
	}
	if when := v.nextAllowAt(who.user); stateTime(m) < when {
		return allowLater(when)
	}
	g := &Grant{
		ID: c.Grant, Client: a.Client.ID, User: who.user.ID,
		Scope: a.Scope, Legacy: a.Legacy,
		Key: key.Number, CreatedSeq: m.Seq,
		Challenge: a.Challenge, Redirect: digest(a.RedirectURI),
		Created: stateTime(m), Last: m.ID, Agent: a.Client.Document != nil,
	}
	if a.Resource != nil {
		g.Resource = a.Resource.Number
	}
	u := *who.user
	u.Grants = append(slices.Clip(u.Grants), g.ID)
	changes := []command.Change{
		put(TableGrants, g),
		put(TableUsers, &u),
		v.usageAfterAllow(g.Client, who.user, m),
		event(m, Event{Kind: EventAllowed, Actor: u.ID, User: u.ID, Client: g.Client, Grant: g.ID, Detail: allowedDetail(a)}),
	}
	if a.Client.Document != nil {
		changes = append(changes, put(TableClients, a.Client.allowed(m)))
	}
	if a.Client.Legacy {
		changes = append(changes, put(TableClients, a.Client.withTraffic(g, m)))
	}
	return accept(c.outcome(g), changes...)
}

func allowLater(when Time) command.Decision {
	d := refuse(oauth.TemporarilyUnavailable, TooManyAllows)
	outcome(d).Refusal.When = when
	return d
}

// nextRegisteredAt returns the time from which the user may again be the first to allow a
// registered client: maxRegisteredOfUser ones within 24 hours. Like nextAllowAt it reads the
// user's list of grants.
func (v View) nextRegisteredAt(u *User) Time {
	n := 0
	for _, id := range slices.Backward(u.Grants[max(0, len(u.Grants)-maxAllowsPerDay):]) {
		g := v.Grant(id)
		if g == nil {
			break
		}
		c := v.Client(g.Client)
		if c == nil || c.Document == nil || c.Document.Registered == "" || c.Created != g.Created {
			continue
		}
		if n++; n == maxRegisteredOfUser {
			return g.Created.Add(24 * time.Hour)
		}
	}
	return 0
}

// nextAllowAt returns the time from which the user may allow again. It reads the user's
// list of grants, which is in the order of their Allows; no grant is swept within 24
// hours of its Allow.
func (v View) nextAllowAt(u *User) Time {
	n := len(u.Grants) - maxAllowsPerDay
	if n < 0 {
		return 0
	}
	g := v.Grant(u.Grants[n])
	if g == nil {
		return 0
	}
	return g.Created.Add(24 * time.Hour)
}

func (c *Allow) outcome(g *Grant) Outcome {
	return Outcome{Issued: &Issued{
		Grant: g.ID, Client: g.Client, User: g.User, Scope: g.Scope, Legacy: g.Legacy,
		CredentialKey: g.Key, At: g.Created, RedirectURI: c.Request.RedirectURI,
	}}
}

// allowedDetail returns the scopes, and the resource server that they are for.
func allowedDetail(a Authorization) string {
	detail := a.Scope
	if a.Legacy {
		detail = "legacy"
	}
	if a.Resource != nil {
		detail += " for " + a.Resource.ID
	}
	if d := a.Client.Document; d != nil && d.Registered != "" {
		detail += ", to the registered client " + strconv.Quote(a.Client.Name)
	}
	return detail
}

const trafficDays = 30

// withTraffic returns a copy of a legacy client with one more authorization counted. The
// counts tell its owner whether links without scope are still in use.
func (c *Client) withTraffic(g *Grant, m command.Meta) *Client {
	next := *c // Last and Changed stay: traffic is not a change of the client
	today := stateTime(m).day()
	next.Traffic = make([]DailyTraffic, 0, len(c.Traffic)+1)
	for _, d := range c.Traffic {
		if d.Day > today-trafficDays {
			next.Traffic = append(next.Traffic, d)
		}
	}
	if n := len(next.Traffic); n == 0 || next.Traffic[n-1].Day != today {
		next.Traffic = append(next.Traffic, DailyTraffic{Day: today})
	}
	d := &next.Traffic[len(next.Traffic)-1]
	if g.Legacy {
		d.WithoutScope++
		return &next
	}
	d.WithScope++
	for name := range strings.FieldsSeq(g.Scope) {
		if !slices.Contains(next.RequestedScopes, name) {
			next.RequestedScopes = append(slices.Clip(next.RequestedScopes), name)
		}
	}
	return &next
}

// RecentTraffic returns the number of authorizations of the last 30 days, without and
// with the parameter scope.
func (c *Client) RecentTraffic(at Time) (without, with uint32) {
	today := at.day()
	for _, d := range c.Traffic {
		if d.Day > today-trafficDays {
			without += d.WithoutScope
			with += d.WithScope
		}
	}
	return without, with
}
