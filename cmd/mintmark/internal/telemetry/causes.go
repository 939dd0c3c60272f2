package telemetry

import "github.com/mintmark-auth/mintmark/issuer/ledger"

// causeNames are the values of the label cause. They differ from the sentences of
// ledger.Cause, which may be reworded: alerts depend on these names.
var causeNames = [...]string{
	ledger.UnknownClient:      "unknown_client",
	ledger.SecretMissing:      "secret_missing",
	ledger.SecretWrong:        "secret_wrong",
	ledger.SecretRevoked:      "secret_revoked",
	ledger.PublicClientSecret: "public_client_secret",
	ledger.ClientDeleted:      "client_deleted",
	ledger.SecretKeyDropped:   "secret_key_dropped",

	ledger.ClientPending:   "client_pending",
	ledger.ClientRejected:  "client_rejected",
	ledger.ClientSuspended: "client_suspended",

	ledger.NotACredential:     "not_a_credential",
	ledger.GrantGone:          "grant_gone",
	ledger.GrantEnded:         "grant_ended",
	ledger.GrantEndedByReuse:  "grant_ended_by_reuse",
	ledger.CodeExpired:        "code_expired",
	ledger.RefreshIdle:        "refresh_idle",
	ledger.GrantExpired:       "grant_expired",
	ledger.CodeReused:         "code_reused",
	ledger.RefreshReused:      "refresh_reused",
	ledger.LaterThanDue:       "later_than_due",
	ledger.WrongKind:          "wrong_kind",
	ledger.KeyNotRecorded:     "key_not_recorded",
	ledger.RedirectMismatch:   "redirect_mismatch",
	ledger.VerifierMissing:    "verifier_missing",
	ledger.VerifierWrong:      "verifier_wrong",
	ledger.VerifierUnexpected: "verifier_unexpected",
	ledger.UserDisabled:       "user_disabled",
	ledger.UserDeleted:        "user_deleted",
	ledger.Reauthorized:       "reauthorized",
	ledger.SecondFastForward:  "second_fast_forward",
	ledger.GrantEndedByClient: "grant_ended_by_client",

	ledger.AccessTokenRevocation: "access_token_revocation",

	ledger.ScopeUnknown: "scope_unknown",
	ledger.ScopeTooWide: "scope_too_wide",
	ledger.ScopeMissing: "scope_missing",

	ledger.ResourceUnknown:  "resource_unknown",
	ledger.ResourceOther:    "resource_other",
	ledger.ResourceRemoved:  "resource_removed",
	ledger.ResourceRepeated: "resource_repeated",
	ledger.ResourceScope:    "resource_scope",

	ledger.RedirectURIMissing:      "redirect_uri_missing",
	ledger.RedirectURIUnregistered: "redirect_uri_unregistered",
	ledger.ResponseTypeUnsupported: "response_type_unsupported",
	ledger.ChallengeMissing:        "challenge_missing",
	ledger.ChallengeMalformed:      "challenge_malformed",
	ledger.ChallengeMethod:         "challenge_method",
	ledger.TooManyGrants:           "too_many_grants",
	ledger.ParameterRepeated:       "parameter_repeated",
	ledger.RequestMalformed:        "request_malformed",
	ledger.GrantTypeUnsupported:    "grant_type_unsupported",
	ledger.AuthenticationMalformed: "authentication_malformed",
	ledger.UserRefused:             "user_refused",
	ledger.Undecided:               "undecided",
	ledger.ServerFailed:            "server_failed",

	ledger.NotSignedIn:          "not_signed_in",
	ledger.NotAllowed:           "not_allowed",
	ledger.NotFound:             "not_found",
	ledger.AlreadyExists:        "already_exists",
	ledger.BadField:             "bad_field",
	ledger.Conflict:             "conflict",
	ledger.WrongState:           "wrong_state",
	ledger.TooManySecrets:       "too_many_secrets",
	ledger.LastSecret:           "last_secret",
	ledger.TooManyURIs:          "too_many_uris",
	ledger.ConfirmMigration:     "confirm_migration",
	ledger.PasswordChanged:      "password_changed",
	ledger.KeyNotOpened:         "key_not_opened",
	ledger.KeyTooYoung:          "key_too_young",
	ledger.KeyInUse:             "key_in_use",
	ledger.PublicClientNoSecret: "public_client_no_secret",
	ledger.NotRestored:          "not_restored",
	ledger.ClusterKeyNotStored:  "cluster_key_not_stored",
	ledger.KeyringDiffers:       "keyring_differs",
	ledger.SealedUnderOtherKey:  "sealed_under_other_key",
	ledger.ReplayTooLate:        "replay_too_late",
	ledger.TooManyClients:       "too_many_clients",
	ledger.OwnAccount:           "own_account",
	ledger.TooManyAllows:        "too_many_allows",
	ledger.Throttled:            "throttled",
	ledger.NoSuchUser:           "no_such_user",
	ledger.PasswordWrong:        "password_wrong",
	ledger.UpstreamRefused:      "upstream_refused",
	ledger.SignInTooOld:         "sign_in_too_old",
	ledger.OtherPerson:          "other_person",
	ledger.TooManyResources:     "too_many_resources",

	ledger.LocalOnly:                  "local_only",
	ledger.OperatorTokenUnknown:       "operator_token_unknown",
	ledger.OperatorTokenExpired:       "operator_token_expired",
	ledger.OperatorTokenRevoked:       "operator_token_revoked",
	ledger.OperatorCertificateRefused: "operator_certificate_refused",
	ledger.OperatorCrossOrigin:        "operator_cross_origin",
	ledger.OperatorUnauthenticated:    "operator_unauthenticated",
	ledger.OperatorScopeMissing:       "operator_scope_missing",
	ledger.TooManyOperatorTokens:      "too_many_operator_tokens",
}

// CauseName returns the value of the label "cause" for a cause.
func CauseName(c ledger.Cause) string {
	if int(c) < len(causeNames) && causeNames[c] != "" {
		return causeNames[c]
	}
	return otherLabel
}
