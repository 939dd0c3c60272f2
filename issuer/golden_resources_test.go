package issuer_test

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenResources has what administrators do with resource servers, and the use of their
// secrets.
func goldenResources() []goldenStep {
	operator := ledger.Actor{Operator: true}
	const api, calendar = "https://api.example.com/v2", "https://calendar.example.com"
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	secret := func(n byte) ledger.NewSecret {
		return ledger.NewSecret{ID: fmt.Sprintf("s%d", n), Key: 1, Digest: [32]byte{n}, Tail: "tail"}
	}
	first, second := secret(1), secret(2)
	use := func(n byte) *ledger.NoteSecretUse {
		return &ledger.NoteSecretUse{ClientAuth: ledger.ClientAuth{Client: api, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: [32]byte{n}}}}}
	}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", Scopes: []string{"BOOKING_READ", "PROFILE_READ"}, Secret: &first, New: true},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", New: true},      // it exists
		&ledger.PutResourceServer{Actor: operator, ID: calendar, Name: "api", New: true}, // the name is taken
		&ledger.PutResourceServer{Actor: operator, ID: calendar, Name: "calendar", Secret: &second, New: true},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", Scopes: []string{"BOOKING_READ"}},
		use(1), use(9), // refused
		&ledger.AddResourceSecret{Actor: operator, Resource: api, Secret: secret(3)},
		&ledger.AddResourceSecret{Actor: operator, Resource: api, Secret: secret(4)}, // too many
		&ledger.RevokeResourceSecret{Actor: operator, Resource: api, Secret: "s1"},
		use(1), // refused
		use(3),
		&ledger.RemoveResourceServer{Actor: operator, ID: calendar},
		&ledger.RemoveResourceServer{Actor: operator, ID: calendar}, // gone
	)
}
