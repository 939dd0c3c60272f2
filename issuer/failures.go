package issuer

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// reportEvery is how often a node reports the failures that it has counted. Those since
// its last report are lost if its process crashes.
const reportEvery = 5 * time.Minute

func (i *Issuer) reportFailures(ctx context.Context) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := i.ReportFailures(ctx); err != nil && ctx.Err() == nil {
				i.config.Log.Warn("report failures to authenticate", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// ReportFailures adds the failures that this node has counted since its last report to
// the report of the present hour. Without failures it does nothing.
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

// sumFailures makes one event of the reports of each hour that is over.
func (i *Issuer) sumFailures(ctx context.Context) {
	for _, hour := range i.View().FailureHours(i.Now()) {
		if _, _, err := i.Propose(ctx, &ledger.SumFailures{Hour: hour}); err != nil {
			i.config.Log.Warn("sum failures to authenticate", "error", err)
		}
	}
}
