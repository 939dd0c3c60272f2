package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// NewClient requests a new client, which is pending until its review.
type NewClient struct {
	ID           string   `json:"id,omitempty"` // generated if absent
	Name         string   `json:"name"`
	Owner        string   `json:"owner"` // a user's name or id
	Type         string   `json:"type"`
	Purpose      string   `json:"purpose,omitempty"`
	Website      string   `json:"website,omitempty"`
	PrivacyURL   string   `json:"privacy_url,omitempty"`
	TermsURL     string   `json:"terms_url,omitempty"`
	RedirectURIs []string `json:"redirect_uris"`
	Scopes       []string `json:"scopes"`
	Secret       Plain    `json:"secret,omitempty"` // of a confidential client; generated if absent
}

// An AddedClient has the secret only if it was generated.
type AddedClient struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	SecretID string `json:"secret_id,omitempty"`
	Secret   Plain  `json:"secret,omitempty"`
}

func (c *call) addClient(ctx context.Context, q NewClient) (AddedClient, error) {
	subject := clientSubject(q.ID) // an id that is made here means nothing to who is refused
	id := q.ID
	if id == "" {
		made, err := c.newID("c_")
		if err != nil {
			return AddedClient{}, err
		}
		id = made
	}
	if err := checkScopes(subject, q.Scopes); err != nil {
		return AddedClient{}, err
	}
	v, err := c.fresh(ctx)
	if err != nil {
		return AddedClient{}, err
	}
	owner := findUser(v, q.Owner)
	if owner == nil {
		return AddedClient{}, badField(subject, "owner", "is not a user")
	}
	cmd := &ledger.CreateClient{
		Actor: c.actor, ID: id, Owner: owner.ID, Type: ledger.ClientType(q.Type),
		Profile: ledger.Profile{
			Name: q.Name, Purpose: q.Purpose, Website: q.Website, PrivacyURL: q.PrivacyURL, TermsURL: q.TermsURL,
			RedirectURIs: q.RedirectURIs, Scopes: q.Scopes,
		},
	}
	out := AddedClient{ID: id, State: string(ledger.Pending)}
	if cmd.Type == ledger.Confidential || q.Secret != "" {
		s, made, err := c.secret(subject, q.Secret)
		if err != nil {
			return AddedClient{}, err
		}
		cmd.Secret, out.SecretID, out.Secret = &s, s.ID, made
	}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedClient{}, err
	}
	return out, nil
}

// checkScopes names an unknown scope; the ledger only reports that there is one.
func checkScopes(subject string, names []string) error {
	var unknown *scope.UnknownError
	if _, err := scope.Of(names...); errors.As(err, &unknown) {
		return codedField(subject, "scopes", fmt.Sprintf("%q %v", unknown.Name, ErrUnknownScope), ErrUnknownScope)
	}
	return nil
}

func (c *call) listClients(ctx context.Context, q ClientFilter) (ClientList, error) {
	list := ClientList{Clients: []ClientSummary{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	all := v.Clients()
	if q.Owner != "" {
		owner := findUser(v, q.Owner)
		if owner == nil {
			return list, notFound("user " + q.Owner)
		}
		all = v.ClientsOf(owner.ID)
	}
	switch ledger.ClientState(q.State) {
	case "", ledger.Pending, ledger.Approved, ledger.Rejected, ledger.Suspended, ledger.Deleted:
	default:
		return list, codedField("", "state", fmt.Sprintf("%q %v: there are pending, approved, rejected, suspended and deleted", q.State, ErrClientState), ErrClientState)
	}
	for client := range all {
		if q.State == "" && client.State != ledger.Deleted || q.State == string(client.State) {
			list.Clients = append(list.Clients, summaryOf(v, client))
		}
	}
	return list, nil
}

func (c *call) showClient(ctx context.Context, q ClientRef) (Client, error) {
	v, err := c.view(ctx)
	if err != nil {
		return Client{}, err
	}
	client := v.Client(clientKey(q.ID))
	if client == nil {
		return Client{}, notFound(clientSubject(q.ID))
	}
	out := clientOf(v, client, c.Ledger.Now())
	if client.AwaitsReview() {
		p := v.QueuePosition(ledger.QueueQuery{}, client.ID)
		out.Queue = &QueuePlace{Since: stdTime(client.WaitingSince()), Position: p.First, Waiting: p.Total}
	}
	if q.Usage {
		out.Usage = c.usageOf(v, client.ID)
	}
	return out, nil
}

// clientKey returns the id of the client that an operator named by its id or by its client_id,
// which differ if it is an agent.
func clientKey(named string) string {
	if oauth.IsAgentID(named) {
		return ledger.ClientKey(named)
	}
	return named
}

// freshClient returns a client to base a change on.
func (c *call) freshClient(ctx context.Context, id string) (*ledger.Client, error) {
	v, err := c.fresh(ctx)
	if err != nil {
		return nil, err
	}
	client := v.Client(clientKey(id))
	if client == nil || client.State == ledger.Deleted {
		return nil, notFound(clientSubject(id))
	}
	return client, nil
}

func (c *call) deleteClient(ctx context.Context, q ClientRef) (Done, error) {
	out, err := c.propose(ctx, clientSubject(q.ID), &ledger.DeleteClient{Actor: c.actor, ID: clientKey(q.ID), Revision: q.Revision})
	return Done{out.ID}, err
}

// A Review is an administrator's verdict.
type Review struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"` // approve, reject, suspend or resume
	Reason  string `json:"reason,omitempty"`
	// Revision is the revision that the operator saw; 0 means the newest.
	Revision uint64 `json:"revision,omitempty"`
}

func (c *call) reviewClient(ctx context.Context, q Review) (Client, error) {
	client, err := c.freshClient(ctx, q.ID)
	if err != nil {
		return Client{}, err
	}
	if q.Revision == 0 {
		q.Revision = client.Revision
	}
	_, err = c.propose(ctx, clientSubject(q.ID), &ledger.ReviewClient{
		Actor: c.actor, ID: client.ID, Verdict: ledger.Verdict(q.Verdict), Reason: q.Reason, Revision: q.Revision,
	})
	if err != nil {
		return Client{}, addDetails(err, client, c.Ledger.Now())
	}
	return c.showClient(ctx, ClientRef{ID: q.ID})
}

// addDetails adds facts to a refusal that the operator would otherwise have to look up.
func addDetails(err error, client *ledger.Client, now ledger.Time) error {
	p, ok := err.(*Problem)
	if !ok {
		return err
	}
	switch p.Cause {
	case ledger.WrongState:
		p.Note = "state: " + string(client.State)
	case ledger.Conflict:
		p.Note = fmt.Sprintf("revision: %d", client.Revision)
	case ledger.ConfirmMigration:
		without, with := client.RecentTraffic(now)
		p.Note = fmt.Sprintf("without scope: %d, with scope: %d", without, with)
	case ledger.LastSecret, ledger.TooManySecrets:
		p.Note = fmt.Sprintf("active: %d", client.ActiveSecrets())
	}
	return p
}
