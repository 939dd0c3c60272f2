package ledger

import (
	"fmt"
	"strings"
	"time"
)

// effectNames are the headings for counts of effects.
var effectNames = map[EffectKind]string{
	EffectGrantEnded:        "grants ended",
	EffectDisconnected:      "users disconnected",
	EffectLegacyEnded:       "grants without limits ended",
	EffectSignedOut:         "sessions ended",
	EffectSignedOutAll:      "users signed out everywhere",
	EffectPassword:          "passwords changed",
	EffectUserDisabled:      "users disabled",
	EffectUserEnabled:       "users enabled",
	EffectUserDeleted:       "users deleted",
	EffectAdminGranted:      "administrators made",
	EffectAdminRevoked:      "administrators dismissed",
	EffectClientState:       "states of clients changed",
	EffectClientDeleted:     "clients deleted",
	EffectClientNarrowed:    "clients narrowed",
	EffectScopesSelected:    "legacy clients given scopes",
	EffectSecretRevoked:     "client secrets revoked",
	EffectSecretAdded:       "client secrets added",
	EffectKeyAdded:          "keys added",
	EffectKeyActivated:      "keys activated",
	EffectKeyDropped:        "keys dropped",
	EffectRewrapped:         "changes of the cluster key",
	EffectClientTransferred: "clients transferred",

	EffectOperatorTokenRevoked:  "operator tokens revoked",
	EffectResourceSecretRevoked: "secrets of resource servers revoked",
	EffectResourceSecretAdded:   "secrets of resource servers added",
	EffectResourceRemoved:       "resource servers removed",
	EffectResourceNarrowed:      "resource servers narrowed",

	EffectClientRevoked:     "clients disconnected from every user",
	EffectPublisherRejected: "publishers rejected",
	EffectPublisherRemoved:  "publishers removed",
	EffectPublisherNarrowed: "publishers narrowed",

	EffectSecretEnds: "ends of client secrets planned or cancelled",
	EffectFeedSet:    "addresses of feeds made or removed",
}

// RevokingEffects returns the kinds of effects that take access away, in order. A state
// that is restored without their records may give that access back.
func RevokingEffects() (all []EffectKind) {
	for kind := EffectKind(1); kind <= lastEffect; kind++ {
		switch kind {
		case EffectUserEnabled, EffectAdminGranted, EffectSecretAdded, EffectKeyAdded, EffectKeyActivated, EffectResourceSecretAdded:
		default:
			all = append(all, kind)
		}
	}
	return all
}

// String describes effects of the kind, in the plural.
func (k EffectKind) String() string {
	if s, ok := effectNames[k]; ok {
		return s
	}
	return fmt.Sprintf("effects of kind %d", uint8(k))
}

// String describes e. It contains no secret, hash or session id.
func (e *Effect) String() string {
	switch e.Kind {
	case EffectGrantEnded:
		return fmt.Sprintf("grant %s of user %s for client %s ended: %s", e.Grant, e.User, e.Client, e.Cause)
	case EffectDisconnected:
		if e.Client == "" {
			return fmt.Sprintf("user %s disconnected from every client", e.User)
		}
		return fmt.Sprintf("user %s disconnected from client %s", e.User, e.Client)
	case EffectLegacyEnded:
		return fmt.Sprintf("user %s's grants without limits for client %s ended", e.User, e.Client)
	case EffectSignedOut:
		return fmt.Sprintf("user %s signed out of one browser", e.User)
	case EffectSignedOutAll:
		return fmt.Sprintf("user %s signed out everywhere", e.User)
	case EffectPassword:
		return fmt.Sprintf("user %s's password changed", e.User)
	case EffectUserDisabled:
		return fmt.Sprintf("user %s disabled", e.User)
	case EffectUserEnabled:
		return fmt.Sprintf("user %s enabled", e.User)
	case EffectUserDeleted:
		return fmt.Sprintf("user %s deleted", e.User)
	case EffectAdminGranted:
		return fmt.Sprintf("user %s made an administrator", e.User)
	case EffectAdminRevoked:
		return fmt.Sprintf("user %s no longer an administrator", e.User)
	case EffectClientState:
		if e.State == Approved {
			return fmt.Sprintf("client %s resumed", e.Client)
		}
		return fmt.Sprintf("client %s %s", e.Client, e.State)
	case EffectClientDeleted:
		return fmt.Sprintf("client %s deleted", e.Client)
	case EffectClientNarrowed:
		return fmt.Sprintf("client %s narrowed to redirect URIs %s and scopes %s", e.Client, list(e.URIs), list(e.Scopes))
	case EffectScopesSelected:
		return fmt.Sprintf("legacy client %s given the scopes %s", e.Client, list(e.Scopes))
	case EffectSecretRevoked:
		return fmt.Sprintf("client %s: secret %s revoked", e.Client, e.ID)
	case EffectSecretAdded:
		return fmt.Sprintf("client %s: secret %s added", e.Client, e.Secret.ID)
	case EffectFeedSet:
		if e.Feed == [32]byte{} {
			return fmt.Sprintf("user %s's feed address removed", e.User)
		}
		return fmt.Sprintf("user %s's feed address made or replaced", e.User)
	case EffectSecretEnds:
		if e.Ends == 0 {
			return fmt.Sprintf("client %s: end of secret %s cancelled", e.Client, e.ID)
		}
		return fmt.Sprintf("client %s: secret %s ends at %s", e.Client, e.ID, e.Ends.text())
	case EffectKeyAdded:
		return fmt.Sprintf("%s key %s added", e.Key.Purpose, e.Key.ID)
	case EffectKeyActivated:
		return fmt.Sprintf("key %s activated", e.ID)
	case EffectKeyDropped:
		if e.Emergency {
			return fmt.Sprintf("key %s dropped in emergency", e.ID)
		}
		return fmt.Sprintf("key %s dropped", e.ID)
	case EffectRewrapped:
		return fmt.Sprintf("%d keys sealed under cluster key %s", len(e.Sealed), e.ID)
	case EffectOperatorTokenRevoked:
		return fmt.Sprintf("operator token %s revoked", e.ID)
	case EffectClientTransferred:
		return fmt.Sprintf("client %s transferred to user %s", e.Client, e.User)
	case EffectResourceSecretRevoked:
		return fmt.Sprintf("resource server %s: secret %s revoked", e.Resource, e.ID)
	case EffectResourceSecretAdded:
		return fmt.Sprintf("resource server %s: secret %s added", e.Resource, e.Secret.ID)
	case EffectResourceRemoved:
		return fmt.Sprintf("resource server %s removed", e.Resource)
	case EffectResourceNarrowed:
		return fmt.Sprintf("resource server %s narrowed to scopes %s", e.Resource, list(e.Scopes))
	case EffectClientRevoked:
		return fmt.Sprintf("client %s disconnected from every user", e.Client)
	case EffectPublisherRejected:
		return fmt.Sprintf("publisher %s rejected", e.Publisher)
	case EffectPublisherRemoved:
		return fmt.Sprintf("publisher %s removed", e.Publisher)
	case EffectPublisherNarrowed:
		return fmt.Sprintf("publisher %s narrowed to scopes %s and defaults %s", e.Publisher, list(e.Scopes), list(e.Defaults))
	}
	return e.Kind.String()
}

// line returns e with the time and the actor of its record.
func (r *Record) line(e *Effect) string {
	text := r.when(e).Std().Format(time.RFC3339) + " " + e.String()
	if r.Actor != "" {
		text += ", by " + r.Actor
	}
	return text
}

func list(words []string) string {
	if len(words) == 0 {
		return "(none)"
	}
	return strings.Join(words, " ")
}
