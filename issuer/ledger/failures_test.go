package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// failures returns the details of the events of kind EventFailures.
func (w *env) failures() (details []string) {
	for e := range w.view().Events() {
		if e.Kind == ledger.EventFailures {
			require.Equal(w.t, ledger.Operator, e.Actor)
			details = append(details, e.Detail)
		}
	}
	return details
}

func signIns(accounts map[string]int64, nobody int64) ledger.FailureCounts {
	c := ledger.FailureCounts{SignIns: nobody, Users: accounts}
	for _, n := range accounts {
		c.SignIns += n
	}
	return c
}

// TestFailuresOfAnHour verifies that the reports of all nodes become one event, however
// many leaders ask for it.
func TestFailuresOfAnHour(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "user bob", "user carol"} {
		require.Equal(t, "ok", w.run(line))
	}
	hour := ledger.HourOf(w.at())
	report := func(node string, hour int64, c ledger.FailureCounts) ledger.Outcome {
		o, _ := w.do(ledger.NewReportFailures(node, hour, c), "", false)
		return o
	}
	sum := func(hour int64) ledger.Outcome {
		o, _ := w.do(&ledger.SumFailures{Hour: hour}, "", false)
		return o
	}
	require.Nil(t, report("n1", hour, signIns(map[string]int64{"u-alice": 100, "u-nobody": 7}, 0)).Refusal)
	require.Nil(t, report("n2", hour, signIns(map[string]int64{"u-alice": 100, "u-bob": 13}, 3)).Refusal)
	require.Nil(t, report("n1", hour, signIns(map[string]int64{"u-carol": 1}, 0)).Refusal)
	require.Equal(t, ledger.WrongState, sum(hour).Refusal.Cause, "the hour is not over")
	require.Empty(t, w.view().FailureHours(w.at()))
	require.Equal(t, ledger.BadField, report("n1", hour+5, signIns(nil, 1)).Refusal.Cause)

	w.now = w.now.Add(65 * time.Minute)
	require.Equal(t, []int64{hour}, w.view().FailureHours(w.at()))
	require.Equal(t, ledger.Conflict, report("n3", hour, signIns(nil, 1)).Refusal.Cause, "the hour has been summed")
	require.Nil(t, report("n3", hour+1, ledger.FailureCounts{Authentications: 1020}).Refusal)
	require.Equal(t, 2, sum(hour).Count)
	require.Zero(t, sum(hour).Count, "the hour has been summed by another leader")
	require.Equal(t, []string{"224 failed sign-ins on 3 accounts: u-alice 200, u-bob 13, u-carol 1"}, w.failures())
	require.Empty(t, w.view().FailureHours(w.at()))

	w.now = w.now.Add(time.Hour)
	require.Equal(t, 1, sum(hour+1).Count)
	require.Equal(t, "1020 failed client authentications", w.failures()[1])
}

// TestFailuresReportedTwice verifies that a report with a lost response is counted once, also
// if it is repeated after the last reports of its hour.
func TestFailuresReportedTwice(t *testing.T) {
	w := newEnv(t)
	hour := ledger.HourOf(w.at())
	c := ledger.NewReportFailures("n1", hour, signIns(nil, 5))
	for _, wait := range []time.Duration{0, 0, 65 * time.Minute} {
		w.now = w.now.Add(wait)
		o, _ := w.do(c, "the same", true)
		require.Nil(t, o.Refusal)
	}
	w.must(&ledger.SumFailures{Hour: hour})
	require.Equal(t, []string{"5 failed sign-ins"}, w.failures())
}

// TestFailuresAreBounded verifies that commands, rows and the event list a bounded number
// of accounts, those with the most failures.
func TestFailuresAreBounded(t *testing.T) {
	w := newEnv(t)
	accounts := map[string]int64{}
	for i := range 300 {
		require.Equal(t, "ok", w.run(fmt.Sprintf("user x%d", i)))
		accounts[fmt.Sprintf("u-x%d", i)] = int64(i + 1)
	}
	hour := ledger.HourOf(w.at())
	c := ledger.NewReportFailures("n1", hour, signIns(accounts, 0))
	require.Len(t, c.SignIns.Accounts, 50)
	require.EqualValues(t, 300*301/2, c.SignIns.Total)
	w.must(c)
	w.now = w.now.Add(65 * time.Minute)
	w.must(&ledger.SumFailures{Hour: hour})
	detail := w.failures()[0]
	require.True(t, strings.HasPrefix(detail, "45150 failed sign-ins on more than 50 accounts: u-x299 300, u-x298 299, "), detail)
	require.Equal(t, 9, strings.Count(detail, ", "), "ten accounts are listed")
}

// TestFailureReportRefusals verifies which reports are refused, and which of their accounts
// are listed.
func TestFailureReportRefusals(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("import app owner=alice scopes=PROFILE_READ")
	hour := ledger.HourOf(w.at())
	for node, ok := range map[string]bool{"": false, "n": true, strings.Repeat("n", ledger.MaxID): true, strings.Repeat("n", ledger.MaxID+1): false} {
		o, changed := w.do(ledger.NewReportFailures(node, hour, ledger.FailureCounts{}), "", false)
		require.Equal(t, ok, changed)
		if !ok {
			require.Equal(t, "node is empty or too long", o.Refusal.Field+" "+o.Refusal.Note)
		}
	}
	w.must(ledger.NewReportFailures("n", hour, ledger.FailureCounts{
		Authentications: 4, Clients: map[string]int64{"app": 2, "none": 2}, SignIns: 1, Users: map[string]int64{"u-alice": 0},
	}))
	w.now = w.now.Add(65 * time.Minute)
	w.must(&ledger.SumFailures{Hour: hour})
	require.Equal(t, []string{"1 failed sign-in; 4 failed client authentications on 1 application: app 2"}, w.failures())
}

// TestFailureHours verifies that an hour is listed once, however many nodes reported it, and
// that one Sum removes a bounded number of reports.
func TestFailureHours(t *testing.T) {
	w := newEnv(t)
	hour := ledger.HourOf(w.at())
	for i := range ledger.MaxSweep + 1 {
		w.must(ledger.NewReportFailures(fmt.Sprint("n", i), hour, signIns(nil, 1)))
	}
	w.must(ledger.NewReportFailures("n", hour+1, signIns(nil, 1)))
	w.now = w.now.Add(125 * time.Minute)
	require.Equal(t, []int64{hour, hour + 1}, w.view().FailureHours(w.at()))
	for _, want := range []int{ledger.MaxSweep, 1, 0} {
		o, _ := w.do(&ledger.SumFailures{Hour: hour}, "", false)
		require.Equal(t, want, o.Count)
	}
	require.Equal(t, []string{"100 failed sign-ins", "1 failed sign-in"}, w.failures())
}

// TestFailuresOfManyAccounts verifies that a report lists the accounts with the most
// failures, and says so.
func TestFailuresOfManyAccounts(t *testing.T) {
	accounts := map[string]int64{"u-least": 1}
	for i := range 50 {
		accounts[fmt.Sprint("u-", i)] = 2
	}
	c := ledger.NewReportFailures("n", 1, signIns(accounts, 0))
	require.Len(t, c.SignIns.Accounts, 50)
	require.True(t, c.SignIns.More)
	require.NotContains(t, c.SignIns.Accounts, ledger.AccountFailures{ID: "u-least", Count: 1})
}

// TestMoreFailures verifies that a sum says of its list that it is incomplete if one of the
// reports is.
func TestMoreFailures(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	hour := ledger.HourOf(w.at())
	c := ledger.NewReportFailures("n1", hour, signIns(map[string]int64{"u-alice": 3}, 0))
	c.SignIns.More = true
	w.must(c)
	w.must(ledger.NewReportFailures("n2", hour, signIns(map[string]int64{"u-alice": 1}, 0)))
	w.now = w.now.Add(65 * time.Minute)
	w.must(&ledger.SumFailures{Hour: hour})
	require.Equal(t, []string{"4 failed sign-ins on more than 1 account: u-alice 4"}, w.failures())
}
