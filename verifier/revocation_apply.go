package verifier

import (
	"errors"
	"slices"
	"time"
)

// sweepEvery is how often ended revocations are dropped.
const sweepEvery = time.Minute

// apply adds the revocations of a verified document that was requested at a time. news
// reports whether its version is new, applied is the number of revocations that were not
// known. apply only adds, so a document that is replayed changes nothing.
func (r *revocations) apply(d *revocationDocument, asked time.Time) (applied int, news bool, err error) {
	now := r.now()
	known := r.lastSigned
	timeline, number, _ := splitVersion(d.version)
	r.mu.Lock()
	ours := r.version
	r.mu.Unlock()
	ourTimeline, ourNumber, _ := splitVersion(ours)
	same := timeline == ourTimeline
	switch {
	case !slices.Contains(r.issuers, d.issuer):
		return 0, false, errors.New("iss is another issuer")
	case time.Unix(d.fresh, 0).After(now.Add(r.skew)):
		return 0, false, errors.New("iat is ahead of the clock")
	case !same && d.fresh < known:
		return 0, false, errors.New("revocation list is from an older issuer timeline")
	}
	if d.after != "" {
		afterTimeline, after, ok := splitVersion(d.after)
		if !ok || !same || afterTimeline != timeline || after > ourNumber {
			return 0, false, errors.New("after is not a known version")
		}
	}
	if news = !same || number > ourNumber; news {
		r.generation.Add(1)
		applied = r.addAll(d.revoked, same, now)
		r.generation.Add(1)
	}
	// 1. The gaps. A document with after has no revocation from before that version, and
	// from a document older than the known version nothing was added.
	since := d.since
	switch {
	case known == 0 || known < since:
	case d.after != "", !news && number < ourNumber:
		since = r.since.Load()
	default:
		since = min(since, r.since.Load())
	}
	r.window.Store(d.window)
	r.since.Store(max(since, r.completeSince(d.window, now)))
	// 2. The time, once the revocations up to then are added.
	r.lastSigned = max(known, d.fresh)
	r.setKnownUntil(d.fresh, asked)
	if news {
		r.mu.Lock()
		r.version = d.version
		r.mu.Unlock()
	}
	r.sweep(now, d.window)
	return applied, news, nil
}

// setKnownUntil sets the time up to which every revocation is known: fresh of the
// document, or the time of the request, if that is earlier. Otherwise an issuer's clock
// that is ahead, or a slow answer, would count as fresh for longer than Stale.
func (r *revocations) setKnownUntil(fresh int64, asked time.Time) {
	at := asked.Add(min(0, time.Unix(fresh, 0).Sub(asked)))
	if before := r.fresh.Load(); before == nil || at.After(*before) {
		r.fresh.Store(&at)
	}
}

// addAll adds a list, and returns how many of its entries were new. Of the entries about a
// client only the last one is applied: requests must not see an earlier one, not even for
// a moment, when the last one is known already. same reports whether the list is of the
// known timeline of the issuer.
func (r *revocations) addAll(list []revocation, same bool, now time.Time) (applied int) {
	clients := map[string]*revocation{}
	for i := range list {
		one := &list[i]
		switch {
		case one.grant == "" && one.subject == "" && one.client != "":
			clients[one.client] = one
		case r.add(one, same, now):
			applied++
		}
	}
	for _, one := range clients {
		if r.add(one, same, now) {
			applied++
		}
	}
	return applied
}

// add adds one revocation, and reports whether it was new.
func (r *revocations) add(one *revocation, same bool, now time.Time) bool {
	table, a, b := r.grants, one.grant, ""
	switch {
	case one.grant != "":
	case one.subject != "" && one.client != "":
		table, a, b = r.pairs, one.subject, one.client
	case one.subject != "":
		table, a = r.users, one.subject
	case one.client != "":
		table, a = r.clients, one.client
	default:
		return false // it has no known name
	}
	until := one.until
	if one.lifted {
		until = 0
	}
	before, has := table.used, table.find(a, b)
	switch {
	case has == nil && one.lifted, has != nil && until == has.until.Load():
		return false
	case has != nil && until < has.until.Load() && (table != r.clients || !same):
		// Only a suspended client is ever reinstated, and not by a timeline that began
		// before the suspension: such an issuer may know of the suspension by its journal
		// alone, which is not part of the feed.
		return false
	case has == nil && r.count() >= r.maxEntries:
		r.recordDropped(now)
		return false
	}
	table.set(a, b, until)
	r.entries.Add(int64(table.used - before))
	return true
}

func (r *revocations) count() int {
	return r.grants.used + r.users.used + r.clients.used + r.pairs.used
}

// recordDropped records that there was no room for a revocation. The state is incomplete
// for as long as the revocation would have been kept.
func (r *revocations) recordDropped(now time.Time) {
	r.droppedAt = now.Unix() + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped++
}

// completeSince is the Unix time since when no revocation was dropped, 0 if that is longer
// ago than the window.
func (r *revocations) completeSince(window int64, now time.Time) int64 {
	if r.droppedAt != 0 && now.Unix() < r.droppedAt+window {
		return r.droppedAt
	}
	return 0
}

// sweep drops the revocations of tokens that have all expired, whichever clock is right.
func (r *revocations) sweep(now time.Time, window int64) {
	if now.Sub(r.swept) < sweepEvery && !now.Before(r.swept) {
		return
	}
	r.swept = now
	before := now.Add(-r.skew).Unix() - window
	for _, table := range []*revocationTable{r.grants, r.users, r.clients, r.pairs} {
		table.sweep(before)
	}
	r.entries.Store(int64(r.count()))
}
