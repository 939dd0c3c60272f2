package issuer

import (
	"context"
	"log/slog"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// markEvery is how often the leader records up to which event it has logged the audit
// trail. The next leader logs later events again.
const markEvery = 10 * time.Second

// logTrail writes each event of the audit trail to the leader's log output, in order and
// at least once. The trail is bounded, so a copy of the log output is the only complete
// record. A new leader continues after the last event that its predecessor recorded as
// logged.
func (i *Issuer) logTrail(ctx context.Context) {
	v, err := i.ViewFresh(ctx)
	if err != nil {
		v = i.View() // leadership is lost or will return; a stale view only logs some events twice
	}
	logged := v.Trail().Logged
	ticker := time.NewTicker(markEvery)
	defer ticker.Stop()
	for {
		changed := i.Node.Changed(ledger.TableAudit)
		for e := range i.View().EventsAfter(logged) {
			if ctx.Err() != nil {
				return
			}
			i.logEvent(ctx, e)
			logged = e.Seq
		}
		select {
		case <-changed:
		case <-ticker.C:
			i.markLogged(ctx, logged)
		case <-ctx.Done():
			return
		}
	}
}

func (i *Issuer) logEvent(ctx context.Context, e *ledger.Event) {
	attrs := []any{"seq", e.Seq, "at", e.At.Std().UTC(), "kind", string(e.Kind)}
	for _, a := range [][2]string{{"actor", e.Actor}, {"client", e.Client}, {"user", e.User}, {"detail", e.Detail}} {
		if a[1] != "" {
			attrs = append(attrs, a[0], a[1])
		}
	}
	if e.Grant != (ledger.GrantID{}) {
		attrs = append(attrs, "grant", e.Grant.String())
	}
	i.config.Log.InfoContext(ctx, "audit event", slog.Group("audit", attrs...))
}

func (i *Issuer) markLogged(ctx context.Context, seq uint64) {
	if seq <= i.View().Trail().Logged {
		return
	}
	if _, _, err := i.Propose(ctx, &ledger.MarkLogged{Seq: seq}); err != nil && ctx.Err() == nil {
		i.config.Log.Warn("audit trail not marked as logged", "error", err)
	}
}
