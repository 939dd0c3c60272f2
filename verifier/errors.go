package verifier

import (
	"errors"
	"time"
)

// Reason names the check that a token failed. The values are stable, for metric labels
// and logs.
type Reason string

// Why a token is refused, in the order of the checks.
const (
	ReasonMalformed       Reason = "malformed"        // not one compact JWS in its one spelling
	ReasonHeader          Reason = "header"           // a JOSE header member is missing, wrong or not allowed
	ReasonType            Reason = "type"             // typ is not at+jwt: not an access token, even if the issuer signed it
	ReasonUnknownKey      Reason = "unknown_key"      // kid is not in the key set
	ReasonKeysUnavailable Reason = "keys_unavailable" // there is no current key set: the token may be valid
	ReasonAlgorithm       Reason = "algorithm"        // alg is not the key's
	ReasonSignature       Reason = "signature"        // the signature doesn't match
	ReasonClaims          Reason = "claims"           // a claim is missing or of the wrong type
	ReasonIssuer          Reason = "issuer"           // iss is another issuer
	ReasonAudience        Reason = "audience"         // aud doesn't name this resource server
	ReasonExpired         Reason = "expired"          // exp has passed
	ReasonNotYetValid     Reason = "not_yet_valid"    // nbf or iat is ahead of the clock
	ReasonRevoked         Reason = "revoked"          // revoked before it expired
)

// The three classes of refusal, for errors.Is. Every [*Error] belongs to exactly one.
var (
	ErrInvalid         = errors.New("token is invalid")
	ErrExpired         = errors.New("token has expired")
	ErrKeysUnavailable = errors.New("verification keys are unavailable")
)

// ErrUnknownKey is the error of a [KeySource] for a kid that the issuer doesn't publish.
// Verify reports it as [ReasonUnknownKey].
var ErrUnknownKey = errors.New("unknown verification key")

// Error is a refusal. Its text contains no part of the token.
type Error struct {
	Reason Reason

	// RetryAfter is the time until keys may be available, for ReasonKeysUnavailable of a
	// [JWKS]; zero if unknown.
	RetryAfter time.Duration

	// Claims are those of a token that is genuine but has expired, for logs; nil for every
	// other reason. They permit nothing.
	Claims *Claims

	detail string // fixed text
	cause  error  // of ReasonKeysUnavailable: the key source's error
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

// Is reports whether target is the class of the refusal, for errors.Is.
func (e *Error) Is(target error) bool {
	switch e.Reason {
	case ReasonExpired:
		return target == ErrExpired
	case ReasonKeysUnavailable:
		return target == ErrKeysUnavailable
	}
	return target == ErrInvalid
}

// Unwrap returns the key source's error if keys are unavailable.
func (e *Error) Unwrap() error { return e.cause }

func refuse(reason Reason, detail string) error {
	return &Error{Reason: reason, detail: detail}
}

// unavailable is a JWKS's error if it has no current key set. It is ErrKeysUnavailable.
type unavailable struct {
	retryAfter time.Duration
	cause      error // never nil
}

func (u *unavailable) Error() string        { return ErrKeysUnavailable.Error() + ": " + u.cause.Error() }
func (u *unavailable) Is(target error) bool { return target == ErrKeysUnavailable }
func (u *unavailable) Unwrap() error        { return u.cause }

// keysUnavailable wraps an error of a key source.
func keysUnavailable(err error) *Error {
	e := &Error{Reason: ReasonKeysUnavailable, cause: err}
	var u *unavailable
	if errors.As(err, &u) {
		e.RetryAfter = u.retryAfter
	}
	return e
}
