package ledger_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A table has rows that no command made, since lists only read rows.
type table struct {
	name string
	rows []any
}

func tableOf[R any](name string, rows []*R) table {
	t := table{name: name}
	for _, r := range rows {
		t.rows = append(t.rows, r)
	}
	return t
}

func viewOf(t testing.TB, tables ...table) ledger.View {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	txn := db.Txn(true)
	for _, table := range tables {
		for _, row := range table.rows {
			require.NoError(t, txn.Insert(table.name, row))
		}
	}
	txn.Commit()
	return ledger.At(db.Txn(false))
}

// pages returns all pages of a list, one after another, and verifies the limit of each.
func pages[R any, K comparable](t require.TestingT, limit int, of func(after K) ([]*R, K)) (all []*R) {
	var after, end K
	for {
		found, next := of(after)
		require.LessOrEqual(t, len(found), limit)
		all = append(all, found...)
		if next == end {
			return all
		}
		require.NotEqual(t, after, next, "the list does not advance")
		after = next
	}
}

// pagesBack returns all pages before a row, from the one directly before it back to the
// beginning, joined in the list's order.
func pagesBack[R any, K comparable](t require.TestingT, limit int, row K, of func(before K) ([]*R, K)) (all []*R) {
	var beginning K
	for {
		found, next := of(row)
		require.LessOrEqual(t, len(found), limit)
		all = append(slices.Clone(found), all...)
		if next == beginning {
			return all
		}
		require.NotEqual(t, row, next, "the list does not advance")
		row = next
	}
}

func ids[R any](rows []*R, id func(*R) string) (list []string) {
	for _, r := range rows {
		list = append(list, id(r))
	}
	return list
}

var (
	someStates = []ledger.ClientState{ledger.Pending, ledger.Approved, ledger.Suspended, ledger.Deleted}
	someNames  = []string{"Calendar", "calendar", "Cal", "CRM", "Zebra", "äpfel", "Äpfel"}
)

func idOfClient(c *ledger.Client) string { return c.ID }

func drawClients(r *rapid.T) (all []*ledger.Client) {
	for i := range rapid.IntRange(0, 40).Draw(r, "clients") {
		c := &ledger.Client{
			ID: fmt.Sprintf("app-%d", i), Owner: rapid.SampledFrom([]string{"u-1", "u-10", "u-2"}).Draw(r, "owner"),
			State: rapid.SampledFrom(someStates).Draw(r, "state"), Profile: ledger.Profile{Name: rapid.SampledFrom(someNames).Draw(r, "name")},
			Changed: ledger.Time(rapid.IntRange(1, 5).Draw(r, "changed")), Waiting: ledger.Time(rapid.IntRange(0, 5).Draw(r, "waiting")),
			Created: ledger.Time(rapid.IntRange(1, 5).Draw(r, "created")),
		}
		if rapid.Bool().Draw(r, "proposes") {
			c.Proposed = &c.Profile
		}
		all = append(all, c)
	}
	return all
}

// TestListClients compares with a list that is filtered and sorted as a whole.
func TestListClients(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := drawClients(r)
		v := viewOf(t, tableOf(ledger.TableClients, all), tableOf(ledger.TableUsers, []*ledger.User{{ID: "u-1", Username: "Zoe"}, {ID: "u-2", Username: "adam"}}))
		ownerName := map[string]string{"u-1": "zoe", "u-2": "adam"}
		q := ledger.ClientQuery{
			Sort:   rapid.SampledFrom([]ledger.ClientSort{ledger.ClientsByName, ledger.ClientsByCreated, ledger.ClientsByChanged, ledger.ClientsByOwner}).Draw(r, "sort"),
			Owner:  rapid.SampledFrom([]string{"", "u-1", "u-10", "u-3"}).Draw(r, "of"),
			State:  rapid.SampledFrom(append(someStates, "")).Draw(r, "in"),
			Search: rapid.SampledFrom([]string{"", "CAL", "app-1", "ÄPF", "ZOE", "nothing"}).Draw(r, "search"),
			Limit:  rapid.IntRange(1, 12).Draw(r, "limit"),
		}
		var want []*ledger.Client
		for _, c := range all {
			inState := c.State == q.State || q.State == "" && c.State != ledger.Deleted
			text := strings.ToLower(c.Name + "\n" + c.ID)
			if inState && (q.Owner == "" || q.Owner == c.Owner) && (strings.Contains(text, strings.ToLower(q.Search)) || strings.ToLower(q.Search) == ownerName[c.Owner]) {
				want = append(want, c)
			}
		}
		order := func(a, b *ledger.Client) int {
			first := 0
			switch q.Sort {
			case ledger.ClientsByCreated:
				first = cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(a.ID, b.ID))
			case ledger.ClientsByChanged:
				first = cmp.Or(cmp.Compare(b.Changed, a.Changed), cmp.Compare(a.ID, b.ID))
			case ledger.ClientsByOwner:
				first = cmp.Or(cmp.Compare(ownerName[a.Owner], ownerName[b.Owner]), cmp.Compare(a.Owner, b.Owner))
			}
			return cmp.Or(first, cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
		}
		slices.SortFunc(want, order)
		got := pages(r, q.Limit, func(after string) ([]*ledger.Client, string) { q.After = after; return v.ListClients(q) })
		require.Equal(r, ids(want, idOfClient), ids(got, idOfClient))
		for i, c := range want {
			require.Equal(r, ledger.Position{First: i + 1, Total: len(want), Exact: true}, v.ClientsPosition(q, c.ID))
		}
		require.Equal(r, ledger.Position{Total: len(want), Exact: true}, v.ClientsPosition(q, "nobody"))
		for _, c := range all {
			if slices.Contains(want, c) || q.Owner != "" && c.Owner != q.Owner || q.State != "" && c.State != q.State {
				continue
			}
			require.Equal(r, ledger.Position{Total: len(want), Exact: true}, v.ClientsPosition(q, c.ID), "it is not in the list any more")
			q.After = c.ID
			i, _ := slices.BinarySearchFunc(want, c, order)
			got, _ := v.ListClients(q)
			require.Equal(r, ids(want[i:min(i+q.Limit, len(want))], idOfClient), ids(got, idOfClient), "it begins after a row that left the list")
		}

		if q.Sort == ledger.ClientsByName {
			q.From = rapid.SampledFrom([]string{"a", "C", "m"}).Draw(r, "from")
			later := slices.DeleteFunc(slices.Clone(want), func(row *ledger.Client) bool { return strings.ToLower(row.Name) < strings.ToLower(q.From) })
			got = pages(r, q.Limit, func(after string) ([]*ledger.Client, string) { q.After = after; return v.ListClients(q) })
			require.Equal(r, ids(later, idOfClient), ids(got, idOfClient))
		}

		q.Back = true
		if last := len(want) - 1; last >= 0 {
			got = pagesBack(r, q.Limit, want[last].ID, func(before string) ([]*ledger.Client, string) { q.After = before; return v.ListClients(q) })
			require.Equal(r, ids(want[:last], idOfClient), ids(got, idOfClient))
		}
		q.After = "nobody"
		got, next := v.ListClients(q)
		require.Empty(r, got)
		require.Empty(r, next)
	})
}

// TestReviewQueue verifies that the longest waiting client comes first, and that clients
// that don't wait are omitted.
func TestReviewQueue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := drawClients(r)
		v := viewOf(t, tableOf(ledger.TableClients, all))
		q := ledger.QueueQuery{
			Search: rapid.SampledFrom([]string{"", "", "CAL", "app-1", "nothing"}).Draw(r, "search"),
			Limit:  rapid.IntRange(1, 12).Draw(r, "limit"),
		}
		want := slices.DeleteFunc(slices.Clone(all), func(c *ledger.Client) bool {
			return c.State != ledger.Pending && (c.Proposed == nil || c.State == ledger.Deleted) ||
				!strings.Contains(strings.ToLower(c.Name+"\n"+c.ID), strings.ToLower(q.Search))
		})
		slices.SortFunc(want, func(a, b *ledger.Client) int {
			return cmp.Or(cmp.Compare(cmp.Or(a.Waiting, a.Changed), cmp.Or(b.Waiting, b.Changed)), cmp.Compare(a.ID, b.ID))
		})
		got := pages(r, q.Limit, func(after string) ([]*ledger.Client, string) { q.After = after; return v.ReviewQueue(q) })
		require.Equal(r, ids(want, idOfClient), ids(got, idOfClient))
		most, waiting := rapid.IntRange(0, 50).Draw(r, "most"), 0
		for _, c := range all {
			if c.AwaitsReview() {
				waiting++
			}
		}
		require.Equal(r, min(most, waiting), v.CountWaiting(most))
		if q.Search == "" {
			latest := slices.Clone(want)
			slices.Reverse(latest)
			require.Equal(r, ids(latest[:min(most, len(want))], idOfClient), ids(v.NewestWaiting(most), idOfClient))
		}
		if last := len(want) - 1; last >= 0 {
			q.Back = true
			got = pagesBack(r, q.Limit, want[last].ID, func(before string) ([]*ledger.Client, string) { q.After = before; return v.ReviewQueue(q) })
			require.Equal(r, ids(want[:last], idOfClient), ids(got, idOfClient))
		}

		for i, c := range want {
			require.Equal(r, ledger.Position{First: i + 1, Total: len(want), Exact: true}, v.QueuePosition(q, c.ID))
		}
		require.Equal(r, ledger.Position{Total: len(want), Exact: true}, v.QueuePosition(q, "nobody"))

		q.After, q.Back, q.Limit = "nobody", false, len(all)+1
		got, _ = v.ReviewQueue(q)
		require.Equal(r, ids(want, idOfClient), ids(got, idOfClient), "the queue did not start again")
		q.Back = true
		got, _ = v.ReviewQueue(q)
		require.Empty(r, got, "the place of the client in the queue is unknown")
	})
}

func TestListUsers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []*ledger.User
		for i := range rapid.IntRange(0, 40).Draw(r, "users") {
			u := &ledger.User{ID: fmt.Sprintf("u-%d", i), Username: fmt.Sprintf("%s%d", rapid.SampledFrom(someNames).Draw(r, "name"), i)}
			u.Name, u.Email = rapid.SampledFrom([]string{"", "Ann Ott", "BOB"}).Draw(r, "person"), rapid.SampledFrom([]string{"", "Ann@example.com"}).Draw(r, "email")
			u.Created = ledger.Time(rapid.IntRange(1, 5).Draw(r, "created"))
			u.Admin, u.Disabled = rapid.Bool().Draw(r, "admin"), rapid.Bool().Draw(r, "disabled")
			if u.Deleted = rapid.IntRange(0, 9).Draw(r, "deleted") == 0; u.Deleted {
				u.Username = ""
			}
			all = append(all, u)
		}
		v := viewOf(t, tableOf(ledger.TableUsers, all))
		q := ledger.UserQuery{
			Search: rapid.SampledFrom([]string{"", "CAL", "u-1", "ann", "bob", "nothing"}).Draw(r, "search"),
			Admins: rapid.Bool().Draw(r, "admins"), Disabled: rapid.Bool().Draw(r, "only disabled"),
			Sort:  rapid.SampledFrom([]ledger.UserSort{ledger.UsersByUsername, ledger.UsersByCreated}).Draw(r, "sort"),
			Limit: rapid.IntRange(1, 12).Draw(r, "limit"),
		}
		want := slices.DeleteFunc(slices.Clone(all), func(u *ledger.User) bool {
			text := strings.ToLower(strings.Join([]string{u.Username, u.Name, u.Email, u.ID}, "\n"))
			return u.Deleted || q.Admins && !u.Admin || q.Disabled && !u.Disabled || !strings.Contains(text, strings.ToLower(q.Search))
		})
		slices.SortFunc(want, func(a, b *ledger.User) int {
			if q.Sort == ledger.UsersByCreated {
				return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(a.ID, b.ID))
			}
			return cmp.Compare(strings.ToLower(a.Username), strings.ToLower(b.Username))
		})
		got := pages(r, q.Limit, func(after string) ([]*ledger.User, string) { q.After = after; return v.ListUsers(q) })
		id := func(u *ledger.User) string { return u.ID }
		require.Equal(r, ids(want, id), ids(got, id))
		for i, u := range want {
			require.Equal(r, ledger.Position{First: i + 1, Total: len(want), Exact: true}, v.UsersPosition(q, u.ID))
		}
		require.Equal(r, ledger.Position{Total: len(want), Exact: true}, v.UsersPosition(q, "nobody"))

		if q.Sort == ledger.UsersByUsername {
			q.From = rapid.SampledFrom([]string{"a", "C", "m"}).Draw(r, "from")
			later := slices.DeleteFunc(slices.Clone(want), func(row *ledger.User) bool { return strings.ToLower(row.Username) < strings.ToLower(q.From) })
			got = pages(r, q.Limit, func(after string) ([]*ledger.User, string) { q.After = after; return v.ListUsers(q) })
			require.Equal(r, ids(later, id), ids(got, id))
		}

		q.Back = true
		if last := len(want) - 1; last >= 0 {
			got = pagesBack(r, q.Limit, want[last].ID, func(before string) ([]*ledger.User, string) { q.After = before; return v.ListUsers(q) })
			require.Equal(r, ids(want[:last], id), ids(got, id))
		}
		for _, gone := range append(all, &ledger.User{ID: "nobody", Deleted: true}) {
			if q.After = gone.ID; gone.Deleted {
				got, _ = v.ListUsers(q)
				require.Empty(r, got)
			}
		}
	})
}

func TestListEvents(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []*ledger.Event
		seq, at := uint64(0), ledger.Time(0)
		for range rapid.IntRange(0, 60).Draw(r, "events") {
			seq += uint64(rapid.IntRange(1, 20).Draw(r, "gap"))
			at += ledger.Time(rapid.IntRange(0, 3).Draw(r, "later"))
			all = append(all, &ledger.Event{
				Seq: seq, At: at, Kind: rapid.SampledFrom([]ledger.EventKind{"grant.reuse", "grant.allowed", "grants", "user.put", ledger.EventClientReviewed}).Draw(r, "kind"),
				Detail: rapid.SampledFrom([]string{"approve", "approve changes", "reject: approve", "suspend", "suspend: why", "resume"}).Draw(r, "detail"),
				Actor:  rapid.SampledFrom([]string{"", "u-1", "u-2"}).Draw(r, "actor"),
				User:   rapid.SampledFrom([]string{"", "u-1", "u-3"}).Draw(r, "user"),
				Client: rapid.SampledFrom([]string{"", "app"}).Draw(r, "client"),
			})
		}
		v := viewOf(t, tableOf(ledger.TableAudit, all))
		q := ledger.EventQuery{
			Client: rapid.SampledFrom([]string{"", "", "app"}).Draw(r, "of client"),
			User:   rapid.SampledFrom([]string{"", "", "u-1"}).Draw(r, "of user"),
			Kind:   rapid.SampledFrom([]string{"", "", "grant", "grant.reuse"}).Draw(r, "of kind"),
			Except: rapid.SampledFrom([]string{"", "", "grant", "grant.reuse"}).Draw(r, "except kind"),
			From:   ledger.Time(rapid.IntRange(0, 40).Draw(r, "from")),
			To:     ledger.Time(rapid.IntRange(0, 100).Draw(r, "to")),
			Oldest: rapid.Bool().Draw(r, "oldest"),
			Limit:  rapid.IntRange(1, 12).Draw(r, "limit"),
		}
		q.Verdicts = rapid.SampledFrom([][]ledger.Verdict{nil, nil, {ledger.Approve, ledger.Reject}, {ledger.Suspend}}).Draw(r, "verdicts")
		want := slices.DeleteFunc(slices.Clone(all), func(e *ledger.Event) bool {
			verdict := ledger.Verdict(regexp.MustCompile("^[a-z]+").FindString(e.Detail))
			if q.Verdicts != nil && (e.Kind != ledger.EventClientReviewed || !slices.Contains(q.Verdicts, verdict)) {
				return true
			}
			return q.Client != "" && e.Client != q.Client || q.User != "" && e.User != q.User && e.Actor != q.User ||
				q.Kind == "grant" && !strings.HasPrefix(string(e.Kind), "grant.") || q.Kind == "grant.reuse" && e.Kind != "grant.reuse" ||
				q.Except == "grant" && strings.HasPrefix(string(e.Kind), "grant.") || q.Except == "grant.reuse" && e.Kind == "grant.reuse" ||
				e.At < q.From || q.To > 0 && e.At >= q.To
		})
		slices.Reverse(want)
		id := func(e *ledger.Event) string { return fmt.Sprint(e.Seq) }
		whole := slices.Collect(v.EventsMatching(q))
		require.Equal(r, ids(want, id), ids(whole, id), "the newest first")
		if q.Oldest {
			slices.Reverse(want)
		}
		got := pages(r, q.Limit, func(before uint64) ([]*ledger.Event, uint64) { q.Before = before; return v.ListEvents(q) })
		require.Equal(r, ids(want, id), ids(got, id))
		for i, e := range want {
			require.Equal(r, ledger.Position{First: i + 1, Total: len(want), Exact: true}, v.EventsPosition(q, e.Seq))
		}
		if last := len(want) - 1; last >= 0 {
			q.Back = true
			got = pagesBack(r, q.Limit, want[last].Seq, func(after uint64) ([]*ledger.Event, uint64) { q.Before = after; return v.ListEvents(q) })
			require.Equal(r, ids(want[:last], id), ids(got, id))
		}
	})
}

// TestEventsBackwards verifies that the whole trail is returned, for dense and sparse Seqs.
func TestEventsBackwards(t *testing.T) {
	var all []*ledger.Event
	var want []uint64
	seq := uint64(0)
	for i := range 6000 {
		switch {
		case i%1000 == 999:
			seq += 1 << 40
		case i/1000%2 == 1:
			seq += uint64(i)
		}
		all = append(all, &ledger.Event{Seq: seq, Kind: ledger.EventSignedIn})
		want = append(want, seq)
		seq++
	}
	slices.Reverse(want)
	v := viewOf(t, tableOf(ledger.TableAudit, all))
	var got []uint64
	for e := range v.EventsBackwards() {
		got = append(got, e.Seq)
	}
	require.Equal(t, want, got)
	for e := range v.EventsBackwards() {
		require.Equal(t, want[0], e.Seq)
		break
	}
	for range viewOf(t).EventsBackwards() {
		require.Fail(t, "the empty trail has an event")
	}
}

// TestListsAreBounded verifies that a page without a match reads maxScanned rows, and that
// the next page continues where it stopped.
func TestListsAreBounded(t *testing.T) {
	const rows, bound = 45_000, 12_000
	var clients []*ledger.Client
	var users []*ledger.User
	var events []*ledger.Event
	for i := range rows {
		name := fmt.Sprintf("%05d", i)
		clients = append(clients, &ledger.Client{ID: name, Owner: "u", State: ledger.Approved, Profile: ledger.Profile{Name: name}})
		users = append(users, &ledger.User{ID: name, Username: name})
		events = append(events, &ledger.Event{Seq: uint64(i + 1), At: ledger.Time(i + 1), Kind: ledger.EventSignedIn})
	}
	clients[rows-1].Name, users[rows-1].Name, events[0].Kind = "99999 last", "last", ledger.EventReuse
	v := viewOf(t, tableOf(ledger.TableClients, clients), tableOf(ledger.TableUsers, users), tableOf(ledger.TableAudit, events))

	for _, owner := range []string{"", "u"} {
		c := ledger.ClientQuery{Owner: owner, Search: "LAST", Limit: 10}
		found, next := v.ListClients(c)
		require.Empty(t, found)
		require.Equal(t, fmt.Sprintf("%05d", bound-1), next)
		c.After = next
		for range 2 {
			_, c.After = v.ListClients(c)
		}
		found, next = v.ListClients(c)
		require.Len(t, found, 1)
		require.Empty(t, next)
	}
	u := ledger.UserQuery{Search: "LAST", Limit: 10}
	require.Len(t, pages(t, 10, func(after string) ([]*ledger.User, string) { u.After = after; return v.ListUsers(u) }), 1)
	e := ledger.EventQuery{Kind: "grant", Limit: 10}
	back := ledger.ClientQuery{Search: "LAST", Limit: 10, Back: true, After: clients[rows-2].ID}
	found, next := v.ListClients(back)
	require.Empty(t, found)
	require.Equal(t, fmt.Sprintf("%05d", rows-2-bound), next, "backwards")
	none, before := v.ListEvents(e)
	require.Empty(t, none)
	require.Equal(t, uint64(rows-bound+1), before)
	e.To = bound
	one, before := v.ListEvents(e)
	require.Len(t, one, 1, "a time range is found without reading later events")
	require.Zero(t, before)
}

// TestPositionBounds verifies that a position reads as many rows as a page.
func TestPositionBounds(t *testing.T) {
	var clients []*ledger.Client
	for i := range 12_001 {
		clients = append(clients, &ledger.Client{ID: fmt.Sprintf("%05d", i), State: ledger.Pending, Waiting: ledger.Time(i + 1)})
	}
	last := clients[len(clients)-1].ID
	q := ledger.QueueQuery{}
	require.Equal(t, ledger.Position{Total: 12_000}, viewOf(t, tableOf(ledger.TableClients, clients)).QueuePosition(q, last))
	require.Equal(t, ledger.Position{First: 12_000, Total: 12_000, Exact: true}, viewOf(t, tableOf(ledger.TableClients, clients[1:])).QueuePosition(q, last))

	// A list that is too long stays ordered by name.
	for i, c := range clients {
		c.Name, c.Created = c.ID, ledger.Time(i)
	}
	sorted := ledger.ClientQuery{Sort: ledger.ClientsByCreated, Limit: 1}
	found, _ := viewOf(t, tableOf(ledger.TableClients, clients)).ListClients(sorted)
	require.Equal(t, "00000", found[0].ID)
	require.Equal(t, ledger.Position{First: 1, Total: 12_000}, viewOf(t, tableOf(ledger.TableClients, clients)).ClientsPosition(sorted, "00000"))
	found, _ = viewOf(t, tableOf(ledger.TableClients, clients[1:])).ListClients(sorted)
	require.Equal(t, last, found[0].ID)

	var users []*ledger.User
	for i, c := range clients {
		users = append(users, &ledger.User{ID: c.ID, Username: c.ID, Created: ledger.Time(i)})
	}
	v, byAge := viewOf(t, tableOf(ledger.TableUsers, users)), ledger.UserQuery{Sort: ledger.UsersByCreated, Limit: 1}
	people, _ := v.ListUsers(byAge)
	require.Equal(t, "00000", people[0].ID)
	require.Equal(t, ledger.Position{First: 1, Total: 12_000}, v.UsersPosition(byAge, "00000"))
}

// TestInitials verifies that the first letter of each name is offered once, and nothing but letters.
func TestInitials(t *testing.T) {
	for names, want := range map[string]string{"": "", "alpha Beta beta2 1abc zeta äpfel": "abz", "1abc äpfel": "", "äpfel": "", "zebra": "z", "Zed _x": "z"} {
		var clients []*ledger.Client
		var users []*ledger.User
		for i, name := range strings.Fields(names) {
			id := fmt.Sprint(i)
			clients = append(clients, &ledger.Client{ID: id, Owner: "u-1", State: ledger.Approved, Profile: ledger.Profile{Name: name}})
			users = append(users, &ledger.User{ID: id, Username: name})
		}
		v := viewOf(t, tableOf(ledger.TableClients, clients), tableOf(ledger.TableUsers, users))
		require.Equal(t, want, v.ClientInitials(ledger.ClientQuery{}), names)
		require.Equal(t, want, v.ClientInitials(ledger.ClientQuery{Owner: "u-1", From: "m"}), names)
		require.Empty(t, v.ClientInitials(ledger.ClientQuery{Owner: "u-2"}), names)
		require.Equal(t, want, v.UserInitials(ledger.UserQuery{}), names)
		require.Empty(t, v.UserInitials(ledger.UserQuery{Admins: true}), names)
	}
}

// TestNeedOwner compares with a list that is filtered and sorted as a whole.
func TestNeedOwner(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := drawClients(r)
		var want []*ledger.Client
		for _, c := range all {
			c.State = rapid.SampledFrom(append(someStates, ledger.Rejected)).Draw(r, "in")
			c.Type = rapid.SampledFrom([]ledger.ClientType{ledger.Public, ledger.Confidential}).Draw(r, "type")
			ends := rapid.IntRange(0, 4).Draw(r, "ends") == 0
			hasSecret, refused, agent := rapid.Bool().Draw(r, "secret"), rapid.IntRange(0, 3).Draw(r, "refused") == 0, rapid.IntRange(0, 4).Draw(r, "agent") == 0
			c.Secrets = ledger.Secrets{{ID: "old", Revoked: 1}}
			if hasSecret {
				c.Secrets = append(c.Secrets, ledger.Secret{ID: "new"})
			}
			if ends = ends && hasSecret; ends {
				c.Secrets[1].Ends = 1000
			}
			if refused {
				c.Refused = &ledger.Refused{}
			}
			if agent {
				c.Document = &ledger.Document{}
			}
			unusable := c.State == ledger.Rejected || c.State == ledger.Suspended || c.State == ledger.Approved && c.Type == ledger.Confidential && !hasSecret
			if c.Owner == "u-1" && c.State != ledger.Deleted && !agent && (unusable || refused || ends) {
				want = append(want, c)
			}
		}
		slices.SortFunc(want, func(a, b *ledger.Client) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
		})
		v := viewOf(t, tableOf(ledger.TableClients, all))
		require.Equal(r, ids(want, idOfClient), ids(slices.Collect(v.NeedOwner("u-1")), idOfClient))
	})
}

func BenchmarkLists(b *testing.B) {
	var clients []*ledger.Client
	var events []*ledger.Event
	for i := range 10_000 {
		clients = append(clients, &ledger.Client{
			ID: fmt.Sprintf("client-%d", i), Owner: fmt.Sprintf("u-%d", i%100), State: someStates[i%3],
			Profile: ledger.Profile{Name: fmt.Sprintf("Application %d", i*7919%10_000)}, Changed: ledger.Time(i),
		})
	}
	var users []*ledger.User
	for i := range 10_000 {
		users = append(users, &ledger.User{
			ID: fmt.Sprintf("u-%d", i), Username: fmt.Sprintf("somebody-%d", i), Admin: i%5000 == 0,
			Person: ledger.Person{Name: fmt.Sprintf("Some Body %d", i), Email: "somebody@example.com"},
		})
	}
	for i := range ledger.MaxEvents {
		events = append(events, &ledger.Event{Seq: uint64(i + 1), At: ledger.Time(i), Actor: "somebody", Kind: ledger.EventAllowed, Client: clients[i%10_000].ID})
	}
	v := viewOf(b, tableOf(ledger.TableClients, clients), tableOf(ledger.TableUsers, users), tableOf(ledger.TableAudit, events))
	for name, list := range map[string]func(){
		"clients":          func() { v.ListClients(ledger.ClientQuery{Limit: 50}) },
		"search":           func() { v.ListClients(ledger.ClientQuery{Search: "nothing", Limit: 50}) },
		"owner":            func() { v.ListClients(ledger.ClientQuery{Owner: "u-7", Limit: 50}) },
		"deleted":          func() { v.ListClients(ledger.ClientQuery{State: ledger.Deleted, Limit: 50}) },
		"users":            func() { v.ListUsers(ledger.UserQuery{Search: "nothing", Limit: 50}) },
		"administrators":   func() { v.ListUsers(ledger.UserQuery{Admins: true, Limit: 50}) },
		"eventsOfNobody":   func() { v.ListEvents(ledger.EventQuery{User: "nobody", Limit: 50}) },
		"queue":            func() { v.ReviewQueue(ledger.QueueQuery{Limit: 50}) },
		"events":           func() { v.ListEvents(ledger.EventQuery{Limit: 50}) },
		"eventsOfClient":   func() { v.ListEvents(ledger.EventQuery{Client: "client-77", Limit: 50}) },
		"eventsBeforeTime": func() { v.ListEvents(ledger.EventQuery{To: 500, Limit: 50}) },
		"clientsByOwner":   func() { v.ListClients(ledger.ClientQuery{Sort: ledger.ClientsByOwner, Limit: 50}) },
		"clientsByCreated": func() { v.ListClients(ledger.ClientQuery{Sort: ledger.ClientsByCreated, Limit: 50}) },
		"clientsPosition":  func() { v.ClientsPosition(ledger.ClientQuery{}, "client-77") },
		"usersByCreated":   func() { v.ListUsers(ledger.UserQuery{Sort: ledger.UsersByCreated, Limit: 50}) },
		"usersPosition":    func() { v.UsersPosition(ledger.UserQuery{}, "u-77") },
		"eventsPosition":   func() { v.EventsPosition(ledger.EventQuery{}, ledger.MaxEvents) },
		"countWaiting":     func() { v.CountWaiting(999) },
		"history":          func() { v.HistoryOf("client-77", 200) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				list()
			}
		})
	}
}

func BenchmarkConnected(b *testing.B) {
	const n = 100_000
	var users []*ledger.User
	var grants []*ledger.Grant
	for i := range n {
		g := &ledger.Grant{ID: id16(fmt.Sprint(i)), User: fmt.Sprintf("user-%d", i), Client: fmt.Sprintf("client-%d", i%10), Due: 1, CreatedSeq: 1, Created: 1, Used: ledger.Time(i)}
		grants = append(grants, g)
		users = append(users, &ledger.User{ID: g.User, Username: g.User, Grants: []ledger.GrantID{g.ID}})
	}
	clients := []*ledger.Client{{ID: "client-7", State: ledger.Approved}}
	v := viewOf(b, tableOf(ledger.TableUsers, users), tableOf(ledger.TableGrants, grants), tableOf(ledger.TableClients, clients))
	for b.Loop() {
		if c := v.Connected("client-7", n, 50); c.Users != n/10 || len(c.Recent) != 50 {
			b.Fatal(c)
		}
	}
}

// TestListsOfAnUnknownRow verifies the page before or after a row that has left the list:
// there is none before it, and the list starts again after it.
func TestListsOfAnUnknownRow(t *testing.T) {
	v := viewOf(t,
		tableOf(ledger.TableClients, []*ledger.Client{
			{ID: "a", State: ledger.Pending, Waiting: 1}, {ID: "b", State: ledger.Pending, Waiting: 2}, {ID: "x", State: ledger.Approved, Changed: 9},
		}),
		tableOf(ledger.TableUsers, []*ledger.User{{ID: "u-a", Username: "a", Admin: true}, {ID: "u-b", Username: "b"}, {ID: "u-x", Deleted: true}}))
	for _, after := range []string{"", "none"} {
		clients, next := v.ListClients(ledger.ClientQuery{After: after, Back: true, Limit: 9})
		require.Empty(t, clients)
		require.Empty(t, next)
	}
	for _, after := range []string{"", "none", "x"} {
		clients, next := v.ReviewQueue(ledger.QueueQuery{After: after, Back: true, Limit: 9})
		require.Empty(t, clients)
		require.Empty(t, next)
		clients, _ = v.ReviewQueue(ledger.QueueQuery{After: after, Limit: 9})
		require.Equal(t, []string{"a", "b"}, ids(clients, idOfClient))
	}
	idOfUser := func(u *ledger.User) string { return u.ID }
	for _, after := range []string{"", "none", "u-x"} {
		users, next := v.ListUsers(ledger.UserQuery{After: after, Back: true, Limit: 9})
		require.Empty(t, users)
		require.Empty(t, next)
		users, _ = v.ListUsers(ledger.UserQuery{After: after, Limit: 9})
		require.Equal(t, []string{"u-a", "u-b"}, ids(users, idOfUser))
	}
	admins, _ := v.ListUsers(ledger.UserQuery{Admins: true, Limit: 9})
	require.Equal(t, []string{"u-a"}, ids(admins, idOfUser))
}

// TestEventQueries verifies the bounds of a range of time, and of the trail.
func TestEventQueries(t *testing.T) {
	var events []*ledger.Event
	for i, seq := range []uint64{2, 5, 9} {
		events = append(events, &ledger.Event{Seq: seq, At: ledger.Time(10 * (i + 1))})
	}
	v := viewOf(t, tableOf(ledger.TableAudit, events))
	for at, want := range map[ledger.Time]bool{9: false, 10: true, 19: true, 20: false} {
		q := ledger.EventQuery{From: 10, To: 20}
		require.Equal(t, want, q.Match(&ledger.Event{At: at}), at)
		q.To = 0
		require.Equal(t, at >= 10, q.Match(&ledger.Event{At: at}), at)
	}
	for _, before := range []uint64{0, 1<<64 - 1} {
		found, next := v.ListEvents(ledger.EventQuery{Before: before, Back: true, Limit: 9})
		require.Empty(t, found)
		require.Zero(t, next)
	}
	newer, _ := v.ListEvents(ledger.EventQuery{Before: 3, Back: true, Limit: 9})
	require.Equal(t, []*ledger.Event{events[2], events[1]}, newer)
	for range v.EventsMatching(ledger.EventQuery{}) {
		break
	}
	for at, bounds := range map[ledger.Time][2]uint64{10: {0, 1}, 11: {2, 4}, 20: {2, 4}, 21: {5, 8}, 31: {9, 9}} {
		seq := v.TrailBefore(at)
		require.GreaterOrEqual(t, seq, bounds[0], at)
		require.LessOrEqual(t, seq, bounds[1], at)
	}
}
