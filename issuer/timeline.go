package issuer

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// timelinePause is the time between two attempts to begin the first timeline.
const timelinePause = 200 * time.Millisecond

// beginTimeline gives a cluster its first timeline. The leader calls it. Backups and
// journals name the timeline that they belong to.
func (i *Issuer) beginTimeline(ctx context.Context) {
	for logged := false; len(i.View().Timelines()) == 0; logged = true {
		_, _, err := i.Propose(ctx, &ledger.BeginTimeline{})
		if err == nil {
			return
		}
		if !logged && ctx.Err() == nil {
			i.config.Log.Warn("first timeline not begun, retrying", "error", err)
		}
		select {
		case <-time.After(timelinePause):
		case <-ctx.Done():
			return
		}
	}
}
