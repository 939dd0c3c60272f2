package ledger_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// usageCommand is command for a report of counts such as cal:3:1, three refreshes and a refusal.
func (w *env) usageCommand(l line) command.Command {
	if l.verb != "report-usage" {
		return nil
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(w.t, err)
		return n
	}
	c := &ledger.ReportUsage{Node: l.name, Hour: ledger.HourOf(w.at()) + number(l.or("hour", "0"))}
	for _, text := range l.list("counts") {
		part := strings.Split(text, ":")
		c.Counts = append(c.Counts, ledger.UsageCount{Client: part[0], Refreshes: uint32(number(part[1])), Refusals: uint32(number(part[2]))})
	}
	return c
}

// showUsage shows the days and hours with figures, by their distance from now.
func (w *env) showUsage(l line) string {
	var b strings.Builder
	u := w.view().Usage(l.args["client"])
	days, hours := u.LastDays(w.at()), u.LastHours(w.at())
	require.Len(w.t, days, 30)
	require.Len(w.t, hours, 24)
	for i, d := range days {
		if d.Allows > 0 {
			fmt.Fprintf(&b, "day %d: %d allows, %d new\n", i-29, d.Allows, d.People)
		}
	}
	for i, h := range hours {
		if h.Refreshes+h.Refusals > 0 {
			fmt.Fprintf(&b, "hour %d: %d refreshes, %d refusals\n", i-23, h.Refreshes, h.Refusals)
		}
	}
	return suffix(b.Len() == 0, "none", b.String())
}

// checkUsage verifies that only clients that are not deleted have figures, and that they are
// bounded and in order.
func (w *env) checkUsage(v ledger.View) {
	w.t.Helper()
	it, err := w.memory.View().Get(ledger.TableUsage, "id")
	require.NoError(w.t, err)
	for row := it.Next(); row != nil; row = it.Next() {
		u := row.(*ledger.Usage)
		c := v.Client(u.Client)
		require.NotNil(w.t, c, u.Client)
		require.NotEqual(w.t, ledger.Deleted, c.State, u.Client)
		require.LessOrEqual(w.t, len(u.Days), 30)
		require.LessOrEqual(w.t, len(u.Hours), 25) // the node's clock may be ahead
		for i, d := range u.Days {
			require.True(w.t, i == 0 || u.Days[i-1].Day < d.Day)
			require.LessOrEqual(w.t, d.People, d.Allows)
		}
		for i, h := range u.Hours {
			require.True(w.t, i == 0 || u.Hours[i-1].Hour < h.Hour)
		}
	}
}

// TestUsageProperties compares the figures of random Allows and reports, at random times, with
// the audit trail and with the reports that were accepted.
func TestUsageProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newEnv(t)
		for _, line := range []string{
			"user alice", "user bob", "acknowledge n1", "acknowledge n2",
			"import app-0 owner=alice scopes=PROFILE_READ", "import app-1 owner=alice scopes=PROFILE_READ",
		} {
			require.Equal(r, "ok", w.run(line), line)
		}
		type key struct {
			client string
			number int64 // of an hour or a day
		}
		reported, people := map[key]ledger.HourUsage{}, map[key]uint32{}
		serial := 0
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30, 60, 600, 1440, 10_000}).Draw(r, "minutes")) * time.Minute)
			client := rapid.SampledFrom([]string{"app-0", "app-1", "unknown"}).Draw(r, "client")
			switch rapid.SampledFrom([]string{"allow", "allow", "report", "report", "sweep"}).Draw(r, "what") {
			case "allow":
				user := rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "user")
				serial++
				require.Equal(r, "ok", w.run(fmt.Sprintf("sign-in %s session=s%d", user, serial)))
				isNew := true
				for g := range w.view().Grants() {
					isNew = isNew && (g.Client != client || g.User != "u-"+user)
				}
				w.run(fmt.Sprintf("allow s%d user=%s client=%s scope=PROFILE_READ grant=g%d", serial, user, client, serial))
				if isNew {
					people[key{client, w.at().Unix() / 86400}]++
				}
			case "report":
				c := &ledger.ReportUsage{
					Node: rapid.SampledFrom([]string{"n1", "n2", "n3"}).Draw(r, "node"),
					Hour: ledger.HourOf(w.at()) + int64(rapid.IntRange(-25, 2).Draw(r, "hour")),
				}
				one := ledger.UsageCount{Client: client, Refreshes: uint32(rapid.IntRange(0, 9).Draw(r, "refreshes")), Refusals: 1}
				c.Counts = append(c.Counts, one)
				name := fmt.Sprint("report ", serial)
				serial++
				o, wrote := w.do(c, name, false)
				if o.Refusal != nil {
					require.True(r, c.Node == "n3" || c.Hour > ledger.HourOf(w.at())+1 || c.Hour <= ledger.HourOf(w.at())-24)
					require.False(r, wrote)
					break
				}
				require.Equal(r, client != "unknown", wrote)
				_, wrote = w.do(c, name, true)
				require.False(r, wrote, "a repeated report was counted again")
				sum := reported[key{client, c.Hour}]
				sum.Refreshes, sum.Refusals = sum.Refreshes+one.Refreshes, sum.Refusals+one.Refusals
				reported[key{client, c.Hour}] = sum
			case "sweep":
				w.run("sweep")
			}
			v, day := w.view(), w.at().Unix()/86400
			for _, client := range []string{"app-0", "app-1"} {
				var days, allows uint32
				for _, d := range v.Usage(client).LastDays(w.at()) {
					days += d.Allows
					require.Equal(r, people[key{client, int64(d.Day)}], d.People, client)
				}
				for e := range v.Events() {
					if e.Kind == ledger.EventAllowed && e.Client == client && e.At.Unix()/86400 > day-30 {
						allows++
					}
				}
				require.Equal(r, allows, days, client)
				for _, h := range v.Usage(client).LastHours(w.at()) {
					want := reported[key{client, h.Hour}]
					want.Hour = h.Hour
					require.Equal(r, want, h, client)
				}
			}
		}
	})
}

// TestUsageOfTomorrow: the clock of the reader may be behind.
func TestUsageOfTomorrow(t *testing.T) {
	u := &ledger.Usage{Days: []ledger.DayUsage{{Day: 1, Allows: 1}, {Day: 2, Allows: 1}}}
	days := u.LastDays(24 * 3600 * 1000) // the second day of 1970
	require.Equal(t, ledger.DayUsage{Day: 1, Allows: 1}, days[len(days)-1])
}

// TestReportUsageBounds verifies which reports are refused as a whole.
func TestReportUsageBounds(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "acknowledge n1", "import a owner=alice scopes=PROFILE_READ"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	hour := ledger.HourOf(w.at())
	full := make([]ledger.UsageCount, ledger.MaxUsageCounts)
	for i := range full {
		full[i] = ledger.UsageCount{Client: fmt.Sprintf("a%03d", i), Refusals: 1}
	}
	for name, test := range map[string]struct {
		report ledger.ReportUsage
		field  string
	}{
		"full":           {ledger.ReportUsage{Node: "n1", Hour: hour, Counts: full}, ""},
		"too many":       {ledger.ReportUsage{Node: "n1", Hour: hour, Counts: append(full, ledger.UsageCount{Client: "b"})}, "counts"},
		"a client twice": {ledger.ReportUsage{Node: "n1", Hour: hour, Counts: []ledger.UsageCount{{Client: "a"}, {Client: "a"}}}, "counts"},
		"not in order":   {ledger.ReportUsage{Node: "n1", Hour: hour, Counts: []ledger.UsageCount{{Client: "b"}, {Client: "a"}}}, "counts"},
		"next hour":      {ledger.ReportUsage{Node: "n1", Hour: hour + 1, Counts: full[:1]}, ""},
		"to come":        {ledger.ReportUsage{Node: "n1", Hour: hour + 2, Counts: full[:1]}, "hour"},
		"another node":   {ledger.ReportUsage{Node: "n2", Hour: hour, Counts: full[:1]}, "node"},
	} {
		o, wrote := w.do(&test.report, "", false)
		require.False(t, wrote, name)
		if test.field == "" {
			require.Nil(t, o.Refusal, name)
			continue
		}
		require.NotNil(t, o.Refusal, name)
		require.Equal(t, test.field, o.Refusal.Field, name)
	}
}

// TestNodeKeepsItsLastReport: a node that has opened another key must not have a report counted
// twice.
func TestNodeKeepsItsLastReport(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "import cal owner=alice scopes=PROFILE_READ", "acknowledge n1", "report-usage n1 id=r counts=cal:1:0", "acknowledge n1 keys=c1"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	require.Equal(t, "ok; nothing changed", w.run("report-usage n1 id=r again counts=cal:1:0"))
}

// BenchmarkDecideAllow measures the decision of an Allow for a client with figures of 30 days,
// by a user with one grant for another client, and with as many as an Allow compares.
func BenchmarkDecideAllow(b *testing.B) {
	for _, grants := range []int{1, 200} {
		w := newEnv(b)
		w.run("user alice")
		w.run("import cal owner=alice secrets=s1 scopes=PROFILE_READ")
		w.run("import other owner=alice secrets=s1 scopes=PROFILE_READ")
		for day := range 29 {
			w.run(fmt.Sprintf("sign-in alice session=s%d", day))
			w.run(fmt.Sprintf("allow s%d user=alice client=cal scope=PROFILE_READ grant=d%d", day, day))
			w.now = w.now.Add(24 * time.Hour)
			w.run("sweep")
		}
		w.run("sign-in alice")
		for i := range grants {
			w.run(fmt.Sprintf("allow alice client=other scope=PROFILE_READ grant=g%d", i))
		}
		c := w.command(parseLine("allow alice client=cal scope=PROFILE_READ grant=new"))
		m := command.Meta{ID: command.ID{1}, Seq: w.seq + 1, At: int64(w.at())}
		require.NotNil(b, w.view().Decide(c, m).Issued)
		b.Run(fmt.Sprint(grants), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.view().Decide(c, m)
			}
		})
	}
}

// TestUsageCommandsFit verifies that a full report, and a replay of many deletions of clients with
// figures, are of permitted size and change no more rows than a command may.
func TestUsageCommandsFit(t *testing.T) {
	w := newEnv(t)
	require.Equal(t, "ok", w.run("user alice"))
	require.Equal(t, "ok", w.run("acknowledge n1"))
	full := func(id string) *ledger.ReportUsage {
		c := &ledger.ReportUsage{Node: "n1", Hour: ledger.HourOf(w.at())}
		for n := range ledger.MaxUsageCounts {
			c.Counts = append(c.Counts, ledger.UsageCount{Client: fmt.Sprintf(id, n), Refreshes: 1 << 31, Refusals: 1 << 31})
		}
		return c
	}
	body, err := machine.Marshal(full(fmt.Sprintf("%%0%dd", ledger.MaxID)))
	require.NoError(t, err)
	require.Less(t, len(body), command.MaxBody)
	report := full("c%03d")
	for n, one := range report.Counts {
		require.Nil(t, w.quick(w.command(parseLine("import "+one.Client+" owner=alice scopes=PROFILE_READ")), n).Refusal)
	}
	o, _ := w.do(report, "", false)
	require.Equal(t, ledger.MaxUsageCounts, o.Count)

	w.backup("b")
	for n, one := range report.Counts {
		require.Nil(t, w.quick(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: one.Client}, 1000+n).Refusal)
	}
	require.Equal(t, "ok", w.run("restore b"))
	require.Equal(t, "ok\nok\n", w.replay())
	for _, one := range report.Counts {
		require.Equal(t, ledger.Deleted, w.view().Client(one.Client).State)
	}
}
