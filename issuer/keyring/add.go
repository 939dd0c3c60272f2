package keyring

import (
	"context"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// Refused is the reason why an operator's request was refused, in words for operators.
type Refused string

func (r Refused) Error() string { return string(r) }

// Refusal returns the reason.
func (r Refused) Refusal() string { return string(r) }

// Add generates a key, seals it and announces it. The first key of its purpose becomes
// active at once. The leader's duties activate later ones when every voter has opened them
// and verifiers have had the time to fetch them. The error is Refused if a rule forbids
// it.
func (k *Keyring) Add(ctx context.Context, p ledger.Purpose) (id string, err error) {
	under, err := k.SealingKey()
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	row := ledger.Key{Purpose: p, SealedUnder: under.ID()}
	var plain []byte
	switch p {
	case ledger.ForSigning:
		s, err := keys.GenerateSigner(keys.Algorithm(k.Ledger.View().Settings().Algorithm))
		if err != nil {
			return "", fmt.Errorf("make a signing key: %w", err)
		}
		if plain, err = s.PKCS8(); err != nil {
			return "", fmt.Errorf("make a signing key: %w", err)
		}
		row.ID, row.Algorithm, row.Public = s.KeyID(), s.Alg(), s.Public().JWK()
	case ledger.ForCredentials:
		s, err := keys.GenerateSecret(k.Rand)
		if err != nil {
			return "", fmt.Errorf("make a credential key: %w", err)
		}
		plain = s.Bytes()
		for other := range k.Ledger.View().Keys() {
			row.Number = max(row.Number, other.Number, other.HighestNumber)
		}
		row.Number++
		row.ID = credentialKeyID(row.Number)
	}
	if row.Sealed, err = under.Seal(k.Rand, sealContext(p, row.ID), plain); err != nil {
		return "", fmt.Errorf("seal key %s: %w", row.ID, err)
	}
	outcome, _, err := k.Ledger.Propose(ctx, &ledger.AddKey{Key: row})
	switch {
	case err != nil:
		return "", fmt.Errorf("add key %s: %w", row.ID, err)
	case outcome.Refusal != nil:
		return "", Refused(fmt.Sprintf("key %s was not added: %s", row.ID, outcome.Refusal.Cause))
	}
	return row.ID, nil
}

func credentialKeyID(number uint32) string { return fmt.Sprintf("c%d", number) }

// CredentialNumber returns the number of a credential key from its id, or 0 for another id.
func CredentialNumber(id string) (number uint32) {
	if _, err := fmt.Sscanf(id, "c%d", &number); err != nil || credentialKeyID(number) != id {
		return 0
	}
	return number
}
