package issuer

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// timelinePause is between two tries to give the cluster its first timeline.
const timelinePause = 200 * time.Millisecond

// beginTimeline gives a cluster its first timeline. The leader calls it. Backups and journals
// name the timeline that they belong to.
func (i *Issuer) beginTimeline(ctx context.Context) {
	for len(i.View().Timelines()) == 0 {
		if _, _, err := i.Propose(ctx, &ledger.BeginTimeline{}); err == nil {
			return
		}
		select {
		case <-time.After(timelinePause):
		case <-ctx.Done():
			return
		}
	}
}

// Timelines are the timelines of a state as the head of a file has them.
func Timelines(v ledger.View) []backup.Timeline {
	var all []backup.Timeline
	for _, l := range v.Timelines() {
		all = append(all, backup.Timeline{ID: hex.EncodeToString(l.ID[:]), From: l.From})
	}
	return all
}
