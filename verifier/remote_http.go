package verifier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds on the effects of the issuer's answer.
const (
	maxDocument   = 256 << 10
	maxRedirects  = 3
	defaultMaxAge = 5 * time.Minute
	minMaxAge     = coolDown
	maxMaxAge     = time.Hour

	// slowAnswer is how long an origin may take before the next one is requested as well.
	slowAnswer = 500 * time.Millisecond
)

// answer is a version of the key set, and the index of its origin.
type answer struct {
	*keySetVersion
	index int
}

// ask asks the origins in turn, beginning with the one that answered last: the next one
// when one fails or takes too long. It returns the first valid answer.
func (j *JWKS) ask(ctx context.Context, first int) (answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		answer
		err error
	}
	results := make(chan result, len(j.origins)) // late results are dropped
	asked, running := 0, 0
	next := func() {
		if asked == len(j.origins) {
			return
		}
		o := j.origins[(first+asked)%len(j.origins)]
		asked, running = asked+1, running+1
		go func() {
			e, err := j.get(ctx, o.url)
			results <- result{answer{e, o.index}, err}
		}()
	}
	slow := time.NewTicker(slowAnswer)
	defer slow.Stop()
	var failed []error
	for next(); ; {
		select {
		case r := <-results:
			if r.err == nil {
				return r.answer, nil
			}
			failed, running = append(failed, r.err), running-1
			if next(); running == 0 {
				return answer{}, errors.Join(failed...)
			}
		case <-slow.C:
			next()
		case <-ctx.Done():
			return answer{}, errors.Join(append(failed, fmt.Errorf("fetch key set: %w", ctx.Err()))...)
		}
	}
}

// get makes one request for the key set.
func (j *JWKS) get(ctx context.Context, u *url.URL) (*keySetVersion, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	have := j.current.Load()
	conditional := have != nil && have.etag != "" && have.url == u.String()
	if conditional {
		req.Header.Set("If-None-Match", have.etag)
	}
	asked := j.now()
	res, err := j.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	defer res.Body.Close()
	if conditional && res.StatusCode == http.StatusNotModified {
		same := *have
		same.unchanged = true
		return j.confirm(same, asked, res.Header), nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch key set: status %d", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	if len(body) > maxDocument {
		return nil, errors.New("fetch key set: longer than 256 KiB")
	}
	keys, skipped, err := parseJWKS(body)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	e := keySetVersion{keys: byID(keys), skipped: skipped, document: body, url: u.String(), etag: res.Header.Get("ETag")}
	if have != nil {
		e.unchanged = e.keys.adopt(have.keys)
	}
	return j.confirm(e, asked, res.Header), nil
}

// confirm sets the times of a version. They count from the request, not
// from the answer: a slow answer may be old when it arrives.
func (j *JWKS) confirm(e keySetVersion, asked time.Time, h http.Header) *keySetVersion {
	e.confirmed, e.freshFor, e.staleUntil, e.restored = asked, freshness(h), asked.Add(j.stale), false
	return &e
}

// freshness is how long the answer serves without another fetch: max-age less Age (RFC
// 9111 §4.2), between minMaxAge and maxMaxAge. An issuer that forbids caching would cause
// a fetch for each token, and one that promises a year would keep a removed key valid.
func freshness(h http.Header) time.Duration {
	age := defaultMaxAge
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minMaxAge
		case "max-age":
			age = seconds(strings.Trim(value, `"`))
		}
	}
	return min(max(age-seconds(h.Get("Age")), minMaxAge), maxMaxAge)
}

// seconds reads delta-seconds (RFC 9111 §1.2.2). A text that isn't a number is 0, and a
// number that is too large is the largest duration.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// sameOriginClient copies a client so that it follows few redirects and none to another
// origin: the key set is trusted because of its origin.
func sameOriginClient(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	c := *client
	theirs := client.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("too many redirects")
		}
		if !sameOrigin(req.URL, via[0].URL) {
			return errors.New("redirect to another origin")
		}
		if theirs != nil {
			return theirs(req, via)
		}
		return nil
	}
	return &c
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
