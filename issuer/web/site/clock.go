package site

import (
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Clock returns the clock of the user's profile: UTC and 24 hours if nobody is signed in, or if
// the profile has no zone that is known here.
func (v *Session) Clock() ui.Clock {
	if v.clock == nil {
		c := ui.Clock{Now: v.site.Ledger.Now().Std()}
		if v.User != nil {
			c.Zone, c.Hour12 = ZoneOf(v.User.TimeZone), v.User.TimeFormat == 12
		}
		v.clock = &c
	}
	return *v.clock
}

// At returns a time for display. 0 is no time.
func (v *Session) At(t ledger.Time) ui.Stamp { return v.Clock().At(int64(t)) }

// Day returns the day of a time for display. 0 is no time.
func (v *Session) Day(t ledger.Time) ui.Stamp { return v.Clock().Day(int64(t)) }

// zones has each loaded *time.Location by its name. Only names of the IANA database are added,
// since applications may write any text into a profile.
var zones sync.Map

// ZoneOf returns the time zone that a profile names, or nil if it is none that is known here.
func ZoneOf(name string) *time.Location {
	if name == "" || name == "Local" { // which time.LoadLocation takes for UTC and the node's zone
		return nil
	}
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	zones.Store(name, zone)
	return zone
}
