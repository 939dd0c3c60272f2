package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// pagesCommand is command for actions of the pages.
func (w *env) pagesCommand(l line) command.Command {
	switch l.verb {
	case "end-session":
		return &ledger.EndSession{Actor: l.actor(), Session: sha256.Sum256([]byte("session " + l.name))}
	case "set-feed":
		c := &ledger.SetFeed{Actor: l.actor()}
		if address := l.args["to"]; address != "" {
			c.Digest = sha256.Sum256([]byte(address))
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "add-user":
		return &ledger.AddUser{
			Actor: l.actor(), ID: "u-" + l.name, Username: l.or("username", l.name), Password: l.or("password", "hash"), Admin: l.bool("admin"),
			Person: l.person(),
		}
	case "person":
		c := &ledger.SetPerson{Actor: l.actor(), User: "u-" + l.name, Username: l.or("username", l.name), Person: l.person()}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "profile":
		c := &ledger.EditProfile{Token: ledger.AccessRef{Grant: id16(l.args["grant"]), Key: l.or("key", "k1")}, Person: l.person()}
		c.Person.WeekStart, c.Person.TimeZone, c.Person.Locale = l.args["week"], l.args["zone"], l.args["locale"]
		c.Person.DefaultScheduleID, c.Person.TimeFormat = l.args["schedule"], int(l.number("clock"))
		c.Fields = l.list("fields")
		return c
	case "upstream":
		c := &ledger.SignInUpstream{
			Session: sha256.Sum256([]byte("session " + l.or("session", l.name))), Issuer: l.or("issuer", "https://idp.example"), Subject: l.name,
			ID: "u-" + l.or("as", l.name), Username: l.args["username"], Person: l.person(),
			Replaces: sha256.Sum256([]byte("session " + l.args["replaces"])), Authenticated: w.ago(l),
		}
		if _, ok := l.args["admin"]; ok {
			admin := l.args["admin"] != "no"
			c.Admin = &admin
		}
		return c
	case "offer":
		return &ledger.OfferClient{Actor: l.actor(), ID: l.name, Username: l.args["to"]}
	case "keep-draft":
		return &ledger.KeepDraft{Actor: l.actor(), Client: l.name, Scopes: l.list("scopes")}
	case "accept":
		return &ledger.AcceptClient{Actor: l.actor(), ID: l.name, Revision: w.revision(l), RevokeSecrets: l.bool("revoke")}
	case "decline":
		return &ledger.DeclineClient{Actor: l.actor(), ID: l.name, Offer: uint64(l.number("offer"))}
	case "transfer":
		return &ledger.TransferClient{Actor: l.actor(), ID: l.name, Username: l.args["to"], Revision: w.revision(l)}
	case "put-resource":
		c := &ledger.PutResourceServer{Actor: l.actor(), ID: l.uri(), Name: l.or("called", l.name), Scopes: l.list("scopes"), New: l.bool("new")}
		if s, ok := l.args["secret"]; ok {
			n := secretOf(s)
			c.Secret = &n
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "remove-resource":
		c := &ledger.RemoveResourceServer{Actor: l.actor(), ID: l.uri()}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "add-resource-secret":
		c := &ledger.AddResourceSecret{Actor: l.actor(), Resource: l.uri(), Secret: secretOf(l.args["secret"]), After: l.args["after"]}
		if s := w.view().ResourceServer(l.uri()); s != nil && c.After == "" {
			c.After = s.NewestSecret()
		}
		return c
	case "revoke-resource-secret":
		return &ledger.RevokeResourceSecret{Actor: l.actor(), Resource: l.uri(), Secret: l.args["secret"]}
	case "apply-resource":
		c := &ledger.ApplyResourceServer{
			Actor: l.actor(), ID: l.uri(), Name: l.or("called", l.name), Scopes: l.list("scopes"),
			Manager: l.or("manager", "apply"), Adopt: l.bool("adopt"), Declared: l.list("declared"),
		}
		for _, name := range l.list("secrets") {
			c.Secrets = append(c.Secrets, declaredSecret(name))
		}
		_, c.NamesSecrets = l.args["secrets"]
		if old := w.view().ResourceServer(l.uri()); old != nil {
			c.ExpectedLast = old.Last
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = command.ID{}
			if seen != "none" {
				c.ExpectedLast = id16(seen)
			}
		}
		return c
	case "brand":
		s := w.view().Settings()
		c := &ledger.SetBrand{Actor: l.actor(), Step: ledger.BrandStep(l.name), Brand: s.Brand, Logo: l.picture(), ExpectedLast: s.Last}
		for key, value := range l.args {
			if field := brandField(&c.Brand, key); field != nil {
				*field = value
			}
		}
		if name, ok := l.args["logo"]; ok {
			copy(c.Brand.Logo[:], digestOfLogo(name))
		}
		if seen, ok := l.args["seen"]; ok {
			c.ExpectedLast = id16(seen)
		}
		return c
	case "note-use":
		return &ledger.RecordSecretUse{ClientAuth: l.clientAuth()}
	}
	return w.agentsCommand(l)
}

// uri returns the identifier of the resource server that a line names.
func (l line) uri() string { return l.or("uri", "https://"+l.name+".example") }

// ago returns the auth_time of a line, 0 if it has none.
func (w *env) ago(l line) ledger.Time {
	text, ok := l.args["ago"]
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(w.t, err)
	return w.at().Add(-d)
}

func (l line) person() ledger.Person {
	return ledger.Person{Email: l.args["email"], Name: l.args["name"], Bio: l.args["bio"], AvatarURL: l.args["avatar"]}
}

// revision returns the revision that a line names, by default the client's current one.
func (w *env) revision(l line) uint64 { return w.revisionOf(l.name, l) }

func (w *env) revisionOf(client string, l line) uint64 {
	if _, ok := l.args["revision"]; ok {
		return uint64(l.number("revision"))
	}
	if c := w.view().ClientNamed(client); c != nil {
		return c.Revision
	}
	return 0
}

// newestSecret returns the secret that a line names as seen, by default the client's newest.
func (w *env) newestSecret(l line) string {
	if id, ok := l.args["after"]; ok {
		return id
	}
	if c := w.view().Client(l.name); c != nil {
		return c.NewestSecret()
	}
	return ""
}

func (w *env) showPages(l line) string {
	v := w.view()
	var b strings.Builder
	switch l.name {
	case "brand":
		s := v.Settings()
		fmt.Fprintf(&b, "%q\n", s.ServiceName())
		write := func(heading string, brand ledger.Brand) {
			b.WriteString(heading)
			for _, key := range []string{"service_name", "accent", "privacy_url", "terms_url", "help_url", "forgot_password", "forgot_password_url"} {
				if text := *brandField(&brand, key); text != "" {
					fmt.Fprintf(&b, " %s %q", key, text)
				}
			}
			if brand.Logo != [32]byte{} {
				b.WriteString(logoText(&ledger.Profile{Logo: brand.Logo[:]}))
			}
			b.WriteByte('\n')
		}
		write("brand", s.Brand)
		if s.HasDraft {
			write("draft", s.Draft)
		}
		return b.String()
	case "sessions":
		for _, s := range v.SessionsOf("u-"+l.args["user"], w.at(), 20) {
			fmt.Fprintf(&b, "%q created %s, seen %s\n", s.Agent, s.Created.Std().Format(time.TimeOnly), s.Seen.Std().Format(time.TimeOnly))
		}
	case "logos":
		for _, name := range logoNames {
			if logo := v.Logo([32]byte(digestOfLogo(name))); logo != nil {
				fmt.Fprintf(&b, "%s %s\n", name, logo.Type())
			}
		}
	case "person":
		if u := v.User("u-" + l.args["id"]); u != nil {
			fmt.Fprintf(&b, "%q %q <%s> %q, subject %q of %q", u.Username, u.Name, u.Email, u.Bio, u.Subject, u.Upstream)
			require.Equal(w.t, u.FeedDigest == [32]byte{}, u.FeedSince == 0)
		}
	case "queue":
		queue, _ := v.ReviewQueue(ledger.QueueQuery{Limit: 20})
		for _, c := range queue {
			fmt.Fprintf(&b, "%s %s since %s\n", c.ID, suffix(c.Proposed != nil, "proposes", "is new"), c.WaitingSince().Std().Format(time.TimeOnly))
		}
	case "history":
		for _, e := range v.HistoryOf(l.args["id"], 200) {
			fmt.Fprintf(&b, "%s by %s", e.Kind, e.Actor)
			if e.Kind == ledger.EventClientReviewed {
				verdict, reason := e.Review()
				fmt.Fprintf(&b, ": %s %q", verdict, reason)
			}
			b.WriteString("\n")
		}
	case "connected":
		recent := 10
		if _, ok := l.args["recent"]; ok {
			recent = int(l.number("recent"))
		}
		c := v.Connected(l.args["id"], w.at(), recent)
		clock := func(t ledger.Time) string { return suffix(t == 0, "never", t.Std().Format(time.TimeOnly)) }
		fmt.Fprintf(&b, "%d users, %d grants, refreshed %s\n", c.Users, c.Grants, clock(c.Refreshed))
		if client := v.Client(l.args["id"]); client != nil {
			all := v.ConnectedTo(client.Owner, w.at())
			require.Equal(w.t, ledger.Connected{Users: c.Users, Grants: c.Grants, Refreshed: c.Refreshed}, all[client.ID], "counted for the owner")
			for id := range all {
				require.Equal(w.t, client.Owner, v.Client(id).Owner, "a client of another owner")
			}
		}
		if user, ok := l.args["user"]; ok {
			one, is := v.ConnectedAs("u-"+user, l.args["id"], w.at())
			c.Recent = []ledger.ConnectedUser{one}[:len(suffix(is, "1", ""))]
		}
		for _, u := range c.Recent {
			fmt.Fprintf(&b, "%s since %s, refreshed %s%s\n", u.User, clock(u.Since), clock(u.Refreshed), suffix(u.Legacy, ", legacy", "")+suffix(u.Profile, ", known", ""))
		}
	case "resources":
		for r := range v.ResourceServers() {
			fmt.Fprintf(&b, "%s %s, scopes %s%s\n", r.Name, r.ID, suffix(len(r.Scopes) == 0, "all", strings.Join(r.Scopes, " ")),
				suffix(r.ManagedBy == "", "", ", managed by "+r.ManagedBy))
			for _, s := range r.Secrets {
				fmt.Fprintf(&b, "secret %s %s%s%s\n", s.ID, suffix(s.Active(), "active", "revoked"), suffix(s.Key == 1, "", fmt.Sprintf(", under key %d", s.Key)),
					suffix(s.Used == 0, "", ", used "+s.Used.Std().Format(time.TimeOnly)))
			}
		}
	case "grants-for":
		return fmt.Sprint(v.GrantsFor(v.ResourceServer(l.args["resource"])))
	case "reader": // who authenticates to learn about tokens
		r, cause, again := v.AuthenticateTokenReader(l.clientAuth())
		switch {
		case again:
			return "again"
		case cause != ledger.NoCause:
			return cause.String()
		case r.Resource != nil:
			return "resource server " + r.Resource.ID
		}
		return "client " + r.Client.ID
	case "draft":
		return suffix(len(v.Client(l.args["id"]).Draft) == 0, "none", strings.Join(v.Client(l.args["id"]).Draft, " "))
	case "feed":
		u := v.UserOfFeed(sha256.Sum256([]byte(l.args["address"])))
		if u == nil {
			return "nobody's"
		}
		return u.ID + " since " + u.FeedSince.Std().Format(time.TimeOnly)
	case "owner":
		c := v.Client(l.args["id"])
		fmt.Fprintf(&b, "owner %s, revision %d, %d active secrets", c.Owner, c.Revision, c.ActiveSecrets())
		if o := v.OfferOf(c); o != nil {
			fmt.Fprintf(&b, ", offered to %s", o.To)
		}
	case "events":
		for e := range v.EventsBackwards() {
			if n := int(l.number("last")); strings.Count(b.String(), "\n") == n {
				break
			}
			fmt.Fprintf(&b, "%s by %s, user %s, client %s: %s\n", e.Kind, e.Actor, e.User, e.Client, e.Detail)
		}
	default:
		return w.showAgents(l)
	}
	return suffix(b.Len() == 0, "none", b.String())
}

// logoNames are the pictures that scenarios use.
var logoNames = []string{"red", "green", "blue"}

func picture(name string) []byte { return []byte("\x89PNG\r\n\x1a\n" + name) }

func digestOfLogo(name string) []byte {
	if name == "none" {
		return nil
	}
	sum := sha256.Sum256(picture(name))
	return sum[:]
}

// picture returns the picture that a line sends with its logo: none with "picture=kept",
// another one with "picture=NAME".
func (l line) picture() []byte {
	switch name := l.or("picture", l.args["logo"]); name {
	case "", "none", "kept":
		return nil
	default:
		return picture(name)
	}
}

// logoText describes the logo of a profile, "" if it has none.
func logoText(p *ledger.Profile) string {
	for _, name := range logoNames {
		if string(p.Logo) == string(digestOfLogo(name)) {
			return ", logo " + name
		}
	}
	return ""
}

// checkLogo verifies that the state has the picture of a profile.
func (w *env) checkLogo(p ledger.Profile) {
	w.t.Helper()
	if len(p.Logo) > 0 {
		require.NotNil(w.t, w.view().Logo([32]byte(p.Logo)))
	}
}
