package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPersonBounds verifies that each field of a profile may be as long as its bound, in
// characters, and no longer.
func TestPersonBounds(t *testing.T) {
	for name, test := range map[string]struct {
		field func(*ledger.Person) *string
		most  int
	}{
		"email":               {func(p *ledger.Person) *string { return &p.Email }, 254},
		"name":                {func(p *ledger.Person) *string { return &p.Name }, 100},
		"bio":                 {func(p *ledger.Person) *string { return &p.Bio }, 1000},
		"default_schedule_id": {func(p *ledger.Person) *string { return &p.DefaultScheduleID }, 64},
		"week_start":          {func(p *ledger.Person) *string { return &p.WeekStart }, 16},
		"time_zone":           {func(p *ledger.Person) *string { return &p.TimeZone }, 64},
		"locale":              {func(p *ledger.Person) *string { return &p.Locale }, 35},
		"organization_id":     {func(p *ledger.Person) *string { return &p.OrganizationID }, 64},
	} {
		w := newEnv(t)
		put := func(text string) *ledger.Refusal {
			c := &ledger.PutUser{ID: "u-1", Username: "alice"}
			*test.field(&c.Person) = text
			o, _ := w.do(c, "", false)
			return o.Refusal
		}
		assert.Nil(t, put(strings.Repeat("ä", test.most)), name)
		assert.Equal(t, name == "bio", put("two\nlines") == nil, name)
		for text, note := range map[string]string{
			strings.Repeat("a", test.most+1): fmt.Sprintf("is too long: %d characters, at most %d", test.most+1, test.most),
			"\xff":                           "is not valid UTF-8",
			"a\tb":                           "holds a control character",
			"a\u200bb":                       "has an invisible character",
		} {
			refused := put(text)
			if assert.NotNil(t, refused, "%s %q", name, text) {
				assert.Equal(t, name+" "+note, refused.Field+" "+refused.Note)
			}
		}
	}
}

// TestPutUser verifies what an operator's declaration of a user is refused for.
func TestPutUser(t *testing.T) {
	valid := ledger.PutUser{ID: "u-1", Username: "alice"}
	for name, test := range map[string]struct {
		change func(*ledger.PutUser)
		want   string
	}{
		"valid":                 {func(*ledger.PutUser) {}, ""},
		"greatest":              {func(c *ledger.PutUser) { c.ID, c.Username = strings.Repeat("a", 128), strings.Repeat("ä", 64) }, ""},
		"each character":        {func(c *ledger.PutUser) { c.ID = "azAZ09-_.~@|" }, ""},
		"no id":                 {func(c *ledger.PutUser) { c.ID = "" }, "id must have 1 to 128 characters"},
		"long id":               {func(c *ledger.PutUser) { c.ID = strings.Repeat("a", 129) }, "id must have 1 to 128 characters"},
		"no name":               {func(c *ledger.PutUser) { c.Username = "" }, "username is empty"},
		"blank name":            {func(c *ledger.PutUser) { c.Username = " " }, "username is empty"},
		"long name":             {func(c *ledger.PutUser) { c.Username = strings.Repeat("a", 65) }, "username is too long: 65 characters, at most 64"},
		"space in the name":     {func(c *ledger.PutUser) { c.Username = "a b" }, `username may not hold spaces or any of / \ " < > :`},
		"slash in the name":     {func(c *ledger.PutUser) { c.Username = "a/b" }, `username may not hold spaces or any of / \ " < > :`},
		"operator's id":         {func(c *ledger.PutUser) { c.ID = "Operator" }, "id is what the audit trail calls the operator of this service"},
		"operator's name":       {func(c *ledger.PutUser) { c.Username = "Operator" }, "username is what the audit trail calls the operator of this service"},
		"another's name":        {func(c *ledger.PutUser) { c.Username = "Bob" }, "username is taken"},
		"another's name as id":  {func(c *ledger.PutUser) { c.ID = "bob" }, "id is the user name of another user"},
		"another's id as name":  {func(c *ledger.PutUser) { c.Username = "u-bob" }, "username is the identifier of another user"},
		"its own id as name":    {func(c *ledger.PutUser) { c.Username = "u-1" }, ""},
		"its own name as id":    {func(c *ledger.PutUser) { c.ID, c.Username = "alice", "alice" }, ""},
		"generated name":        {func(c *ledger.PutUser) { c.Username = "u_" + strings.Repeat("a", 22) }, "username looks like an identifier that this service makes"},
		"almost generated name": {func(c *ledger.PutUser) { c.Username = "u_" + strings.Repeat("a", 21) }, ""},
		"12 hours":              {func(c *ledger.PutUser) { c.Person.TimeFormat = 12 }, ""},
		"24 hours":              {func(c *ledger.PutUser) { c.Person.TimeFormat = 24 }, ""},
		"13 hours":              {func(c *ledger.PutUser) { c.Person.TimeFormat = 13 }, "time_format must be 12 or 24"},
		"avatar":                {func(c *ledger.PutUser) { c.Person.AvatarURL = "https://a.example/me.png" }, ""},
		"bad avatar":            {func(c *ledger.PutUser) { c.Person.AvatarURL = "me.png" }, "avatar_url must begin with https:// or http://"},
		"long avatar":           {func(c *ledger.PutUser) { c.Person.AvatarURL = "https://" + strings.Repeat("a", 1017) }, "avatar_url is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user bob")
			c := valid
			test.change(&c)
			o, changed := w.do(&c, "", false)
			require.Equal(t, test.want == "", changed)
			if test.want == "" {
				require.Nil(t, o.Refusal)
				require.Equal(t, ledger.Outcome{ID: c.ID, Count: 1}, o)
				require.Equal(t, c.Username, w.view().User(c.ID).Username)
				return
			}
			require.Equal(t, test.want, o.Refusal.Field+" "+o.Refusal.Note)
		})
	}
	for _, character := range " !#$%&/\\\"ä{\x7f" {
		c := valid
		c.ID = "u" + string(character)
		o, _ := newEnv(t).do(&c, "", false)
		if assert.NotNil(t, o.Refusal, "%q", character) {
			assert.Equal(t, "may hold letters, digits and - _ . ~ @ | only", o.Refusal.Note)
		}
	}
}

// TestPutUserAgain verifies what a second declaration of a user changes.
func TestPutUserAgain(t *testing.T) {
	w := newEnv(t)
	first := ledger.PutUser{ID: "u-1", Username: "alice", Password: "hash", Declared: []string{"d1"}}
	w.must(&first)
	created := *w.view().User("u-1")
	again := func(c ledger.PutUser, name string) (ledger.Outcome, bool) { return w.do(&c, name, false) }

	o, changed := again(ledger.PutUser{ID: "u-1", Username: "bob", Declared: []string{"d2", "d1"}}, "")
	require.Nil(t, o.Refusal)
	require.False(t, changed, "the same declaration, under an older key")

	o, changed = again(ledger.PutUser{ID: "u-1", Username: "alice", New: true}, "")
	require.Equal(t, ledger.AlreadyExists, o.Refusal.Cause)
	require.False(t, changed)

	o, changed = again(ledger.PutUser{ID: "u-1", Username: "alice", Admin: true, Declared: []string{"d2", "d0"}}, "admin")
	require.Nil(t, o.Refusal)
	require.True(t, changed)
	u := w.view().User("u-1")
	require.True(t, u.Admin)
	require.Equal(t, "admin: false → true", w.view().LastEvent().Detail)
	require.Equal(t, "d2", u.Declared, "the digest under the newest key")
	require.Equal(t, "hash", u.Password, "no password keeps the password")
	require.Equal(t, created.Created, u.Created)
	require.Zero(t, u.SessionsRevokedBefore, "the password is the same")

	o, changed = again(ledger.PutUser{ID: "u-1", Username: "alice"}, "admin")
	require.Nil(t, o.Refusal)
	require.False(t, changed, "the command was applied before")

	again(ledger.PutUser{ID: "u-1", Username: "alice", Password: "hash"}, "")
	require.Zero(t, w.view().User("u-1").SessionsRevokedBefore, "the password is the same")
	require.Empty(t, w.view().User("u-1").Declared)

	stale := &ledger.UserSeen{Username: "al"}
	o, changed = again(ledger.PutUser{ID: "u-1", Username: "alice", Password: "another", Seen: stale}, "")
	require.Equal(t, ledger.Conflict, o.Refusal.Cause, "the password is another")
	require.False(t, changed)
	o, changed = again(ledger.PutUser{ID: "u-1", Username: "alice", Password: "hash", Seen: stale}, "")
	require.Nil(t, o.Refusal)
	require.False(t, changed, "the user is as declared")

	again(ledger.PutUser{ID: "u-1", Username: "alice", Password: "another"}, "")
	require.Equal(t, "another", w.view().User("u-1").Password)
	require.Equal(t, "password", w.view().LastEvent().Detail)
	require.Equal(t, w.seq, w.view().User("u-1").SessionsRevokedBefore)

	w.must(&ledger.PutUser{ID: "u-1", Username: "al", Person: ledger.Person{Name: "Al"}})
	require.Equal(t, "username, profile", w.view().LastEvent().Detail)
	w.must(&ledger.PutUser{ID: "u-2", Username: "bob", Password: "hash"})
	require.Empty(t, w.view().LastEvent().Detail, "all of a new user is new")
	require.Zero(t, w.view().User("u-2").SessionsRevokedBefore, "a new user has no sessions to end")

	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-1", State: "delete"})
	o, changed = again(ledger.PutUser{ID: "u-1", Username: "carol"}, "")
	require.Equal(t, ledger.AlreadyExists, o.Refusal.Cause)
	require.False(t, changed, "a deleted user does not return")

	w.must(&ledger.PutUser{ID: "erin", Username: "erin"})
	w.must(&ledger.PutUser{ID: "erin", Username: "erin", Admin: true}) // its own name is not another's

	// A user whose name is reserved, as in a row that a replay made, keeps it.
	id := "u_" + strings.Repeat("a", 22)
	w.must(&ledger.BeginRestore{})
	w.must(&ledger.Replay{Backup: 1, Records: []ledger.Record{{Seq: 2, At: w.at(), Effects: []ledger.Effect{
		{Kind: ledger.EffectUserDisabled, User: id, Identity: make([]byte, 32)},
	}}}})
	require.Equal(t, id, w.view().User(id).Username)
	w.must(&ledger.PutUser{ID: id, Username: id, Admin: true})
	w.must(&ledger.SetPerson{Actor: ledger.Actor{Operator: true}, User: id, Username: id, Person: ledger.Person{Name: "Kim"}})
	o, _ = again(ledger.PutUser{ID: id, Username: "u_" + strings.Repeat("b", 22)}, "")
	require.Equal(t, "looks like an identifier that this service makes", o.Refusal.Note)
}

// TestAccountFaults verifies that a page learns all faults of an account, and that a command reports
// the first.
func TestAccountFaults(t *testing.T) {
	p := ledger.Person{Email: "a\tb", Name: "a\tb", AvatarURL: "me.png", TimeFormat: 13}
	w := newEnv(t)
	w.run("user bob")
	for username, first := range map[string]string{"": "username", "Bob": "username", "alice": "email"} {
		want := []string{"username", "email", "name", "avatar_url", "time_format"}
		if username == "alice" {
			want = want[1:]
		}
		var fields []string
		for field := range w.view().AccountFaults(&ledger.User{ID: "u-1"}, username, &p) {
			fields = append(fields, field)
		}
		assert.Equal(t, want, fields)
		add := &ledger.AddUser{Actor: ledger.Actor{Operator: true}, ID: "u-1", Username: username, Person: p, Password: "hash"}
		assert.Equal(t, first, w.refusal(add).Field)
	}
	p.Email, p.Name = "", ""
	assert.Equal(t, "avatar_url", w.refusal(&ledger.PutUser{ID: "u-1", Username: "alice", Person: p}).Field)
}
