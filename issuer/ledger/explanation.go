package ledger

// An Explanation is an error_id, opened: the refusal that was sealed in it.
type Explanation struct {
	Client [16]byte // digest of the id of the client that was refused
	Cause  Cause
	At     Time // of the refusal

	Named          bool // the client authenticated and owns the grant; else the rest is empty
	Grant          GrantID
	Presented, Due uint32 // generations
	When           Time   // of what the cause speaks about; 0 where it names no time
}
