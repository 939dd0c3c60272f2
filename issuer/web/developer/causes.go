package developer

import (
	"cmp"
	"strings"

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

// A remedy is a cause in at most six words, and what the owner of an application can check.
type remedy struct {
	title string
	check string
	place place
}

const askAgain = "Send the person through the authorization step again."

// remedies has an entry for each cause with which the authorization step, or the token,
// revocation or introspection endpoint can refuse a request. ledger.Cause has the details.
var remedies = map[ledger.Cause]remedy{
	ledger.UnknownClient:           {"Unknown client_id", "Compare client_id with the client ID above.", atConnect},
	ledger.SecretMissing:           {"Client secret missing", "Send client_secret, in the body or by HTTP Basic. Check that your server reads it from its environment.", atCredentials},
	ledger.SecretWrong:             {"Wrong client secret", "Compare the end of the secret that your server sends with the active ones.", atCredentials},
	ledger.SecretRevoked:           {"Revoked client secret", "Something still uses the old secret. Switch it to an active one.", atCredentials},
	ledger.PublicClientSecret:      {"Secret from a public client", "Leave client_secret out: a public client proves itself with PKCE.", atConnect},
	ledger.ClientDeleted:           {"Application deleted", "Register the application again.", nowhere},
	ledger.SecretKeyDropped:        {"Client secret no longer valid", "Make another secret, and switch your server to it.", atCredentials},
	ledger.ClientPending:           {"Application waits for review", "Wait for the review.", atOverview},
	ledger.ClientRejected:          {"Application rejected", "See the reviewer’s reason, then edit the application and resubmit it.", atOverview},
	ledger.ClientSuspended:         {"Application suspended", "See the reason. An administrator can resume it.", atOverview},
	ledger.NotACredential:          {"Unknown token or code", "Check that your server sends the token or code as it received it, whole, and for this application.", atConnect},
	ledger.GrantGone:               {"Access ended long ago", "Forget the token. " + askAgain, nowhere},
	ledger.GrantEnded:              {"Access ended", "The person disconnected the application, or somebody else ended the access. Forget the token, and ask again only if the person wants it.", nowhere},
	ledger.GrantEndedByReuse:       {"Access ended after a reuse", "An old token or code was sent before. Keep each new refresh token, refresh in one place at a time, and send the person through the authorization step again.", atConnect},
	ledger.CodeExpired:             {"Authorization code expired", "Exchange the code right after the redirect. Check the clock and the queue of your server.", atConnect},
	ledger.RefreshIdle:             {"Refresh token expired", "Refresh before the access token expires, or when the person comes back. " + askAgain, nowhere},
	ledger.GrantExpired:            {"Access reached its greatest age", askAgain, nowhere},
	ledger.CodeReused:              {"Code used twice: access ended", "Exchange each code once: check for two workers, for a repeated request, and for a callback page that is reloaded.", atConnect},
	ledger.RefreshReused:           {"Refresh token used twice: access ended", "Keep the refresh token of each answer before you use it, and refresh in one place at a time. If you did, a copy of the token may be elsewhere.", atConnect},
	ledger.LaterThanDue:            {"Refresh token newer than expected", "Your server is ahead of this service, as after a restore of it. Send the latest token that you have.", nowhere},
	ledger.WrongKind:               {"Code and refresh token mixed up", "Send a code with grant_type=authorization_code, and a refresh token with grant_type=refresh_token.", atConnect},
	ledger.KeyNotRecorded:          {"Token of another key", "Forget the token. " + askAgain, nowhere},
	ledger.RedirectMismatch:        {"Redirect URI changed between requests", "Send the same redirect_uri to the token endpoint as in the authorization URL.", atScopes},
	ledger.VerifierMissing:         {"Code verifier missing", "Keep the code verifier for the callback, and send it with the code.", atConnect},
	ledger.VerifierWrong:           {"Wrong code verifier", "Send the verifier of the same attempt: check that the person’s session keeps it, and that code_challenge is its SHA-256 in base64url.", atConnect},
	ledger.VerifierUnexpected:      {"Unexpected code verifier", "Send code_challenge with the authorization request, or leave code_verifier out.", atConnect},
	ledger.UserDisabled:            {"Account disabled", "Nothing, while the account is disabled.", nowhere},
	ledger.UserDeleted:             {"Account deleted", "Forget the token.", nowhere},
	ledger.Reauthorized:            {"Replaced by a newer authorization", "Use the newer token: the person has allowed the application again.", nowhere},
	ledger.SecondFastForward:       {"Refresh token reused after a restore", "Keep the refresh token of each answer before you use it. " + askAgain, nowhere},
	ledger.GrantEndedByClient:      {"Revoked by your server", "Your server revoked it. Forget the token. " + askAgain, nowhere},
	ledger.AccessTokenRevocation:   {"Access tokens can’t be revoked", "Revoke the refresh token: its access tokens end within 30 minutes.", nowhere},
	ledger.ScopeUnknown:            {"Unknown scope", "Check the spelling of scope. Names are separated by spaces.", atScopes},
	ledger.ScopeTooWide:            {"Scope not enabled", "Ask only for scopes that the application has, or add the missing one: it is then reviewed.", atScopes},
	ledger.ScopeMissing:            {"Scope missing", "Add scope to the authorization URL.", atConnect},
	ledger.ResourceUnknown:         {"Unknown resource", "Check the spelling of resource: it is the address of an API here.", nowhere},
	ledger.ResourceOther:           {"Resource differs from the grant’s", "Send the resource of the authorization request, or leave it out.", nowhere},
	ledger.ResourceRemoved:         {"Resource server removed", askAgain, nowhere},
	ledger.ResourceRepeated:        {"More than one resource", "Send one resource.", nowhere},
	ledger.ResourceScope:           {"Scope not used by this API", "Leave out the scopes that this API doesn’t use.", atScopes},
	ledger.RedirectURIMissing:      {"Redirect URI missing", "Add redirect_uri to the authorization URL.", atScopes},
	ledger.RedirectURIUnregistered: {"Redirect URI not registered", "Send a registered redirect URI, exactly as it is registered, or add this one.", atScopes},
	ledger.ResponseTypeUnsupported: {"Unsupported response_type", "Send response_type=code.", atConnect},
	ledger.ChallengeMissing:        {"Code challenge missing", "Send code_challenge and code_challenge_method=S256.", atConnect},
	ledger.ChallengeMalformed:      {"Malformed code challenge", "Send the SHA-256 of the verifier, in base64url without padding.", atConnect},
	ledger.ChallengeMethod:         {"Unsupported code challenge method", "Send code_challenge_method=S256.", atConnect},
	ledger.TooManyGrants:           {"Too many connected apps", "The person has to disconnect an app under Connected apps.", nowhere},
	ledger.ParameterRepeated:       {"Parameter sent twice", "Send each parameter once.", atConnect},
	ledger.RequestMalformed:        {"Malformed request", "Compare your request with the code under Connect.", atConnect},
	ledger.GrantTypeUnsupported:    {"Unsupported grant_type", "Send grant_type=authorization_code or grant_type=refresh_token.", atConnect},
	ledger.AuthenticationMalformed: {"Malformed Authorization header", "Encode client_id:client_secret in base64, or send both in the body.", atConnect},
	ledger.UserRefused:             {"Canceled by the person", "Nothing: the person pressed Cancel. Go on without the access.", nowhere},
	ledger.Undecided:               {"No decision possible", "Send the same request again.", nowhere},
	ledger.ServerFailed:            {"Server error", "Send the same request again. If it fails again, tell an administrator the error_id.", nowhere},
	ledger.NotAllowed:              {"Token of another application", "Authenticate as the application that the token belongs to.", atCredentials},
	ledger.Conflict:                {"Application changed meanwhile", "The application was changed while the person decided. " + askAgain, nowhere},
	ledger.TooManyAllows:           {"Allowed too often", "The person has to wait. Check that your application doesn’t send them here in a loop.", atConnect},
	ledger.Throttled:               {"Too many failures", "Wait as Retry-After says. Find what sends wrong credentials.", atCredentials},
	ledger.KeyNotOpened:            {"Key not ready", "Send the same request again.", nowhere},

	ledger.AgentsAreOff:        {"Agents are turned off", "An administrator can turn them on.", nowhere},
	ledger.PublisherUnlisted:   {"Publisher not accepted", "An administrator can list the publisher.", nowhere},
	ledger.PublisherIsPending:  {"Publisher waits for review", "Wait for the review.", nowhere},
	ledger.PublisherIsRejected: {"Publisher rejected", "An administrator can approve the publisher.", nowhere},
	ledger.TooManyPublishers:   {"Too many new publishers", "Wait for the reviews.", nowhere},
	ledger.TooManyDocuments:    {"Too many clients of the publisher", "The publisher can remove clients, or an administrator can raise its limit.", nowhere},
	ledger.DocumentURLRefused:  {"Invalid metadata address", "Check the address of the metadata document.", nowhere},
	ledger.DocumentUnusable:    {"Metadata document unusable", "Check that the metadata document can be fetched, and is valid.", nowhere},
	ledger.DocumentStale:       {"Metadata document not reachable", "Check that the metadata document can be fetched.", nowhere},
	ledger.DocumentMethod:      {"Unsupported authentication method", "Set token_endpoint_auth_method to none.", nowhere},
	ledger.TooManyAgentGrants:  {"Too many connected agents", "The person has to disconnect an agent under Connected apps.", nowhere},
	ledger.TooManyLookups:      {"Too many new metadata documents", "Try again within an hour.", nowhere},
	ledger.RegistrationRefused: {"Metadata refused", "Compare the metadata with the documentation.", nowhere},
	ledger.ScopeWithdrawn:      {"Scopes withdrawn from the publisher", "An administrator can change the publisher’s scopes.", nowhere},
}

// An advice is a cause in words, with what to check and where.
type advice struct {
	What, Check string
	Detail      string   // what happened, as a sentence without a capital letter
	Link        *ui.Link // nil if there is no place, or none that the reader may see
	Note        string   // what the place has
}

// detailOf returns the text of a cause as a sentence of the page, for advice.Detail.
func detailOf(text string) string { return strings.ReplaceAll(text, "'", "’") + "." }

// Sentence returns what happened.
func (a advice) Sentence() string { return ui.Sentence(a.Detail) }

// adviceFor returns the words for a cause.
func (w *Area) adviceFor(v *site.Session, client *ledger.Client, cause ledger.Cause) advice {
	is := remedies[cause]
	a := advice{What: is.title, Check: is.check, Detail: detailOf(cause.String())}
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
		if active := activeSecrets(client); active == importedSecret {
			a.Note = "The active secret was imported, so its end isn’t known: if your server’s may be wrong, generate another."
		} else {
			a.Note = "Active secrets: " + cmp.Or(active, "none") + "."
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
