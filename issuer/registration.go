package issuer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Register returns the client_id of a registration (RFC 7591), which has the registration
// itself: nothing is stored, proposed or logged. A refusal is returned without an ID.
func (i *Issuer) Register(r oauth.Registration) (clientID string, refusal *oauth.Error) {
	if _, refused := i.View().CheckRegistration(&r); refused != nil {
		text := "No application may register with such redirect_uris here."
		if refused.Field != "" {
			text = fmt.Sprintf("The member %s %s.", refused.Field, refused.Note)
		}
		return "", &oauth.Error{Code: refused.Code, Description: text, Cause: uint16(refused.Cause)}
	}
	r.RedirectURIs = oauth.ShareRegistration(r.RedirectURIs)
	number, key := i.Keyring.Ring().Active()
	clientID, ok := credential.MintClientID(key.ClientIDs, number, r)
	if !ok {
		return "", &oauth.Error{
			Code: oauth.InvalidClientMetadata, Description: "The name and the redirect_uris are longer than 700 bytes.", Cause: uint16(ledger.RegistrationRefused),
		}
	}
	return clientID, nil
}

// Registration returns what a client_id was registered with, or nil if it is not the genuine
// one of a registered client. If it names a key that this node doesn't have, the key may be
// new, so the node asks the leader first; without a leader the result is nil.
func (i *Issuer) Registration(ctx context.Context, clientID string) *oauth.Registration {
	r, err := credential.ParseClientID(clientID, i.Keyring.Ring().ClientIDMAC)
	if errors.Is(err, credential.ErrUnknownKey) && i.Keyring.Reload(ctx) == nil {
		r, err = credential.ParseClientID(clientID, i.Keyring.Ring().ClientIDMAC)
	}
	if err != nil {
		return nil
	}
	return &r
}
