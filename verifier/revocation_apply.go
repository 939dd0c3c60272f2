package verifier

import (
	"errors"
	"time"
)

// sweepEvery is how often what has ended is dropped.
const sweepEvery = time.Minute

// apply takes in a document, which has been verified. News reports that it had
// something that was not known. What is known is only added to, so a document that
// somebody kept and sends again changes nothing.
func (r *revocations) apply(d *revocationDocument) (news bool, err error) {
	now := r.now()
	known := r.fresh.Load()
	life, number, _ := cutVersion(d.version)
	r.mu.Lock()
	ours := r.version
	r.mu.Unlock()
	ourLife, ourNumber, _ := cutVersion(ours)
	same := life == ourLife
	switch {
	case d.issuer != r.issuer:
		return false, errors.New("iss is another issuer")
	case time.Unix(d.fresh, 0).After(now.Add(r.skew)):
		return false, errors.New("iat is ahead of the clock")
	case !same && d.fresh < known:
		return false, errors.New("it is of another life of the issuer, and older than what is known")
	}
	if d.after != "" {
		afterLife, after, ok := cutVersion(d.after)
		if !ok || !same || afterLife != life || after > ourNumber {
			return false, errors.New("it goes on from a version that is not known here")
		}
	}
	if news = !same || number > ourNumber; news {
		r.news.Add(1)
		for i := range d.revoked {
			r.take(&d.revoked[i], now)
		}
		r.news.Add(1)
	}
	// 1. The gaps: what was known up to then joins what the document has. One that
	// goes on from a version has nothing of what came before that.
	since := d.since
	switch {
	case known == 0 || known < since:
	case d.after != "":
		since = r.since.Load()
	default:
		since = min(since, r.since.Load())
	}
	r.window.Store(d.window)
	r.since.Store(max(since, r.lost(d.window, now)))
	// 2. The time, when all that it speaks of is there.
	r.fresh.Store(max(known, d.fresh))
	if news {
		r.mu.Lock()
		r.version = d.version
		r.mu.Unlock()
	}
	r.sweep(now, d.window)
	return news, nil
}

// take adds one, in the order of the list: the last word on a client counts.
func (r *revocations) take(one *revocation, now time.Time) {
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
		return // it names nothing that we know
	}
	until := one.until
	if one.lifted {
		until = 0
	}
	before := table.used
	if table.find(a, b) == nil {
		if one.lifted {
			return
		}
		if r.count() >= r.most {
			r.forget(now)
			return
		}
	}
	table.set(a, b, until)
	r.entries.Add(int64(table.used - before))
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
