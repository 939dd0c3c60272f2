package admin

import "time"

// Problems is ClusterStatus.problems.
func Problems(s ClusterStatus, now time.Time) []string { return s.problems(now) }

// IsOrigin is isOrigin.
var IsOrigin = isOrigin
