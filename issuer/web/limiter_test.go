package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web"
)

func TestLimiter(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	l := web.NewLimiter(1, 2, 3)
	assert.Zero(t, l.Take("a", start))
	assert.Zero(t, l.Take("a", start))
	assert.Equal(t, time.Second, l.Take("a", start))
	assert.Equal(t, time.Second, l.Take("a", start), "a refusal costs nothing")
	assert.Zero(t, l.Take("b", start))
	assert.Zero(t, l.Take("a", start.Add(time.Second)))
	assert.NotZero(t, l.Take("a", start.Add(time.Second)))

	for i := range 100 {
		l.Take(fmt.Sprint(i), start)
		l.Take("a", start.Add(time.Second)) // used all the time, so it stays
		assert.LessOrEqual(t, l.Len(), 3)
	}
	assert.NotZero(t, l.Take("a", start.Add(time.Second)))
	l.Forget("a")
	l.Forget("nobody")
	assert.Zero(t, l.Take("a", start.Add(time.Second)))
	assert.Zero(t, l.Take("a", start.Add(-time.Hour)), "a clock that is set back")
}

func TestNetwork(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"", ""},
		{"@", "@"},
	} {
		assert.Equal(t, test.want, web.Network(test.address))
	}
}
