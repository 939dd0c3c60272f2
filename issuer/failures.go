package issuer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// ReportFailures adds the failures that this node has counted since its last report to the
// report of the current hour. It does nothing if there are none. Failures that may have been
// added already are not added again.
func (i *Issuer) ReportFailures(ctx context.Context) error {
	counts := i.config.Failures.Drain()
	if counts.SignIns == 0 && counts.Authentications == 0 {
		return nil
	}
	outcome, _, err := i.Propose(ctx, ledger.NewReportFailures(i.Node.ID(), ledger.HourOf(i.Now()), counts))
	if err == nil && outcome.Refusal == nil {
		return nil
	}
	if !errors.Is(err, oauth.ErrOutcomeUnknown) {
		i.config.Failures.AddBack(counts)
	}
	if err == nil {
		err = keyring.Refused(outcome.Refusal.Cause.String())
	}
	return fmt.Errorf("propose: %w", err)
}

// sumFailures sums the reports of each past hour in one event.
func (i *Issuer) sumFailures(ctx context.Context) {
	for _, hour := range i.View().FailureHours(i.Now()) {
		if _, _, err := i.Propose(ctx, &ledger.SumFailures{Hour: hour}); err != nil && ctx.Err() == nil {
			i.config.Log.Warn("failed authentications not summed", "error", err)
		}
	}
}
