package verifier_test

import (
	"encoding/hex"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

// BenchmarkRevocations measures the cost of half an hour of 100 revocations a second: a
// cache hit, to compare with BenchmarkCacheHit of the same run, and memory.
//
//	go test -run '^$' -bench 'Revocations|CacheHit$' -benchmem -count 6 ./verifier
func BenchmarkRevocations(b *testing.B) {
	const n = 186_000
	f := newFeed()
	f.publish(nil)
	keys, err := verifier.StaticKeys(published())
	require.NoError(b, err)
	v, err := verifier.New(verifier.Config{Issuer: issuer, Audience: audience, Keys: keys, Revocations: &verifier.RevocationsConfig{
		Name: "calendar", Secret: "s3cret", Client: &http.Client{Transport: f},
	}})
	require.NoError(b, err)
	b.Cleanup(v.Close)
	require.Eventually(b, v.RevocationsFresh, 5*time.Second, time.Millisecond)
	before := heap()
	all := make([]object, n)
	for i := range all {
		id := make([]byte, 16)
		copy(id, time.Duration(i).String())
		all[i] = object{"grant_id": hex.EncodeToString(id), "at": time.Now().Unix()}
	}
	f.publish(object{"version": timeline + "2", "revoked": all})
	require.Eventually(b, func() bool { return v.Revocations().Entries == n }, time.Minute, 10*time.Millisecond)
	all = nil
	f.publish(object{"version": timeline + "3"})
	time.Sleep(2 * time.Second) // until the long document is garbage
	grown := heap() - before
	good := tokenOf(nil)
	accepted(b, v, good)
	hits(b, v, good)
	b.ReportMetric(float64(grown)/n, "B/revocation")
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
