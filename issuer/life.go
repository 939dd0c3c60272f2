package issuer

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// lifePause is between two tries to give the cluster its first life.
const lifePause = 200 * time.Millisecond

// beginLife gives a cluster its first life. The leader calls it. Backups and journals
// name the life that they belong to.
func (i *Issuer) beginLife(ctx context.Context) {
	for len(i.View().Lives()) == 0 {
		if _, _, err := i.Propose(ctx, &ledger.BeginLife{}); err == nil {
			return
		}
		select {
		case <-time.After(lifePause):
		case <-ctx.Done():
			return
		}
	}
}

// Lives are the lives of a state as the head of a file has them.
func Lives(v ledger.View) []backup.Life {
	var all []backup.Life
	for _, l := range v.Lives() {
		all = append(all, backup.Life{ID: hex.EncodeToString(l.ID[:]), From: l.From})
	}
	return all
}
