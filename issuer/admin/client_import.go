package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A LegacyClient is a client from before scopes, from another system. It is approved at
// once. Its secrets are in clear, or SHA-256 digests, or hashes that another system made.
type LegacyClient struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Type          string   `json:"type"`
	Owner         string   `json:"owner"` // a user's name or id
	Purpose       string   `json:"purpose,omitempty"`
	Website       string   `json:"website,omitempty"`
	PrivacyURL    string   `json:"privacy_url,omitempty"`
	TermsURL      string   `json:"terms_url,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	Secrets       []Plain  `json:"secrets,omitempty"`
	SecretsSHA256 []Plain  `json:"secrets_sha256,omitempty"` // hexadecimal
	SecretHashes  []Plain  `json:"secret_hashes,omitempty"`  // see credential.ForeignHash
}

// Imported is the result of an import.
type Imported struct {
	ID     string `json:"id"`
	Result string `json:"result"` // ResultImported, ResultChanged or ResultUnchanged
}

// Results of an import.
const (
	ResultImported  = "imported"
	ResultChanged   = "changed"
	ResultUnchanged = "unchanged" // the same line was imported before; later changes stay
)

func (c *call) importClient(ctx context.Context, q LegacyClient) (Imported, error) {
	subject := clientSubject(q.ID)
	declaration, err := json.Marshal(q)
	if err != nil {
		return Imported{}, fmt.Errorf("import a client: %w", err)
	}
	v, err := c.fresh(ctx)
	if err != nil {
		return Imported{}, err
	}
	cmd := &ledger.ImportClient{
		Actor: c.actor, ID: q.ID, Type: ledger.ClientType(q.Type), State: ledger.Approved, Legacy: true,
		Profile: ledger.Profile{
			Name: q.Name, Purpose: q.Purpose, Website: q.Website, PrivacyURL: q.PrivacyURL, TermsURL: q.TermsURL, RedirectURIs: q.RedirectURIs,
		},
		Declared: c.Declared(append([]byte("import "), declaration...)),
	}
	result := ResultImported
	if old := v.Client(q.ID); old != nil {
		if i := slices.Index(cmd.Declared, old.Declared); i >= 0 {
			if i > 0 { // under an older key: the ledger renews the digest, and nothing else
				_, err = c.propose(ctx, subject, cmd)
			}
			return Imported{q.ID, ResultUnchanged}, err
		}
		cmd.State, result = old.State, ResultChanged // an import doesn't change the state
	}
	owner := findUser(v, q.Owner)
	if owner == nil {
		return Imported{}, badField(subject, "owner", "is not a user")
	}
	cmd.Owner = owner.ID
	if cmd.Secrets, err = c.importedSecrets(subject, q); err != nil {
		return Imported{}, err
	}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return Imported{}, err
	}
	return Imported{q.ID, result}, nil
}

func (c *call) importedSecrets(subject string, q LegacyClient) ([]ledger.NewSecret, error) {
	var all []ledger.NewSecret
	for i, plain := range q.Secrets {
		if plain == "" {
			return nil, badField(subject, fmt.Sprintf("secrets[%d]", i), "is empty")
		}
		s, _, err := c.secret(subject, plain)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for i, text := range q.SecretsSHA256 {
		sum, err := sumOf(subject, fmt.Sprintf("secrets_sha256[%d]", i), text)
		if err != nil {
			return nil, err
		}
		s, err := c.SecretOfSHA256(sum)
		if err != nil {
			return nil, fmt.Errorf("digest a secret: %w", err)
		}
		all = append(all, s)
	}
	for i, text := range q.SecretHashes {
		s, err := c.secretOfHash(subject, fmt.Sprintf("secret_hashes[%d]", i), text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
