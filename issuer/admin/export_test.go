package admin

import "time"

// Problems is what decides on health.
func Problems(s ClusterStatus, now time.Time) []string { return s.problems(now) }

// IsOrigin is what decides on addresses.
var IsOrigin = isOrigin
