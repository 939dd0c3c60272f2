package webtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// SceneTime is the time of all scenes.
var SceneTime = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// The people of the scenes: an owner of applications, another one, somebody who has nothing,
// and two administrators.
const (
	alice, bob, nora, rita, sam = "alice", "bob", "nora", "rita", "sam"

	agentHost = "assistant.example"
	agentID   = "https://" + agentHost + "/client.json"
	pilotHost = "pilot.example" // waits for a review
	pilotID   = "https://" + pilotHost + "/client.json"
)

var agents = []string{
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Mobile/15E148 Safari/604.1",
}

// few and many are the scopes that the application with a logo has asked for, and may.
var (
	few  = []string{"BOOKING_READ", "SCHEDULE_READ", "PROFILE_READ"}
	many = []string{
		"EVENT_TYPE_READ", "EVENT_TYPE_WRITE", "BOOKING_READ", "BOOKING_WRITE", "SCHEDULE_READ", "SCHEDULE_WRITE", "APPS_READ",
		"PROFILE_READ", "PROFILE_WRITE", "TEAM_EVENT_TYPE_READ", "TEAM_BOOKING_READ", "TEAM_BOOKING_WRITE", "TEAM_MEMBERSHIP_READ",
		"ORG_BOOKING_READ", "ORG_PROFILE_READ", "ORG_MEMBERSHIP_READ", "ORG_MEMBERSHIP_WRITE",
	}
)

// sceneUser and sceneClient return ids in the format of generated ones.
func sceneUser(name string) string {
	sum := sha256.Sum256([]byte("user " + name))
	return "u_" + base64.RawURLEncoding.EncodeToString(sum[:])[:22]
}

func sceneClient(name string) string {
	sum := sha256.Sum256([]byte("client " + name))
	return "c_" + hex.EncodeToString(sum[:16])
}

// clientURI is the redirect URI of a client of the scenes.
func clientURI(name string) string { return "https://" + name + ".example.com/oauth/callback" }

// tell makes the data: what happened at the service in its first year.
func (s *Stage) tell() {
	s.now = SceneTime.Add(-400 * day)
	settings := ledger.DefaultSettings()
	settings.BaseURL, settings.AppURL, settings.Audience = Issuer, "https://app.mintmark.example", "api"
	settings.Agents = ledger.AgentsReviewed
	s.Must(&ledger.Configure{Settings: settings})
	s.Must(&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte{1}}})
	s.Must(&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte(`{"kty":"EC"}`), Sealed: []byte{1}}})
	s.Must(&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1"}})
	london := func(p *ledger.Person) { p.TimeZone = "Europe/London" }
	s.person(rita, "Rita Okafor", true, london)
	s.person(sam, "Sam Lindqvist", true, london)
	s.person(alice, "Alice Example", false, london)
	s.person(bob, "Bob Example", false, london)

	s.tellOfServers()
	s.tellOfOthers()
	s.tellOfAlice()
	s.ago(60 * day)
	for i := range 313 { // 318 people with those above
		turn, n := i/len(firstNames), i%len(firstNames)
		first, last := firstNames[n], lastNames[(7*turn+3*n)%len(lastNames)]
		s.crowd = append(s.crowd, strings.ToLower(first+"."+last))
		s.person(s.crowd[i], first+" "+last, false, nil)
		s.now = s.now.Add(2 * time.Hour)
	}
	s.tellOfUse()
	s.tellOfWaiting()
	s.tellOfToday()
	s.ago(0)
}

func (s *Stage) person(name, full string, admin bool, change func(*ledger.Person)) {
	p := ledger.Person{Name: full, Email: name + "@example.com"}
	if change != nil {
		change(&p)
	}
	s.Must(&ledger.PutUser{ID: sceneUser(name), Username: name, Person: p, Password: PasswordHash(), Admin: admin})
}

func (s *Stage) tellOfServers() {
	s.ago(390 * day)
	for i, name := range []string{"bookings", "calendar", "reports"} {
		c := &ledger.PutResourceServer{Actor: s.actor(rita), ID: "https://" + name + ".mintmark.example", Name: name}
		if i == 0 {
			secret := s.secret("resource secret", "qT4w", "")
			c.Scopes, c.Secret = []string{"BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "TEAM_BOOKING_WRITE"}, &secret
		}
		s.Must(c)
	}
}

// secret returns a client secret with a tail.
func (s *Stage) secret(id, tail, name string) ledger.NewSecret {
	return ledger.NewSecret{ID: "s_" + strings.ReplaceAll(id, " ", "-"), Key: 1, Digest: credential.Digest(Mac("secret key"), id), Tail: tail, Name: name}
}

// register registers an application of a user, with a secret if the type has one.
func (s *Stage) register(owner, name, title string, change func(*ledger.CreateClient)) {
	s.T.Helper()
	c := &ledger.CreateClient{
		Actor: s.actor(owner), ID: sceneClient(name), Owner: sceneUser(owner), Type: ledger.Confidential,
		Profile: ledger.Profile{Name: title, Website: "https://" + name + ".example.com", RedirectURIs: []string{clientURI(name)}, Scopes: few},
	}
	secret := s.secret(name, tail(name), "")
	if c.Secret = &secret; change != nil {
		change(c)
	}
	if c.Type == ledger.Public {
		c.Secret = nil
	}
	s.Must(c)
}

func tail(name string) string {
	sum := sha256.Sum256([]byte("tail " + name))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:4]
}

// judge has an administrator decide on an application.
func (s *Stage) judge(who, name string, verdict ledger.Verdict, reason string) {
	s.T.Helper()
	client := s.View().Client(sceneClient(name))
	s.Must(&ledger.ReviewClient{Actor: s.actor(who), ID: client.ID, Verdict: verdict, Reason: reason, Revision: client.Revision})
}

// edit has the owner propose changes.
func (s *Stage) edit(name string, change func(*ledger.EditClient)) {
	s.T.Helper()
	client := s.View().Client(sceneClient(name))
	c := &ledger.EditClient{Actor: s.actor(s.View().User(client.Owner).Username), ID: client.ID, Revision: client.Revision, Profile: client.Profile}
	change(c)
	s.Must(c)
}

// others are applications that are in use, and what each does.
var others = []struct{ owner, name, title, purpose string }{
	{bob, "notes", "Meeting Notes", "Writes the notes of a meeting into its booking."},
	{bob, "northwind", "Northwind Calendar", "Shows your bookings in the calendar of Northwind."},
	{sam, "focus", "Focus Hours", "Blocks hours without meetings in your schedule."},
	{bob, "standup", "Standup Bot", "Asks your team for its plans every morning."},
	{sam, "desk", "Desk Booker", "Finds a desk beside those whom you meet."},
}

func (s *Stage) tellOfOthers() {
	for i, o := range others {
		s.ago(time.Duration(380-20*i) * day)
		s.register(o.owner, o.name, o.title, func(c *ledger.CreateClient) { c.Profile.Purpose = o.purpose })
		s.now = s.now.Add(5 * time.Hour)
		s.judge(rita, o.name, ledger.Approve, "")
	}
	s.register(bob, "studio", "Studio Hours", func(c *ledger.CreateClient) { c.Profile.Purpose = "Sells hours of a photo studio." })
	s.judge(sam, "studio", ledger.Approve, "")
}

// tellOfAlice makes an application in each state.
func (s *Stage) tellOfAlice() {
	s.ago(290 * day)
	s.Must(&ledger.ImportClient{
		ID: sceneClient("classic"), Owner: sceneUser(alice), Type: ledger.Confidential, State: ledger.Approved, Legacy: true,
		Profile: ledger.Profile{Name: "Classic Sync", Website: "https://classic.example.com", RedirectURIs: []string{clientURI("classic")}},
		Secrets: []ledger.NewSecret{s.secret("classic", "gacy", "")},
	})
	s.ago(266 * day)
	s.register(alice, "zeta", "Zeta Planner", func(c *ledger.CreateClient) {
		p := &c.Profile
		p.Purpose = "Finds a free slot for your team, books the room, and moves it when somebody can’t come."
		p.PrivacyURL, p.TermsURL = "https://zeta.example.com/privacy", "https://zeta.example.com/terms"
		p.RedirectURIs = append(p.RedirectURIs, "http://localhost:3000/callback")
		p.Scopes = many
		c.Logo = drawnLogo(color.NRGBA{0x2b, 0x4c, 0x9b, 0xff})
		p.Logo = DigestOf(c.Logo)
		c.Secret.Tail = "-two"
	})
	s.ago(265 * day)
	s.judge(rita, "zeta", ledger.Approve, "")
	s.ago(200 * day)
	s.Must(&ledger.PutPublisher{
		Actor: s.actor(rita), Host: agentHost, Name: "Example Assistants", Scopes: []string{"EVENT_TYPE_READ", "BOOKING_READ", "BOOKING_WRITE", "SCHEDULE_READ"},
		Defaults: []string{"BOOKING_READ", "SCHEDULE_READ"},
	})
	s.Must(&ledger.PutPublisher{Actor: s.actor(rita), Host: "tools.example", Scopes: []string{"BOOKING_READ"}, Defaults: []string{"BOOKING_READ"}})
	s.ago(120 * day)
	s.register(alice, "pocket", "Pocket Planner", func(c *ledger.CreateClient) {
		c.Type = ledger.Public
		c.Profile.Purpose = "Your bookings on your phone."
		c.Profile.RedirectURIs = []string{"com.example.pocket:/callback", "http://127.0.0.1/callback"}
	})
	s.ago(119 * day)
	s.judge(sam, "pocket", ledger.Approve, "")
	s.ago(100 * day)
	s.register(alice, "shifts", "Shift Board", func(c *ledger.CreateClient) {
		c.Profile.Purpose = "Shows who works when."
		c.Secret = nil
	})
	s.ago(99 * day)
	s.judge(rita, "shifts", ledger.Approve, "")
}

// tellOfUse lets people allow applications, day by day, and programs use them.
func (s *Stage) tellOfUse() {
	people, next, turn := s.crowd, 0, 0
	for d := 29; d >= 1; d-- {
		weekend := time.Duration(SceneTime.Add(-time.Duration(d) * day).Weekday())
		share := 5 + 19*(29-d)/29 - d%4
		if weekend == 0 || weekend == 6 {
			share /= 3
		}
		for i := range share {
			s.ago(time.Duration(d)*day - time.Duration(i)*8*time.Minute)
			if next < len(people) {
				s.allow(people[next], "zeta", few)
				next++
			}
			for range 2 {
				s.allow(people[(7*turn)%max(next, 1)], "zeta", few)
				turn++
			}
			if i%3 == 0 {
				s.allow(people[(5*turn)%max(next, 1)], "classic", [][]string{nil, {"BOOKING_READ", "SCHEDULE_READ"}, {"BOOKING_READ", "BOOKING_WRITE"}}[(i/3+d)%3])
			}
		}
		switch d {
		case 26:
			s.allow(alice, "notes", []string{"BOOKING_READ", "PROFILE_READ"})
		case 21:
			s.allow(alice, "northwind", few)
			s.allow(alice, "classic", nil)
		case 13:
			s.allow(alice, "zeta", few)
			s.allow(alice, "standup", few)
		case 8:
			s.judge(rita, "standup", ledger.Suspend, "It sends messages at night. Write to us when that is mended.")
		case 5:
			s.document(alice, agentID, "Desk Assistant")
			s.allowAgent(alice)
		}
	}
}

// allow lets a user allow an application, whose program then exchanges the code.
func (s *Stage) allow(who, name string, scopes []string) {
	s.T.Helper()
	client := s.View().Client(sceneClient(name))
	r := oauth.AuthorizationRequest{
		ClientID: client.ID, RedirectURI: client.RedirectURIs[0], Scope: strings.Join(scopes, " "), CodeChallenge: Challenge, CodeChallengeMethod: "S256",
	}
	s.grant(who, client, r)
}

func (s *Stage) grant(who string, client *ledger.Client, r oauth.AuthorizationRequest) {
	s.T.Helper()
	var id ledger.GrantID
	sum := sha256.Sum256(fmt.Append(nil, "grant ", s.Index))
	copy(id[:], sum[:])
	s.Must(&ledger.Allow{Actor: s.actor(who), User: s.View().UserByName(who).ID, Request: r, Revision: client.Revision, Grant: id})
	auth := ledger.ClientAuth{Client: client.ID}
	if i := len(client.Secrets) - 1; i >= 0 {
		auth.Secret, auth.Digests = true, []ledger.Digest{{Key: 1, MAC: client.Secrets[i].Digest}}
	}
	out := s.Must(&ledger.Exchange{ClientAuth: auth, Credential: &ledger.CredentialRef{Grant: id, Key: 1}, Redirect: sha256.Sum256([]byte(r.RedirectURI)), Challenge: Challenge})
	require.NotNil(s.T, out.Issued)
}

// document records the metadata of an agent that a user has tried.
func (s *Stage) document(who, id, name string) {
	s.Must(&ledger.NoteDocument{
		Actor: s.actor(who), URL: id, Name: name, RedirectURIs: []string{"http://127.0.0.1/callback"}, Digest: [32]byte{1}, Age: 30 * day,
	})
}

// agentMayAsk replaces the scopes of the agent's publisher.
func (s *Stage) agentMayAsk(scopes ...string) {
	s.T.Helper()
	s.Must(&ledger.PutPublisher{Actor: Operator, Host: agentHost, Scopes: scopes, Defaults: scopes})
}

func (s *Stage) allowAgent(who string) {
	client := s.View().ClientNamed(agentID)
	s.grant(who, client, oauth.AuthorizationRequest{
		ClientID: agentID, RedirectURI: "http://127.0.0.1/callback", Scope: "BOOKING_READ SCHEDULE_READ", CodeChallenge: Challenge, CodeChallengeMethod: "S256",
	})
}

// tellOfWaiting lets applications wait for a review: 41 with that of Alice, the third.
func (s *Stage) tellOfWaiting() {
	const waiting = 38
	for i := range waiting {
		s.ago(20*time.Hour - time.Duration(i)*20*time.Minute)
		name := fmt.Sprint(strings.ToLower(makers[i%len(makers)]), "-", i)
		s.register(s.crowd[7*i%len(s.crowd)], name, makers[i%len(makers)]+" "+products[i/len(makers)%len(products)], func(c *ledger.CreateClient) {
			c.Profile.Purpose = purposes[i%len(purposes)]
			switch i % 4 {
			case 1:
				c.Profile.Scopes = many[:5]
			case 2:
				c.Profile.Scopes = many[10:]
			}
		})
		switch i {
		case 1:
			s.register(alice, "digest", "Team Digest", func(c *ledger.CreateClient) { c.Profile.Purpose = "Sends your team a summary of the week." })
		case 9:
			s.edit("zeta", func(c *ledger.EditClient) {
				c.Profile.Name = "Zeta Planner Pro"
				c.Profile.Purpose = "Finds a free slot for your team, books the room, and tells everybody."
				c.Profile.RedirectURIs = append([]string{"https://zeta.example.com/v2/callback"}, c.Profile.RedirectURIs...)
				c.Profile.Scopes = append([]string{}, append(many, "TEAM_MEMBERSHIP_WRITE")...)
			})
		case 12:
			s.edit("notes", func(c *ledger.EditClient) { c.Profile.Scopes = append([]string{"BOOKING_WRITE"}, few...) })
		case 20:
			s.register(alice, "rooms", "Room Finder", func(c *ledger.CreateClient) {
				c.Profile.Purpose, c.Profile.Scopes = "Finds a free room.", append([]string{"ORG_MEMBERSHIP_WRITE"}, few...)
			})
			s.judge(rita, "rooms", ledger.Reject, "It only finds rooms, so it doesn’t need to change the members of an organization. Please remove that scope, and say on your website who runs the application.")
		case 22:
			s.edit("shifts", func(c *ledger.EditClient) {
				c.Profile.Name, c.Profile.Scopes = "Shift Board by Mintmark", append([]string{"BOOKING_WRITE"}, few...)
			})
			s.judge(sam, "shifts", ledger.Reject, "The name must not say that the application is ours.")
		}
	}
}

// tellOfToday is what happened in the last hours.
func (s *Stage) tellOfToday() {
	zeta, classic := sceneClient("zeta"), sceneClient("classic")
	for h := 7; h >= 1; h-- {
		s.ago(time.Duration(h) * time.Hour)
		if h == 7 {
			for i, agent := range agents {
				s.signIn(alice, agent)
				s.now = s.now.Add(time.Duration(i+1) * time.Minute)
			}
			s.register(alice, "lunch", "Lunch Roulette", func(c *ledger.CreateClient) {
				c.Profile.Purpose = "Books a table for colleagues who don’t know each other."
			})
			s.judge(rita, "lunch", ledger.Approve, "")
			s.judge(rita, "lunch", ledger.Suspend, "It books tables for people who left the company.")
			s.Must(&ledger.OfferClient{Actor: s.actor(bob), ID: sceneClient("studio"), Username: alice})
			s.Must(&ledger.SetUserState{Actor: s.actor(sam), User: sceneUser("dana.keller"), State: ledger.Disable})
		}
	}
	now := s.now
	for h := 23; h >= 0; h-- { // a node reports an hour at its end
		report := &ledger.ReportUsage{Node: "n1", Hour: ledger.HourOf(ledger.Time(SceneTime.Add(-time.Duration(h) * time.Hour).UnixMilli()))}
		busy := uint32(300 + (h*h*53)%700)
		report.Counts = []ledger.UsageCount{{Client: classic, Refreshes: busy / 9}, {Client: zeta, Refreshes: busy, Refusals: uint32(h / 11 * (h % 2))}}
		if report.Counts[0].Client > report.Counts[1].Client {
			report.Counts[0], report.Counts[1] = report.Counts[1], report.Counts[0]
		}
		s.Must(report)
	}
	s.now = now
	s.ago(50 * time.Minute)
	s.document(bob, pilotID, "Pilot")
	s.document(alice, agentID, "Desk Assistant")
	s.ago(12 * time.Minute)
	s.person(nora, "Nora Bell", false, nil)
	s.ago(3 * time.Minute)
	s.Must(&ledger.AddSecret{Actor: s.actor(alice), Client: zeta, Secret: s.secret("zeta new", "KKT8", "production"), After: s.View().Client(zeta).Secrets[0].ID})
	of := credential.ClientDigest(zeta)
	s.Explanations = map[string]ledger.Explanation{
		"mme_reused":    {Client: of, Cause: ledger.RefreshReused, At: s.Now(), When: s.Now(), Named: true, Presented: 4, Due: 5},
		"mme_malformed": {Client: of, Cause: ledger.RequestMalformed, At: s.Now(), Note: "The parameter redirect_uri is missing."},
		"mme_wrong":     {Client: of, Cause: ledger.SecretWrong, At: s.Now()},
		"mme_scope":     {Client: of, Cause: ledger.ScopeTooWide, At: s.Now()},
	}
	s.refused = []func(*Stage){func(s *Stage) {
		codes := map[string]oauth.Code{"mme_reused": oauth.InvalidGrant, "mme_wrong": oauth.InvalidClient, "mme_malformed": oauth.InvalidRequest}
		for i, id := range []string{"mme_reused", "mme_wrong", "mme_malformed", "mme_wrong"} {
			s.Config.Refusals.Record(zeta, codes[id], s.Explanations[id].Cause, id, ledger.Time(SceneTime.Add(-time.Duration(4-i)*17*time.Minute).UnixMilli()))
		}
		s.Config.Refusals.RecordBrowser(zeta, oauth.InvalidScope, ledger.ScopeTooWide, "mme_scope", "ORG_SCHEDULE_WRITE", ledger.Time(SceneTime.Add(-2*time.Minute).UnixMilli()))
	}}
}

// drawnLogo returns a picture of a Z in a square of a colour.
func drawnLogo(ground color.NRGBA) []byte {
	const size = 96
	m := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{ground, color.White})
	for y := range size {
		for x := range size {
			stroke := y >= 22 && y < 34 || y >= 62 && y < 74
			if inside := x >= 24 && x < 72 && y >= 22 && y < 74; inside && (stroke || abs(x-(94-y)) < 8) {
				m.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m)
	return b.Bytes()
}

func abs(n int) int { return max(n, -n) }

var (
	firstNames = strings.Fields("Ada Ben Chloe Dana Emil Fatima George Hana Ivan Julia Kofi Lena Mateo Nadia Oskar Priya Quinn Rosa Seth Tara Umar Vera Wen Yara Zoe")
	lastNames  = strings.Fields("Abbott Baker Costa Dahl Evans Fischer Garcia Haddad Ito Jansen Keller Larsen Moreau Novak Owens Park Quist Rossi Silva Tanaka")
	makers     = strings.Fields("Acme Bluebird Cobalt Dovetail Ember Fernhill Granite Harbor Indigo Juniper")
	products   = []string{"Scheduler", "Calendar Sync", "Bookings", "Team Board"}
	purposes   = []string{
		"Copies your bookings into your own calendar.", "Suggests times that suit everybody.", "Plans the shifts of a restaurant.",
		"Reminds your customers of their appointments.", "Bills the hours that were booked.",
	}
)
