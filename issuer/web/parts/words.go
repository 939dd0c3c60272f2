package parts

import (
	"cmp"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// ClientPills returns the state of a client.
func ClientPills(client *ledger.Client) []ui.Pill {
	pills := []ui.Pill{StatePill(client.State)}
	if client.Legacy {
		pills = append(pills, LegacyPill)
	}
	if client.Proposed != nil {
		pills = append(pills, ChangesWaitPill)
	}
	return pills
}

// LegacyPill marks an application that was made before scopes, and ChangesWaitPill one with a
// proposed revision.
var (
	LegacyPill      = ui.Pill{Text: "Legacy", Tone: ui.Info}
	ChangesWaitPill = ui.Pill{Text: "Changes in review", Tone: ui.Info}
)

// NoticeAbout returns the notice for a word, in the variant for the client's type if
// there is one: a public client has no secrets to mention.
func NoticeAbout(n site.Notices, word string, client *ledger.Client) string {
	return cmp.Or(n[word+"-"+string(client.Type)], n[word])
}

// TypeName describes the type of a client.
func TypeName(t ledger.ClientType) string {
	if t == ledger.Public {
		return "Public: it can’t keep a secret"
	}
	return "Confidential: it keeps a secret on a server"
}

// ClientKey identifies where a page of a list of clients begins or ends.
func ClientKey(client *ledger.Client) string { return client.ID }

// StateName returns the display name of a client's state.
func StateName(s ledger.ClientState) string {
	switch s {
	case ledger.Pending:
		return "Waiting for review"
	case ledger.Approved:
		return "Approved"
	case ledger.Rejected:
		return "Rejected"
	case ledger.Suspended:
		return "Suspended"
	}
	return "Deleted"
}

// QueuePlace describes a position in the review queue, such as "Number 3 of 41 in the queue", or
// returns "" for none.
func QueuePlace(p ledger.Position) string {
	switch {
	case p.First == 0:
		return ""
	case !p.Exact:
		return "Number " + ui.Comma(p.First) + " in the queue"
	}
	return "Number " + ui.Comma(p.First) + " of " + ui.Comma(p.Total) + " in the queue"
}

// StatePill returns a client's state as a pill.
func StatePill(s ledger.ClientState) ui.Pill {
	p := ui.Pill{Text: StateName(s)}
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

// OwnerStatePill returns the state of an application for its owner, who has nothing to do while it
// waits for a review, and something to mend once it was rejected.
func OwnerStatePill(s ledger.ClientState) ui.Pill {
	p := StatePill(s)
	switch s {
	case ledger.Pending:
		p.Tone = ui.Info
	case ledger.Rejected:
		p.Tone = ui.Warn
	}
	return p
}
