package restore

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/keys"
)

// A Journal is the journal of one node, read from a file or from its folder.
type Journal struct {
	Header  backup.Header
	History *journal.History
}

// ReadFile reads a journal that an Exporter wrote. Errors are those of Read.
func ReadFile(in io.Reader, held *keys.ClusterKeys) (j Journal, err error) {
	h, body, err := open(in, backup.KindJournal, held)
	if err != nil {
		return j, err
	}
	history, err := journal.Read(body)
	if err != nil {
		return j, fmt.Errorf("read the journal: %w", err)
	}
	return Journal{h, history}, nil
}

// addJournals merges the journals, sets the records after the state, and reports the gaps.
func (p *Plan) addJournals(journals []Journal) (err error) {
	if len(journals) == 0 {
		p.Gap = "there is no journal: whatever was revoked, suspended, disabled or changed after " +
			utc(p.Header.StateTime) + " is as it was then"
		return nil
	}
	if p.history, err = p.mergeJournals(journals); err != nil {
		return err
	}
	if p.records, err = readRecords(p.history, p.Header.Seq); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	p.Spans = p.history.Spans()
	gaps := p.gaps()
	for _, j := range journals {
		if j.Header.Incomplete != "" {
			gaps = append(gaps, j.Header.Incomplete)
		}
	}
	p.Gap = strings.Join(gaps, "; ")
	return nil
}

// gaps describes the commands between the state and the end of the journals that no
// journal covers.
func (p *Plan) gaps() []string {
	h := p.Header
	if len(p.Spans) == 0 {
		return []string{"the journal is empty: nothing is known of what happened after " + p.subject}
	}
	if last := p.Spans[len(p.Spans)-1]; last.To < h.Seq {
		return []string{fmt.Sprintf("the journal ends at %s (command %d), before %s (%s, command %d): nothing is known of what happened after the latter",
			utc(stateTime(last.ToAt)), last.To, p.subject, utc(h.StateTime), h.Seq)}
	}
	var all []string
	for _, g := range journal.Gaps(p.Spans, h.Seq) {
		begins := h.StateTime
		if g.FromAt != 0 {
			begins = stateTime(g.FromAt)
		}
		all = append(all, fmt.Sprintf("the journal has nothing from %s to %s (commands %d to %d)", utc(begins), utc(stateTime(g.ToAt)), g.From, g.To))
	}
	return all
}

// mergeJournals merges the parts of the journals that belong to the timeline of the plan.
func (p *Plan) mergeJournals(journals []Journal) (*journal.History, error) {
	var headers []backup.Header
	for _, j := range journals {
		h := j.Header
		if h.Cluster != "" && h.Cluster != p.Header.Cluster {
			return nil, fmt.Errorf("the journal is of the cluster %s, and %s is of %s", h.Cluster, p.subject, p.Header.Cluster)
		}
		headers = append(headers, h)
	}
	upTo, err := backup.ReplayLimits(p.Header, headers...)
	if err != nil {
		return nil, err
	}
	cut := make([]Journal, len(journals))
	for i, j := range journals {
		cut[i] = Journal{j.Header, j.History.Until(upTo[i])}
	}
	history, err := p.merge(cut)
	if err != nil {
		return nil, fmt.Errorf("the journals contradict each other: %w", err)
	}
	p.warnOfTimelines(headers)
	return history, nil
}

// merge merges journals of the same timeline. A journal may have a tail: the end of a log
// that doesn't record which commands were decided. Commands in a tail are dropped if
// another journal has different commands in their place that were decided, or that are in
// a log with a later last term: no leader can have committed both.
func (p *Plan) merge(journals []Journal) (*journal.History, error) {
	sorted := slices.Clone(journals)
	slices.SortStableFunc(sorted, func(a, b Journal) int {
		switch x, y := a.Header.Tail, b.Header.Tail; {
		case x != nil && y != nil:
			return cmp.Compare(y.Term, x.Term)
		case x != nil:
			return +1
		case y != nil:
			return -1
		}
		return 0
	})
	all := &journal.History{}
	for _, j := range sorted {
		merged, err := journal.Merge(all, j.History)
		if tail := j.Header.Tail; tail != nil && errors.Is(err, journal.ErrConflict) {
			merged, err = journal.Merge(all, j.History.Until(tail.From-1))
		} else if tail != nil {
			p.warnOfTail(j, max(tail.From, lastSeq(all)+1, p.Header.Seq+1))
		}
		if err != nil {
			return nil, err
		}
		all = merged
	}
	return all, nil
}

// warnOfTail warns that the commands of j from a Seq on may not have been decided.
func (p *Plan) warnOfTail(j Journal, from uint64) {
	if to := lastSeq(j.History); from <= to {
		p.Warnings = append(p.Warnings, fmt.Sprintf(
			"the log of %s does not say whether commands %d to %d were decided: what they took away is taken away here",
			cmp.Or(j.Header.Node, "a node"), from, to))
	}
}

// lastSeq returns the Seq of the last command that a history covers, or 0.
func lastSeq(h *journal.History) uint64 {
	spans := h.Spans()
	if len(spans) == 0 {
		return 0
	}
	return spans[len(spans)-1].To
}

// warnOfTimelines warns of a state, and of journals, that name no timeline: they were
// written before the cluster, or their node, had one.
func (p *Plan) warnOfTimelines(journals []backup.Header) {
	if len(p.Header.Timelines) == 0 {
		p.Warnings = append(p.Warnings, p.subject+" names no timeline of the cluster: "+
			"whether the journal belongs to it could not be checked")
	}
	for _, h := range journals {
		if len(h.Timelines) == 0 {
			p.Warnings = append(p.Warnings, fmt.Sprintf("the journal that was written at %s names no timeline of the cluster: "+
				"if the cluster was restored or recovered since %s was written, the journal may be about other commands", utc(h.Taken), p.subject))
		}
	}
}
