package server

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// An observer passes the issuer's events to the metrics, and refusals to the pages, which
// show them to the owners of clients.
type observer struct {
	m        *telemetry.Metrics
	refusals *web.Refusals
	now      func() time.Time
}

func (o observer) Issued(g oauth.GrantType, retry, shared bool) { o.m.Issued(g, retry, shared) }
func (o observer) Committed(took time.Duration)                 { o.m.Committed(took) }

func (o observer) Refused(client string, code oauth.Code, c ledger.Cause, errorID string) {
	o.m.Refused(c)
	if client != "" {
		o.refusals.Record(client, code, c, errorID, ledger.Time(o.now().UnixMilli()))
	}
}

// Sample returns the state of the node for /metrics.
func (s *Server) Sample() telemetry.NodeSample {
	expires := map[string]time.Time{}
	for _, c := range s.config.certificates() {
		expires[c.listener] = c.expires()
	}
	if !s.isOpen() {
		return telemetry.NodeSample{TLSExpires: expires}
	}
	m := telemetry.NodeSample{
		Ready: s.isReady(context.Background()), Open: true, Stats: s.Node.Stats(), TLSExpires: expires,
		Keys: make(map[telemetry.KeyKind]int), Numbers: s.numbers.Load(),
	}
	v := ledger.At(s.Node.View())
	b := v.BackupSchedule()
	if m.BackupEvery = b.Every; b.Saved != nil {
		m.BackupAt = b.Saved.At.Std()
	}
	for k := range v.Keys() {
		m.Keys[telemetry.KeyKind{Purpose: k.Purpose, State: k.State}]++
	}
	return m
}

// numbersPause is the least time between two counts of rows.
const numbersPause = time.Minute

// keepNumbers counts the rows of the state until the server stops. It walks them all, so it
// waits a thousand times as long as it takes: a thousandth of one processor.
func (s *Server) keepNumbers() {
	for {
		begun := time.Now()
		n := ledger.At(s.Node.View()).Numbers()
		s.numbers.Store(&n)
		select {
		case <-time.After(max(numbersPause, 1000*time.Since(begun))):
		case <-s.stopping:
			return
		}
	}
}

// isOpen reports whether the node runs.
func (s *Server) isOpen() bool {
	select {
	case <-s.opened:
		return true
	default:
		return false
	}
}
