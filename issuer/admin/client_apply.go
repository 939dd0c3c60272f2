package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A ClientsQuery requests everything that is known of some clients, in one view.
type ClientsQuery struct {
	Clients []ClientQuestion `json:"clients"`
	Grants  bool             `json:"grants,omitempty"` // count their live grants, which walks all users
}

// A ClientQuestion names a client.
type ClientQuestion struct {
	ID string `json:"id"`
	// Secrets are secrets that the client may have.
	Secrets []DeclaredSecret `json:"secrets,omitempty"`
}

// DescribedClients has those of the clients that exist or were deleted.
type DescribedClients struct {
	Clients []DescribedClient `json:"clients"`
}

// A DescribedClient is a client with the answers to a ClientQuestion.
type DescribedClient struct {
	Client
	SecretIDs []string `json:"secret_ids,omitempty"` // of ClientQuestion.Secrets, "" for one that the client does not have
	LiveGrants
}

// LiveGrants counts the live grants of a client or of a publisher's clients, or those for
// a resource server.
type LiveGrants struct {
	Grants int `json:"grants,omitempty"`
	Users  int `json:"users,omitempty"` // who have one of them
}

func (c *call) describeClients(ctx context.Context, q ClientsQuery) (DescribedClients, error) {
	out := DescribedClients{Clients: []DescribedClient{}}
	if err := c.comparing(slices.ContainsFunc(q.Clients, func(one ClientQuestion) bool { return len(one.Secrets) > 0 })); err != nil {
		return out, err
	}
	v, err := c.fresh(ctx) // changes are planned on it
	if err != nil {
		return out, err
	}
	for _, one := range q.Clients {
		row := v.Client(one.ID)
		if row == nil {
			continue
		}
		d := DescribedClient{Client: clientOf(v, row, c.Ledger.Now())}
		if d.SecretIDs, err = c.secretIDs(clientSubject(one.ID), one.Secrets, row.Secrets); err != nil {
			return out, err
		}
		out.Clients = append(out.Clients, d)
	}
	if q.Grants {
		index := make(map[string]*LiveGrants, len(out.Clients))
		for i := range out.Clients {
			index[out.Clients[i].ID] = &out.Clients[i].LiveGrants
		}
		c.countGrants(v, func(g *ledger.Grant) *LiveGrants { return index[g.Client] })
	}
	return out, nil
}

// secretIDs returns the ids of given secrets, "" for one that is not there.
func (c *call) secretIDs(subject string, given []DeclaredSecret, secrets ledger.Secrets) (ids []string, err error) {
	declared, err := c.declaredSecrets(subject, given)
	if err != nil {
		return nil, err
	}
	for i := range declared {
		id := ""
		if s := declared[i].In(secrets); s != nil {
			id = s.ID
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// countGrants adds each live grant to what of returns for it, unless that is nil. It walks the
// users, since grants have no index by client, publisher or resource server.
func (c *call) countGrants(v ledger.View, of func(*ledger.Grant) *LiveGrants) {
	now := c.Ledger.Now()
	for u := range v.Users() {
		seen := map[*LiveGrants]bool{}
		for _, g := range v.GrantsOf(u.ID, now) {
			if count := of(g); count != nil {
				count.Grants++
				seen[count] = true
			}
		}
		for count := range seen {
			count.Users++
		}
	}
}

func sumOf(subject, field string, text Plain) (sum [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(text.Reveal())
	if err != nil || len(b) != sha256.Size {
		return sum, badField(subject, field, "is not a SHA-256 in hexadecimal")
	}
	return [sha256.Size]byte(b), nil
}

// A DeclaredClient is what a file of the operator declares a client to be, and what the
// operator saw of the client. See ledger.ApplyClient.
type DeclaredClient struct {
	ID           string   `json:"id"`
	Owner        string   `json:"owner"` // a user's name or id
	Type         string   `json:"type"`
	State        string   `json:"state,omitempty"` // "" for approved, unless it is suspended
	Legacy       bool     `json:"legacy,omitempty"`
	Name         string   `json:"name"`
	Purpose      string   `json:"purpose,omitempty"`
	Website      string   `json:"website,omitempty"`
	PrivacyURL   string   `json:"privacy_url,omitempty"`
	TermsURL     string   `json:"terms_url,omitempty"`
	RedirectURIs []string `json:"redirect_uris"`
	Scopes       []string `json:"scopes,omitempty"`

	// Secrets are all secrets that are to be active; nil leaves them as they are.
	Secrets       *[]DeclaredSecret `json:"secrets,omitempty"`
	ActiveSecrets []string          `json:"active_secrets,omitempty"` // ids of those that the operator saw

	Revision uint64 `json:"revision,omitempty"` // that the operator saw; 0 means that there was no client
	Manager  string `json:"manager"`
	Adopt    bool   `json:"adopt,omitempty"`
	Confirm  bool   `json:"confirm,omitempty"` // see ClientEdit
}

// A DeclaredSecret is a secret that does not travel itself.
type DeclaredSecret struct {
	SHA256 Plain  `json:"sha256,omitempty"` // hexadecimal
	Hash   Plain  `json:"hash,omitempty"`   // that another system made, instead of SHA256: see credential.ForeignHash
	Tail   string `json:"tail,omitempty"`   // its last characters, if they are known: see credential.Tail
}

// Applied is the result of applying a declaration.
type Applied struct {
	ID       string `json:"id"`
	Result   string `json:"result"` // ResultAdded, ResultChanged or ResultUnchanged
	Revision uint64 `json:"revision,omitempty"`
}

// ResultAdded is the result of a declaration that made something.
const ResultAdded = "added"

func (c *call) applyClient(ctx context.Context, q DeclaredClient) (Applied, error) {
	subject := clientSubject(q.ID)
	if err := checkScopes(subject, q.Scopes); err != nil {
		return Applied{}, err
	}
	v, err := c.fresh(ctx)
	if err != nil {
		return Applied{}, err
	}
	owner := findUser(v, q.Owner)
	if owner == nil {
		return Applied{}, badField(subject, "owner", "is not a user")
	}
	cmd := &ledger.ApplyClient{
		Actor: c.actor, ID: q.ID, Owner: owner.ID, Type: ledger.ClientType(q.Type), State: ledger.ClientState(q.State), Legacy: q.Legacy,
		Profile: ledger.Profile{
			Name: q.Name, Purpose: q.Purpose, Website: q.Website, PrivacyURL: q.PrivacyURL, TermsURL: q.TermsURL,
			RedirectURIs: q.RedirectURIs, Scopes: q.Scopes,
		},
		NamesSecrets: q.Secrets != nil, ActiveSecrets: q.ActiveSecrets,
		Revision: q.Revision, Manager: q.Manager, Adopt: q.Adopt, Confirm: q.Confirm,
	}
	if q.Secrets != nil {
		if cmd.Secrets, err = c.declaredSecrets(subject, *q.Secrets); err != nil {
			return Applied{}, err
		}
	}
	out, err := c.propose(ctx, subject, cmd)
	if err != nil {
		if old := v.Client(q.ID); old != nil {
			err = addDetails(err, old, c.Ledger.Now())
		}
		return Applied{}, err
	}
	result := Applied{ID: q.ID, Result: ResultUnchanged, Revision: q.Revision}
	if out.Count > 0 {
		result.Result = ResultChanged
		if q.Revision == 0 {
			result.Result = ResultAdded
		}
		result.Revision++
	}
	return result, nil
}

// maxTail is the maximum length of a secret's tail, in bytes: credential.Tail has four
// characters.
const maxTail = 16

func (c *call) declaredSecrets(subject string, given []DeclaredSecret) ([]ledger.DeclaredSecret, error) {
	all := make([]ledger.DeclaredSecret, 0, len(given))
	for i, d := range given {
		field := fmt.Sprintf("secrets[%d]", i)
		if d.Hash != "" {
			s, err := c.secretOfHash(subject, field, d.Hash)
			if err != nil {
				return nil, err
			}
			all = append(all, ledger.DeclaredSecret{New: s})
			continue
		}
		sum, err := sumOf(subject, field, d.SHA256)
		if err != nil {
			return nil, err
		}
		if len(d.Tail) > maxTail {
			return nil, badField(subject, field, "has a tail that is too long")
		}
		s, err := c.SecretOfSHA256(sum)
		if err != nil {
			return nil, fmt.Errorf("digest a secret: %w", err)
		}
		s.Tail = d.Tail
		digests := c.SecretDigests(sum)
		slices.SortFunc(digests, func(a, b ledger.Digest) int { return int(a.Key) - int(b.Key) })
		all = append(all, ledger.DeclaredSecret{New: s, Digests: digests})
	}
	return all, nil
}
