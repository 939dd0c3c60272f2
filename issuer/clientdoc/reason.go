package clientdoc

// A Reason is why there is no document.
type Reason string

// Reasons.
const (
	URLRefused          Reason = "url"
	OwnHost             Reason = "own host"
	AddressRefused      Reason = "address"
	Unreachable         Reason = "unreachable"
	Redirected          Reason = "redirect"
	StatusNotOK         Reason = "status"
	WrongType           Reason = "content type"
	TooLong             Reason = "too long"
	NotJSON             Reason = "not json"
	OtherClientID       Reason = "client_id"
	HasSecret           Reason = "secret"
	MethodNotOffered    Reason = "method"
	NameMissing         Reason = "name"
	RedirectURIsMissing Reason = "redirect_uris"
	RedirectURIRefused  Reason = "redirect_uri"
	GrantNotOffered     Reason = "grant type"
	Refused             Reason = "refused"       // Fetcher.Refuse
	TooManyURLs         Reason = "too many urls" // of one user
	Busy                Reason = "busy"          // too many fetches at once; not remembered
)

// sentences describe each reason to users. They have no text of the publisher's.
var sentences = map[Reason]string{
	URLRefused:          "the client_id is not a valid address of a metadata document",
	OwnHost:             "the address of the metadata document is one of this service's own",
	AddressRefused:      "the host of the metadata document has an address that is not public",
	Unreachable:         "the metadata document could not be fetched",
	Redirected:          "the address of the metadata document redirects elsewhere",
	StatusNotOK:         "the address of the metadata document answers with an error",
	WrongType:           "the metadata document is not sent as JSON",
	TooLong:             "the metadata document is longer than 5 KB",
	NotJSON:             "the metadata document is not valid JSON, repeats a name, or has a member of another type",
	OtherClientID:       "the client_id in the metadata document is not its own address",
	HasSecret:           "the metadata document has a secret, which everybody can read",
	MethodNotOffered:    "the metadata document asks to authenticate by a method other than none",
	NameMissing:         "the metadata document has no client_name",
	RedirectURIsMissing: "the metadata document has no redirect_uris",
	RedirectURIRefused:  "a redirect URI in the metadata document is neither of its own host nor of the loopback, or is not valid",
	GrantNotOffered:     "the client does not use authorization codes, and nothing else is offered",
	Refused:             "the metadata document is not accepted",
	TooManyURLs:         "this account has tried too many new applications within an hour",
	Busy:                "too many metadata documents are being fetched",
}

// An Error is why there is no document.
type Error struct {
	Reason Reason
	Note   string // for Refused
}

// Error implements error. The text has no text of the publisher's.
func (e *Error) Error() string {
	if e.Note != "" {
		return e.Note
	}
	return e.Reason.Sentence()
}

// Sentence describes the reason to users.
func (r Reason) Sentence() string { return sentences[r] }
