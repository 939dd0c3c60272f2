package ledger_test

import (
	"cmp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestProfileFaults verifies that all faults are reported at once, in the order of the page.
func TestProfileFaults(t *testing.T) {
	v := newEnv(t).view()
	fields := func(p ledger.Profile, of ledger.ClientType, least int) (list []string) {
		for _, r := range v.ProfileFaults(&p, of, least) {
			assert.Equal(t, ledger.BadField == r.Cause, r.Cause != ledger.TooManyURIs)
			list = append(list, r.Field+" "+r.Note)
		}
		return list
	}
	good := ledger.Profile{Name: "x", RedirectURIs: []string{"https://a.example/"}, Scopes: []string{"BOOKING_READ,PROFILE_READ"}}
	assert.Empty(t, fields(good, ledger.Confidential, 2), "commas separate scopes too")
	assert.Equal(t, []string{
		"name is empty", "purpose holds a control character", "website must begin with https:// or http://",
		"privacy_url is not an address", "terms_url must begin with https:// or http://",
		"redirect_uris[0] is not an absolute URI", "redirect_uris[2] is there twice", "scopes names a scope that does not exist",
	}, fields(ledger.Profile{
		Purpose: "a\nb", Website: "x", PrivacyURL: "https://a b", TermsURL: "javascript:alert(1)", RedirectURIs: []string{"x", "https://a.example/", "https://a.example/"}, Scopes: []string{"X"},
	}, ledger.Confidential, 1))
	assert.Equal(t, []string{"redirect_uris needs at least one", "scopes needs at least one"}, fields(ledger.Profile{Name: "x"}, ledger.Public, 1))
	assert.Empty(t, fields(ledger.Profile{Name: "x", RedirectURIs: []string{"com.example.app:/cb"}}, ledger.Public, 0))
	assert.Len(t, fields(ledger.Profile{Name: "x", RedirectURIs: make([]string, 11)}, ledger.Public, 0), 12)
}

const ownOrigin = "redirect_uris[0] is an address of this service, not of the application"

// TestNewFields verifies that names with invisible or private-use characters or stacks of
// accents are refused, and that websites and redirection URIs are safe to display and to
// redirect to.
func TestNewFields(t *testing.T) {
	v := newEnv(t).view()
	for _, test := range []struct{ name, website, uri, want string }{
		{name: "Calendar Ⅱ – “Überblick” 日程 한글"},
		{name: "می\u200cخواهم"},
		{name: "क्\u200dष"},
		{name: "م\u200cx", want: "name has an invisible character"},
		{name: "x\u200cم", want: "name has an invisible character"},
		{name: "م\u200bم", want: "name has an invisible character"},
		{name: "Cal\u200dendar", want: "name has an invisible character"},
		{name: "\u200cمی", want: "name has an invisible character"},
		{name: "Cal\u200bendar", want: "name has an invisible character"},
		{name: "Cal\u2028endar", want: "name has an invisible character"},
		{name: "Cal\u00adendar", want: "name has an invisible character"},
		{name: "Cal\u202eendar", want: "name holds a control character"},
		{name: "\U000e0043alendar", want: "name has an invisible character"},
		{name: "\u3164", want: "name has an invisible character"},
		{name: "\uffa0", want: "name has an invisible character"},
		{name: "\u115f\u1160", want: "name has an invisible character"},
		{name: "\u2800", want: "name has an invisible character"},
		{name: " \ufe0f\u3000", want: "name is empty"},

		{name: "Calendar \ue000", want: "name holds a private-use character, which has no meaning of its own"},
		{name: "\uf8ff Calendar", want: "name holds a private-use character, which has no meaning of its own"},
		{name: "Calendar \U000ffffd", want: "name holds a private-use character, which has no meaning of its own"},
		{name: "Calendar \U0010fffd", want: "name holds a private-use character, which has no meaning of its own"},
		{name: "Lịch Việt \u1ec7 i\u0323\u0302"},
		{name: "ရွှံ့"},
		{name: "שָּׁ\u0591לום"},
		{name: "ข้อมูลที่นี่"},
		{name: "བསྒྲུབས"},
		{name: "1\ufe0f\u20e3"},
		{name: "a\u0301\u0302\u0303\u0304e\u0301\u0302\u0303\u0304"},
		{name: "a\u0301\u0302\u0303\u0304\u0305", want: "name stacks more than four accents on one letter"},
		{name: "ก" + strings.Repeat("\u0e47", 5), want: "name stacks more than four accents on one letter"},
		{name: "a" + strings.Repeat("\u20dd", 5), want: "name stacks more than four accents on one letter"},
		{name: "ب\u064e\u064e\u064e\u200d\u064e\u064e", want: "name stacks more than four accents on one letter"},

		{website: "https://a.example/%C3%A4?b=c#d"},
		{website: "http://xn--bcher-kva.example:8080"},
		{website: "https://[2001:db8::1]/"},
		{website: "https://bücher.example", want: "website holds a character outside ASCII; a host that has one is written as xn--"},
		{website: "https://a.example/\xff", want: "website holds a character outside ASCII; a host that has one is written as xn--"},
		{website: "https://paypal.com\u202emoc.live", want: "website holds a character outside ASCII; a host that has one is written as xn--"},
		{website: "https://paypal.com%E2%80%AEmoc.live", want: "website has a host with other than letters, digits, hyphens, and single dots between them"},
		{website: "https://a.example@b.example/", want: "website has user information"},
		{website: "https://", want: "website has no host"},
		{website: "https:///path", want: "website has no host"},
		{website: "https://%zz/", want: "website is not an address"},
		{website: "https://a.example/%zz", want: "website is not an address"},
		{website: "https://a.example:0/", want: "website has a bad port"},

		{uri: "https://x.example'/cb", want: "redirect_uris[0] has a host with other than letters, digits, hyphens, and single dots between them"},
		{uri: "https://x.example/cb?state=1", want: "redirect_uris[0] has the parameter state in its query, which the answer adds"},

		{uri: "https://api.example.com/cb", want: ownOrigin},
		{uri: "https://api.example.com", want: ownOrigin},
		{uri: "https://API.example.com:443?x=1", want: ownOrigin},
		{uri: "https://app.example.com/auth/oauth2/authorize", want: ownOrigin},
		{uri: "https://api.example.com:8443/cb"},
		{uri: "https://example.com/cb"},
		{uri: "https://api.example.com.example/cb"},
		{uri: "com.example.api:/cb"},
	} {
		p := ledger.Profile{Name: cmp.Or(test.name, "x"), Website: test.website, RedirectURIs: []string{cmp.Or(test.uri, "https://a.example/")}, Scopes: []string{"PROFILE_READ"}}
		var faults []string
		for _, r := range v.ProfileFaults(&p, ledger.Public, 1) {
			faults = append(faults, r.Field+" "+r.Note)
		}
		assert.Equal(t, test.want, strings.Join(faults, "; "), "%+q", test)
	}
}

// TestOwnOriginOnTheLoopback: a server on the loopback is reachable under three names, and
// the free port of a public client's redirection URI may be the server's own.
func TestOwnOriginOnTheLoopback(t *testing.T) {
	for _, issuer := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"} {
		w := newEnv(t)
		s := *w.view().Settings()
		s.BaseURL, s.AppURL = "http://"+issuer, "http://127.0.0.1:9090"
		w.must(&ledger.Configure{Settings: s})
		w.must(&ledger.PutUser{ID: "u-1", Username: "alice", Password: "hash"})
		for i, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			p := ledger.Profile{Name: "x", RedirectURIs: []string{"http://" + host + ":8080/cb"}, Scopes: []string{"PROFILE_READ"}}
			for _, of := range []ledger.ClientType{ledger.Public, ledger.Confidential} {
				faults := w.view().ProfileFaults(&p, of, 1)
				if assert.Len(t, faults, 1, host) {
					assert.Equal(t, ownOrigin, faults[0].Field+" "+faults[0].Note)
				}
			}

			id := string(rune('a' + i))
			p.RedirectURIs = []string{"http://" + host + "/cb"}
			w.must(&ledger.ImportClient{ID: id, Owner: "u-1", Type: ledger.Public, State: ledger.Approved, Profile: p})
			for port, own := range map[string]bool{"": false, ":8080": true, ":9090": true, ":8081": false} {
				_, problem := w.view().Authorize(oauth.AuthorizationRequest{
					ClientID: id, RedirectURI: "http://" + host + port + "/cb", Scope: "PROFILE_READ",
					CodeChallenge: challengeOf("a-verifier"), CodeChallengeMethod: "S256",
				})
				if !own {
					assert.Nil(t, problem, host+port)
					continue
				}
				if assert.NotNil(t, problem, host+port) {
					assert.True(t, problem.Page, "nothing may be redirected to this service")
					assert.Equal(t, ledger.RedirectURIUnregistered, problem.Cause)
				}
			}
		}
	}
}

// TestMarksOfUnicode compares marks with the tables of the running Go version: every
// nonspacing and enclosing mark is in marks, and no other assigned character is.
func TestMarksOfUnicode(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		assigned := mark || unicode.In(r, unicode.L, unicode.Mc, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
		if assigned && unicode.Is(ledger.Marks, r) != mark {
			t.Errorf("%U: marks differs from package unicode: is a mark there: %v", r, mark)
		}
	}
}

// TestProfileChanges verifies that a change of any field of a profile is an edit.
func TestProfileChanges(t *testing.T) {
	for name, change := range map[string]func(*ledger.Profile){
		"name": func(p *ledger.Profile) { p.Name = "Other" }, "purpose": func(p *ledger.Profile) { p.Purpose = "to plan" },
		"website":       func(p *ledger.Profile) { p.Website = "https://a.example/" },
		"privacy_url":   func(p *ledger.Profile) { p.PrivacyURL = "https://a.example/privacy" },
		"terms_url":     func(p *ledger.Profile) { p.TermsURL = "https://a.example/terms" },
		"redirect_uris": func(p *ledger.Profile) { p.RedirectURIs = []string{"https://b.example/"} },
		"scopes":        func(p *ledger.Profile) { p.Scopes = []string{"BOOKING_READ"} },
		"nothing":       func(*ledger.Profile) {},
	} {
		w := newEnv(t)
		w.run("user alice")
		w.run("create app owner=alice scopes=PROFILE_READ")
		p := w.view().Client("app").Profile
		change(&p)
		_, changed := w.do(&ledger.EditClient{Actor: ledger.Actor{Operator: true}, ID: "app", Revision: 1, Profile: p}, "", false)
		assert.Equal(t, name != "nothing", changed, name)
	}
}

// TestTextBounds verifies the bounds of texts and addresses.
func TestTextBounds(t *testing.T) {
	v := newEnv(t).view()
	long := "https://a.example/" + strings.Repeat("a", 1024)
	for _, test := range []struct {
		field func(*ledger.Profile) *string
		text  string
		want  string
	}{
		{func(p *ledger.Profile) *string { return &p.Name }, strings.Repeat("ä", 80), ""},
		{func(p *ledger.Profile) *string { return &p.Name }, strings.Repeat("a", 81), "name is too long: 81 characters, at most 80"},
		{func(p *ledger.Profile) *string { return &p.Name }, "a\xff", "name is not valid UTF-8"},
		{func(p *ledger.Profile) *string { return &p.Name }, " ", "name is empty"},
		{func(p *ledger.Profile) *string { return &p.Name }, "\t", "name is empty"},
		{func(p *ledger.Profile) *string { return &p.Name }, "\U000ffffe\U0010fffe", ""},
		{func(p *ledger.Profile) *string { return &p.Purpose }, strings.Repeat("a", 501), "purpose is too long: 501 characters, at most 500"},
		{func(p *ledger.Profile) *string { return &p.Purpose }, "", ""},
		{func(p *ledger.Profile) *string { return &p.Website }, long[:1024], ""},
		{func(p *ledger.Profile) *string { return &p.Website }, long[:1025], "website is not an address"},
		{func(p *ledger.Profile) *string { return &p.Website }, "https://a.example/a b", "website is not an address"},
		{func(p *ledger.Profile) *string { return &p.Website }, "https://a.example/a\"b", "website is not an address"},
		{func(p *ledger.Profile) *string { return &p.Website }, "https://a.example/a\x01b", "website is not an address"},
	} {
		p := ledger.Profile{Name: "x", RedirectURIs: []string{"https://a.example/"}, Scopes: []string{"PROFILE_READ"}}
		*test.field(&p) = test.text
		var faults []string
		for _, r := range v.ProfileFaults(&p, ledger.Public, 1) {
			faults = append(faults, r.Field+" "+r.Note)
		}
		assert.Equal(t, test.want, strings.Join(faults, "; "), "%+q", test.text)
	}

	// One fault of an address is reported, not several.
	p := ledger.Profile{Name: "x", RedirectURIs: []string{"x", "x", "https://api.example.com/", "https://api.example.com/", "https://api.example.com/#x"}, Scopes: []string{"PROFILE_READ"}}
	var faults []string
	for _, r := range v.ProfileFaults(&p, ledger.Confidential, 1) {
		faults = append(faults, r.Field)
		assert.NotEqual(t, "is there twice", r.Note)
		assert.Equal(t, r.Field == "redirect_uris[2]" || r.Field == "redirect_uris[3]", r.Note == "is an address of this service, not of the application", r.Field)
	}
	assert.Equal(t, []string{"redirect_uris[0]", "redirect_uris[1]", "redirect_uris[2]", "redirect_uris[3]", "redirect_uris[4]"}, faults)
}
