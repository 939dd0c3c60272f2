package account

import (
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	forDisconnect        site.Purpose = "disconnect"
	forDisconnectAll     site.Purpose = "disconnect all"
	forPassword          site.Purpose = "password"
	forSignOutEverywhere site.Purpose = "sign out everywhere"
	forEndSession        site.Purpose = "end session"
	forFeed              site.Purpose = "feed"
	forRemoveFeed        site.Purpose = "remove feed"
)
