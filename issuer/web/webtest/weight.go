package webtest

import (
	"net/url"
)

func (f *Full) WrongPublisher() url.Values {
	return url.Values{"name": {f.Wide(81)}, "scopes": ScopeNames(), "defaults": ScopeNames(), "max_clients": {"x"}, "long_retry": {"yes"}}
}

// AllWrong returns a profile with every problem that a browser permits.
func (f *Full) AllWrong() url.Values {
	v := url.Values{"name": {""}, "purpose": {f.Wide(f.Note)}, "website": {"x" + f.Website("app")}, "privacy_url": {"x" + f.Website("app")}, "terms_url": {"x" + f.Website("app")}, "scopes": {"NONE"}}
	for _, uri := range f.Uris("app") {
		v.Add("redirect_uris", "x"+uri[1:])
	}
	return v
}
