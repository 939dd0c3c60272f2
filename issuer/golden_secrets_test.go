package issuer_test

import (
	"crypto/sha256"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenSecrets has the names and the ends of secrets.
func goldenSecrets() []goldenStep {
	operator, alice := ledger.Actor{Operator: true}, ledger.Actor{Session: [32]byte{1}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	secret := func(id, name string) ledger.NewSecret {
		return ledger.NewSecret{ID: id, Key: 1, Digest: digestOf(id), Tail: "tail", Name: name}
	}
	set := func(id string, name *string, endsIn *time.Duration) *ledger.SetSecret {
		return &ledger.SetSecret{Actor: alice, Client: "app", Secret: id, Name: name, EndsIn: endsIn}
	}
	due := func(id string) *ledger.RevokeSecret {
		return &ledger.RevokeSecret{Actor: operator, Client: "app", Secret: id, Due: true}
	}
	steps := seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: alice.Session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.CreateClient{
			Actor: alice, ID: "app", Owner: "u-alice", Type: ledger.Confidential, Secret: ptr(secret("s1", "first")),
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
		},
		set("s1", nil, ptr(time.Hour)), // refused
		&ledger.AddSecret{Actor: alice, Client: "app", Secret: secret("s2", "second"), After: "s1", EndOld: time.Minute}, // refused
		&ledger.AddSecret{Actor: alice, Client: "app", Secret: secret("s2", "second"), After: "s1", EndOld: time.Hour},
		due("s1"), // changes nothing
		set("s1", ptr("to go"), ptr(2*time.Hour)),
		set("s1", nil, ptr(time.Duration(0))),
		set("s1", nil, ptr(time.Hour)),
		set("s3", ptr("none"), nil), // refused
	)
	steps = append(steps, goldenStep{time.Hour, due("s1")})
	return append(steps, seconds(
		set("s1", ptr("gone"), nil), // refused
		&ledger.AddSecret{Actor: alice, Client: "app", Secret: secret("s3", ""), After: "s2", EndOld: time.Hour},
		&ledger.RevokeSecret{Actor: alice, Client: "app", Secret: "s3"}, // cancels the end of the other one
		due("s2"), // changes nothing
	)...)
}

// goldenBrand has the brand of the service.
func goldenBrand() []goldenStep {
	root := ledger.Actor{Session: [32]byte{1}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	named := s
	named.Brand = ledger.Brand{Name: "Zeta", PrivacyURL: "https://zeta.example/privacy", TermsURL: "https://zeta.example/terms", HelpURL: "https://zeta.example/help"}
	colored := named
	colored.Brand.Accent = "#ff8800"
	picture := []byte("\x89PNG\r\n\x1a\nlogo")
	brand := ledger.Brand{Name: "Zeta", Accent: "#0b6b50", Forgot: "Ask us.", ForgotURL: "https://zeta.example/forgot", Logo: sha256.Sum256(picture)}
	plain := brand
	plain.Logo = [32]byte{}
	set := func(step ledger.BrandStep, b ledger.Brand, picture []byte, seen byte) *ledger.SetBrand {
		return &ledger.SetBrand{Actor: root, Step: step, Brand: b, Logo: picture, ExpectedLast: command.ID{seen}}
	}
	sweep := &ledger.Sweep{Logos: [][32]byte{brand.Logo}}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.PutUser{ID: "u-root", Username: "root", Password: "hash", Admin: true},
		&ledger.SignIn{Session: root.Session, User: "u-root", VerifiedHash: digestOf("hash")},
		&ledger.Configure{Settings: named},
		&ledger.Configure{Settings: colored},      // refused
		set(ledger.BrandDraft, brand, nil, 4),     // refused
		set(ledger.BrandDraft, brand, picture, 1), // refused
		set(ledger.BrandDraft, brand, picture, 4),
		set(ledger.BrandPublish, brand, nil, 8),
		set(ledger.BrandDraft, plain, nil, 9),
		set(ledger.BrandDiscard, plain, nil, 10),
		&ledger.Configure{Settings: named}, // the logo stays
		sweep,                              // changes nothing; two days later
		&ledger.SignIn{Session: root.Session, User: "u-root", VerifiedHash: digestOf("hash")},
		set(ledger.BrandPublish, plain, nil, 12),
		sweep,
	)
}
