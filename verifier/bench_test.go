package verifier_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// BenchmarkVerify measures the whole check of a token, and BenchmarkRaw the bare
// signature check. Compare them within one run.
//
//	go test -run '^$' -bench 'Verify|Raw' -benchmem -count 6 ./verifier
func BenchmarkVerify(b *testing.B) {
	v, tok, ctx := newVerifier(b), token(nil, nil), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(ctx, tok); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	digest, signature, public := rawCheck()
	b.ReportAllocs()
	for b.Loop() {
		if !ecdsa.VerifyASN1(public, digest, signature) {
			b.Fatal("signature doesn't match")
		}
	}
}

func rawCheck() (digest, signature []byte, public *ecdsa.PublicKey) {
	tok := token(nil, nil)
	sum := sha256.Sum256([]byte(tok[:strings.LastIndexByte(tok, '.')]))
	return sum[:], must(ecdsa.SignASN1(rand.Reader, ecKey(), sum[:])), &ecKey().PublicKey
}

// BenchmarkOverRaw alternates the two checks and compares their fastest rounds, which
// excludes other load of the machine: "times-raw" is the cost of a verification in bare
// signature checks.
func BenchmarkOverRaw(b *testing.B) {
	v, tok, ctx := newVerifier(b), token(nil, nil), context.Background()
	digest, signature, public := rawCheck()
	whole, raw := time.Hour, time.Hour
	for b.Loop() {
		began := time.Now()
		_, err := v.Verify(ctx, tok)
		between := time.Now()
		ok := ecdsa.VerifyASN1(public, digest, signature)
		raw = min(raw, time.Since(between))
		whole = min(whole, between.Sub(began))
		if err != nil || !ok {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(whole)/float64(raw), "times-raw")
}

// BenchmarkWhileTheIssuerHangs verifies new tokens under known keys while the issuer
// delays its key set: "worst-ms" is the slowest verification, other load of the machine
// included.
//
//	go test -run '^$' -bench IssuerHangs -benchtime 5000x ./verifier
func BenchmarkWhileTheIssuerHangs(b *testing.B) {
	issuer, v, held := holding(b)
	var worst time.Duration
	counted := 0
	for b.Loop() {
		b.StopTimer()
		token := issuer.Token()
		b.StartTimer()
		began := time.Now()
		accepted(b, v, token)
		if took := time.Since(began); held() {
			worst = max(worst, took)
			counted++
		}
	}
	b.ReportMetric(float64(counted), "verified")
	b.ReportMetric(worst.Seconds()*1000, "worst-ms")
}

// BenchmarkRefuse measures the refusal of garbage.
func BenchmarkRefuse(b *testing.B) {
	v, tok, ctx := newVerifier(b), token(object{"kid": "unknown"}, nil), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(ctx, tok); err == nil {
			b.Fatal("accepted")
		}
	}
}

// caching returns a verifier with the default cache, and a token in the cache.
func caching(b *testing.B) (*verifier.Verifier, string) {
	b.Helper()
	issuer := verifiertest.NewIssuer()
	b.Cleanup(issuer.Close)
	v, err := verifier.New(issuer.Config())
	require.NoError(b, err)
	b.Cleanup(v.Close)
	tok := issuer.Token(verifiertest.Scope("PROFILE_READ", "ORG_BOOKING_READ"), verifiertest.ExpiresIn(24*time.Hour))
	_, err = v.Verify(context.Background(), tok)
	require.NoError(b, err)
	return v, tok
}

// BenchmarkCacheHit measures a cached token; "best-ns/op" is the fastest round, without
// other load of the machine. BenchmarkCacheHits does so from as many goroutines as -cpu
// sets, with one token and so one entry.
//
//	go test -run '^$' -bench CacheHit -benchmem -cpu 1,2 -count 6 ./verifier
func BenchmarkCacheHit(b *testing.B) {
	v, tok := caching(b)
	hits(b, v, tok)
}

// hits measures a token that is in v's cache.
func hits(b *testing.B, v *verifier.Verifier, tok string) {
	b.Helper()
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	const round = 64
	best := time.Hour
	for done := 0; done < b.N; done += round {
		began := time.Now()
		for range round {
			if _, err := v.Verify(ctx, tok); err != nil {
				b.Fatal(err)
			}
		}
		best = min(best, time.Since(began))
	}
	b.ReportMetric(float64(best.Nanoseconds())/round, "best-ns/op")
}

func BenchmarkCacheHits(b *testing.B) {
	v, tok := caching(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		for pb.Next() {
			if _, err := v.Verify(ctx, tok); err != nil {
				b.Fail()
			}
		}
	})
}

// BenchmarkCacheScaling compares the fastest rounds of one goroutine and of two at once
// that use the same entry: "times-one-core" is the speed-up.
func BenchmarkCacheScaling(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("needs two cores")
	}
	v, tok := caching(b)
	ctx := context.Background()
	some := func() {
		for range 500 {
			if _, err := v.Verify(ctx, tok); err != nil {
				b.Fail()
			}
		}
	}
	one, two := time.Hour, time.Hour
	for b.Loop() {
		began := time.Now()
		some()
		one = min(one, time.Since(began))

		// From the start of the first goroutine to the end of the last.
		var ready atomic.Int32
		var begins, ends [2]time.Time
		var both sync.WaitGroup
		for i := range 2 {
			both.Go(func() {
				ready.Add(1)
				for ready.Load() < 2 {
				}
				begins[i] = time.Now()
				some()
				ends[i] = time.Now()
			})
		}
		both.Wait()
		first, last := begins[0], ends[0]
		if begins[1].Before(first) {
			first = begins[1]
		}
		if ends[1].After(last) {
			last = ends[1]
		}
		two = min(two, last.Sub(first))
	}
	b.ReportMetric(2*float64(one)/float64(two), "times-one-core")
}

func TestVerifyAllocations(t *testing.T) {
	v, tok, ctx := newVerifier(t), token(nil, nil), context.Background()
	var err error
	allocations := testing.AllocsPerRun(100, func() { _, err = v.Verify(ctx, tok) })
	require.NoError(t, err)
	assert.LessOrEqual(t, allocations, 16.0)
}
