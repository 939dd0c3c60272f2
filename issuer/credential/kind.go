package credential

import "strings"

// A Kind is what a text claims to be, by its prefix. The text need not be valid.
type Kind int

// The kinds of credentials with a prefix.
const (
	NoKind Kind = iota
	KindCode
	KindRefresh
	KindSecret // of a client or a resource server
	KindSession
	KindOperatorToken
	KindErrorID
)

var kindOfPrefix = map[string]Kind{
	codePrefix: KindCode, refreshPrefix: KindRefresh, secretPrefix: KindSecret, sessionPrefix: KindSession,
	tokenPrefix: KindOperatorToken, causePrefix: KindErrorID,
}

// KindOf returns the kind of a text.
func KindOf(text string) Kind {
	return kindOfPrefix[text[:strings.IndexByte(text, '_')+1]] // without an underscore "", which is no prefix
}
