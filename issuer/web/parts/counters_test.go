package parts_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

func TestCountersAreBounded(t *testing.T) {
	assert.Equal(t, 100, parts.CountMany(150), "the number of counters must be limited")
}

// TestNobodyFillsTheCounters: walks for numbers that nobody asks for any more don't delay others.
func TestNobodyFillsTheCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := parts.NewCounters[int]()
		walks := 0
		get := func(name string) (value int, known bool) {
			value, _, known = n.Get(context.Background(), name, 1, func() int {
				walks++
				time.Sleep(time.Second)
				return 7
			})
			return value, known
		}
		for i := range 100 {
			get(strconv.Itoa(i))
		}
		began := time.Now()
		for known := false; !known; time.Sleep(time.Second) {
			_, known = get("another")
		}
		assert.Less(t, time.Since(began), time.Minute)
		assert.Less(t, walks, 20)
		time.Sleep(time.Hour) // so that the last pause ends
	})
}
