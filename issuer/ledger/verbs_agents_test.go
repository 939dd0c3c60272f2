package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// agentsCommand is command for verbs about publishers, and about clients with a metadata
// document.
func (w *env) agentsCommand(l line) command.Command {
	switch l.verb {
	case "put-publisher":
		c := &ledger.PutPublisher{
			Actor: l.actor(), Host: l.name, Name: l.args["name"], Scopes: l.list("scopes"), Defaults: l.list("defaults"),
			MaxClients: int(l.number("clients")), LongRetry: l.bool("long-retry"), New: l.bool("new"),
			RedirectURIs: l.list("uris"),
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "apply-publisher":
		c := &ledger.ApplyPublisher{
			Actor: l.actor(), Host: l.name, Name: l.args["name"], Scopes: l.list("scopes"), Defaults: l.list("defaults"),
			MaxClients: int(l.number("clients")), LongRetry: l.bool("long-retry"), RedirectURIs: l.list("uris"),
			Manager: l.or("manager", "apply"), Adopt: l.bool("adopt"), Declared: l.list("declared"),
		}
		if old := w.view().Publisher(l.name); old != nil {
			c.ExpectedLast = old.Last
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = command.ID{}
			if seen != "none" {
				c.ExpectedLast = id16(seen)
			}
		}
		return c
	case "end-publisher":
		c := &ledger.EndPublisher{Actor: l.actor(), Host: l.name, How: ledger.PublisherEnd(l.args["how"]), Reason: l.args["reason"]}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "document":
		c := &ledger.NoteDocument{
			Actor: l.actor(), URL: l.name, Name: l.or("name", "Agent"), Website: l.args["website"],
			RedirectURIs: []string{"http://127.0.0.1/cb"}, Digest: sha256.Sum256([]byte(l.args["digest"])),
		}
		if _, ok := l.args["uris"]; ok {
			c.RedirectURIs = l.list("uris")
		}
		if text, ok := l.args["age"]; ok {
			age, err := time.ParseDuration(text)
			require.NoError(w.t, err)
			c.Age = age
		}
		return c
	}
	return w.usageCommand(l)
}

func (w *env) showAgents(l line) string {
	v := w.view()
	var b strings.Builder
	switch l.name {
	case "publishers":
		for p := range v.Publishers() {
			fmt.Fprintf(&b, "%s %s", p.Host, p.State)
			for _, one := range []struct{ name, value string }{
				{"name", p.Name},
				{"reason", p.Reason},
				{"requested by", p.RequestedBy},
				{"reviewed by", p.ReviewedBy},
				{"scopes", strings.Join(p.Scopes, " ")},
				{"defaults", strings.Join(p.Defaults, " ")},
				{"redirect URIs", strings.Join(p.RedirectURIs, " ")},
				{"managed by", p.ManagedBy},
			} {
				if one.value != "" {
					fmt.Fprintf(&b, ", %s %q", one.name, one.value)
				}
			}
			fmt.Fprintf(&b, "%s\n", suffix(p.LongRetry, ", long retry", ""))
			for c := range v.ClientsOfPublisher(p.Host) {
				fmt.Fprintf(&b, "  %s %q\n", c.ClientID(), c.Name)
			}
		}
	case "publisher-grants":
		grants := v.GrantsOfPublisher(l.args["host"], w.at())
		fmt.Fprintf(&b, "%d users\n", grants.Users)
		for c := range v.ClientsOfPublisher(l.args["host"]) {
			fmt.Fprintf(&b, "%s %d\n", c.ClientID(), grants.ByClient[c.ID])
		}
	case "lookup":
		lookup, cause := v.Lookup(l.args["client"], w.at())
		if cause != ledger.NoCause {
			return cause.String()
		}
		return [...]string{"nothing to fetch", "fetch for the first time", "fetch again"}[lookup]
	case "usage":
		return w.showUsage(l)
	default:
		w.t.Fatalf("show %q: unknown name", l.name)
	}
	return suffix(b.Len() == 0, "none", b.String())
}

// checkAgents verifies the invariants of clients with a metadata document.
func (w *env) checkAgents(v ledger.View) {
	w.t.Helper()
	pending := 0
	for p := range v.Publishers() {
		if p.State == ledger.PublisherPending {
			pending++
		}
		require.Subset(w.t, p.Scopes, p.Defaults, p.Host)
	}
	require.LessOrEqual(w.t, pending, 50)
	for c := range v.Clients() {
		if c.Document == nil {
			require.NotContains(w.t, c.Owner, ":", c.ID)
			continue
		}
		require.Equal(w.t, c.ID, ledger.ClientKey(c.ClientID()))
		require.Equal(w.t, c, v.ClientNamed(c.ClientID()))
		require.Nil(w.t, v.ClientNamed(c.ID), "the key of a row is a client_id")
		require.True(w.t, c.Public())
		require.Empty(w.t, c.Scopes)
		for _, uri := range c.RedirectURIs {
			if c.Document.Registered != "" {
				_, note := oauth.RegisteredHost(uri)
				require.Empty(w.t, note)
				continue
			}
			require.Empty(w.t, oauth.CheckDocumentRedirectURI(uri, c.Document.Host()))
		}
	}
	for g := range v.Grants() {
		if c := v.Client(g.Client); c != nil {
			require.Equal(w.t, c.Document != nil, g.Agent)
		}
	}
}

// tokenClient is clientAuth for a client that may have a document.
func (l line) tokenClient() ledger.ClientAuth {
	p := l.clientAuth()
	p.Client = ledger.ClientKey(p.Client)
	return p
}
