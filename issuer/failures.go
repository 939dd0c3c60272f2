package issuer

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// reportEvery is how often a node reports the failures that it has counted. A crash loses
// those since the last report.
const reportEvery = 5 * time.Minute

func (i *Issuer) reportFailures(ctx context.Context) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := i.ReportFailures(ctx); err != nil && ctx.Err() == nil {
				i.config.Log.Warn("failed authentications not reported", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// ReportFailures adds the failures that this node has counted since its last report to the
// report of the current hour. It does nothing if there are none.
func (i *Issuer) ReportFailures(ctx context.Context) error {
	counts := i.config.Failures.Drain()
	if counts.SignIns == 0 && counts.Authentications == 0 {
		return nil
	}
	outcome, _, err := i.Propose(ctx, ledger.NewReportFailures(i.Node.ID(), ledger.HourOf(i.Now()), counts))
	if err == nil && outcome.Refusal == nil {
		return nil
	}
	i.config.Failures.AddBack(counts)
	if err == nil {
		err = keyring.Refused(outcome.Refusal.Cause.String())
	}
	return fmt.Errorf("propose: %w", err)
}

// sumFailures sums the reports of each past hour in one event.
func (i *Issuer) sumFailures(ctx context.Context) {
	for _, hour := range i.View().FailureHours(i.Now()) {
		if _, _, err := i.Propose(ctx, &ledger.SumFailures{Hour: hour}); err != nil {
			i.config.Log.Warn("failed authentications not summed", "error", err)
		}
	}
}
