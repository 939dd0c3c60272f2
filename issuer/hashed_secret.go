package issuer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// hashedSecrets verifies client secrets against hashes of another system. The endpoints limit
// how often a secret that may be such a one is presented; this bounds how many are verified at
// once, besides those of passwords, and how many requests wait.
type hashedSecrets struct {
	hasher interface {
		Matches(ctx context.Context, hash, presented string) (bool, error)
	}
	places chan struct{} // an element for each request that waits or verifies
}

// Bounds on verifying. A hash takes up to 128 MiB, so all of them on a node take at most
// 128 MiB for each two CPUs.
const (
	placesPerHash = 16
	waitHashed    = 5 * time.Second
	maxHashed     = 1024 // bytes of a secret that are hashed
)

func newHashedSecrets(rand io.Reader) hashedSecrets {
	parallel := max(1, runtime.NumCPU()/2)
	return hashedSecrets{hasher: credential.NewHasher(rand, parallel), places: make(chan struct{}, parallel*placesPerHash)}
}

// find returns the secret whose hash the presented secret has, or nil. The error is
// oauth.ErrUnavailable if too many requests wait.
func (h *hashedSecrets) find(ctx context.Context, list []ledger.Secret, presented string) (*ledger.Secret, error) {
	if len(list) == 0 {
		return nil, nil
	}
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		return nil, fmt.Errorf("verify a hashed secret: too many requests wait: %w", oauth.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, waitHashed)
	defer cancel()
	for i := range list {
		right, err := h.hasher.Matches(ctx, list[i].Hash, presented)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("verify a hashed secret: %w: %w", oauth.ErrUnavailable, ctx.Err())
		case err == nil && right: // an error is that of a damaged hash, which nothing matches
			return &list[i], nil
		}
	}
	return nil, nil
}

// upgradeSecret replaces the hash that another system made of a client's secret, at the first
// use of the secret, so that the client authenticates by a digest from then on, in this request
// too. It does nothing without a secret, or with a wrong one, which the authentication that
// follows refuses. The endpoints have limited how often secrets are guessed at.
//
// If it finds no hash that matches, and mayLag is set, it also reads a fresh view: the client may
// have been imported at another node a moment ago. Rubbish must not cause that.
//
// A client is no secret, unlike an account, so a wrong secret may take longer if the client has
// such a hash.
func (i *Issuer) upgradeSecret(ctx context.Context, c oauth.ClientCredentials, mayLag bool) error {
	if c.Secret == "" || len(c.Secret) > maxHashed || credential.IsSecret(c.Secret) {
		return nil // guesses in the format of generated secrets are not limited; no other system made one
	}
	auth := i.clientAuth(c, ledger.MaxID)
	list, needed := i.View().HashedSecrets(auth)
	if !needed {
		return nil
	}
	found, err := i.hashed.find(ctx, list, c.Secret)
	if err == nil && found == nil && mayLag && i.InTouch() {
		var v ledger.View
		if v, err = i.ViewPaced(ctx); err != nil {
			return err // nothing else would be decided either, and the caller has waited
		}
		newer, _ := v.HashedSecrets(auth)
		newer = slices.DeleteFunc(newer, func(s ledger.Secret) bool {
			return slices.ContainsFunc(list, func(o ledger.Secret) bool { return o.HashSum == s.HashSum })
		})
		found, err = i.hashed.find(ctx, newer, c.Secret)
	}
	if err != nil || found == nil {
		return err
	}
	if err := i.proposeUpgrade(ctx, auth.Client, found, c.Secret); err != nil {
		return fmt.Errorf("%w: %w", oauth.ErrSecretCorrect, err)
	}
	return nil
}

func (i *Issuer) proposeUpgrade(ctx context.Context, client string, s *ledger.Secret, plain string) error {
	own, err := i.Secret(plain)
	if err != nil {
		return err
	}
	own.ID = s.ID
	out, index, err := i.Propose(ctx, &ledger.UpgradeSecret{
		Client: client, VerifiedHash: sha256.Sum256([]byte(s.Hash)), Secret: own,
	})
	switch {
	case err != nil:
		return err
	case out.Refusal == nil:
		_, err = i.ViewAt(ctx, index) // requests without a genuine credential are decided on it
	case out.Refusal.Cause == ledger.KeyNotRecorded: // this node lags behind a change of keys
		err = oauth.ErrUnavailable
	default: // revoked, or replaced meanwhile
		_, err = i.ViewFresh(ctx)
	}
	return err
}
