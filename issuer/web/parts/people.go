package parts

import (
	"cmp"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// HostOf returns the host of a website for display.
func HostOf(website string) string {
	u, err := url.Parse(website)
	if err != nil {
		return ""
	}
	return u.Host
}

// A Fact is a line of a profile. An empty value means not set.
type Fact struct{ Name, Value string }

// Facts returns what GET /v2/me returns for a user.
func Facts(u *ledger.User, about string) []Fact {
	clock := "24 hours"
	if u.TimeFormat == 12 {
		clock = "12 hours"
	}
	return []Fact{
		{"Name", u.Name},
		{"Username", u.Username},
		{"Email address", u.Email},
		{about, u.Bio},
		{"Picture", u.AvatarURL},
		{"Language", u.Locale},
		{"Time zone", u.TimeZone},
		{"Clock", clock},
		{"First day of the week", u.WeekStart},
		{"Default schedule", u.DefaultScheduleID},
		{"Organization", u.OrganizationID},
		{"Account ID", u.ID},
	}
}

// NameOf returns the name of another user for display.
func NameOf(u *ledger.User) string {
	if u == nil || u.Deleted {
		return "somebody who no longer has an account"
	}
	p := site.PersonOf(u)
	if p.Username != "" {
		return p.Name + " (" + p.Username + ")"
	}
	return p.Name
}

// UsernameOf returns the user name of another user for display, to somebody who may know it
// but not the real name.
func UsernameOf(u *ledger.User) string {
	if u == nil || u.Deleted {
		return NameOf(nil)
	}
	return cmp.Or(u.Username, u.ID)
}
