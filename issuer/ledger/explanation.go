package ledger

import "strings"

// An Explanation is the refusal that was sealed in an error_id.
type Explanation struct {
	Client [16]byte // digest of the id of the refused client
	Cause  Cause
	At     Time   // when the request was refused
	Note   string // the description of a malformed request in its response, which is more exact than Cause; "" for other causes

	Named          bool // the client authenticated and owns the grant; otherwise the fields below are empty
	Grant          GrantID
	Presented, Due uint32 // generations
	When           Time   // when the cause occurred; 0 if it has no time
}

// Text returns why the request was refused, in the form of Cause.String.
func (e *Explanation) Text() string {
	if e.Note == "" {
		return e.Cause.String()
	}
	return strings.ToLower(e.Note[:1]) + strings.TrimSuffix(e.Note[1:], ".")
}
