package verifier

import (
	"errors"
	"time"
)

// Reason names the check that a token failed. The values are stable: they are
// fit for a metric's label and for a log.
type Reason string

// Why a token is refused, in the order of the checks.
const (
	ReasonMalformed       Reason = "malformed"        // not one compact JWS in its one spelling
	ReasonHeader          Reason = "header"           // a JOSE header member is missing, wrong or not allowed
	ReasonType            Reason = "type"             // typ is not at+jwt: signed by the issuer perhaps, but no access token
	ReasonUnknownKey      Reason = "unknown_key"      // kid is not in the key set
	ReasonKeysUnavailable Reason = "keys_unavailable" // the key set could not be had: says nothing about the token
	ReasonAlgorithm       Reason = "algorithm"        // alg is not the key's
	ReasonSignature       Reason = "signature"        // the signature doesn't match
	ReasonClaims          Reason = "claims"           // a claim is missing or of the wrong type
	ReasonIssuer          Reason = "issuer"           // iss is another issuer
	ReasonAudience        Reason = "audience"         // aud doesn't name this resource server
	ReasonExpired         Reason = "expired"          // exp has passed
	ReasonNotYetValid     Reason = "not_yet_valid"    // nbf or iat is ahead of the clock
	ReasonRevoked         Reason = "revoked"          // taken back before its time
)

// The three classes of refusal, for errors.Is. Every [*Error] is exactly one
// of them.
var (
	ErrInvalid         = errors.New("token is invalid")
	ErrExpired         = errors.New("token has expired")
	ErrKeysUnavailable = errors.New("verification keys are unavailable")
)

// ErrUnknownKey is what a [KeySource] answers for a kid that the issuer doesn't
// publish. Verify reports it as [ReasonUnknownKey].
var ErrUnknownKey = errors.New("unknown verification key")

// Error is a refusal. Its text never holds bytes of the token.
type Error struct {
	Reason Reason

	// RetryAfter is when keys may be there, for ReasonKeysUnavailable of a
	// [JWKS]; zero if nobody knows.
	RetryAfter time.Duration

	detail string // fixed text
	cause  error  // of ReasonKeysUnavailable: what the key source said
}

func (e *Error) Error() string {
	text := "verify token: " + string(e.Reason)
	if e.detail != "" {
		text += ": " + e.detail
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Is makes errors.Is answer for the class of the refusal.
func (e *Error) Is(target error) bool {
	switch e.Reason {
	case ReasonExpired:
		return target == ErrExpired
	case ReasonKeysUnavailable:
		return target == ErrKeysUnavailable
	}
	return target == ErrInvalid
}

// Unwrap gives what the key source said when keys are unavailable.
func (e *Error) Unwrap() error { return e.cause }

func refuse(reason Reason, detail string) error {
	return &Error{Reason: reason, detail: detail}
}

// unavailable is what a JWKS answers when it can't say. It is ErrKeysUnavailable.
type unavailable struct {
	retryAfter time.Duration
	cause      error // never nil
}

func (u *unavailable) Error() string        { return ErrKeysUnavailable.Error() + ": " + u.cause.Error() }
func (u *unavailable) Is(target error) bool { return target == ErrKeysUnavailable }
func (u *unavailable) Unwrap() error        { return u.cause }

// keysUnavailable wraps what a key source said.
func keysUnavailable(err error) *Error {
	e := &Error{Reason: ReasonKeysUnavailable, cause: err}
	var u *unavailable
	if errors.As(err, &u) {
		e.RetryAfter = u.retryAfter
	}
	return e
}
