package ledger

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// FailureCounts are the failed authentications that a node has counted. Users and Clients
// have only ids that exist.
type FailureCounts struct {
	SignIns         int64
	Users           map[string]int64 // the SignIns of each user, by id
	Authentications int64            // failed client authentications
	Clients         map[string]int64 // the Authentications of each client, by id
}

// How many accounts are listed for each kind of failure. Those with the most failures are
// listed; the failures of the others count only in the total.
const (
	maxReported = 50  // in a ReportFailures
	maxTallied  = 100 // in a FailureReport
	maxNamed    = 10  // in the event
)

// failureGrace is how long after the end of an hour its reports are accepted. Then they
// are summed in one event; later reports are refused, so that there is no second event
// for the same hour.
const failureGrace = 5 * time.Minute

// Failures counts the failures of one kind.
type Failures struct {
	Total    int64             `cbor:"1,keyasint"`
	Accounts []AccountFailures `cbor:"2,keyasint,omitempty"` // in descending order of Count
	More     bool              `cbor:"3,keyasint,omitempty"` // Accounts is incomplete
}

// AccountFailures counts the failures of one kind at one account.
type AccountFailures struct {
	ID    string `cbor:"1,keyasint"`
	Count int64  `cbor:"2,keyasint"`
}

func failuresOf(total int64, accounts map[string]int64) Failures {
	f := Failures{Total: total}
	return f.with(accounts, maxReported)
}

// with returns f with the failures at accounts added, listing the accounts with the most
// failures. The total doesn't change.
func (f Failures) with(accounts map[string]int64, most int) Failures {
	all := maps.Clone(accounts) // nil only if there are none, and then f has none either
	for _, a := range f.Accounts {
		all[a.ID] += a.Count
	}
	f.Accounts = nil
	for _, id := range slices.Sorted(maps.Keys(all)) {
		f.Accounts = append(f.Accounts, AccountFailures{id, all[id]})
	}
	slices.SortStableFunc(f.Accounts, func(a, b AccountFailures) int { return cmp.Compare(b.Count, a.Count) })
	if len(f.Accounts) > most {
		f.Accounts, f.More = f.Accounts[:most:most], true
	}
	return f
}

// plus returns the sum of f and g, listing at most that many accounts.
func (f Failures) plus(g Failures, most int) Failures {
	accounts := make(map[string]int64, len(g.Accounts))
	for _, a := range g.Accounts {
		accounts[a.ID] += a.Count
	}
	f.Total += g.Total
	f.More = f.More || g.More
	return f.with(accounts, most)
}

// known returns f without accounts that don't exist. Their failures stay in the total.
func (f Failures) known(exists func(id string) bool) Failures {
	var kept []AccountFailures
	for _, a := range f.Accounts[:min(len(f.Accounts), maxReported)] {
		if a.Count > 0 && exists(a.ID) {
			kept = append(kept, a)
		}
	}
	f.Accounts = kept
	return f
}

// text returns a summary such as
// "214 failed sign-ins on 3 accounts: u-1 200, u-2 13, u-3 1".
func (f *Failures) text(one, many, account, accounts string) string {
	count := func(n int64, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	text := count(f.Total, one, many)
	if len(f.Accounts) == 0 {
		return text
	}
	on, named := count(int64(len(f.Accounts)), account, accounts), make([]string, 0, maxNamed)
	if f.More {
		on = "more than " + on
	}
	for _, a := range f.Accounts[:min(len(f.Accounts), maxNamed)] {
		named = append(named, fmt.Sprintf("%s %d", a.ID, a.Count))
	}
	return text + " on " + on + ": " + strings.Join(named, ", ")
}

// A FailureReport is the sum of the failures that one node reported for one hour.
type FailureReport struct {
	ID              string     `cbor:"1,keyasint"` // see failureReportID; ordered by hour
	Hour            int64      `cbor:"2,keyasint"` // see HourOf
	SignIns         Failures   `cbor:"3,keyasint"`
	Authentications Failures   `cbor:"4,keyasint"`
	Last            command.ID `cbor:"5,keyasint"`
}

// HourOf returns the number of full hours (UTC) between the Unix epoch and t.
func HourOf(t Time) int64 { return t.Unix() / 3600 }

// hourOver returns the time from which the failures of an hour may be summed.
func hourOver(hour int64) Time { return Time((hour + 1) * 3600 * 1000).Add(failureGrace) }

func failureReportID(hour int64, node string) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(hour))) + "/" + node
}

// FailureHours returns the hours whose reports may be summed at a time.
func (v View) FailureHours(at Time) (hours []int64) {
	for r := range rowsFrom[FailureReport](v, TableFailures, "") {
		if at < hourOver(r.Hour) {
			break
		}
		if len(hours) == 0 || hours[len(hours)-1] != r.Hour {
			hours = append(hours, r.Hour)
		}
	}
	return hours
}

// ReportFailures adds failures that a node has counted to its report of an hour.
type ReportFailures struct {
	Node            string   `cbor:"1,keyasint"`
	Hour            int64    `cbor:"2,keyasint"`
	SignIns         Failures `cbor:"3,keyasint"`
	Authentications Failures `cbor:"4,keyasint"`
}

// NewReportFailures returns a report of a node's counts, with at most maxReported accounts
// of each kind.
func NewReportFailures(node string, hour int64, c FailureCounts) *ReportFailures {
	return &ReportFailures{
		Node: node, Hour: hour,
		SignIns: failuresOf(c.SignIns, c.Users), Authentications: failuresOf(c.Authentications, c.Clients),
	}
}

// Kind implements command.Command.
func (*ReportFailures) Kind() command.Kind { return KindReportFailures }

// Decide refuses a report of an hour that may have been summed already. The node then
// reports the failures for the current hour.
func (c *ReportFailures) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	r := FailureReport{ID: failureReportID(c.Hour, c.Node), Hour: c.Hour, Last: m.ID}
	old := first[FailureReport](v, TableFailures, indexID, r.ID)
	switch {
	case old != nil && old.Last == m.ID:
		return accept(Outcome{ID: r.ID})
	case c.Node == "" || len(c.Node) > MaxID:
		return badField("node", "is empty or too long")
	case c.Hour > HourOf(stateTime(m))+1:
		return badField("hour", "is to come")
	case stateTime(m) >= hourOver(c.Hour):
		return deny(Conflict)
	}
	if old != nil {
		r.SignIns, r.Authentications = old.SignIns, old.Authentications
	}
	r.SignIns = r.SignIns.plus(c.SignIns.known(func(id string) bool { return v.User(id) != nil }), maxTallied)
	r.Authentications = r.Authentications.plus(c.Authentications.known(func(id string) bool { return v.Client(id) != nil }), maxTallied)
	return accept(Outcome{ID: r.ID}, put(TableFailures, &r))
}

// SumFailures replaces all reports of an hour with one event.
type SumFailures struct {
	Hour int64 `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*SumFailures) Kind() command.Kind { return KindSumFailures }

// Decide changes nothing if the hour has no reports: another leader may have summed them.
func (c *SumFailures) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	if stateTime(m) < hourOver(c.Hour) {
		return deny(WrongState)
	}
	var signIns, authentications Failures
	var changes []command.Change
	for r := range rowsFrom[FailureReport](v, TableFailures, failureReportID(c.Hour, "")) {
		if r.Hour != c.Hour || len(changes) == MaxSweep {
			break
		}
		signIns = signIns.plus(r.SignIns, maxTallied)
		authentications = authentications.plus(r.Authentications, maxTallied)
		changes = append(changes, remove(TableFailures, r))
	}
	if len(changes) == 0 {
		return accept(Outcome{})
	}
	var details []string
	if signIns.Total > 0 {
		details = append(details, signIns.text("failed sign-in", "failed sign-ins", "account", "accounts"))
	}
	if authentications.Total > 0 {
		details = append(details, authentications.text("failed client authentication", "failed client authentications", "application", "applications"))
	}
	return accept(Outcome{Count: len(changes)}, append(changes,
		event(m, Event{Kind: EventFailures, Actor: Operator, Detail: strings.Join(details, "; ")}))...)
}
