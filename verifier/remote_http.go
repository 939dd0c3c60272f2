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

// Bounds on what the issuer's answer can make us do.
const (
	maxDocument    = 256 << 10
	maxRedirects   = 3
	defaultMaxAge  = 5 * time.Minute
	leastMaxAge    = coolDown
	greatestMaxAge = time.Hour
)

// get makes one request for the key set.
func (j *JWKS) get(ctx context.Context) (*snapshot, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, j.url.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	asked := j.now()
	res, err := j.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	defer res.Body.Close()
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
	keys, err := ParseJWKS(body)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	return &snapshot{
		keys:       byID(keys),
		freshUntil: asked.Add(freshness(res.Header)),
		staleUntil: asked.Add(j.stale),
	}, nil
}

// freshness is how long the answer may be kept without asking again: max-age
// less Age (RFC 9111 §4.2), within our own bounds. Within them an issuer that
// forbids caching, or promises a year, is not followed: the one would mean a
// fetch for each token, the other a removed key that lives on.
func freshness(h http.Header) time.Duration {
	age := defaultMaxAge
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return leastMaxAge
		case "max-age":
			age = seconds(strings.Trim(value, `"`))
		}
	}
	return min(max(age-seconds(h.Get("Age")), leastMaxAge), greatestMaxAge)
}

// seconds reads delta-seconds (RFC 9111 §1.2.2): what isn't a number is 0, what
// is too large a number is very long.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// sameOriginClient copies a client so that it follows few redirects and none to
// another origin: the key set is trusted because of where it came from.
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
