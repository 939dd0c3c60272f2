package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// NewOperatorToken requests a token for an operator on another machine.
type NewOperatorToken struct {
	Name     string        `json:"name"`
	Scopes   []string      `json:"scopes"`   // of read, clients, users, settings and cluster
	Lifetime time.Duration `json:"lifetime"` // nanoseconds, at most a year
}

// An AddedOperatorToken has the token, which is shown only once.
type AddedOperatorToken struct {
	OperatorToken
	Token Plain `json:"token"`
}

// An OperatorTokenFilter selects the tokens of the list: the valid ones, or all.
type OperatorTokenFilter struct {
	Ended bool `json:"ended,omitempty"` // include expired and revoked ones
}

// An OperatorTokenList is ordered by name, then by age.
type OperatorTokenList struct {
	Tokens []OperatorToken `json:"tokens"`
}

// An OperatorToken is a token without its text.
type OperatorToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"`
	State   string    `json:"state"` // "valid", "expired", "revoked", or "void" if its key leaked and was dropped
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
	Used    time.Time `json:"last_used_at,omitzero"` // to the hour
	Revoked time.Time `json:"revoked_at,omitzero"`
}

// An OperatorTokenRef names a token by id, or a valid one by name.
type OperatorTokenRef struct {
	Token string `json:"token"`
}

func operatorTokenOf(v ledger.View, t *ledger.OperatorToken, now ledger.Time) OperatorToken {
	out := OperatorToken{
		ID: t.ID, Name: t.Name, Created: stdTime(t.Created), Expires: stdTime(t.Expires), Used: stdTime(t.Used), Revoked: stdTime(t.Revoked),
	}
	for _, s := range t.Scopes {
		out.Scopes = append(out.Scopes, string(s))
	}
	switch v.OperatorTokenCause(t, now) {
	case ledger.NoCause:
		out.State = "valid"
	case ledger.OperatorTokenRevoked:
		out.State = "revoked"
	case ledger.OperatorTokenExpired:
		out.State = "expired"
	default:
		out.State = "void"
	}
	return out
}

func (c *call) addOperatorToken(ctx context.Context, q NewOperatorToken) (AddedOperatorToken, error) {
	subject := "operator token " + q.Name
	token := credential.NewOperatorToken(c.Rand).Reveal()
	digest, err := c.Secret(token)
	if err != nil {
		return AddedOperatorToken{}, fmt.Errorf("digest an operator token: %w", err)
	}
	cmd := &ledger.AddOperatorToken{
		Actor: c.actor, ID: credential.OperatorTokenID(token), Name: q.Name, Key: digest.Key, Digest: digest.Digest, Lifetime: q.Lifetime,
	}
	for _, s := range q.Scopes {
		cmd.Scopes = append(cmd.Scopes, ledger.OperatorScope(s))
	}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedOperatorToken{}, err
	}
	v, err := c.view(ctx)
	if err != nil {
		return AddedOperatorToken{}, err
	}
	t := v.OperatorToken(cmd.ID)
	if t == nil { // the view lags
		return AddedOperatorToken{}, fmt.Errorf("propose: %w", ErrOutcomeUnknown)
	}
	return AddedOperatorToken{operatorTokenOf(v, t, c.Ledger.Now()), Plain(token)}, nil
}

func (c *call) listOperatorTokens(ctx context.Context, q OperatorTokenFilter) (OperatorTokenList, error) {
	list := OperatorTokenList{Tokens: []OperatorToken{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	now := c.Ledger.Now()
	for t := range v.OperatorTokens() {
		if q.Ended || v.OperatorTokenCause(t, now) == ledger.NoCause {
			list.Tokens = append(list.Tokens, operatorTokenOf(v, t, now))
		}
	}
	slices.SortFunc(list.Tokens, func(a, b OperatorToken) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Created.Compare(b.Created))
	})
	return list, nil
}

func (c *call) revokeOperatorToken(ctx context.Context, q OperatorTokenRef) (Done, error) {
	v, err := c.fresh(ctx)
	if err != nil {
		return Done{}, err
	}
	subject := "operator token " + q.Token
	found := v.OperatorToken(q.Token)
	for t := range v.OperatorTokens() {
		if found == nil && t.Name == q.Token && v.OperatorTokenCause(t, c.Ledger.Now()) == ledger.NoCause {
			found = t
		}
	}
	if found == nil {
		return Done{}, notFound(subject)
	}
	_, err = c.propose(ctx, subject, &ledger.RevokeOperatorToken{Actor: c.actor, ID: found.ID})
	return Done{found.ID}, err
}
