package issuer_test

import (
	"crypto/sha256"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenPages has the actions of the pages: logos, owners, administrators and the users
// they manage, sign-in through a provider, reviews.
func goldenPages() []goldenStep {
	operator, alice, bob := ledger.Actor{Operator: true}, ledger.Actor{Session: [32]byte{1}}, ledger.Actor{Session: [32]byte{2}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	picture := func(text string) []byte {
		if text == "" {
			return nil
		}
		return []byte("\x89PNG\r\n\x1a\n" + text)
	}
	named := func(name, logo string) ledger.Profile {
		p := ledger.Profile{Name: name, RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}}
		if shown := picture(logo); shown != nil {
			sum := sha256.Sum256(shown)
			p.Logo = sum[:]
		}
		return p
	}
	create := func(id, logo string) command.Command {
		return &ledger.CreateClient{Actor: alice, ID: id, Owner: "u-alice", Type: ledger.Public, Profile: named("App", logo), Logo: picture(logo)}
	}
	edit := func(revision uint64, name, logo string) command.Command {
		return &ledger.EditClient{Actor: alice, ID: "app", Revision: revision, Profile: named(name, logo), Logo: picture(logo)}
	}
	review := func(revision uint64, v ledger.Verdict, reason string) command.Command {
		return &ledger.ReviewClient{Actor: bob, ID: "app", Verdict: v, Reason: reason, Revision: revision}
	}
	state := func(a ledger.Actor, user string, to ledger.UserState) command.Command {
		return &ledger.SetUserState{Actor: a, User: user, State: to}
	}
	upstream := func(session byte, subject, id string, admin *bool) command.Command {
		return &ledger.SignInUpstream{
			Session: [32]byte{session}, Issuer: "https://idp.example", Subject: subject, ID: id, Username: "ALICE", Admin: admin,
			Person: ledger.Person{Name: "Al\tice", Email: "alice@example.com", AvatarURL: "javascript:"}, Agent: "a browser", Replaces: [32]byte{session - 1},
		}
	}
	record := func(seq uint64, e ledger.Effect) ledger.Record {
		return ledger.Record{Seq: seq, At: 1_800_000_000_000, Effects: []ledger.Effect{e}}
	}
	identity := sha256.Sum256([]byte("https://idp.example\x00lost"))
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.PutUser{ID: "u-bob", Username: "bob", Password: "hash", Admin: true},
		&ledger.SignIn{Session: alice.Session, User: "u-alice", VerifiedHash: digestOf("hash"), Agent: "a browser"},
		&ledger.SignIn{Session: bob.Session, User: "u-bob", VerifiedHash: digestOf("hash")},
		&ledger.SignIn{Session: [32]byte{3}, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.EndSession{Actor: bob, Session: [32]byte{3}},
		&ledger.EndSession{Actor: alice, Session: [32]byte{3}},

		// Reviews, and logos that are added and removed with them.
		create("app", "one"), create("other", ""),
		edit(1, "App", "two"), review(2, ledger.Reject, "say what for"), edit(3, "App", "two"), review(4, ledger.Approve, ""),
		edit(5, "Renamed", "three"), edit(6, "Renamed again", "three"), review(7, ledger.Approve, "fine"),
		edit(8, "App", "four"), review(9, ledger.Reject, "no"), review(10, ledger.Suspend, "for now"), review(11, ledger.Resume, ""),
		&ledger.Sweep{Logos: [][32]byte{sha256.Sum256(picture("one")), sha256.Sum256(picture("three")), sha256.Sum256(picture("four"))}},
		&ledger.ImportClient{
			ID: "imported", Owner: "u-alice", Type: ledger.Public, State: ledger.Pending,
			Profile: ledger.Profile{Name: "Imported", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
		},

		// The sweep was two days later.
		&ledger.SignIn{Session: [32]byte{4}, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.SignIn{Session: [32]byte{5}, User: "u-bob", VerifiedHash: digestOf("hash")},
		&ledger.OfferClient{Actor: ledger.Actor{Session: [32]byte{4}}, ID: "app", Username: "Bob"},
		&ledger.DeclineClient{Actor: ledger.Actor{Session: [32]byte{5}}, ID: "app"},
		&ledger.OfferClient{Actor: ledger.Actor{Session: [32]byte{4}}, ID: "app", Username: "bob"},
		&ledger.AcceptClient{Actor: ledger.Actor{Session: [32]byte{5}}, ID: "app", Revision: 12},

		// A refused revision is edited, and then discarded.
		&ledger.EditClient{Actor: ledger.Actor{Session: [32]byte{5}}, ID: "app", Revision: 13, Profile: named("Once more", "four")},
		&ledger.ReviewClient{Actor: operator, ID: "app", Verdict: ledger.Reject, Reason: "no", Revision: 14},
		&ledger.EditClient{Actor: ledger.Actor{Session: [32]byte{5}}, ID: "app", Revision: 15, Profile: named("Renamed again", "three")},
		&ledger.TransferClient{Actor: operator, ID: "other", Username: "bob", Revision: 1},
		&ledger.DeleteClient{Actor: operator, ID: "imported", Revision: 7},
		&ledger.DeleteClient{Actor: operator, ID: "imported", Revision: 1},

		&ledger.AddUser{Actor: ledger.Actor{Session: [32]byte{5}}, ID: "u-carol", Username: "carol", Password: "hash", Admin: true, Person: ledger.Person{Name: "Carol"}},
		&ledger.SetPerson{Actor: operator, User: "u-carol", Username: "Carol", Person: ledger.Person{Name: "Carol C.", TimeFormat: 24}},
		upstream(11, "1", "u-1", nil), upstream(12, "1", "u-2", ptr(true)), upstream(13, "2", "u-3", ptr(false)),
		state(operator, "u-1", ledger.Disable), upstream(14, "1", "u-4", nil), state(operator, "u-1", ledger.DeleteUser), upstream(15, "1", "u-5", nil),
		state(ledger.Actor{Session: [32]byte{5}}, "u-bob", ledger.Demote), state(ledger.Actor{Session: [32]byte{5}}, "u-bob", ledger.DeleteUser),

		&ledger.BeginRestore{Backup: 20},
		&ledger.Replay{Backup: 20, Records: []ledger.Record{
			record(41, ledger.Effect{Kind: ledger.EffectClientTransferred, Client: "other", User: "u-alice"}),
			record(42, ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-lost", Identity: identity[:]}),
			record(43, ledger.Effect{Kind: ledger.EffectUserEnabled, User: "u-lost", Identity: identity[:]}),
		}},
		&ledger.Replay{Backup: 20, Records: []ledger.Record{
			record(44, ledger.Effect{Kind: ledger.EffectUserDeleted, User: "u-gone", Identity: make(ledger.Identity, 32)}),
		}},
		upstream(16, "lost", "u-6", nil),

		// The reason of a suspension stays while an edit is reviewed.
		&ledger.SignIn{Session: [32]byte{20}, User: "u-alice", VerifiedHash: digestOf("hash")},
		// A file of the operator: a new client, one that is adopted, and a user.
		&ledger.ApplyClient{
			Actor: operator, ID: "declared", Owner: "u-alice", Type: ledger.Confidential, Profile: named("Declared", ""), Manager: "apply",
			NamesSecrets: true, Secrets: []ledger.DeclaredSecret{{
				New: ledger.NewSecret{ID: "s1", Key: 1, Digest: [32]byte{1}}, Digests: []ledger.Digest{{Key: 1, MAC: [32]byte{1}}},
			}},
		},
		&ledger.ApplyClient{
			Actor: operator, ID: "declared", Owner: "u-alice", Type: ledger.Confidential, Profile: named("Declared again", ""), Manager: "team", Adopt: true,
			NamesSecrets: true, Secrets: []ledger.DeclaredSecret{{
				New: ledger.NewSecret{ID: "s2", Key: 1, Digest: [32]byte{2}}, Digests: []ledger.Digest{{Key: 1, MAC: [32]byte{2}}},
			}},
			ActiveSecrets: []string{"s1"}, Revision: 1, State: ledger.Suspended, Confirm: true,
		},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Admin: true, Seen: &ledger.UserSeen{Username: "alice"}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Seen: &ledger.UserSeen{Username: "alice", Admin: true}},
		&ledger.ImportClient{
			ID: "stopped", Owner: "u-alice", Type: ledger.Public, State: ledger.Approved,
			Profile: ledger.Profile{Name: "Stopped", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
		},
		&ledger.ReviewClient{Actor: operator, ID: "stopped", Verdict: ledger.Suspend, Reason: "phishing was reported", Revision: 1},
		&ledger.EditClient{Actor: ledger.Actor{Session: [32]byte{20}}, ID: "stopped", Revision: 2, Profile: named("Better", "")},
		&ledger.ReviewClient{Actor: operator, ID: "stopped", Verdict: ledger.Reject, Reason: "too vague", Revision: 3},

		// Offers of a disabled owner can't be accepted.
		&ledger.PutUser{ID: "u-erin", Username: "erin", Password: "hash"},
		&ledger.SignIn{Session: [32]byte{23}, User: "u-erin", VerifiedHash: digestOf("hash")},
		&ledger.OfferClient{Actor: ledger.Actor{Session: [32]byte{20}}, ID: "stopped", Username: "erin"},
		state(operator, "u-alice", ledger.Disable),
		&ledger.AcceptClient{Actor: ledger.Actor{Session: [32]byte{23}}, ID: "stopped", Revision: 4},
		state(operator, "u-alice", ledger.Enable),
		&ledger.SignIn{Session: [32]byte{20}, User: "u-alice", VerifiedHash: digestOf("hash")},

		// Names that could be mistaken for somebody else's are refused.
		&ledger.PutUser{ID: "u-dora", Username: "Operator", Password: "hash"},
		&ledger.PutUser{ID: "u-dora", Username: "u-alice", Password: "hash"},
		&ledger.PutUser{ID: "alice", Username: "dora", Password: "hash"},
		&ledger.SetPerson{Actor: operator, User: "u-alice", Username: "u_0123456789abcdefghijkl"},
		&ledger.SignInUpstream{Session: [32]byte{21}, Issuer: "https://idp.example", Subject: "3", ID: "u-7", Username: "u-alice"},

		// So are invisible characters, and redirection URIs that browsers don't follow.
		&ledger.PutUser{ID: "u-dora", Username: "do\u200bra", Password: "hash"},
		&ledger.PutUser{ID: "u-dora", Username: "dora", Password: "hash", Person: ledger.Person{Name: "\u3164"}},
		&ledger.ImportClient{
			ID: "odd", Owner: "u-alice", Type: ledger.Public, State: ledger.Approved,
			Profile: ledger.Profile{Name: "Odd", RedirectURIs: []string{"https://x.example'/cb"}, Scopes: []string{"PROFILE_READ"}},
		},
		&ledger.EditClient{Actor: ledger.Actor{Session: [32]byte{20}}, ID: "stopped", Revision: 4, Profile: named("Stop\u2800ped", "")},
		upstream(22, "Do\u200bra", "u-8", nil),

		// A new owner revokes the secrets of the former one.
		&ledger.ImportClient{
			ID: "secretive", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved,
			Profile: ledger.Profile{Name: "Secretive", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
			Secrets: []ledger.NewSecret{{ID: "s1", Key: 1, Digest: [32]byte{1}, Tail: "tail"}},
		},
		&ledger.OfferClient{Actor: ledger.Actor{Session: [32]byte{20}}, ID: "secretive", Username: "erin"},
		&ledger.AcceptClient{Actor: ledger.Actor{Session: [32]byte{23}}, ID: "secretive", Revision: 1, RevokeSecrets: true},

		// An administrator whose sign-in is old authenticates again.
		&ledger.SignInUpstream{
			Session: [32]byte{24}, Issuer: "https://idp.example", Subject: "4", ID: "u-9", Username: "root", Admin: ptr(true),
			Authenticated: ledger.Time(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()),
		},
		state(ledger.Actor{Session: [32]byte{24}}, "u-erin", ledger.Promote),
		&ledger.Reauthenticate{Session: [32]byte{24}, Issuer: "https://idp.example", Subject: "4"},
		state(ledger.Actor{Session: [32]byte{24}}, "u-erin", ledger.Promote),
	)
}
