package e2e

import "strings"

// callback is the redirection URI of programs. Nothing listens there: the simulated
// browser stops at the redirect.
const callback = "http://127.0.0.1:9999/callback"

// oddSecret has every kind of character that HTTP Basic must encode (RFC 6749 §2.3.1) and
// that clients often encode wrongly.
const oddSecret = `p@ss:w+rd%2F/=& ~"é`

// fixtures returns the fixtures of every test's server. settings is YAML that is
// appended.
func fixtures(settings string) string { return fixturesFor(callback, settings) }

// fixturesFor is fixtures with another redirection URI: that of a real browser must be
// served.
func fixturesFor(redirectURI, settings string) string {
	return strings.NewReplacer("CALLBACK", redirectURI, "ODD", oddSecret).Replace(`
users:
  - {id: u-alice, username: alice, email: alice@example.com, name: Alice Example, password: "correct horse", time_zone: Europe/London}
  - {id: u-bob, username: bob, name: Bob Example, password: "battery staple"}
  - {id: u-root, username: root, name: Root Example, password: "administers it", admin: true}
clients:
  - id: cal-app
    name: Calendar App
    website: https://calendar.example
    owner: bob
    redirect_uris: ["CALLBACK"]
    scopes: [PROFILE_READ, BOOKING_READ, BOOKING_WRITE, TEAM_BOOKING_READ, ORG_PROFILE_READ]
    secrets: [cal-app-secret, 'ODD']
  - {id: native-app, name: Native App, owner: bob, type: public, redirect_uris: ["http://127.0.0.1/callback"], scopes: [PROFILE_READ, BOOKING_READ]}
  - {id: legacy-app, name: Classic App, owner: bob, redirect_uris: ["CALLBACK"], secrets: [legacy-app-secret], legacy: true}
  - {id: pending-app, name: Pending App, owner: bob, redirect_uris: ["CALLBACK"], scopes: [PROFILE_READ], secrets: [pending-app-secret], state: pending}
`) + settings
}

// resourceServers registers two resource servers. It is a value for the settings of
// fixtures.
const resourceServers = `resource_servers:
  - {id: "https://bookings.example/v2", name: bookings, scopes: [BOOKING_READ, ORG_BOOKING_READ], secret: mms_Yk2vQnR0c3pLd1hJZ0ZtUHhTaE9vVWVBdEJjRGZHaEk}
  - {id: "https://calendar.example", name: calendar}
`
