package site_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestTouchedSession verifies that a page is shown whether or not the session's idle time could be
// updated, and that its cookie refers to a command only if that was accepted.
func TestTouchedSession(t *testing.T) {
	for name, test := range map[string]struct {
		out *ledger.Outcome
		err error
		set bool
	}{
		"accepted":    {set: true},
		"refused":     {out: &ledger.Outcome{Refusal: &ledger.Refusal{Cause: ledger.NotSignedIn}}},
		"unknown":     {out: &ledger.Outcome{Unknown: true}},
		"unavailable": {err: oauth.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.SignedIn()
			w.Advance(10 * time.Minute)
			w.Decide = func(command.Command) (*ledger.Outcome, error) { return test.out, test.err }
			proposed := len(w.Proposals)
			res := b.Get("/account")
			assert.Equal(t, http.StatusOK, res.StatusCode)
			assert.Len(t, w.Proposals, proposed+1)
			set := slices.ContainsFunc(res.Cookies(), func(c *http.Cookie) bool { return c.Name == "mintmark" })
			assert.Equal(t, test.set, set)
			if _, index := b.SessionCookie(); test.set {
				assert.Equal(t, w.Index, index)
			}
		})
	}
}

// TestKnownSessionNeedsNoLeader verifies that a node which knows the session shows pages while it
// has not applied the browser's last command and no fresh view is available.
func TestKnownSessionNeedsNoLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		b.SetSession(b.Session(), w.Index+1)
		w.NoLeader = true
		assert.Equal(t, http.StatusOK, b.Get("/account").StatusCode)
	})
}

// TestShortFormKeyIsReplaced verifies that a browser's secret can't be guessed.
func TestShortFormKeyIsReplaced(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	b.Cookies["mintmark-form"] = "x"
	b.Get("/auth/sign-in")
	assert.Len(t, b.Cookies["mintmark-form"], 43)
}

// TestNoRandomness verifies that nothing is made of bytes that are not random.
func TestNoRandomness(t *testing.T) {
	w := NewEnv(t)
	w.Web.Rand = iotest.ErrReader(errors.New("no randomness"))
	assert.PanicsWithError(t, "read random bytes: no randomness", func() { w.Web.Random() })
}
