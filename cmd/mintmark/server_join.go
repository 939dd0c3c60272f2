package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// How long a node waits between two tries to join: longer each time, since the
// node asked may be starting too, or be gone for long. One that was refused is
// not heard before something has changed, here or at the cluster.
const (
	joinPauseFirst   = time.Second
	joinPauseMost    = 30 * time.Second
	joinPauseRefused = time.Minute
	// tokenPause is between two looks at the file with the token.
	tokenPause = time.Second
)

// join makes the folder a member's. It tries until it is: where it is refused it
// waits for another token, and says so to whoever asks.
func (s *server) join(ctx context.Context, dir, advertise string) error {
	if err := restore.RefuseExistingJournal(s.config.DataDir); err != nil {
		return err
	}
	c := s.config.Cluster
	token, err := readToken(c.TokenFile)
	if err != nil {
		return err
	}
	s.setWaitReason("it joins by the node at " + c.Join)
	if err := s.setAdminHandler(admin.NewSetupHandler(admin.Setup{Name: c.Name, WaitReason: s.waitingFor, Log: s.config.Log})); err != nil {
		return err
	}
	wanted := ""
	if c.Named {
		wanted = c.Name
	}
	for pause := joinPauseFirst; ; {
		err := cluster.JoinCluster(ctx, cluster.Join{
			Now: wallClock,
			Dir: dir, Address: c.Join, Token: token, Advertise: advertise,
			Name: wanted, Version: version, Level: ledger.Level, StoreSecret: func(text []byte) error { return storeJoined(s.config.Key, text) },
		})
		var refused *cluster.RefusedError
		switch {
		case err == nil:
			s.config.Log.Info("joined the cluster; this node catches up, and then votes", "by", c.Join)
			s.setWaitReason("still starting")
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, cluster.ErrDataLost), errors.Is(err, cluster.ErrExposed):
			return err
		case errors.As(err, &refused):
			s.reportJoinRefused(refused)
			token, err = s.awaitToken(ctx, token, joinPauseRefused)
			pause = joinPauseFirst
		default:
			s.setWaitReason("not joined yet: " + err.Error())
			s.config.Log.Warn("not joined yet", "error", err, "again in", pause)
			token, err = s.awaitToken(ctx, token, pause)
			pause = min(2*pause, joinPauseMost)
		}
		if err != nil {
			return err
		}
	}
}

// reportJoinRefused tells everybody why this node is no member, the log once.
func (s *server) reportJoinRefused(refused error) {
	why := "join refused: " + refused.Error()
	if told := s.waitReason.Swap(&why); told == nil || *told != why {
		s.config.Log.Error(why, "node asked", s.config.Cluster.Join, "goes on with another token in", s.config.Cluster.TokenFile)
	}
}

// awaitToken waits for a token other than the one that was used, or for most.
func (s *server) awaitToken(ctx context.Context, used string, most time.Duration) (string, error) {
	over := time.NewTimer(most)
	defer over.Stop()
	look := time.NewTicker(tokenPause)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			token, err := readToken(s.config.Cluster.TokenFile)
			switch {
			case err == nil && token != "" && token != used:
				return token, nil
			case errors.Is(err, config.ErrExposed):
				s.reportJoinRefused(err)
			default: // a file that can't be read is being written
			}
		case <-over.C:
			return used, nil
		case <-ctx.Done():
			return used, ctx.Err()
		}
	}
}

// maxToken is far more than a token has, in bytes.
const maxToken = 4096

// readToken refuses a file that others can read, as with each secret: whoever has
// the token before the node uses it joins in its place, and is given the cluster
// key.
func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the join token (see --token-file): %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := config.RequirePrivate(f, "join token", os.Getenv("CREDENTIALS_DIRECTORY")); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", fmt.Errorf("read the join token (see --token-file): %w", err)
	}
	return string(b), nil
}

// storeJoined stores the cluster key that a join brings. Another try does not help
// a node that has another key, so that is a refusal.
func storeJoined(s config.KeySource, text []byte) error {
	err := s.Store(text)
	if errors.Is(err, keys.ErrOtherCluster) {
		return &cluster.RefusedError{Reason: err.Error() + ": give it that one, or none, and start it again"}
	}
	return err
}
