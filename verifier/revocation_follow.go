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
	// longestWait is how long the issuer is asked to wait for news: each answer
	// tells that there is none, and so how fresh this is.
	longestWait = 3 * time.Second

	// A failed attempt is repeated at the next URL after firstRevocationsRetry,
	// twice that, and so on.
	firstRevocationsRetry   = 250 * time.Millisecond
	longestRevocationsRetry = 2 * time.Second

	// hurry is the least time between answers without news, should an issuer not
	// wait as it was asked to.
	hurry = time.Second

	// wholeTimeout is for an answer that may be long.
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
	failures := 0
	for turn := 0; ctx.Err() == nil; {
		began := time.Now()
		wait := r.wait()
		news, err := r.ask(ctx, r.origins[turn%len(r.origins)], wait)
		r.mu.Lock()
		r.lastErr = err
		r.mu.Unlock()
		if err == nil && !r.isFresh(r.now()) {
			turn++ // a node that is cut off answers, and another one may know more
		}
		var pause time.Duration
		switch {
		case err != nil:
			turn++
			pause = jitter(min(firstRevocationsRetry<<min(failures/len(r.origins), 10), longestRevocationsRetry), 0.8, 1.2)
			failures++
		case news:
			failures = 0
		default:
			failures = 0
			pause = max(0, min(hurry, wait/2)-time.Since(began))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// wait is how long the issuer is asked to wait for news.
func (r *revocations) wait() time.Duration {
	return max(time.Second, min(longestWait, r.stale/3).Truncate(time.Second))
}

// ask asks once.
func (r *revocations) ask(ctx context.Context, origin *url.URL, wait time.Duration) (news bool, err error) {
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	u := *origin
	query := u.Query()
	limit := wholeTimeout
	if version != "" {
		query.Set("after", version)
		if r.isFresh(r.now()) { // else it is news that there is none
			query.Set("wait", strconv.Itoa(int(wait/time.Second)))
			limit = wait + fetchTimeout
		}
	}
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := r.get(ctx, &u)
	if err != nil {
		return false, fmt.Errorf("fetch revocations: %w", err)
	}
	d, err := readRevocations(ctx, r.keys, text)
	if err == nil {
		news, err = r.apply(d)
	}
	if err != nil {
		return false, fmt.Errorf("read revocations: %w", err)
	}
	return news, nil
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
	most := int64(1<<20) + 256*int64(r.most)
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return "", err
	}
	if int64(len(body)) > most {
		return "", errors.New("the answer is too long")
	}
	return string(body), nil
}
