package verifier

import (
	"errors"
	"time"
)

// sweepEvery is how often what has ended is dropped.
const sweepEvery = time.Minute

// apply takes in a document, which has been verified, and was asked for at a time.
// News reports that it had something that was not known; applied are the entries of
// which that is true. What is known is only added to, so a document that somebody
// kept and sends again changes nothing.
func (r *revocations) apply(d *revocationDocument, asked time.Time) (applied int, news bool, err error) {
	now := r.now()
	known := r.said
	life, number, _ := cutVersion(d.version)
	r.mu.Lock()
	ours := r.version
	r.mu.Unlock()
	ourLife, ourNumber, _ := cutVersion(ours)
	same := life == ourLife
	switch {
	case d.issuer != r.issuer:
		return 0, false, errors.New("iss is another issuer")
	case time.Unix(d.fresh, 0).After(now.Add(r.skew)):
		return 0, false, errors.New("iat is ahead of the clock")
	case !same && d.fresh < known:
		return 0, false, errors.New("it is of another life of the issuer, and older than what is known")
	}
	if d.after != "" {
		afterLife, after, ok := cutVersion(d.after)
		if !ok || !same || afterLife != life || after > ourNumber {
			return 0, false, errors.New("it goes on from a version that is not known here")
		}
	}
	if news = !same || number > ourNumber; news {
		r.news.Add(1)
		applied = r.takeAll(d.revoked, same, now)
		r.news.Add(1)
	}
	// 1. The gaps: what was known up to then joins what the document has. One that
	// goes on from a version has nothing of what came before that, and from one that
	// is older than what is known nothing was taken.
	since := d.since
	switch {
	case known == 0 || known < since:
	case d.after != "", !news && number < ourNumber:
		since = r.since.Load()
	default:
		since = min(since, r.since.Load())
	}
	r.window.Store(d.window)
	r.since.Store(max(since, r.lost(d.window, now)))
	// 2. The time, when all that it speaks of is there.
	r.said = max(known, d.fresh)
	r.know(d.fresh, asked)
	if news {
		r.mu.Lock()
		r.version = d.version
		r.mu.Unlock()
	}
	r.sweep(now, d.window)
	return applied, news, nil
}

// know notes that everything is known that there was at a time of the issuer's, or
// when it was asked, if that is earlier: a clock that is ahead of ours, or an answer
// that is long on its way, would else have us trust it for longer than Stale.
func (r *revocations) know(fresh int64, asked time.Time) {
	at := asked.Add(min(0, time.Unix(fresh, 0).Sub(asked)))
	if before := r.fresh.Load(); before == nil || at.After(*before) {
		r.fresh.Store(&at)
	}
}

// takeAll adds a list, and returns how many of it were new. Some of it may be known
// already, so the last word on a client is the only one that is taken: requests
// must not see one from before, not even for a moment. Same says that it is of the
// life of the issuer that we know.
func (r *revocations) takeAll(list []revocation, same bool, now time.Time) (applied int) {
	clients := map[string]*revocation{}
	for i := range list {
		one := &list[i]
		switch {
		case one.grant == "" && one.subject == "" && one.client != "":
			clients[one.client] = one
		case r.take(one, same, now):
			applied++
		}
	}
	for _, one := range clients {
		if r.take(one, same, now) {
			applied++
		}
	}
	return applied
}

// take adds one, and reports whether it was new.
func (r *revocations) take(one *revocation, same bool, now time.Time) bool {
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
		return false // it names nothing that we know
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
		// Only a client gets anything back, and not by a life that began before it
		// was suspended: that may know of the suspension by its journal alone, of
		// which the feed says nothing.
		return false
	case has == nil && r.count() >= r.most:
		r.forget(now)
		return false
	}
	table.set(a, b, until)
	r.entries.Add(int64(table.used - before))
	return true
}

func (r *revocations) count() int {
	return r.grants.used + r.users.used + r.clients.used + r.pairs.used
}

// forget notes that there was no room for one. From now on something is missing,
// for as long as it would have been kept.
func (r *revocations) forget(now time.Time) {
	r.forgotAt = now.Unix() + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten++
}

// lost is since when nothing had to be forgotten, 0 if that is long ago.
func (r *revocations) lost(window int64, now time.Time) int64 {
	if r.forgotAt != 0 && now.Unix() < r.forgotAt+window {
		return r.forgotAt
	}
	return 0
}

// sweep drops what every token that it speaks of has expired by now, whichever
// clock is right.
func (r *revocations) sweep(now time.Time, window int64) {
	if now.Sub(r.swept) < sweepEvery && !now.Before(r.swept) {
		return
	}
	r.swept = now
	before := now.Add(-r.skew).Unix() - window
	for _, table := range []*cuts{r.grants, r.users, r.clients, r.pairs} {
		table.sweep(before)
	}
	r.entries.Store(int64(r.count()))
}
