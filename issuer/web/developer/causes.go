package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A place is the tab of an application where a cause can be looked into.
type place int

const (
	nowhere place = iota
	atOverview
	atCredentials
	atScopes
	atConnect
)

// A remedy is what the owner of an application can check after a refusal.
type remedy struct {
	check string
	place place
}

const askAgain = "Send the person through the authorization step again."

// remedies has an entry for each cause with which the authorization step, or the token,
// revocation or introspection endpoint can refuse a request. What happened is in the words of
// ledger.Cause.
var remedies = map[ledger.Cause]remedy{
	ledger.UnknownClient:           {"Compare client_id with the client ID above.", atConnect},
	ledger.SecretMissing:           {"Send client_secret, in the body or by HTTP Basic. Check that your server reads it from its environment.", atCredentials},
	ledger.SecretWrong:             {"Compare the end of the secret that your server sends with the active ones.", atCredentials},
	ledger.SecretRevoked:           {"Something still uses the old secret. Switch it to an active one.", atCredentials},
	ledger.PublicClientSecret:      {"Leave client_secret out: a public client proves itself with PKCE.", atConnect},
	ledger.ClientDeleted:           {"Register the application again.", nowhere},
	ledger.SecretKeyDropped:        {"Make another secret, and switch your server to it.", atCredentials},
	ledger.ClientPending:           {"Wait for the review.", atOverview},
	ledger.ClientRejected:          {"See the reviewer’s reason, then edit the application and resubmit it.", atOverview},
	ledger.ClientSuspended:         {"See the reason. An administrator can resume it.", atOverview},
	ledger.NotACredential:          {"Check that your server sends the token or code as it received it, whole, and for this application.", atConnect},
	ledger.GrantGone:               {"Forget the token. " + askAgain, nowhere},
	ledger.GrantEnded:              {"The person disconnected the application, or somebody else ended the access. Forget the token, and ask again only if the person wants it.", nowhere},
	ledger.GrantEndedByReuse:       {"An old token or code was sent before. Keep each new refresh token, refresh in one place at a time, and send the person through the authorization step again.", atConnect},
	ledger.CodeExpired:             {"Exchange the code right after the redirect. Check the clock and the queue of your server.", atConnect},
	ledger.RefreshIdle:             {"Refresh before the access token expires, or when the person comes back. " + askAgain, nowhere},
	ledger.GrantExpired:            {askAgain, nowhere},
	ledger.CodeReused:              {"Exchange each code once: check for two workers, for a repeated request, and for a callback page that is reloaded.", atConnect},
	ledger.RefreshReused:           {"Keep the refresh token of each answer before you use it, and refresh in one place at a time. If you did, a copy of the token may be elsewhere.", atConnect},
	ledger.LaterThanDue:            {"Your server is ahead of this service, as after a restore of it. Send the latest token that you have.", nowhere},
	ledger.WrongKind:               {"Send a code with grant_type=authorization_code, and a refresh token with grant_type=refresh_token.", atConnect},
	ledger.KeyNotRecorded:          {"Forget the token. " + askAgain, nowhere},
	ledger.RedirectMismatch:        {"Send the same redirect_uri to the token endpoint as in the authorization URL.", atScopes},
	ledger.VerifierMissing:         {"Keep the code verifier for the callback, and send it with the code.", atConnect},
	ledger.VerifierWrong:           {"Send the verifier of the same attempt: check that the person’s session keeps it, and that code_challenge is its SHA-256 in base64url.", atConnect},
	ledger.VerifierUnexpected:      {"Send code_challenge with the authorization request, or leave code_verifier out.", atConnect},
	ledger.UserDisabled:            {"Nothing, while the account is disabled.", nowhere},
	ledger.UserDeleted:             {"Forget the token.", nowhere},
	ledger.Reauthorized:            {"Use the newer token: the person has allowed the application again.", nowhere},
	ledger.SecondFastForward:       {"Keep the refresh token of each answer before you use it. " + askAgain, nowhere},
	ledger.GrantEndedByClient:      {"Your server revoked it. Forget the token. " + askAgain, nowhere},
	ledger.AccessTokenRevocation:   {"Revoke the refresh token: its access tokens end within 30 minutes.", nowhere},
	ledger.ScopeUnknown:            {"Check the spelling of scope. Names are separated by spaces.", atScopes},
	ledger.ScopeTooWide:            {"Ask only for scopes that the application has, or add the missing one: it is then reviewed.", atScopes},
	ledger.ScopeMissing:            {"Add scope to the authorization URL.", atConnect},
	ledger.ResourceUnknown:         {"Check the spelling of resource: it is the address of an API here.", nowhere},
	ledger.ResourceOther:           {"Send the resource of the authorization request, or leave it out.", nowhere},
	ledger.ResourceRemoved:         {askAgain, nowhere},
	ledger.ResourceRepeated:        {"Send one resource.", nowhere},
	ledger.ResourceScope:           {"Leave out the scopes that this API doesn’t use.", atScopes},
	ledger.RedirectURIMissing:      {"Add redirect_uri to the authorization URL.", atScopes},
	ledger.RedirectURIUnregistered: {"Send a registered redirect URI, exactly as it is registered, or add this one.", atScopes},
	ledger.ResponseTypeUnsupported: {"Send response_type=code.", atConnect},
	ledger.ChallengeMissing:        {"Send code_challenge and code_challenge_method=S256.", atConnect},
	ledger.ChallengeMalformed:      {"Send the SHA-256 of the verifier, in base64url without padding.", atConnect},
	ledger.ChallengeMethod:         {"Send code_challenge_method=S256.", atConnect},
	ledger.TooManyGrants:           {"The person has to disconnect an app under Connected apps.", nowhere},
	ledger.ParameterRepeated:       {"Send each parameter once.", atConnect},
	ledger.RequestMalformed:        {"Compare your request with the code under Connect.", atConnect},
	ledger.GrantTypeUnsupported:    {"Send grant_type=authorization_code or grant_type=refresh_token.", atConnect},
	ledger.AuthenticationMalformed: {"Encode client_id:client_secret in base64, or send both in the body.", atConnect},
	ledger.UserRefused:             {"Nothing: the person pressed Cancel. Go on without the access.", nowhere},
	ledger.Undecided:               {"Send the same request again.", nowhere},
	ledger.ServerFailed:            {"Send the same request again. If it fails again, tell an administrator the error_id.", nowhere},
	ledger.NotAllowed:              {"Authenticate as the application that the token belongs to.", atCredentials},
	ledger.Conflict:                {"The application was changed while the person decided. " + askAgain, nowhere},
	ledger.TooManyAllows:           {"The person has to wait. Check that your application doesn’t send them here in a loop.", atConnect},
	ledger.Throttled:               {"Wait as Retry-After says. Find what sends wrong credentials.", atCredentials},
	ledger.KeyNotOpened:            {"Send the same request again.", nowhere},

	ledger.AgentsAreOff:        {"An administrator can turn them on.", nowhere},
	ledger.PublisherUnlisted:   {"An administrator can list the publisher.", nowhere},
	ledger.PublisherIsPending:  {"Wait for the review.", nowhere},
	ledger.PublisherIsRejected: {"An administrator can approve the publisher.", nowhere},
	ledger.TooManyPublishers:   {"Wait for the reviews.", nowhere},
	ledger.TooManyDocuments:    {"The publisher can remove clients, or an administrator can raise its limit.", nowhere},
	ledger.DocumentURLRefused:  {"Check the address of the metadata document.", nowhere},
	ledger.DocumentUnusable:    {"Check that the metadata document can be fetched, and is valid.", nowhere},
	ledger.DocumentStale:       {"Check that the metadata document can be fetched.", nowhere},
	ledger.DocumentMethod:      {"Set token_endpoint_auth_method to none.", nowhere},
	ledger.TooManyAgentGrants:  {"The person has to disconnect an agent under Connected apps.", nowhere},
	ledger.TooManyLookups:      {"Try again within an hour.", nowhere},
	ledger.RegistrationRefused: {"Compare the metadata with the documentation.", nowhere},
	ledger.ScopeWithdrawn:      {"An administrator can change the publisher’s scopes.", nowhere},
}

// An advice is a cause in words, with what to check and where.
type advice struct {
	What, Check string
	Link        *ui.Link // nil if there is no place, or none that the reader may see
	Note        string   // what the place has
}

// adviceFor returns the words for a cause.
func (w *Area) adviceFor(v *site.Session, client *ledger.Client, cause ledger.Cause) advice {
	is := remedies[cause]
	a := advice{What: ui.Sentence(cause.String()), Check: is.check}
	if client.Owner != v.User.ID {
		return a
	}
	link := func(title string, below ...string) {
		a.Link = &ui.Link{Title: title, Path: parts.ClientPath(client.ID, below...)}
	}
	switch is.place {
	case atOverview:
		link("Overview")
	case atCredentials:
		if client.Public() {
			break
		}
		link("Credentials", "secrets")
		if tails := tailsOf(client); tails != "" {
			a.Note = "Active secrets end in " + tails + "."
		} else if client.ActiveSecrets() == 0 {
			a.Note = "There is no active secret."
		}
	case atScopes:
		link("Scopes & URIs", "scopes")
	case atConnect:
		link("Connect", "connect")
	}
	return a
}

// A nearest is a redirect URI that was refused, beside the registered one that is most alike.
type nearest struct{ Received, Registered []oauth.Part }

// nearestTo returns nil if the URI is unknown or the application has none.
func nearestTo(client *ledger.Client, uri string) *nearest {
	if near, ok := oauth.NearestRedirectURI(uri, client.RedirectURIs); ok && uri != "" {
		return &nearest{near.Received, near.Registered}
	}
	return nil
}
