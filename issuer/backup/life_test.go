package backup_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/backup"
)

// TestFollow: which journals go together with which backup. A cluster began as
// A; a backup up to command 100 was restored and began B; one of B up to command
// 150 was restored and began C; and the first one was restored once more as D.
func TestFollow(t *testing.T) {
	a := backup.Life{ID: "A", From: 1}
	b, c, d := backup.Life{ID: "B", From: 101}, backup.Life{ID: "C", From: 151}, backup.Life{ID: "D", From: 101}
	const all = math.MaxUint64
	of := func(lives ...backup.Life) backup.Header { return backup.Header{Lives: lives} }
	type headers = []backup.Header
	tests := []struct {
		name     string
		seq      uint64
		lives    []backup.Life
		journals headers
		upTo     []uint64
		reason   string
	}{
		{"no journal", 100, []backup.Life{a}, nil, []uint64{}, ""},
		{"its own life", 100, []backup.Life{a}, headers{of(a), of(a)}, []uint64{all, all}, ""},
		{"its own later life", 160, []backup.Life{a, b}, headers{of(a, b)}, []uint64{all}, ""},
		{"the same backup again", 100, []backup.Life{a}, headers{of(a, b)}, []uint64{all}, ""},
		{"an earlier one, with what led to the later life", 50, []backup.Life{a}, headers{of(a), of(a, b)}, []uint64{100, all}, ""},
		{"the journals of three lives", 50, []backup.Life{a}, headers{of(a, b, c), of(a), of(a, b)}, []uint64{all, 100, 150}, ""},
		{"a life that was given up", 160, []backup.Life{a, b}, headers{of(a)}, nil, "life A of the cluster, which ended when a backup up to command 100"},
		{"given up, beside a right one", 120, []backup.Life{a, b}, headers{of(a, b), of(a)}, nil, "life A of the cluster, which ended"},
		{"a life out of an older backup", 101, []backup.Life{a}, headers{of(a, b)}, nil, "which began when an older backup, up to command 100, was restored"},
		{"another life out of the same backup", 120, []backup.Life{a, b}, headers{of(a, d)}, nil, "not in the past of life B"},
		{"another life, longer", 120, []backup.Life{a, d}, headers{of(a, b, c)}, nil, "not in the past of life D"},
		{"two lives out of the same backup", 100, []backup.Life{a}, headers{of(a, b), of(a, d)}, nil, "not in the past of life B"},
		{"another cluster", 100, []backup.Life{a}, headers{of(d)}, nil, "life D of the cluster"},
		{"a journal that does not say", 100, []backup.Life{a, b}, headers{of(), of(a, b)}, []uint64{all, all}, ""},
		{"a backup that does not say", 100, nil, headers{of(a, b)}, []uint64{all}, ""},
		{"a backup that does not say, too late", 101, nil, headers{of(a, b)}, nil, "an older backup, up to command 100"},
		{"nobody says", 100, nil, headers{of()}, []uint64{all}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			upTo, err := backup.Follow(backup.Header{Seq: test.seq, Lives: test.lives}, test.journals...)
			if test.reason != "" {
				var life *backup.LifeError
				require.ErrorAs(t, err, &life)
				assert.Contains(t, life.Reason, test.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.upTo, upTo, fmt.Sprint(test.lives))
		})
	}
}
