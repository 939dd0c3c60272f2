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
	Tail    string
	Created ui.Stamp
	Used    ui.Stamp
	Revoked ui.Stamp
	Ago     string // time since the last use; "" if that is long ago
	Only    bool   // the last active secret
	Form    *site.Form
}

// SecretRows returns secrets, the newest first. revoke returns the form that revokes one.
func SecretRows(v *site.Session, now ledger.Time, secrets ledger.Secrets, revoke func(id string) *site.Form) (active, revoked []SecretRow) {
	for i := range slices.Backward(secrets) {
		s := &secrets[i]
		row := SecretRow{Tail: s.Tail, Created: v.At(s.Created), Used: v.At(s.Used), Revoked: v.At(s.Revoked)}
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
