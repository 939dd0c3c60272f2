package bench

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// measured returns the libraries, and package verifier with its cache.
func measured() []library {
	remembering := library{
		name: "this package, seen before",
		start: func(ctx context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			return mintmark(ctx, i, s, 0)
		},
	}
	return slices.Insert(slices.Clone(libraries), 1, remembering)
}

// BenchmarkVerify verifies one good ES256 token repeatedly. "best-ns/op" is the fastest
// round, without other load of the machine.
func BenchmarkVerify(b *testing.B) {
	for _, l := range measured() {
		b.Run(l.label(), func(b *testing.B) {
			issuer := verifiertest.NewIssuer()
			defer issuer.Close()
			v, err := l.start(b.Context(), issuer, settings{})
			require.NoError(b, err)
			token := issuer.Token(verifiertest.Scope("PROFILE_READ", "ORG_BOOKING_READ"))
			ctx := context.Background()
			require.NoError(b, v(ctx, token))
			b.ReportAllocs()
			const round = 16
			best := time.Hour
			b.ResetTimer()
			for done := 0; done < b.N; done += round {
				began := time.Now()
				for range round {
					if err := v(ctx, token); err != nil {
						b.Fatal(err)
					}
				}
				best = min(best, time.Since(began))
			}
			b.ReportMetric(float64(best.Nanoseconds())/round, "best-ns/op")
		})
	}
}

// TestCorpus counts the odd tokens that each library accepts. Package verifier accepts
// none; README.md has the numbers of the others, and -v prints the names.
func TestCorpus(t *testing.T) {
	documentation, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, l := range measured() {
		t.Run(l.label(), func(t *testing.T) {
			issuer := verifiertest.NewIssuer()
			defer issuer.Close()
			v, err := l.start(t.Context(), issuer, settings{})
			require.NoError(t, err)
			require.NoError(t, v(t.Context(), issuer.Token()), "a good token")
			corpus := verifiertest.Corpus(issuer)
			var accepted []string
			for _, odd := range corpus {
				if v(t.Context(), odd.Token) == nil {
					accepted = append(accepted, odd.Name)
				}
			}
			t.Logf("accepts %d of %d: %v", len(accepted), len(corpus), accepted)
			if len(l.modules) == 0 {
				require.Empty(t, accepted)
			}
			row := fmt.Sprintf(`(?m)^%s .* %d of %d$`, regexp.QuoteMeta(l.label()), len(accepted), len(corpus))
			require.Regexp(t, row, string(documentation))
		})
	}
}
