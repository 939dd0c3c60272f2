package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// ErrNoSettings is returned by Config.Settings if the cluster has no settings yet, of a
// server that waits for them.
var ErrNoSettings = errors.New("the cluster has no settings yet")

// settingsPause is the least time between two checks for settings that another node proposed.
const settingsPause = 100 * time.Millisecond

// configure returns the cluster's settings, after it has written those that the server
// was started with. A node that has settings in its own state does not wait for other
// nodes.
func (s *Server) configure(ctx context.Context) (ledger.Settings, error) {
	complete := func(current ledger.Settings) (ledger.Settings, error) {
		return s.config.Settings(current, s.PublicAddr.String())
	}
	current := *ledger.At(s.Node.View()).Settings()
	wanted, err := complete(current)
	for errors.Is(err, ErrNoSettings) {
		// A node that has just joined has no state yet.
		view, fresh := s.Node.ViewFresh(ctx)
		switch {
		case ctx.Err() != nil:
			return wanted, fmt.Errorf("wait for cluster settings: %w", ctx.Err())
		case fresh != nil:
			s.setWaitReason("no settings are known to this node, and no leader is known")
			s.sleep(ctx, settingsPause) // a node that the others refuse does not wait for a leader
			continue
		}
		current = *ledger.At(view).Settings()
		if wanted, err = complete(current); errors.Is(err, ErrNoSettings) {
			if err := s.proposeInitialSettings(ctx, current); err != nil {
				return wanted, err
			}
		}
	}
	if err != nil || wanted == current {
		return wanted, err
	}
	return wanted, s.writeSettings(ctx, &ledger.Configure{Settings: wanted})
}

// proposeInitialSettings proposes the addresses that this server was started with, or that
// an operator gives, for a cluster without addresses. If another node is faster, Settings
// compares its addresses with these.
func (s *Server) proposeInitialSettings(ctx context.Context, defaults ledger.Settings) error {
	if s.config.PublicURL == "" {
		if err := s.awaitAddresses(); err != nil {
			return err
		}
		select {
		case q := <-s.initRequests:
			s.config.PublicURL, s.config.AppURL, s.config.PlainHTTP = q.PublicURL, q.AppURL, q.PlainHTTP
		case <-time.After(settingsPause):
		case <-ctx.Done():
		}
		return nil
	}
	first := defaults
	first.BaseURL, first.AppURL, first.Audience = s.config.PublicURL, s.config.AppURL, s.config.PublicURL
	first.PlainHTTP = s.config.PlainHTTP
	if first.AppURL == "" {
		first.AppURL = first.BaseURL
	}
	err := s.writeSettings(ctx, &ledger.Configure{Settings: first, First: true})
	if errors.Is(err, cluster.ErrUnavailable) || errors.Is(err, cluster.ErrUnknown) {
		return nil // the next check finds the result
	}
	return err
}

// awaitAddresses accepts the addresses of a cluster, whose creation was interrupted, from
// an operator.
func (s *Server) awaitAddresses() error {
	if s.waitingFor() == ErrNoAddresses.Error() {
		return nil
	}
	s.setWaitReason(ErrNoAddresses.Error())
	s.config.Log.Warn("cluster found without addresses, waiting for an operator", "error", ErrNoAddresses)
	return s.setAdminHandler(s.waitingHandler(s.passAddresses))
}

// passAddresses passes the addresses of an operator to proposeInitialSettings, and returns
// when the node serves.
func (s *Server) passAddresses(ctx context.Context, c admin.NewCluster) error {
	if err := s.checkNewCluster(c); err != nil {
		return err
	}
	select {
	case s.initRequests <- c:
	case <-s.started: // another node or operator was faster
		return refusal{errors.New("this node belongs to a cluster already")}
	case <-s.stopping:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.awaitStart(ctx)
}

func (s *Server) writeSettings(ctx context.Context, c *ledger.Configure) error {
	value, _, err := s.Node.Propose(ctx, c)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if r := value.(ledger.Outcome).Refusal; r != nil {
		return fmt.Errorf("setting %s %s", r.Field, r.Note)
	}
	return nil
}

// warnOfPlainHTTP logs a warning if the cluster has addresses with plain http outside the
// loopback.
func (s *Server) warnOfPlainHTTP() {
	if ledger.PlainHTTP(s.Settings.BaseURL) || ledger.PlainHTTP(s.Settings.AppURL) {
		s.config.Log.Warn("plain http accepted outside the loopback: passwords, cookies, codes and secrets can be read and changed on the way",
			"base_url", s.Settings.BaseURL, "app_url", s.Settings.AppURL)
	}
}
