package ledger

// An Explanation is the refusal that was sealed in an error_id.
type Explanation struct {
	Client [16]byte // digest of the id of the refused client
	Cause  Cause
	At     Time // when the request was refused

	Named          bool // the client authenticated and owns the grant; otherwise the fields below are empty
	Grant          GrantID
	Presented, Due uint32 // generations
	When           Time   // when the cause occurred; 0 if it has no time
}
