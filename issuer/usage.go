package issuer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// maxUsageCounts is how many clients and hours a node counts between two reports. What is
// answered to further ones is not counted.
const maxUsageCounts = 10_000

// usageCounts counts the refreshes and refusals that this node answers, until they are reported.
type usageCounts struct {
	mu     sync.Mutex // guards counts
	counts map[usageKey]ledger.UsageCount
}

type usageKey struct {
	hour   int64 // see ledger.HourOf
	client string
}

func newUsageCounts() usageCounts {
	return usageCounts{counts: map[usageKey]ledger.UsageCount{}}
}

func (u *usageCounts) add(hour int64, n ledger.UsageCount) {
	u.mu.Lock()
	defer u.mu.Unlock()
	k := usageKey{hour, n.Client}
	old, known := u.counts[k]
	if !known && len(u.counts) >= maxUsageCounts {
		return
	}
	n.Refreshes += old.Refreshes
	n.Refusals += old.Refusals
	u.counts[k] = n
}

// drain returns the counts as reports of a node, and resets them.
func (u *usageCounts) drain(node string) (reports []*ledger.ReportUsage) {
	u.mu.Lock()
	counts := u.counts
	u.counts = map[usageKey]ledger.UsageCount{}
	u.mu.Unlock()
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b usageKey) int {
		return cmp.Or(cmp.Compare(a.hour, b.hour), cmp.Compare(a.client, b.client))
	}) {
		last := len(reports) - 1
		if last < 0 || reports[last].Hour != k.hour || len(reports[last].Counts) == ledger.MaxUsageCounts {
			reports = append(reports, &ledger.ReportUsage{Node: node, Hour: k.hour})
			last++
		}
		reports[last].Counts = append(reports[last].Counts, counts[k])
	}
	return reports
}

// CountRefusal counts a refused request of a client that exists, or of none if client is "".
func (i *Issuer) CountRefusal(client string) {
	if client != "" {
		i.usage.add(ledger.HourOf(i.Now()), ledger.UsageCount{Client: client, Refusals: 1})
	}
}

func (i *Issuer) countRefresh(client string) {
	i.usage.add(ledger.HourOf(i.Now()), ledger.UsageCount{Client: client, Refreshes: 1})
}

// ReportUsage adds what this node has counted since its last report to the figures of the
// clients. It proposes nothing if there was nothing. Counts that may have been added already are
// not added again.
func (i *Issuer) ReportUsage(ctx context.Context) error {
	var refused []error
	reports := i.usage.drain(i.Node.ID())
	for n, r := range reports {
		outcome, _, err := i.Propose(ctx, r)
		if err != nil {
			if errors.Is(err, oauth.ErrOutcomeUnknown) {
				n++
			}
			for _, r := range reports[n:] {
				for _, one := range r.Counts {
					i.usage.add(r.Hour, one)
				}
			}
			return fmt.Errorf("propose: %w", err)
		}
		if r := outcome.Refusal; r != nil {
			refused = append(refused, keyring.Refused(r.Cause.String()+": "+r.Field+" "+r.Note))
		}
	}
	return errors.Join(refused...)
}
