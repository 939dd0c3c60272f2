package verifiertest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

// reply is how a failing issuer answers: after a pause, with a status. Status 0 breaks the
// connection.
type reply struct {
	after  time.Duration // negative: until the client cancels
	status int           // 200: the key set
}

// Down breaks every connection, until Up.
func (i *Issuer) Down() { i.behave(&reply{}) }

// Fail answers every request with a status, until Up.
func (i *Issuer) Fail(status int) { i.behave(&reply{status: status}) }

// Hang sends no answer, until Up.
func (i *Issuer) Hang() { i.behave(&reply{after: -1}) }

// Slow delays every correct answer, until Up.
func (i *Issuer) Slow(by time.Duration) { i.behave(&reply{after: by, status: http.StatusOK}) }

// Up ends Down, Fail, Hang and Slow. A request that already hangs goes on hanging.
func (i *Issuer) Up() { i.behave(nil) }

// MaxAge sets the max-age of the key set, which is five minutes by default.
func (i *Issuer) MaxAge(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.maxAge = d
}

func (i *Issuer) behave(r *reply) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reply = r
}

var errBroken = errors.New("the issuer is down")

// serves reports whether a path is that of the key set or of the feed.
func serves(path string) bool { return path == verifier.KeySetPath || path == verifier.RevocationsPath }

// ServeHTTP serves the key set and the feed of revocations.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !serves(r.URL.Path) {
		http.NotFound(w, r)
		return
	}
	if err := i.serve(w, r); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) error {
	i.mu.Lock()
	if r.URL.Path == verifier.KeySetPath {
		i.fetches++
	}
	how, document, maxAge := i.reply, i.document(), i.maxAge
	i.mu.Unlock()
	if how == nil {
		how = &reply{status: http.StatusOK}
	}
	if how.after != 0 {
		var over <-chan time.Time
		if how.after > 0 {
			over = time.After(how.after)
		}
		select {
		case <-over:
		case <-r.Context().Done():
			return errBroken
		}
	}
	switch how.status {
	case 0:
		return errBroken
	case http.StatusOK:
	default:
		w.WriteHeader(how.status)
		return nil
	}
	if r.URL.Path == verifier.RevocationsPath {
		i.feed(w, r)
		return nil
	}
	h := w.Header()
	h.Set("Content-Type", "application/jwk-set+json")
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(maxAge.Seconds())))
	h.Set("ETag", etag(document))
	if r.Header.Get("If-None-Match") == etag(document) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, err := w.Write(document)
	return err
}

// Client reaches the issuer, in memory if the issuer is not served over HTTP, and no other
// host.
func (i *Issuer) Client() *http.Client {
	if i.server != nil {
		return i.server.Client()
	}
	return &http.Client{Transport: inMemory{i}}
}

type inMemory struct{ issuer *Issuer }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme+"://"+r.URL.Host != m.issuer.URL {
		return nil, errors.New("no such host")
	}
	w := httptest.NewRecorder()
	if !serves(r.URL.Path) {
		http.NotFound(w, r)
	} else if err := m.issuer.serve(w, r); err != nil {
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		return nil, err
	}
	res := w.Result()
	res.Request = r
	return res, nil
}
