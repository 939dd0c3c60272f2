package feed_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/feed"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// signer is a test Signer that appends a digest, and counts.
type signer struct{ signed atomic.Int64 }

func (*signer) Alg() string   { return "ES256" }
func (*signer) KeyID() string { return "key-1" }
func (s *signer) Sign(input []byte) ([]byte, error) {
	s.signed.Add(1)
	sum := sha256.Sum256(input)
	return sum[:], nil
}

// env is a state with a feed that is updated manually.
type env struct {
	t      *testing.T
	db     *memdb.MemDB
	signer *signer
	*feed.Feed
	seq uint64
}

func newEnv(t *testing.T) *env {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	w := &env{t: t, db: db, signer: new(signer)}
	w.Feed = feed.New(feed.Config{
		Issuer: func() string { return "https://auth.example.com" },
		Signer: func() (feed.Signer, error) { return w.signer, nil },
		Now:    time.Now,
	})
	w.put(ledger.TableRestores, &ledger.Restore{ID: ledger.RestoreID, Timelines: []ledger.Timeline{{ID: command.ID{1}, From: 1}}})
	return w
}

func (w *env) put(table string, row any) {
	txn := w.db.Txn(true)
	require.NoError(w.t, txn.Insert(table, row))
	txn.Commit()
}

func now() ledger.Time { return ledger.Time(time.Now().UnixMilli()) }

// event adds an event to the trail.
func (w *env) event(e ledger.Event) {
	w.seq++
	e.Seq, e.At = w.seq, now()
	w.put(ledger.TableAudit, &e)
}

// endGrant ends the grant with a number.
func (w *env) endGrant(n byte) {
	w.event(ledger.Event{Kind: ledger.EventGrantRevoked, Grant: ledger.GrantID{n}, User: "u", Client: "c"})
}

// catchUp does what a node does: update and confirm.
func (w *env) catchUp() {
	w.Update(func() ledger.View { return ledger.At(w.db.Txn(false)) })
	w.Confirm(time.Now())
}

type testClaims struct {
	Issuer   string `json:"iss"`
	IssuedAt int64  `json:"iat"`
	Version  string
	After    string
	Since    int64 `json:"complete_since"`
	Window   int64
	Revoked  []struct {
		Grant   string `json:"grant_id"`
		Subject string `json:"sub"`
		Client  string `json:"client_id"`
		At      int64
		Lifted  bool
	}
}

// grants returns the first octets of the grants in the document.
func (s testClaims) grants() string {
	var b strings.Builder
	for _, r := range s.Revoked {
		b.WriteString(r.Grant[:2] + " ")
	}
	return strings.TrimSpace(b.String())
}

func read(t *testing.T, document []byte) (s testClaims) {
	t.Helper()
	parts := strings.Split(string(document), ".")
	require.Len(t, parts, 3)
	head, err := base64.RawURLEncoding.DecodeString(parts[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"alg":"ES256","kid":"key-1","typ":"mintmark-revocations+jwt"}`, string(head))
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	require.Equal(t, base64.RawURLEncoding.EncodeToString(sum[:]), parts[2])
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &s))
	require.Equal(t, "https://auth.example.com", s.Issuer)
	return s
}

func (w *env) poll(after string, wait time.Duration) testClaims {
	w.t.Helper()
	document, err := w.Poll(w.t.Context(), "calendar", after, wait)
	require.NoError(w.t, err)
	return read(w.t, document)
}

func TestWholeAndDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.event(ledger.Event{Kind: ledger.EventSignedIn, User: "u"})
		w.endGrant(0xa1)
		w.catchUp()
		whole := w.poll("", 0)
		assert.Equal(t, "a1", whole.grants())
		assert.Empty(t, whole.After)
		assert.Zero(t, whole.Since)
		assert.EqualValues(t, 1862, whole.Window)
		assert.Equal(t, time.Now().Unix(), whole.IssuedAt)

		w.endGrant(0xa2)
		w.event(ledger.Event{Kind: ledger.EventDisconnected, User: "u", Client: "c", TokensRevokedBefore: now()})
		w.catchUp()
		delta := w.poll(whole.Version, 0)
		assert.Equal(t, whole.Version, delta.After)
		require.Len(t, delta.Revoked, 2)
		assert.Equal(t, "u", delta.Revoked[1].Subject)
		assert.Equal(t, "c", delta.Revoked[1].Client)
		assert.Equal(t, now().Unix(), delta.Revoked[1].At)
		assert.Empty(t, w.poll(delta.Version, 0).Revoked)

		for _, unknown := range []string{"x", "1-2", strings.Repeat("0", 32) + "-1", "99" + whole.Version[2:], whole.Version + "0x", "0" + whole.Version} {
			s := w.poll(unknown, time.Hour)
			assert.Empty(t, s.After, unknown)
			assert.Len(t, s.Revoked, 3, unknown)
		}
	})
}

func TestOldOnesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.endGrant(0xa1)
		w.catchUp()
		first := w.poll("", 0)
		time.Sleep(feed.Window)
		w.endGrant(0xa2)
		w.catchUp()
		assert.Equal(t, "a1 a2", w.poll("", 0).grants(), "a token issued just before may be valid")
		time.Sleep(ledger.MaxAhead + time.Second)
		w.catchUp()
		assert.Equal(t, "a2", w.poll("", 0).grants())
		assert.Equal(t, "a2", w.poll(first.Version, 0).grants(), "an expired revocation is omitted")

		again := newEnv(t) // a node that starts reads no older events
		again.db, again.seq = w.db, w.seq
		again.catchUp()
		s := again.poll("", 0)
		assert.Equal(t, "a2", s.grants())
		assert.Zero(t, s.Since)
	})
}

// TestOldOnesAmongOthers verifies that a revocation is kept before one of an earlier time, as
// the resumption of a client lists it whose grants were revoked before.
func TestOldOnesAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.put(ledger.TableClients, &ledger.Client{ID: "doc.1", State: ledger.Approved, TokensRevokedBefore: now(), Document: &ledger.Document{ClientID: "https://agent.example/1"}})
		time.Sleep(24 * time.Hour)
		disable := func() {
			w.event(ledger.Event{Kind: ledger.EventUserState, User: "u", Detail: "disable", TokensRevokedBefore: now()})
		}
		disable()
		w.event(ledger.Event{Kind: ledger.EventClientReviewed, Client: "doc.1", Detail: "resume"})
		w.endGrant(0xa1)
		w.catchUp()
		revoked := w.poll("", 0).Revoked
		require.Len(t, revoked, 4)
		assert.Equal(t, "u", revoked[0].Subject)
		assert.Equal(t, "https://agent.example/1", revoked[1].Client)
		assert.True(t, revoked[1].Lifted)

		time.Sleep(feed.Window + ledger.MaxAhead + time.Second)
		disable()
		w.catchUp()
		revoked = w.poll("", 0).Revoked
		require.Len(t, revoked, 1, "expired revocations stay")
		assert.Equal(t, "u", revoked[0].Subject)
	})
}

func TestLongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.catchUp()
		version := w.poll("", 0).Version
		go func() { // the node confirms as long as it is requested
			for {
				select {
				case <-w.ConfirmRequested():
					w.catchUp()
				case <-t.Context().Done():
					return
				}
			}
		}()
		began := time.Now()
		assert.Empty(t, w.poll(version, 5*time.Second).Revoked)
		assert.Equal(t, 5*time.Second, time.Since(began))
		began = time.Now()
		assert.Less(t, time.Now().Unix()-w.poll(version, time.Hour).IssuedAt, int64(2), "the node doesn't confirm while a reader waits")
		assert.Equal(t, feed.MaxWait, time.Since(began))

		before := w.signer.signed.Load()
		answers := make(chan testClaims)
		for range 50 {
			go func() { answers <- w.poll(version, 8*time.Second) }()
		}
		synctest.Wait()
		time.Sleep(3500 * time.Millisecond)
		w.endGrant(0xa1)
		w.catchUp()
		for range 50 {
			assert.Equal(t, "a1", (<-answers).grants())
		}
		assert.Equal(t, before+1, w.signer.signed.Load(), "the same document was signed again")

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := w.Poll(ctx, "calendar", w.poll("", 0).Version, 8*time.Second)
		assert.ErrorIs(t, err, oauth.ErrUnavailable)

		began = time.Now()
		time.AfterFunc(time.Second, w.Close)
		assert.Empty(t, w.poll(w.poll("", 0).Version, 8*time.Second).Revoked)
		assert.Equal(t, time.Second, time.Since(began), "Close doesn't end waiting")
	})
}

// TestFreshness verifies that a node that can't confirm its state returns an error at
// first, and later reports the time of the last confirmation.
func TestFreshness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		began := time.Now()
		_, err := w.Poll(t.Context(), "calendar", "", 0)
		require.ErrorIs(t, err, oauth.ErrUnavailable)
		assert.Equal(t, 2*time.Second, time.Since(began))
		w.catchUp()
		at := time.Now().Unix()
		time.Sleep(time.Minute)
		w.endGrant(0xa1)
		w.Update(func() ledger.View { return ledger.At(w.db.Txn(false)) }) // known, but not confirmed
		s := w.poll("", 0)
		assert.Equal(t, at, s.IssuedAt)
		assert.Equal(t, "a1", s.grants())

		w.Confirm(time.Now().Add(-time.Second))
		assert.Equal(t, time.Now().Unix()-1, w.poll("", 0).IssuedAt)
		w.Confirm(time.Now().Add(-time.Minute))
		assert.Equal(t, time.Now().Unix()-1, w.poll("", 0).IssuedAt, "iat decreased")
	})
}

func TestTimelines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.endGrant(0xa1)
		w.catchUp()
		version := w.poll("", 0).Version

		// A restore: Seqs are reused, and some revocations are lost.
		time.Sleep(time.Hour)
		restored := &ledger.Restore{
			ID: ledger.RestoreID, Count: 1, Seq: 9, At: now(),
			Timelines: []ledger.Timeline{{ID: command.ID{1}, From: 1}, {ID: command.ID{2}, From: 2}},
		}
		w.put(ledger.TableRestores, restored)
		w.event(ledger.Event{Kind: ledger.EventRestored})
		at := time.Now().Unix()
		w.catchUp()
		s := w.poll(version, time.Hour)
		assert.Empty(t, s.After, "the version belongs to another timeline")
		assert.Equal(t, at+1, s.Since)

		time.Sleep(10 * time.Second)
		w.endGrant(0xa2)
		w.catchUp()
		assert.Equal(t, at+1, w.poll(s.Version, 0).Since)

		// A journal is replayed: its revocations are not listed.
		time.Sleep(10 * time.Second)
		more := *restored
		more.Replayed = 5
		w.put(ledger.TableRestores, &more)
		w.event(ledger.Event{Kind: ledger.EventReplayed})
		w.catchUp()
		s = w.poll("", 0)
		assert.Equal(t, at+21, s.Since)
		assert.Equal(t, "a2", s.grants())

		// A timeline without events began at some time before this one.
		next := more
		next.Timelines = append(next.Timelines, ledger.Timeline{ID: command.ID{3}, From: 100})
		w.put(ledger.TableRestores, &next)
		time.Sleep(time.Hour)
		w.catchUp()
		assert.Equal(t, time.Now().Unix()+1, w.poll("", 0).Since)
	})
}

// TestTrailTrimmed verifies that removing events within the window is reported.
func TestTrailTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.endGrant(0xa1)
		w.catchUp()
		time.Sleep(time.Minute)
		txn := w.db.Txn(true)
		_, err := txn.DeleteAll(ledger.TableAudit, "id")
		require.NoError(t, err)
		w.seq += 1000
		require.NoError(t, txn.Insert(ledger.TableTrail, &ledger.Trail{ID: "trail", TrimmedRevocationSeq: w.seq, TrimmedRevocationAt: now()}))
		txn.Commit()
		w.endGrant(0xa2)
		w.catchUp()
		s := w.poll("", 0)
		assert.Equal(t, time.Now().Unix()+1, s.Since)
		assert.Equal(t, "a1 a2", s.grants())
	})
}

// TestDocumentsAreBounded verifies that the documents of one state are few and short,
// whatever versions readers claim to have.
func TestDocumentsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		const n = 2000
		txn := w.db.Txn(true)
		for i := range uint64(n) {
			require.NoError(t, txn.Insert(ledger.TableAudit, &ledger.Event{
				Seq: i + 1, At: now(), Kind: ledger.EventGrantRevoked, Grant: ledger.GrantID{byte(i >> 8), byte(i), 1},
			}))
		}
		txn.Commit()
		w.catchUp()
		whole, err := w.Poll(t.Context(), "calendar", "", 0)
		require.NoError(t, err)
		timeline, _, _ := strings.Cut(read(t, whole).Version, "-")
		long := map[string]int{}
		for i := range n + 1000 {
			text, err := w.Poll(t.Context(), "calendar", fmt.Sprintf("%s-%d", timeline, i), 0)
			require.NoError(t, err)
			if long[string(text)]++; long[string(text)] > 1 {
				continue
			}
			s := read(t, text)
			at := s.after()
			require.LessOrEqual(t, at, i, "a revocation is missing")
			require.Len(t, s.Revoked, n-at)
			if at > 0 {
				require.Less(t, n-at, 2*max(1, n-i), "the document is too long")
			}
		}
		kept := 0
		for text := range long {
			kept += len(text)
		}
		assert.Less(t, len(long), 16)
		assert.Less(t, kept, 3*len(whole))
		assert.LessOrEqual(t, w.signer.signed.Load(), int64(16), "a document was signed again")
	})
}

// after returns the number of the version that s begins after, 0 for none.
func (s testClaims) after() (n int) {
	_, number, _ := strings.Cut(s.After, "-")
	n, _ = strconv.Atoi(number)
	return n
}

// TestWaitingIsBounded verifies that the number of waiting requests is limited for each
// reader and in total, and that further requests are answered at once.
func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.catchUp()
		version := w.poll("", 0).Version
		took := func(reader string) time.Duration {
			began := time.Now()
			_, err := w.Poll(t.Context(), reader, version, time.Second)
			assert.NoError(t, err)
			return time.Since(began)
		}
		var done sync.WaitGroup
		for i := range 4096 {
			done.Go(func() { assert.Equal(t, time.Second, took(strconv.Itoa(i/1024))) })
			if i == 1023 {
				synctest.Wait()
				assert.Zero(t, took("0"))
			}
		}
		synctest.Wait()
		assert.Zero(t, took("another"))
		done.Wait()
		w.catchUp()
		assert.Equal(t, time.Second, took("0"), "the reader can wait again after its requests have ended")
	})
}

// TestIsolatedNodeDoesNotWait verifies that a node without contact to the leader answers
// at once, so that the reader can ask another node.
func TestIsolatedNodeDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t)
		w.catchUp()
		version, at := w.poll("", 0).Version, time.Now()
		for range 3 {
			time.Sleep(5 * time.Second)
			began := time.Now()
			assert.Equal(t, at.Unix(), w.poll(version, feed.MaxWait).IssuedAt)
			assert.Equal(t, 2*time.Second, time.Since(began))
		}
	})
}
