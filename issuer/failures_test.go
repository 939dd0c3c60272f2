package issuer_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// withFailures returns an issuer that counts failures.
func withFailures(t *testing.T, o *stallingObserver) *issuertest.Issuer {
	t.Helper()
	b := issuertest.New(t)
	b.Stop()
	b.Failures = security.New(security.Config{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if o != nil {
		b.ApplyObserver = o
	}
	b.Start()
	return b
}

// stallingObserver is a machine.Observer that stalls at each command of a kind.
type stallingObserver struct {
	stalls  func(command.Command) bool
	stalled chan struct{} // receives at each
	resume  chan struct{} // ends each
}

func (o *stallingObserver) Applied(_ *memdb.Txn, c command.Command, _ command.Decision, _ command.Meta) {
	if o.stalls(c) {
		o.stalled <- struct{}{}
		<-o.resume
	}
}

func (*stallingObserver) Restored(uint64, int64) {}
func (*stallingObserver) Flush() error           { return nil }

// TestReportsOfUnknownOutcome verifies that a report that may have been added is not added again.
func TestReportsOfUnknownOutcome(t *testing.T) {
	o := &stallingObserver{stalled: make(chan struct{}), resume: make(chan struct{})}
	o.stalls = func(c command.Command) bool {
		switch c.(type) {
		case *ledger.ReportUsage, *ledger.ReportFailures:
			return true
		}
		return false
	}
	b := withFailures(t, o)
	b.CountRefusal("app")
	b.Failures.Record(security.Failure{Kind: security.Client, Cause: ledger.SecretWrong, Client: "app"})
	for _, report := range []func(context.Context) error{b.ReportUsage, b.ReportFailures} {
		ctx, cancel := context.WithCancel(t.Context())
		reported := make(chan error, 1)
		go func() { reported <- report(ctx) }()
		<-o.stalled
		cancel()
		require.ErrorIs(t, <-reported, oauth.ErrOutcomeUnknown)
		o.resume <- struct{}{}
	}
	require.Empty(t, b.DrainUsage())
	require.Zero(t, b.Failures.Drain())
}

// TestFailuresAtClose verifies that a node that stops reports the failures that it has counted.
func TestFailuresAtClose(t *testing.T) {
	b := withFailures(t, nil)
	b.Failures.Record(security.Failure{Kind: security.Client, Cause: ledger.SecretWrong, Client: "app"})
	later := b.Now() + ledger.Time(2*time.Hour/time.Millisecond)
	require.Empty(t, b.View().FailureHours(later))
	b.Stop()
	b.Start()
	require.Len(t, b.View().FailureHours(later), 1)
}
