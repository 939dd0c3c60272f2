package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSecretShapes: the scan finds each kind of secret in the middle of a file, and
// ignores texts that only resemble one.
func TestSecretShapes(t *testing.T) {
	body := strings.Repeat("A1b2-_C3", 10)
	for name, c := range map[string]struct {
		text  string
		found bool
	}{
		"a code":                 {"mmc_" + body, true},
		"a client secret":        {"mms_" + body, true},
		"a refresh token":        {"mmr_" + body, true},
		"a session":              {"mmx_" + body, true},
		"an access token":        {"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln", true},
		"a secret of this test":  {random("secret"), true},
		"a password":             {random("password"), true},
		"prefixes, then a code":  {"mmc_mmc_ mmc_\x00mmc_" + body, true},
		"a prefix":               {"mmr_ and more", false},
		"an error id":            {"mme_" + body, false},
		"base64":                 {"eyJhbGciOiJFUzI1NiJ9", false},
		"the name of the marker": {"secret-marker-", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.found, secretIn([]byte("before\x00"+c.text+"\x00behind")) != "")
		})
	}
}

// TestTimeRunsOn: the judge finds a violation of S7.
func TestTimeRunsOn(t *testing.T) {
	token := func(got uint32, issued int64, scope string) op {
		return op{Kind: refresh, Class: ok, Grant: "g", Got: got, IssuedAt: issued, Scope: scope}
	}
	require.Empty(t, timeRunsOn([]op{token(1, 10, scopes), token(2, 10, scopes), token(2, 12, scopes), token(3, 12, scopes)}))
	require.Len(t, timeRunsOn([]op{token(1, 10, scopes), token(2, 9, scopes)}), 1)
	require.Len(t, timeRunsOn([]op{token(1, 10, scopes), token(1, 15, scopes), token(2, 14, scopes)}), 1)
	require.Len(t, timeRunsOn([]op{token(1, 10, "PROFILE_READ BOOKING_READ BOOKING_WRITE")}), 1)
}

// agentOp is an op of an agent's grant.
func agentOp(k kind, scope string) op {
	return op{Kind: k, Class: ok, Grant: "g", Publisher: "p", Scope: scope, Got: 1}
}

// TestWithinCeilings: the judge finds a violation of S10, and accepts a scope that the order of
// concurrent commands explains.
func TestWithinCeilings(t *testing.T) {
	set := func(ceiling string, c class) op {
		return op{Kind: setCeiling, Publisher: "p", Scope: ceiling, Class: c}
	}
	other := set(lowCeiling, ok)
	other.Publisher = "other"
	allowed := at(10, 20, agentOp(allow, ""))
	for name, c := range map[string]struct {
		ops  []op
		good bool
	}{
		"the first ceiling":             {[]op{allowed, at(21, 22, agentOp(exchange, wideCeiling))}, true},
		"a lower one":                   {[]op{at(1, 2, set(lowCeiling, ok)), allowed, at(21, 22, agentOp(exchange, lowCeiling))}, true},
		"set meanwhile, before":         {[]op{at(5, 12, set(lowCeiling, ok)), allowed, at(21, 22, agentOp(exchange, lowCeiling))}, true},
		"set meanwhile, after":          {[]op{at(15, 25, set(lowCeiling, ok)), allowed, at(24, 27, agentOp(exchange, wideCeiling))}, true},
		"set by a command of long ago":  {[]op{at(1, 2, set(lowCeiling, unknown)), at(3, 4, set(wideCeiling, ok)), allowed, at(21, 22, agentOp(exchange, lowCeiling))}, true},
		"set for another publisher":     {[]op{at(1, 2, other), allowed, at(21, 22, agentOp(exchange, wideCeiling))}, true},
		"lowered later":                 {[]op{allowed, at(21, 22, set(lowCeiling, ok)), at(23, 24, agentOp(exchange, lowCeiling))}, true},
		"lowered and raised":            {[]op{allowed, at(21, 22, set(lowCeiling, ok)), at(23, 24, agentOp(exchange, lowCeiling)), at(25, 26, set(wideCeiling, ok)), at(27, 28, agentOp(refresh, wideCeiling))}, true},
		"lowered for new ones only":     {[]op{allowed, at(21, 22, set(lowCeiling, ok)), at(23, 24, agentOp(exchange, wideCeiling))}, false},
		"cut without need":              {[]op{allowed, at(21, 22, agentOp(exchange, lowCeiling))}, false},
		"all that it asked for":         {[]op{allowed, at(21, 22, agentOp(exchange, agentAsks))}, false},
		"above the ceiling":             {[]op{at(1, 2, set(lowCeiling, ok)), allowed, at(21, 22, agentOp(exchange, wideCeiling))}, false},
		"above that of a second review": {[]op{at(1, 2, set(wideCeiling, ok)), at(3, 4, set(lowCeiling, ok)), allowed, at(21, 22, agentOp(exchange, wideCeiling))}, false},
		"raised before it was raised":   {[]op{at(1, 2, set(lowCeiling, ok)), allowed, at(21, 22, set(wideCeiling, ok)), at(23, 24, agentOp(exchange, wideCeiling))}, false},
		"widened":                       {[]op{at(5, 12, set(lowCeiling, ok)), allowed, at(21, 22, agentOp(exchange, lowCeiling)), at(23, 24, agentOp(refresh, wideCeiling))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bad := withinCeilings(c.ops)
			require.Equal(t, c.good, len(bad) == 0, "%v", bad)
		})
	}
}

// TestNothingFromTheFuture: the judge finds a token that a wrong clock has stamped.
func TestNothingFromTheFuture(t *testing.T) {
	w := &env{c: &cluster{started: time.Unix(1000, 0)}}
	at := func(issued int64) []string {
		return nothingFromTheFuture([]op{{Kind: refresh, Class: ok, IssuedAt: issued, End: 100 * time.Second}}, w.clockAt)
	}
	require.Empty(t, at(1110))
	require.Len(t, at(1111), 1)
	w.clockSteps = []clockStep{{at: 50 * time.Second, by: time.Hour}}
	require.Empty(t, at(4710))
	require.Len(t, at(4711), 1)
}

// TestDeadlines: the judge finds a violation of L2, and an excuse counts only for its
// node and time.
func TestDeadlines(t *testing.T) {
	slow := op{Kind: refresh, Node: "n1", Start: 20 * time.Second, End: 31 * time.Second, Class: unknown}
	w := &env{}
	require.Len(t, w.nothingTakesLong([]op{slow}), 1)
	w.excuses = []excuse{{"n2", 0, time.Minute}, {"n1", 0, 10 * time.Second}}
	require.Len(t, w.nothingTakesLong([]op{slow}), 1)
	w.excuses = append(w.excuses, excuse{"n1", 25 * time.Second, 26 * time.Second})
	require.Empty(t, w.nothingTakesLong([]op{slow}))
	late := op{Kind: refresh, Node: "n1", Start: time.Second, End: 2*time.Second + maxRefusalTime, Class: noEffect}
	require.Len(t, (&env{}).nothingTakesLong([]op{late}), 1)
	late.Class = unknown
	require.Empty(t, (&env{}).nothingTakesLong([]op{late}))
}
