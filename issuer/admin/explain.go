package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An ErrorID requests what is sealed in an error_id.
type ErrorID struct {
	ErrorID string `json:"error_id"`
}

// Explained is why a request was refused.
type Explained struct {
	Client     string `json:"client_id,omitempty"` // empty if no client with the digest exists
	ClientName string `json:"client_name,omitempty"`
	// ResourceServer is the identifier URI of the resource server that was refused by its
	// identifier or name. A client may have the same id as its name: then both are set.
	ResourceServer string       `json:"resource_server,omitempty"`
	Cause          ledger.Cause `json:"cause"`
	Text           string       `json:"text"`
	At             time.Time    `json:"at"`
	When           time.Time    `json:"when,omitzero"` // when the cause occurred
	// The following fields are set if the client authenticated and owns the grant.
	Grant     string  `json:"grant_id,omitempty"`
	Presented *uint32 `json:"generation_presented,omitempty"`
	Due       *uint32 `json:"generation_due,omitempty"`
}

func (c *call) explain(ctx context.Context, q ErrorID) (Explained, error) {
	e, err := c.Explain(q.ErrorID)
	if err != nil {
		return Explained{}, &Problem{
			Class: NotFound, Subject: "error_id", Cause: ledger.NotFound,
			Text: "it can't be opened: it is not one of this server's, or its key is gone",
		}
	}
	v, err := c.view(ctx)
	if err != nil {
		return Explained{}, fmt.Errorf("explain: %w", err)
	}
	out := Explained{Cause: e.Cause, Text: e.Text(), At: stdTime(e.At), When: stdTime(e.When)}
	for client := range v.Clients() {
		if credential.ClientDigest(client.ClientID()) == e.Client {
			out.Client, out.ClientName = client.ClientID(), client.Name
			break
		}
	}
	for s := range v.ResourceServers() {
		if d := e.Client; credential.ClientDigest(s.ID) == d || credential.ClientDigest(s.Name) == d {
			out.ResourceServer = s.ID
			break
		}
	}
	if e.Named {
		out.Grant, out.Presented, out.Due = e.Grant.String(), &e.Presented, &e.Due
	}
	return out, nil
}
