package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// A nodeJournal is the journal of one node, as it was exported.
type nodeJournal struct {
	header  backup.Header
	history *journal.History
}

// readJournals says what happened after the backup, and what of it is not known.
func (r *restoration) readJournals(files [][]byte) error {
	var journals []nodeJournal
	for _, file := range files {
		j, err := r.readJournal(file)
		if err != nil {
			return err
		}
		journals = append(journals, j)
	}
	return r.addJournals(journals)
}

func (r *restoration) readJournal(file []byte) (j nodeJournal, err error) {
	h, body, err := r.open(bytes.NewReader(file), backup.KindJournal)
	if err != nil {
		return j, err
	}
	history, err := journal.Read(body)
	if err != nil {
		return j, refusal{fmt.Errorf("read the journal: %w", err)}
	}
	return nodeJournal{h, history}, nil
}

// addJournals merges the journals, takes the records after the backup from them, and
// reports the gaps.
func (r *restoration) addJournals(journals []nodeJournal) (err error) {
	if len(journals) == 0 {
		r.report.Gap = "there is no journal: whatever was revoked, suspended, disabled or changed after " +
			utc(r.header.StateTime) + " is as it was then"
		return nil
	}
	if r.history, err = r.mergeJournals(journals); err != nil {
		return err
	}
	if r.records, err = issuer.ReadRecords(r.history, r.header.Seq); err != nil {
		return refusal{fmt.Errorf("read the journal: %w", err)}
	}
	spans := r.history.Spans()
	for _, s := range spans {
		r.report.Covered = append(r.report.Covered, admin.JournalSpan{From: s.From, To: s.To, Begins: stateTime(s.FromAt), Ends: stateTime(s.ToAt)})
	}
	if n := len(spans); n > 0 && spans[n-1].To > r.header.Seq {
		r.report.Journal, r.report.KnownUntil = spans[n-1].To, stateTime(spans[n-1].ToAt)
	}
	gaps := r.gaps(spans)
	for _, j := range journals {
		if j.header.Incomplete != "" {
			gaps = append(gaps, j.header.Incomplete)
		}
	}
	r.report.Gap = strings.Join(gaps, "; ")
	return nil
}

// gaps are the holes in what is known, up to where it ends.
func (r *restoration) gaps(spans []journal.Span) []string {
	h := r.header
	if len(spans) == 0 {
		return []string{"the journal is empty: nothing is known of what happened after " + r.subject}
	}
	if last := spans[len(spans)-1]; last.To < h.Seq {
		return []string{fmt.Sprintf("the journal ends at %s (command %d), before %s (%s, command %d): nothing is known of what happened after the latter",
			utc(stateTime(last.ToAt)), last.To, r.subject, utc(h.StateTime), h.Seq)}
	}
	var all []string
	for _, g := range journal.Gaps(spans, h.Seq) {
		begins := h.StateTime
		if g.FromAt != 0 {
			begins = stateTime(g.FromAt)
		}
		all = append(all, fmt.Sprintf("the journal has nothing from %s to %s (commands %d to %d)", utc(begins), utc(stateTime(g.ToAt)), g.From, g.To))
	}
	return all
}

// stateTime is the zero time before the first command.
func stateTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// mergeJournals is what some nodes have seen together, as far as it happened in
// the timeline of the cluster that is followed.
func (r *restoration) mergeJournals(journals []nodeJournal) (*journal.History, error) {
	var headers []backup.Header
	for _, j := range journals {
		h := j.header
		if h.Cluster != "" && h.Cluster != r.header.Cluster {
			return nil, refusal{fmt.Errorf("the journal is of the cluster %s, and %s is of %s", h.Cluster, r.subject, r.header.Cluster)}
		}
		headers = append(headers, h)
	}
	upTo, err := backup.ReplayLimits(r.header, headers...)
	var life *backup.TimelineError
	if errors.As(err, &life) {
		return nil, refusal{life}
	} else if err != nil {
		return nil, err
	}
	for i := range journals {
		journals[i].history = journals[i].history.Until(upTo[i])
	}
	history, err := r.merge(journals)
	if err != nil {
		return nil, refusal{fmt.Errorf("the journals contradict each other: %w", err)}
	}
	r.warn(headers)
	return history, nil
}

// merge merges journals of the same timeline. Each may have a tail: the end of a log, of
// which it is not known whether it was decided. What a journal has of such commands
// is dropped if another journal tells of others in their place that are known to be
// decided, or that are in a log with a later last term: no leader can have committed
// both.
func (r *restoration) merge(journals []nodeJournal) (*journal.History, error) {
	sorted := slices.Clone(journals)
	slices.SortStableFunc(sorted, func(a, b nodeJournal) int {
		switch x, y := a.header.Tail, b.header.Tail; {
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
		merged, err := journal.Merge(all, j.history)
		if tail := j.header.Tail; tail != nil && errors.Is(err, journal.ErrConflict) {
			merged, err = journal.Merge(all, j.history.Until(tail.From-1))
		} else if tail != nil {
			r.warnOfTail(j, max(tail.From, lastSeq(all)+1, r.header.Seq+1))
		}
		if err != nil {
			return nil, err
		}
		all = merged
	}
	return all, nil
}

// warnOfTail says that it is not known whether the commands of j, beginning with from,
// were decided.
func (r *restoration) warnOfTail(j nodeJournal, from uint64) {
	if to := lastSeq(j.history); from <= to {
		r.report.Warnings = append(r.report.Warnings, fmt.Sprintf(
			"the log of %s does not say whether commands %d to %d were decided: what they took away is taken away here",
			cmp.Or(j.header.Node, "a node"), from, to))
	}
}

// lastSeq is the Seq of the last command that a history covers, 0 if there is none.
func lastSeq(h *journal.History) uint64 {
	spans := h.Spans()
	if len(spans) == 0 {
		return 0
	}
	return spans[len(spans)-1].To
}

// warn says what could not be checked: files of before there were lives, and
// the journal of a node that died before it had heard of one.
func (r *restoration) warn(journals []backup.Header) {
	if len(r.header.Timelines) == 0 {
		r.report.Warnings = append(r.report.Warnings, r.subject+" does not say which life of the cluster it is of: "+
			"whether the journal goes with it is for you to know")
	}
	for _, h := range journals {
		if len(h.Timelines) == 0 {
			r.report.Warnings = append(r.report.Warnings, fmt.Sprintf("the journal that was written at %s does not say which life of the cluster it is of: "+
				"if the cluster was restored or recovered since %s was written, the journal may be about other commands", utc(h.Taken), r.subject))
		}
	}
}
