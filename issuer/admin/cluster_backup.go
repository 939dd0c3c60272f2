package admin

import (
	"fmt"
	"time"
)

// Interval returns the time between two backups.
func (b *BackupStatus) Interval() time.Duration { return time.Duration(b.Every) * time.Second }

// attention returns what should be looked at; b may be nil.
func (b *BackupStatus) attention(now time.Time) (all []string) {
	if b == nil || b.Every == 0 {
		return nil
	}
	switch {
	case !b.Overdue:
	case b.Last == nil:
		all = append(all, fmt.Sprintf("no backup was made since backups were scheduled %s ago, although one is due every %s",
			roundAge(now.Sub(b.Since)), FormatDuration(b.Interval())))
	default:
		all = append(all, fmt.Sprintf("the last good backup is %s old, although one is due every %s",
			roundAge(now.Sub(b.Last.At)), FormatDuration(b.Interval())))
	}
	for _, f := range b.Failed {
		all = append(all, fmt.Sprintf("backup on node %s failed at %s: %s", f.Node, f.At.UTC().Format(time.RFC3339), failureText(f.Reason)))
	}
	return all
}

// roundAge rounds an age for people.
func roundAge(d time.Duration) string {
	switch {
	case d < time.Minute:
		return FormatDuration(max(d, 0).Round(time.Second))
	case d < 24*time.Hour:
		return FormatDuration(d.Round(time.Minute))
	}
	return FormatDuration(d.Round(time.Hour))
}

func failureText(reason string) string {
	switch reason {
	case "disk_full":
		return "the disk of its backup folder has no room"
	case "not_verified":
		return "what was written could not be read back"
	}
	return "its log has the reason"
}

// Age returns the age of the last good backup for people; "" before the first.
func (b *BackupStatus) Age(now time.Time) string {
	if b.Last == nil {
		return ""
	}
	return roundAge(now.Sub(b.Last.At))
}
