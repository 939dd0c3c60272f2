package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestRecoverySaysWhatMayComeBack: recover warns that revocations may be undone, unless the
// journals are complete.
func TestRecoverySaysWhatMayComeBack(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	others := recovery.Plan{Abandoned: []recovery.AbandonedNode{{Member: member.Member{Name: "n2"}}}}
	known := admin.RestoreReport{Seq: 5, StateTime: at, KnownUntil: at}
	holed := known
	holed.Covered = []admin.JournalSpan{{From: 7, To: 9, Begins: at, Ends: at}}
	holed.Journal, holed.Gap = 9, "the journal has nothing of commands 6 to 6"
	whole := holed
	whole.Gap, whole.Changes = "", []string{"user u-alice disabled"}
	idle := whole
	idle.Changes = nil
	none := known
	none.Gap = "there is no journal"
	const list, all = "revocations may have come back: ", "all revocations up to then are known"
	for name, test := range map[string]struct {
		report      admin.RestoreReport
		sure        bool
		says, never []string
	}{
		"no journal":      {none, true, []string{"lost: there is no journal", list}, []string{all}},
		"one with a hole": {holed, true, []string{"lost: the journal has nothing of", list, "up to command 9"}, []string{all}},
		"whole":           {whole, true, []string{"at the next start it changes:\n", "up to command 9, " + formatTimeSeconds(at), all}, []string{list, "lost: "}},
		"whole, to ask":   {whole, false, []string{"it would change:\n", all}, []string{list}},
		"nothing to do":   {idle, true, []string{"at the next start it changes nothing\n", all}, []string{list}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			p := newPrinter(&out, &out)
			showLost(p, others, test.report, test.sure)
			require.NoError(t, p.writeErr())
			for _, text := range test.says {
				require.Contains(t, out.String(), text)
			}
			for _, text := range test.never {
				require.NotContains(t, out.String(), text)
			}
		})
	}
}
