package webtest

import (
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// A Sent is a form as a browser sends it, with a token made for the sender.
type Sent struct {
	Purpose site.Purpose
	About   string
	Fields  url.Values
}

// AdaElsewhere is the handle of a session of ada's in another browser. AnySeen matches a
// user or a resource server in any state.
var (
	AdaElsewhere = "07" + strings.Repeat("00", 31)
	AnySeen      = strings.Repeat("00", 16)
)

// Values returns the form as a page of that browser would send it.
func (s *Sent) Values(b *Browser) url.Values {
	form := url.Values{}
	if s == nil {
		return form
	}
	for name, list := range s.Fields {
		form[name] = list
	}
	form.Set("token", site.FormToken(b.Session(), s.Purpose, b.UserID, s.About))
	return form
}
