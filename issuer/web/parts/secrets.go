package parts

import (
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A SecretRow is a secret of a list.
type SecretRow struct {
	ID      string
	Name    string // what its owner calls it, or ""
	Tail    string
	Created ui.Stamp
	Used    ui.Stamp
	Revoked ui.Stamp
	Ago     string // time since the last use; "" if that is long ago
	Ends    string // such as "Ends on 10 March 2026"; "" if no end is planned
	EndsAt  string // the exact time
	Only    bool   // the last active secret
	Form    *site.Form
	Set     *site.Form // renames the secret, or keeps it from ending; nil for a secret without names
}

// NameInput returns the input with the name of the secret, whose id is the row's own.
func (r SecretRow) NameInput() ui.Input {
	i := r.Set.Input("name", "").AtMost(ledger.MaxSecretName).As("off").Optional()
	i.ID, i.Value = "name-"+r.ID, r.Name
	return i
}

// endsText returns when a secret ends, or "".
func endsText(v *site.Session, now, ends ledger.Time) string {
	at := v.At(ends)
	switch {
	case at.Zero:
		return ""
	case ends <= now:
		return "Ends now"
	case at.Recent && at.Text != "just now":
		return "Ends " + at.Text
	case at.Recent:
		return "Ends in a moment"
	}
	return "Ends on " + v.Day(ends).Text
}

// SecretRows returns secrets, the newest first. revoke returns the form that revokes one.
func SecretRows(v *site.Session, now ledger.Time, secrets ledger.Secrets, revoke func(id string) *site.Form) (active, revoked []SecretRow) {
	for i := range slices.Backward(secrets) {
		s := &secrets[i]
		row := SecretRow{ID: s.ID, Name: s.Name, Tail: s.Tail, Ends: endsText(v, now, s.Ends), EndsAt: v.At(s.Ends).Exact, Created: v.At(s.Created), Used: v.At(s.Used), Revoked: v.At(s.Revoked)}
		if !s.Active() {
			revoked = append(revoked, row)
			continue
		}
		row.Ago, row.Form = recently(now, s.Used), revoke(s.ID)
		active = append(active, row)
	}
	return active, revoked
}

// recently returns how long ago a secret was used if that is less than a week, since
// something still uses it. Uses are known to the minute.
func recently(now, used ledger.Time) string {
	ago := now.Std().Sub(used.Std())
	switch {
	case used == 0 || ago >= 7*24*time.Hour:
		return ""
	case ago < 2*time.Minute:
		return "a moment ago"
	case ago < time.Hour:
		return ui.Plural(int(ago/time.Minute), "minute") + " ago"
	case ago < 24*time.Hour:
		return ui.Plural(int(ago/time.Hour), "hour") + " ago"
	}
	return ui.Plural(int(ago/(24*time.Hour)), "day") + " ago"
}

// Notices of pages whose form has added a secret before.
const (
	SecretKnown   = "That secret was generated already, and is shown only once. If you did not keep it, generate another and revoke that one."
	SecretRevoked = "That secret was generated, and has been revoked since. It is not shown again."
)
