package ledger

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A Refusal describes why a command was refused. Code is public; the other fields are
// for the log, and for the client's owner who opens an error_id.
type Refusal struct {
	Code  oauth.Code `cbor:"1,keyasint"`
	Cause Cause      `cbor:"2,keyasint"`
	Field string     `cbor:"3,keyasint,omitempty"` // the invalid field of a form or file
	Note  string     `cbor:"4,keyasint,omitempty"` // what is wrong with Field; never a secret

	// The following fields are set only if the client authenticated and owns the grant.
	Grant     GrantID `cbor:"5,keyasint,omitempty"`
	Named     bool    `cbor:"6,keyasint,omitempty"`
	Presented uint32  `cbor:"7,keyasint,omitempty"` // generation of the presented credential
	Due       uint32  `cbor:"8,keyasint,omitempty"` // generation that was due
	When      Time    `cbor:"9,keyasint,omitempty"` // when the cause occurred, such as the end of the grant; 0 if it has no time
}

// A Cause identifies the exact rule that refused a command. The number is sealed into
// error ids, so causes are appended and never renumbered.
type Cause uint16

// Causes.
const (
	NoCause Cause = 0

	// Client authentication.
	UnknownClient      Cause = 1
	SecretMissing      Cause = 2
	SecretWrong        Cause = 3
	SecretRevoked      Cause = 4
	PublicClientSecret Cause = 5
	ClientDeleted      Cause = 6
	SecretKeyDropped   Cause = 7 // wrong, or recorded under a dropped key

	// State of the client.
	ClientPending   Cause = 10
	ClientRejected  Cause = 11
	ClientSuspended Cause = 12

	// The credential and its grant.
	NotACredential     Cause = 20 // malformed, forged, or another client's
	GrantGone          Cause = 21 // the grant ended and was swept
	GrantEnded         Cause = 22 // revoked by the user, the owner or an administrator
	GrantEndedByReuse  Cause = 23
	CodeExpired        Cause = 24
	RefreshIdle        Cause = 25
	GrantExpired       Cause = 26
	CodeReused         Cause = 27
	RefreshReused      Cause = 28
	LaterThanDue       Cause = 29
	WrongKind          Cause = 30 // a code presented as a refresh token, or the reverse
	KeyNotRecorded     Cause = 31
	RedirectMismatch   Cause = 32
	VerifierMissing    Cause = 33
	VerifierWrong      Cause = 34
	VerifierUnexpected Cause = 35
	UserDisabled       Cause = 36
	UserDeleted        Cause = 37
	Reauthorized       Cause = 38 // a legacy grant, replaced when its user allowed scopes
	SecondFastForward  Cause = 39 // a second refresh token later than the one due, after the same restore
	GrantEndedByClient Cause = 40 // the client revoked a token
	// AccessTokenRevocation refuses the revocation of an access token without a revocation feed.
	AccessTokenRevocation Cause = 41

	// Scope.
	ScopeUnknown Cause = 50
	ScopeTooWide Cause = 51
	ScopeMissing Cause = 52

	// The resource server that a token is for (RFC 8707).
	ResourceUnknown  Cause = 53
	ResourceOther    Cause = 54
	ResourceRemoved  Cause = 55
	ResourceRepeated Cause = 56
	ResourceScope    Cause = 57 // a scope that the resource server doesn't use

	// The authorization step.
	RedirectURIMissing      Cause = 60
	RedirectURIUnregistered Cause = 61
	ResponseTypeUnsupported Cause = 62
	ChallengeMissing        Cause = 63
	ChallengeMalformed      Cause = 64
	ChallengeMethod         Cause = 65
	TooManyGrants           Cause = 66
	ParameterRepeated       Cause = 67
	RequestMalformed        Cause = 68
	GrantTypeUnsupported    Cause = 69
	AuthenticationMalformed Cause = 70
	UserRefused             Cause = 71
	Undecided               Cause = 72
	ServerFailed            Cause = 73

	// Users, settings and management.
	NotSignedIn          Cause = 80
	NotAllowed           Cause = 81
	NotFound             Cause = 82
	AlreadyExists        Cause = 83
	BadField             Cause = 84
	Conflict             Cause = 85 // the row changed after the sender read it
	WrongState           Cause = 86
	TooManySecrets       Cause = 87
	LastSecret           Cause = 88
	TooManyURIs          Cause = 89
	ConfirmMigration     Cause = 90
	PasswordChanged      Cause = 91
	KeyNotOpened         Cause = 92
	KeyTooYoung          Cause = 93
	KeyInUse             Cause = 94
	PublicClientNoSecret Cause = 96 // a public client has no secrets
	NotRestored          Cause = 97 // a Replay without a BeginRestore before it
	ClusterKeyNotStored  Cause = 98
	KeyringDiffers       Cause = 99  // the keyring differs from the keys that a Rewrap lists
	SealedUnderOtherKey  Cause = 100 // a key is sealed under another cluster key than the keyring
	ReplayTooLate        Cause = 101
	TooManyClients       Cause = 102
	OwnAccount           Cause = 103 // an administrator's own account
	TooManyAllows        Cause = 104 // by one user within 24 hours
	Throttled            Cause = 105
	NoSuchUser           Cause = 106
	PasswordWrong        Cause = 107
	UpstreamRefused      Cause = 108 // the provider refused the sign-in, or its answer is not valid
	SignInTooOld         Cause = 109 // the action needs a sign-in within ReauthenticateAfter
	OtherPerson          Cause = 110 // the provider signed in a person other than the session's user
	TooManyResources     Cause = 111

	// Operators on other machines.
	LocalOnly                  Cause = 120 // only the local socket accepts it
	OperatorTokenUnknown       Cause = 121 // malformed, forged, or made under a dropped key
	OperatorTokenExpired       Cause = 122
	OperatorTokenRevoked       Cause = 123
	OperatorCertificateRefused Cause = 124 // of another authority, expired, or without a usable name
	OperatorUnauthenticated    Cause = 125 // neither a token nor a certificate
	OperatorScopeMissing       Cause = 126
	TooManyOperatorTokens      Cause = 127
	OperatorCrossOrigin        Cause = 128 // a browser sent it for a page of another origin

	// Clients with a metadata document, and their publishers.
	AgentsAreOff        Cause = 130
	PublisherUnlisted   Cause = 131
	PublisherIsPending  Cause = 132
	PublisherIsRejected Cause = 133
	TooManyPublishers   Cause = 134 // pending ones, in all or of one user, or all publishers
	TooManyDocuments    Cause = 135 // of one publisher
	DocumentURLRefused  Cause = 136
	DocumentUnusable    Cause = 137 // it could not be fetched, or is not valid
	DocumentStale       Cause = 138
	DocumentOwned       Cause = 139 // the client can't be changed here
	DocumentMethod      Cause = 140 // token_endpoint_auth_method is not none
	TooManyAgentGrants  Cause = 141
	TooManyLookups      Cause = 142 // by one user within an hour, or by all at once
	RegistrationRefused Cause = 143 // RFC 7591: the metadata of a client is not accepted
	ScopeWithdrawn      Cause = 144 // the publisher may not ask for any of the scopes any more
)

// causes has a row for each cause: its name in metrics and logs, which alerts depend on, and a
// sentence for people who manage a client. Sentences may be reworded. They are exact, and contain
// no value that an unauthenticated sender chose.
var causes = map[Cause]struct{ name, sentence string }{
	UnknownClient:              {"unknown_client", "there is no client with this client_id"},
	SecretMissing:              {"secret_missing", "the client is confidential and sent no client_secret"},
	SecretWrong:                {"secret_wrong", "the client_secret is none of this client's"},
	SecretRevoked:              {"secret_revoked", "the client_secret was revoked"},
	PublicClientSecret:         {"public_client_secret", "the client is public and must not send a client_secret"},
	ClientDeleted:              {"client_deleted", "the client was deleted"},
	SecretKeyDropped:           {"secret_key_dropped", "the client_secret is none of the client's valid ones: one was recorded under a key that leaked and was dropped"},
	ClientPending:              {"client_pending", "the client is pending: an administrator has not reviewed it yet"},
	ClientRejected:             {"client_rejected", "the client was rejected at its review"},
	ClientSuspended:            {"client_suspended", "the client is suspended by an administrator"},
	NotACredential:             {"not_a_credential", "what was presented is not a credential of this client"},
	GrantGone:                  {"grant_gone", "the grant ended long ago"},
	GrantEnded:                 {"grant_ended", "the grant was withdrawn"},
	GrantEndedByReuse:          {"grant_ended_by_reuse", "the grant ended because one of its earlier credentials was presented again"},
	CodeExpired:                {"code_expired", "the authorization code expired before it was exchanged"},
	RefreshIdle:                {"refresh_idle", "the refresh token was not used for too long"},
	GrantExpired:               {"grant_expired", "the grant reached its greatest age; the user must allow the client again"},
	CodeReused:                 {"code_reused", "the authorization code was presented a second time, so the grant was ended"},
	RefreshReused:              {"refresh_reused", "a refresh token was presented after its successor was used or its retry window had passed, so the grant was ended"},
	LaterThanDue:               {"later_than_due", "the credential is later than the one that is due"},
	WrongKind:                  {"wrong_kind", "a code was presented as a refresh token, or a refresh token as a code"},
	KeyNotRecorded:             {"key_not_recorded", "the credential was made under another key than the one recorded for it"},
	RedirectMismatch:           {"redirect_mismatch", "redirect_uri differs from the one of the authorization request"},
	VerifierMissing:            {"verifier_missing", "the authorization request had a code_challenge, and no code_verifier was sent"},
	VerifierWrong:              {"verifier_wrong", "the code_verifier does not match the code_challenge"},
	VerifierUnexpected:         {"verifier_unexpected", "a code_verifier was sent, and the authorization request had no code_challenge"},
	UserDisabled:               {"user_disabled", "the user's account is disabled"},
	UserDeleted:                {"user_deleted", "the user's account was deleted"},
	Reauthorized:               {"reauthorized", "the user allowed this client again with scopes, which ended the older grant without limits"},
	SecondFastForward:          {"second_fast_forward", "after a restore or a recovery, a second refresh token later than the one that was due was presented, so the grant was ended"},
	GrantEndedByClient:         {"grant_ended_by_client", "the client revoked a token of the grant, which ended it"},
	AccessTokenRevocation:      {"access_token_revocation", "access tokens can't be revoked, since the revocation feed is off; a refresh token can"},
	ScopeUnknown:               {"scope_unknown", "a scope was asked for that does not exist"},
	ScopeTooWide:               {"scope_too_wide", "more scopes were asked for than are enabled or granted"},
	ScopeMissing:               {"scope_missing", "no scope was asked for"},
	ResourceUnknown:            {"resource_unknown", "resource names no registered resource server"},
	ResourceOther:              {"resource_other", "resource names another resource server than the grant is for"},
	ResourceRemoved:            {"resource_removed", "the resource server that the grant is for was removed"},
	ResourceRepeated:           {"resource_repeated", "resource came more than once; a token is for one resource server"},
	ResourceScope:              {"resource_scope", "a scope was asked for that the resource server does not use"},
	RedirectURIMissing:         {"redirect_uri_missing", "redirect_uri is missing"},
	RedirectURIUnregistered:    {"redirect_uri_unregistered", "redirect_uri is not one of the client's"},
	ResponseTypeUnsupported:    {"response_type_unsupported", "response_type must be code"},
	ChallengeMissing:           {"challenge_missing", "a public client must send a code_challenge"},
	ChallengeMalformed:         {"challenge_malformed", "code_challenge must be 43 base64url characters"},
	ChallengeMethod:            {"challenge_method", "code_challenge_method must be S256"},
	TooManyGrants:              {"too_many_grants", "the account has too many connected applications"},
	ParameterRepeated:          {"parameter_repeated", "a parameter came more than once"},
	RequestMalformed:           {"request_malformed", "the request could not be read, or a parameter is missing"},
	GrantTypeUnsupported:       {"grant_type_unsupported", "the grant_type is neither authorization_code nor refresh_token"},
	AuthenticationMalformed:    {"authentication_malformed", "the Authorization header holds no HTTP Basic credentials"},
	UserRefused:                {"user_refused", "the user refused"},
	Undecided:                  {"undecided", "no decision was possible at that moment; a refresh token that was presented is unchanged, and a code may have been spent"},
	ServerFailed:               {"server_failed", "the server failed"},
	NotSignedIn:                {"not_signed_in", "the session no longer exists"},
	NotAllowed:                 {"not_allowed", "this account may not do that"},
	NotFound:                   {"not_found", "not found"},
	AlreadyExists:              {"already_exists", "this name is taken"},
	BadField:                   {"bad_field", "a field is not valid"},
	Conflict:                   {"conflict", "it has changed since it was read"},
	WrongState:                 {"wrong_state", "its state does not allow that"},
	TooManySecrets:             {"too_many_secrets", "there are at most 2 active secrets"},
	LastSecret:                 {"last_secret", "the last active secret of a confidential client can't be revoked, only replaced"},
	TooManyURIs:                {"too_many_uris", "a client has at most 10 redirect URIs"},
	ConfirmMigration:           {"confirm_migration", "authorization requests of the last 30 days still came without scope; users who follow such a link would get an error"},
	PasswordChanged:            {"password_changed", "the password has changed meanwhile"},
	KeyNotOpened:               {"key_not_opened", "a node has not opened the key yet"},
	KeyTooYoung:                {"key_too_young", "the key was announced too recently; verifiers may not have learnt it yet"},
	KeyInUse:                   {"key_in_use", "the key is still needed"},
	PublicClientNoSecret:       {"public_client_no_secret", "a public client has no secrets"},
	NotRestored:                {"not_restored", "the state was not restored from a backup, so there is nothing to replay onto it"},
	ClusterKeyNotStored:        {"cluster_key_not_stored", "a node has not stored the new cluster key yet"},
	KeyringDiffers:             {"keyring_differs", "the list does not name each key of the keyring once"},
	SealedUnderOtherKey:        {"sealed_under_other_key", "the key is sealed under another cluster key than the keyring is"},
	ReplayTooLate:              {"replay_too_late", "a key that was made since the restore has the number of a key that was lost"},
	TooManyClients:             {"too_many_clients", "an account has at most 1,000 applications, deleted ones included"},
	OwnAccount:                 {"own_account", "administrators do not disable or delete their own account, or give up their role: another administrator does"},
	TooManyAllows:              {"too_many_allows", "the account has allowed applications too often within a day"},
	Throttled:                  {"throttled", "there were too many failures, so the request was not examined"},
	NoSuchUser:                 {"no_such_user", "there is no user with this name"},
	PasswordWrong:              {"password_wrong", "the password is not this user's"},
	UpstreamRefused:            {"upstream_refused", "the provider did not sign the user in"},
	SignInTooOld:               {"sign_in_too_old", "the sign-in is older than 15 minutes"},
	OtherPerson:                {"other_person", "the provider signed somebody else in"},
	TooManyResources:           {"too_many_resources", "there are at most 1,000 resource servers"},
	LocalOnly:                  {"local_only", "only an operator on a node's own machine may do that"},
	OperatorTokenUnknown:       {"operator_token_unknown", "the operator token is not one of this cluster"},
	OperatorTokenExpired:       {"operator_token_expired", "the operator token has expired"},
	OperatorTokenRevoked:       {"operator_token_revoked", "the operator token was revoked"},
	OperatorCertificateRefused: {"operator_certificate_refused", "the certificate is not a valid one of the operators' authority"},
	OperatorUnauthenticated:    {"operator_unauthenticated", "an operator token or a certificate of the operators' authority is required"},
	OperatorScopeMissing:       {"operator_scope_missing", "the token or certificate does not have the scope of the operation"},
	TooManyOperatorTokens:      {"too_many_operator_tokens", "there are at most 100 valid operator tokens"},
	OperatorCrossOrigin:        {"operator_cross_origin", "a page of another origin made the request"},
	AgentsAreOff:               {"agents_are_off", "clients with metadata of their own are not accepted: the setting agents is off"},
	PublisherUnlisted:          {"publisher_unlisted", "the publisher of the client is not one of those that are accepted"},
	PublisherIsPending:         {"publisher_is_pending", "an administrator has not reviewed the publisher of the client yet"},
	PublisherIsRejected:        {"publisher_is_rejected", "the publisher of the client was rejected"},
	TooManyPublishers:          {"too_many_publishers", "too many publishers wait for a review; a user may ask for three new ones a day"},
	TooManyDocuments:           {"too_many_documents", "the publisher has as many clients as it may have"},
	DocumentURLRefused:         {"document_url_refused", "the client_id is not a valid address of a metadata document"},
	DocumentUnusable:           {"document_unusable", "the metadata document of the client could not be fetched, or is not valid"},
	DocumentStale:              {"document_stale", "the metadata document of the client could not be fetched for a day; grants that exist go on"},
	DocumentOwned:              {"document_owned", "the client is described by its own metadata, which can not be changed here"},
	DocumentMethod:             {"document_method", "the metadata document asks to authenticate by a method other than none"},
	TooManyAgentGrants:         {"too_many_agent_grants", "the account has 20 connected clients with a metadata document; disconnect one first"},
	TooManyLookups:             {"too_many_lookups", "too many new metadata documents were asked for"},
	RegistrationRefused:        {"registration_refused", "the metadata of the client is not accepted"},
	ScopeWithdrawn:             {"scope_withdrawn", "the publisher of the client may not have any of the scopes any more"},
}

// Causes returns all causes except NoCause, in the order of their numbers.
func Causes() []Cause { return slices.Sorted(maps.Keys(causes)) }

// Name returns the name of the cause in metrics and logs, or "" if it is unknown.
func (c Cause) Name() string { return causes[c].name }

// String describes the cause, for the client's owner.
func (c Cause) String() string { return cmp.Or(causes[c].sentence, "unknown cause") }

func refuse(code oauth.Code, cause Cause) command.Decision {
	return command.Decision{Outcome: Outcome{Refusal: &Refusal{Code: code, Cause: cause}}}
}

// deny refuses a management command. Management answers no protocol request, so the code
// is always invalid_request and only Cause differs.
func deny(cause Cause) command.Decision { return refuse(oauth.InvalidRequest, cause) }

// exists refuses a value of a field that must be unique. note describes what has it.
func exists(field, note string) command.Decision {
	d := deny(AlreadyExists)
	outcome(d).Refusal.Field, outcome(d).Refusal.Note = field, note
	return d
}

func taken(field string) command.Decision { return exists(field, "is taken") }

func badField(field, note string) command.Decision {
	d := deny(BadField)
	outcome(d).Refusal.Field, outcome(d).Refusal.Note = field, note
	return d
}
