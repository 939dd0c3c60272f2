package parts

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

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

// A Fact is a line of a profile.
type Fact struct{ Name, Value string }

// Facts returns what GET /v2/me returns for a user apart from the account ID, and the names of
// what is not set.
func Facts(u *ledger.User, about string) (set []Fact, unset []string) {
	for _, one := range append([]Fact{{"Name", u.Name}, {"Username", u.Username}, {"Email address", u.Email}}, further(u, about, "24 hours")...) {
		if one.Value == "" {
			unset = append(unset, one.Name)
			continue
		}
		set = append(set, one)
	}
	return set, unset
}

// FurtherFacts returns the facts that are set, without the names and the address of a user.
func FurtherFacts(u *ledger.User) []Fact {
	return slices.DeleteFunc(further(u, "About", ""), func(f Fact) bool { return f.Value == "" })
}

func further(u *ledger.User, about, clock string) []Fact {
	if u.TimeFormat != 0 {
		clock = strconv.Itoa(u.TimeFormat) + " hours"
	}
	return []Fact{
		{about, u.Bio},
		{"Picture", u.AvatarURL},
		{"Language", u.Locale},
		{"Time zone", u.TimeZone},
		{"Clock", clock},
		{"First day of the week", u.WeekStart},
		{"Default schedule", u.DefaultScheduleID},
		{"Organization", u.OrganizationID},
	}
}

// MadeBy returns the name of a client's owner for its users; "" for a client with a metadata
// document, and if the owner has no account any more.
func MadeBy(v ledger.View, client *ledger.Client) string {
	owner := v.User(client.Owner)
	if owner == nil || owner.Deleted || client.Document != nil {
		return ""
	}
	return site.PersonOf(owner).Name
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
