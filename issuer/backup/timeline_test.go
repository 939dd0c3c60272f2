package backup_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/backup"
)

// TestReplayLimits covers compatible and incompatible journals and backups. A cluster
// began as A; a backup up to command 100 was restored and began B; a backup of B up to
// command 150 was restored and began C; and the first backup was restored once more as D.
func TestReplayLimits(t *testing.T) {
	a := backup.Timeline{ID: "A", From: 1}
	b, c, d := backup.Timeline{ID: "B", From: 101}, backup.Timeline{ID: "C", From: 151}, backup.Timeline{ID: "D", From: 101}
	const all = math.MaxUint64
	of := func(lives ...backup.Timeline) backup.Header { return backup.Header{Timelines: lives} }
	type headers = []backup.Header
	tests := []struct {
		name     string
		seq      uint64
		lives    []backup.Timeline
		journals headers
		upTo     []uint64
		reason   string
	}{
		{"no journal", 100, []backup.Timeline{a}, nil, []uint64{}, ""},
		{"its own life", 100, []backup.Timeline{a}, headers{of(a), of(a)}, []uint64{all, all}, ""},
		{"its own later life", 160, []backup.Timeline{a, b}, headers{of(a, b)}, []uint64{all}, ""},
		{"the same backup again", 100, []backup.Timeline{a}, headers{of(a, b)}, []uint64{all}, ""},
		{"an earlier one, with what led to the later life", 50, []backup.Timeline{a}, headers{of(a), of(a, b)}, []uint64{100, all}, ""},
		{"the journals of three lives", 50, []backup.Timeline{a}, headers{of(a, b, c), of(a), of(a, b)}, []uint64{all, 100, 150}, ""},
		{"a life that was given up", 160, []backup.Timeline{a, b}, headers{of(a)}, nil, "timeline A of the cluster, which ended when a backup up to command 100"},
		{"given up, beside a right one", 120, []backup.Timeline{a, b}, headers{of(a, b), of(a)}, nil, "timeline A of the cluster, which ended"},
		{"a life out of an older backup", 101, []backup.Timeline{a}, headers{of(a, b)}, nil, "which began when an older backup, up to command 100, was restored"},
		{"another life out of the same backup", 120, []backup.Timeline{a, b}, headers{of(a, d)}, nil, "not in the past of timeline B"},
		{"another life, longer", 120, []backup.Timeline{a, d}, headers{of(a, b, c)}, nil, "not in the past of timeline D"},
		{"two lives out of the same backup", 100, []backup.Timeline{a}, headers{of(a, b), of(a, d)}, nil, "not in the past of timeline B"},
		{"another cluster", 100, []backup.Timeline{a}, headers{of(d)}, nil, "timeline D of the cluster"},
		{"a journal that does not say", 100, []backup.Timeline{a, b}, headers{of(), of(a, b)}, []uint64{all, all}, ""},
		{"a backup that does not say", 100, nil, headers{of(a, b)}, []uint64{all}, ""},
		{"a backup that does not say, too late", 101, nil, headers{of(a, b)}, nil, "an older backup, up to command 100"},
		{"nobody says", 100, nil, headers{of()}, []uint64{all}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			upTo, err := backup.ReplayLimits(backup.Header{Seq: test.seq, Timelines: test.lives}, test.journals...)
			if test.reason != "" {
				var life *backup.TimelineError
				require.ErrorAs(t, err, &life)
				assert.Contains(t, life.Reason, test.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.upTo, upTo, fmt.Sprint(test.lives))
		})
	}
}
