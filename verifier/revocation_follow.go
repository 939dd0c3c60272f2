package verifier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// longestWait is the longest wait for new revocations that is requested. An answer
	// without any confirms that there are none.
	longestWait = 3 * time.Second

	// A failed attempt is repeated at the next URL after firstRevocationsRetry,
	// twice that, and so on.
	firstRevocationsRetry   = 250 * time.Millisecond
	longestRevocationsRetry = 2 * time.Second

	// minPollInterval is the least time between two answers without new revocations, for
	// an issuer that does not wait.
	minPollInterval = time.Second

	// keyRetry is the time between two look-ups of a document's key.
	keyRetry = 100 * time.Millisecond

	// wholeTimeout is for an answer with all revocations. The first attempts have less
	// time, so that the next URL soon replaces a node that hangs.
	wholeTimeout = 30 * time.Second
)

// start begins to follow the feed.
func (r *revocations) start() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.done.Go(func() { r.follow(ctx) })
}

// follow runs until ctx ends.
func (r *revocations) follow(ctx context.Context) {
	defer r.reporter.close()
	for turn := 0; ctx.Err() == nil; {
		began := time.Now()
		wait := r.wait()
		origin := r.origins[turn%len(r.origins)]
		applied, news, err := r.ask(ctx, origin, wait)
		if ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		r.lastErr = err
		r.mu.Unlock()
		now := r.now()
		r.reportRead(RevocationsRead{Began: began, Took: time.Since(began), URL: origin.String(), Applied: applied, Err: err}, now)
		if err == nil && (r.lags(now) || !r.isFresh(now)) {
			turn++ // a node that is cut off answers, but another node may know more
		}
		var pause time.Duration
		switch {
		case err != nil:
			turn++
			if errors.Is(err, errKeyOfFeed) {
				pause = firstRevocationsRetry // the key was waited for, and the feed answers
				break
			}
			pause = jitter(min(firstRevocationsRetry<<min(r.failures/len(r.origins), 10), longestRevocationsRetry), 0.8, 1.2)
			r.failures++
		case news:
			r.failures = 0
		default:
			r.failures = 0
			pause = max(0, min(minPollInterval, wait/2)-time.Since(began))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// wait returns the wait for new revocations to request from the issuer.
func (r *revocations) wait() time.Duration {
	return max(time.Second, min(longestWait, r.stale/3).Truncate(time.Second))
}

// ask makes one request.
func (r *revocations) ask(ctx context.Context, origin *url.URL, wait time.Duration) (applied int, news bool, err error) {
	asked := r.now()
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	u := *origin
	query := u.Query()
	limit := min(wholeTimeout, fetchTimeout<<min(r.failures, 10))
	if version != "" {
		query.Set("after", version)
		if !r.lags(asked) { // otherwise an answer at once confirms that there are none
			query.Set("wait", strconv.Itoa(int(wait/time.Second)))
			limit = wait + fetchTimeout
			if len(r.origins) > 1 { // leave time for another node
				limit = wait + min(fetchTimeout, r.stale/5)
			}
		}
	}
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := r.get(ctx, &u)
	if err != nil {
		return 0, false, fmt.Errorf("fetch revocations: %w", err)
	}
	d, err := readRevocations(text, func(kid string) (Key, error) { return r.key(ctx, kid) })
	if err == nil {
		applied, news, err = r.apply(d, asked)
	}
	if err != nil {
		return 0, false, fmt.Errorf("read revocations: %w", err)
	}
	return applied, news, nil
}

// errKeyOfFeed is the error for a document that is signed with an unknown key.
var errKeyOfFeed = errors.New("key of the document is not known")

// key returns the key of a document. A new key may appear in the feed first. The JWKS then
// fetches the key in the background and not too often, and key waits, so that the
// revocations of the document are applied as soon as possible.
func (r *revocations) key(ctx context.Context, kid string) (Key, error) {
	for {
		key, err := r.keys.Key(ctx, kid)
		if err == nil {
			return key, nil
		}
		err = fmt.Errorf("%w: %w", errKeyOfFeed, err)
		r.mu.Lock()
		r.lastErr = err
		r.mu.Unlock()
		again := time.NewTimer(keyRetry)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return Key{}, err
		}
	}
}

func (r *revocations) get(ctx context.Context, u *url.URL) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.SetBasicAuth(r.name, r.secret)
	res, err := r.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d", res.StatusCode)
	}
	most := int64(1<<20) + 256*int64(r.maxEntries)
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return "", err
	}
	if int64(len(body)) > most {
		return "", errors.New("answer is too long")
	}
	return string(body), nil
}
