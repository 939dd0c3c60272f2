package issuer

import (
	"context"
	"log/slog"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// markEvery is how often the cluster is told how far the trail is in the log.
// What was logged since is logged again by the next leader.
const markEvery = 10 * time.Second

// logTrail writes each event of the audit trail to the log of the leader, in
// order, at least once: the trail can be trimmed, and a copy elsewhere can't. A
// new leader goes on from where the one before it is known to have been.
func (i *Issuer) logTrail(ctx context.Context) {
	v, err := i.ViewFresh(ctx)
	if err != nil {
		v = i.View() // this node leads no more, or soon does again
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
	i.Log.InfoContext(ctx, "audit event", slog.Group("audit", attrs...))
}

func (i *Issuer) markLogged(ctx context.Context, seq uint64) {
	if seq <= i.View().Trail().Logged {
		return
	}
	if _, _, err := i.Propose(ctx, &ledger.MarkLogged{Seq: seq}); err != nil && ctx.Err() == nil {
		i.Log.Warn("mark the audit trail as logged", "error", err)
	}
}
