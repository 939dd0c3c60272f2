package oauth_test

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// marked returns the text with brackets around the parts that differ.
func marked(parts []oauth.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Same {
			b.WriteString(p.Text)
		} else {
			b.WriteString("[" + p.Text + "]")
		}
	}
	return b.String()
}

func TestNearestRedirectURI(t *testing.T) {
	registered := []string{"https://app.example/oauth/callback", "https://app.example/cb", "http://localhost:8080/callback"}
	for received, want := range map[string][2]string{
		"https://app.example/cb":                            {"https://app.example/cb", "https://app.example/cb"},
		"https://app.example/cb/":                           {"https://app.example/cb", "https://app.example/cb[/]"},
		"http://app.example/cb":                             {"http[s]://app.example/cb", "http://app.example/cb"},
		"https://app.example/oauth/Callback":                {"https://app.example/oauth/[c]allback", "https://app.example/oauth/[C]allback"},
		"http://app.example/oauth/callback/":                {"http[s]://app.example/oauth/callback", "http://app.example/oauth/callback[/]"},
		"http://127.0.0.1:8080/callback":                    {"http://[localhost]:8080/callback", "http://[127.0.0.1]:8080/callback"},
		"http://localhost:3000/callback":                    {"http://localhost:[8]0[8]0/callback", "http://localhost:[3]0[0]0/callback"},
		"https://app.example/cb?a=b":                        {"https://app.example/cb", "https://app.example/cb[?a=b]"},
		"https://äpp.example/cb":                            {"https://[a]pp.example/cb", "https://[ä]pp.example/cb"},
		"https://app.example/cb\xff":                        {"https://app.example/cb", "https://app.example/cb[\ufffd]"},
		"":                                                  {"[https://app.example/cb]", ""},
		"https://app.example/c" + strings.Repeat("b", 5000): {"https://app.example/cb", "https://app.example/cb[" + strings.Repeat("b", 4999) + "]"},
	} {
		near, ok := oauth.NearestRedirectURI(received, registered)
		require.True(t, ok)
		require.Equal(t, want, [2]string{marked(near.Registered), marked(near.Received)}, received)
	}
	_, ok := oauth.NearestRedirectURI("https://app.example/cb", nil)
	require.False(t, ok)
	near, _ := oauth.NearestRedirectURI("ba", []string{"ab"})
	require.Equal(t, [2]string{"[ab]", "[ba]"}, [2]string{marked(near.Registered), marked(near.Received)}, "swapped characters are marked as replaced")
	near, _ = oauth.NearestRedirectURI("b", []string{"c", "d"})
	require.Equal(t, "[c]", marked(near.Registered), "the first of two equally near URIs")
}

// plain computes the Levenshtein distance by its definition.
func plain(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return plain(a[1:], b[1:])
	}
	return 1 + min(plain(a[1:], b[1:]), plain(a[1:], b), plain(a, b[1:]))
}

func TestNearestIsNearest(t *testing.T) {
	text := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(r *rapid.T) {
		received, registered := text.Draw(r, "received"), rapid.SliceOfN(text, 1, 4).Draw(r, "registered")
		near, ok := oauth.NearestRedirectURI(received, registered)
		require.True(r, ok)
		least := 100
		for _, uri := range registered {
			least = min(least, plain(uri, received))
		}
		require.Equal(r, least, near.Distance)

		whole := func(parts []oauth.Part, same bool) (all string) {
			for i, p := range parts {
				require.NotEmpty(r, p.Text)
				require.True(r, i == 0 || parts[i-1].Same != p.Same, "parts alternate")
				if p.Same || !same {
					all += p.Text
				}
			}
			return all
		}
		require.Equal(r, received, whole(near.Received, false))
		require.Contains(r, registered, whole(near.Registered, false))
		kept := whole(near.Registered, true)
		require.Equal(r, kept, whole(near.Received, true), "the kept parts of both texts differ")
		longer := max(len(received), len(whole(near.Registered, false)))
		require.LessOrEqual(r, longer-utf8.RuneCountInString(kept), near.Distance)
	})
}

// BenchmarkNearest is the worst case: ten long registered URIs and a request of maximum
// length.
func BenchmarkNearest(b *testing.B) {
	var registered []string
	for i := range 10 {
		registered = append(registered, "https://"+strings.Repeat(string(rune('a'+i)), oauth.MaxRedirectURI-8))
	}
	received := "http:" + strings.Repeat("z", oauth.MaxQuery)
	for b.Loop() {
		oauth.NearestRedirectURI(received, registered)
	}
}

// TestNearestRedirectURIIsBounded verifies that the memory is bounded, whatever is registered
// and received.
func TestNearestRedirectURIIsBounded(t *testing.T) {
	var registered []string
	for i := range 10 {
		registered = append(registered, "https://a.example/"+strings.Repeat(string(rune('a'+i)), 1000))
	}
	received := "https://b.example/" + strings.Repeat("xyz", 400)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	near, found := oauth.NearestRedirectURI(received, registered)
	runtime.ReadMemStats(&after)
	require.True(t, found)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(500_000), "bytes; a table of all pairs of characters takes 2 MB")
	text := func(parts []oauth.Part) (all string) {
		for _, p := range parts {
			all += p.Text
		}
		return all
	}
	require.Equal(t, received, text(near.Received))
	require.Contains(t, registered, text(near.Registered))
}
