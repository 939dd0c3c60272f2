package site_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestClockOfTheProfile verifies that pages have the times of the user's zone, and that any other
// text in the profile's zone is as none.
func TestClockOfTheProfile(t *testing.T) {
	w := NewEnv(t) // 4 March 2026, 12:00 UTC
	b := w.SignedIn()
	for _, test := range []struct {
		zone   string
		format int
		end    string // when the session ends
		shown  string
	}{
		{"", 0, "3 April 2026, 12:00 UTC", ""},
		{"Europe/Berlin", 24, "3 April 2026, 14:00 CEST", "Europe/Berlin"},
		{"America/New_York", 12, "3 April 2026, 8:00 AM EDT", "America/New_York"},
		{"Asia/Dubai", 0, "3 April 2026, 16:00 UTC&#43;04", "Asia/Dubai"},
		{"UTC", 12, "3 April 2026, 12:00 PM UTC", "UTC"},
		{"Local", 0, "3 April 2026, 12:00 UTC", ""},
		{"Mars/Olympus", 0, "3 April 2026, 12:00 UTC", ""},
		{"../../etc/passwd", 0, "3 April 2026, 12:00 UTC", ""},
		{"<b>", 0, "3 April 2026, 12:00 UTC", ""},
	} {
		w.Must(&ledger.PutUser{ID: "u-ada", Username: "ada", Person: ledger.Person{Name: "Ada", TimeZone: test.zone, TimeFormat: test.format}})
		page := b.Get("/account")
		assert.Contains(t, page.Text, ">"+test.end+"</time>", test.zone)
		assert.Contains(t, page.Text, `data-zone="`+test.shown+`"`, test.zone)
	}
}
