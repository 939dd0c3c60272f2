package web

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// This file formats values for display.

// date and day format a time for display and for <time datetime>; moment and instant do
// the same to the minute.
func date(t ledger.Time) string    { return t.Std().Format("2 January 2006") }
func day(t ledger.Time) string     { return t.Std().Format(time.DateOnly) }
func moment(t ledger.Time) string  { return t.Std().Format("2 January 2006, 15:04 UTC") }
func instant(t ledger.Time) string { return t.Std().Format("2006-01-02T15:04Z") }

// stateName returns the display name of a client's state.
func stateName(s ledger.ClientState) string {
	switch s {
	case ledger.Pending:
		return "Waiting for review"
	case ledger.Approved:
		return "Approved"
	case ledger.Rejected:
		return "Not approved"
	case ledger.Suspended:
		return "Suspended"
	}
	return "Deleted"
}

// statePill returns a client's state as a pill.
func statePill(s ledger.ClientState) ui.Pill {
	p := ui.Pill{Text: stateName(s)}
	switch s {
	case ledger.Pending:
		p.Tone = ui.Warn
	case ledger.Approved:
		p.Tone = ui.Good
	case ledger.Rejected, ledger.Suspended:
		p.Tone = ui.Bad
	}
	return p
}
