package fsm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstallWatch(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events string // i: installed, a: applied
		stuck  string // numbers of the installations that report a livelock
	}{
		{"nothing is installed", "a1 a2 a900", ""},
		{"one", "a1 i100", ""},
		{"two", "i100 i100", ""},
		{"the same three times", "i100 i100 i100", "3"},
		{"newer ones", "a50 i100 i200 i300", "3"},
		{"an older one counts as well", "i300 i200 i300", "3"},
		{"progress in between", "i100 i100 a101 i200 i200 a201 i300", ""},
		{"progress after the first", "i100 a101 i200 i300", ""},
		{"progress after each", "i100 a110 i200 a210 i300 a310 i400 a410", ""},
		{"three in a row after progress", "i100 i100 a101 i200 i300 i400", "5"},
		{"entries covered by the first snapshot are no progress", "i100 i100 a90 a100 i100", "3"},
		{"entries covered only by a later snapshot are progress", "i100 i200 a150 i300 i400", ""},
		{"counts anew when raft was started again", "i100 i100 i100 i100 i100 a101 i200", "3"},
		{"stuck again", "i1 i2 i3 i4 i5 i6 i7", "3 6"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var w installWatch
			installations := 0
			var stuck []string
			for event := range strings.FieldsSeq(tc.events) {
				var kind rune
				var index uint64
				_, err := fmt.Sscanf(event, "%c%d", &kind, &index)
				require.NoError(t, err)
				if kind == 'a' {
					w.applied(index)
					continue
				}
				installations++
				if w.installed(index) {
					stuck = append(stuck, fmt.Sprint(installations))
				}
			}
			require.Equal(t, tc.stuck, strings.Join(stuck, " "))
		})
	}
}
