package admin

import (
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	forReview               site.Purpose = "review"
	forSuspend              site.Purpose = "suspend"
	forResume               site.Purpose = "resume"
	forTransfer             site.Purpose = "transfer client"
	forNewUser              site.Purpose = "new user"
	forUserState            site.Purpose = "user state"
	forDisconnectUser       site.Purpose = "disconnect user"
	forUserPassword         site.Purpose = "user password"
	forEditUser             site.Purpose = "edit user"
	forNewResource          site.Purpose = "new resource server"
	forEditResource         site.Purpose = "edit resource server"
	forRemoveResource       site.Purpose = "remove resource server"
	forNewPublisher         site.Purpose = "new publisher"
	forEditPublisher        site.Purpose = "edit publisher"
	forRevokePublisher      site.Purpose = "revoke publisher"
	forRejectPublisher      site.Purpose = "reject publisher"
	forRemovePublisher      site.Purpose = "remove publisher"
	forAddResourceSecret    site.Purpose = "add secret of resource server"
	forRevokeResourceSecret site.Purpose = "revoke secret of resource server"
	forBranding             site.Purpose = "branding"
	forPublishBranding      site.Purpose = "publish branding"
	forDiscardBranding      site.Purpose = "discard branding"
)
