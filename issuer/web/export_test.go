package web

import (
	"time"

	"golang.org/x/time/rate"
)

// Carried and the others let the tests see what has no page of its own.
var (
	Carried   = carried
	Network   = network
	FormToken = formToken
)

type (
	Limiter = limiter
	Purpose = purpose
)

func NewLimiter(limit rate.Limit, burst, most int) *Limiter { return newLimiter(limit, burst, most) }

func (l *limiter) Take(key string, now time.Time) time.Duration { return l.take(key, now) }

func (l *limiter) Forget(key string) { l.forget(key) }

func (l *limiter) Len() int { return len(l.byKey) }
