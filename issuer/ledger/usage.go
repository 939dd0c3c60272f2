package ledger

import (
	"cmp"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// How far back the figures of a client go, today and the current hour included.
const (
	usageDays  = 30
	usageHours = 24
)

// MaxUsageCounts is the maximum number of clients in a ReportUsage.
const MaxUsageCounts = 200

// maxComparedGrants is how many of a user's grants an Allow reads, to find out whether the
// user is new to the client.
const maxComparedGrants = 200

// Usage has figures of one client for its owner. No rule depends on them. They are not in the
// client's row, since every refresh reads that and every edit copies it.
type Usage struct {
	Client string      `cbor:"1,keyasint"`
	Days   []DayUsage  `cbor:"2,keyasint,omitempty"` // days with an Allow, the newest last
	Hours  []HourUsage `cbor:"3,keyasint,omitempty"` // hours that a node has reported, the newest last
}

// DayUsage counts the Allows of one day.
type DayUsage struct {
	Day    int32  `cbor:"1,keyasint"` // days since the Unix epoch, UTC
	Allows uint32 `cbor:"2,keyasint"`
	People uint32 `cbor:"3,keyasint,omitempty"` // the Allows of users who had no grant for the client
}

// HourUsage counts what the token endpoint and the authorization step answered in one hour.
type HourUsage struct {
	Hour      int64  `cbor:"1,keyasint"` // see HourOf
	Refreshes uint32 `cbor:"2,keyasint,omitempty"`
	Refusals  uint32 `cbor:"3,keyasint,omitempty"`
}

// Usage returns the figures of a client. It is never nil.
func (v View) Usage(client string) *Usage {
	if u := v.usage(client); u != nil {
		return u
	}
	return &Usage{Client: client}
}

func (v View) usage(client string) *Usage {
	return first[Usage](v, TableUsage, indexID, client)
}

// LastDays returns the last 30 days, the oldest first. Days without an Allow have zeros.
func (u *Usage) LastDays(at Time) []DayUsage {
	all := make([]DayUsage, usageDays)
	first := at.day() - usageDays + 1
	for i := range all {
		all[i].Day = first + int32(i)
	}
	for _, d := range u.Days {
		if i := int(d.Day - first); i >= 0 && i < len(all) {
			all[i] = d
		}
	}
	return all
}

// LastHours returns the last 24 hours, the oldest first. Hours without a report have zeros.
func (u *Usage) LastHours(at Time) []HourUsage {
	all := make([]HourUsage, usageHours)
	first := HourOf(at) - usageHours + 1
	for i := range all {
		all[i].Hour = first + int64(i)
	}
	for _, h := range u.Hours {
		if i := h.Hour - first; i >= 0 && i < usageHours {
			all[i] = h
		}
	}
	return all
}

// usageAfterAllow returns the change that counts an Allow of a user.
func (v View) usageAfterAllow(client string, u *User, m command.Meta) command.Change {
	old, today := v.Usage(client), stateTime(m).day()
	days := old.Days
	for len(days) > 0 && days[0].Day <= today-usageDays {
		days = days[1:]
	}
	if n := len(days); n > 0 && days[n-1].Day == today {
		days = slices.Clone(days)
	} else {
		days = append(slices.Clip(days), DayUsage{Day: today})
	}
	d := &days[len(days)-1]
	d.Allows++
	if v.isNewTo(client, u) {
		d.People++
	}
	return put(TableUsage, &Usage{Client: client, Days: days, Hours: old.Hours})
}

// isNewTo reports whether none of the user's newest grants, live or not, is for a client.
func (v View) isNewTo(client string, u *User) bool {
	for i := len(u.Grants) - 1; i >= max(0, len(u.Grants)-maxComparedGrants); i-- {
		if g := v.Grant(u.Grants[i]); g != nil && g.Client == client {
			return false
		}
	}
	return true
}

// withoutUsage returns the changes that remove the figures of a client, if it has any.
func (v View) withoutUsage(client string) []command.Change {
	if u := v.usage(client); u != nil {
		return []command.Change{remove(TableUsage, u)}
	}
	return nil
}

// ReportUsage adds what a node has counted in an hour to the figures of clients.
type ReportUsage struct {
	Node   string       `cbor:"1,keyasint"`
	Hour   int64        `cbor:"2,keyasint"` // see HourOf
	Counts []UsageCount `cbor:"3,keyasint"` // in ascending order of Client, at most MaxUsageCounts
}

// UsageCount counts the answers to one client.
type UsageCount struct {
	Client    string `cbor:"1,keyasint"`
	Refreshes uint32 `cbor:"2,keyasint,omitempty"`
	Refusals  uint32 `cbor:"3,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*ReportUsage) Kind() command.Kind { return KindReportUsage }

// Decide refuses an hour that is no longer shown. It skips clients that are not known any
// more. The row of the node has the last report, so that the same one is not counted twice.
func (c *ReportUsage) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v, now := At(txn), HourOf(stateTime(m))
	node := v.Node(c.Node)
	switch {
	case node == nil:
		return badField("node", "is unknown")
	case node.Reported == m.ID:
		return accept(Outcome{ID: node.ID})
	case len(c.Counts) > MaxUsageCounts:
		return badField("counts", "are too many")
	case c.Hour > now+1:
		return badField("hour", "is to come")
	case c.Hour <= now-usageHours:
		return badField("hour", "is over")
	}
	var changes []command.Change
	for i, n := range c.Counts {
		if i > 0 && n.Client <= c.Counts[i-1].Client {
			return badField("counts", "are not in order")
		}
		if client := v.Client(n.Client); client != nil && client.State != Deleted {
			changes = append(changes, put(TableUsage, v.Usage(n.Client).reported(c.Hour, n, now)))
		}
	}
	if len(changes) == 0 {
		return accept(Outcome{})
	}
	next := *node
	next.Reported = m.ID
	return accept(Outcome{ID: node.ID, Count: len(changes)}, append(changes, put(TableNodes, &next))...)
}

// reported returns a copy of u with the counts of an hour added.
func (u *Usage) reported(hour int64, n UsageCount, now int64) *Usage {
	hours := u.Hours
	for len(hours) > 0 && hours[0].Hour <= now-usageHours {
		hours = hours[1:]
	}
	hours = slices.Clone(hours)
	i, known := slices.BinarySearchFunc(hours, hour, func(h HourUsage, hour int64) int { return cmp.Compare(h.Hour, hour) })
	if !known {
		hours = slices.Insert(hours, i, HourUsage{Hour: hour})
	}
	hours[i].Refreshes += n.Refreshes
	hours[i].Refusals += n.Refusals
	return &Usage{Client: u.Client, Days: u.Days, Hours: hours}
}
