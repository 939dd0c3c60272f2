package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// The time between two attempts to join increases, because the other node may be starting
// too, or be down for long. After a refusal another attempt helps only if the token or
// the cluster has changed.
const (
	joinPauseFirst   = time.Second
	joinPauseMost    = 30 * time.Second
	joinPauseRefused = time.Minute
	// tokenPause is the time between two checks of the token file.
	tokenPause = time.Second
)

// join makes the folder that of a member. It retries until it succeeds. After a refusal
// it waits for another token, and reports the reason to operators.
func (s *Server) join(ctx context.Context, dir, advertise string) error {
	if err := restore.RefuseExistingJournal(s.config.DataDir); err != nil {
		return err
	}
	c := s.config.Cluster
	token, err := readToken(c.TokenFile)
	if err != nil {
		return err
	}
	s.setWaitReason("joining through the node at " + c.Join)
	if err := s.setAdminHandler(admin.NewSetupHandler(admin.Setup{Name: c.Name, WaitReason: s.waitingFor, Log: s.config.Log})); err != nil {
		return err
	}
	wanted := ""
	if c.Named {
		wanted = c.Name
	}
	for pause := joinPauseFirst; ; {
		err := join.Join(ctx, join.Options{
			Now: WallClock,
			Dir: dir, Address: c.Join, Token: token, Advertise: advertise,
			Name: wanted, Version: s.config.Version, Level: ledger.Level, StoreSecret: func(text []byte) error { return storeJoined(s.config.Key, text) },
		})
		var refused *member.RefusedError
		switch {
		case err == nil:
			s.config.Log.Info("cluster joined, catching up", "by", c.Join)
			s.setWaitReason(stillStarting)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused): // before the others, since it may have their code
			s.reportJoinRefused(refused)
			token, err = s.awaitToken(ctx, token, joinPauseRefused)
			pause = joinPauseFirst
		case errors.Is(err, store.ErrDataLost), errors.Is(err, store.ErrExposed):
			return err
		default:
			s.setWaitReason("not joined yet: " + err.Error())
			s.config.Log.Warn("join failed", "error", err, "retry_in", pause)
			token, err = s.awaitToken(ctx, token, pause)
			pause = min(2*pause, joinPauseMost)
		}
		if err != nil {
			return err
		}
	}
}

// reportJoin reports the progress of a join until the node serves: what it waits for, and
// then how much of the log it has applied.
func (s *Server) reportJoin() {
	p := progress.Start(progress.Options{
		Out: s.config.Stderr, What: "joining", Plain: true,
		Line: func(text string) { s.config.Log.Info("join not finished", "progress", text) },
	})
	defer p.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if s.isOpen() {
			n := s.Node.Stats()
			p.Set(int64(n.Applied), int64(n.Applied+n.Lag), "catching up")
		} else if why := s.waitReason.Load(); why != nil {
			p.Set(0, 0, *why)
		}
		select {
		case <-ticker.C:
		case <-s.started:
			return
		case <-s.stopping:
			return
		}
	}
}

// reportJoinRefused records why the join was refused, and logs each reason once.
func (s *Server) reportJoinRefused(refused error) {
	if s.setWaitReason("join refused: " + refused.Error()) {
		s.config.Log.Error("join refused, waiting for another token", "error", refused, "node", s.config.Cluster.Join, "token_file", s.config.Cluster.TokenFile)
	}
}

// awaitToken waits for a token other than used, at most for most, and returns the token to
// use.
func (s *Server) awaitToken(ctx context.Context, used string, most time.Duration) (string, error) {
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
			default: // the file may be incomplete
			}
		case <-over.C:
			return used, nil
		case <-ctx.Done():
			return used, ctx.Err()
		}
	}
}

// maxToken is the longest accepted token, in bytes: far longer than real ones.
const maxToken = 4096

// readToken reads the join token, and refuses a file that others can read: the first to
// use the token joins in this node's place, and receives the cluster key.
func readToken(path string) (string, error) {
	f, err := config.OpenRegular(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrReadToken, err)
	}
	defer func() { _ = f.Close() }()
	if err := config.RequirePrivate(f, "join token", os.Getenv("CREDENTIALS_DIRECTORY")); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrReadToken, err)
	}
	return string(b), nil
}

// storeJoined stores the cluster key that a join brings. If the node has another key, the
// error is a refusal, because a retry does not help.
func storeJoined(s config.KeySource, text []byte) error {
	err := s.Store(text)
	if errors.Is(err, keys.ErrOtherCluster) {
		return member.Refuse(err)
	}
	return err
}
