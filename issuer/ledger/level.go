package ledger

// Level is the feature level of these rules. A cluster has a level too
// (Meta.Level): that of the oldest program among its nodes, which rises when the
// last of them was upgraded. What an older program does not know, or would
// decide otherwise, happens from a level on that it does not have, or its state
// would differ from that of the others.
//
//	1	the first program for several nodes
//	2	Replay; the cluster key and the authority change; an edit keeps the
//		last scope and redirection URI of a client while their replacement
//		waits for a review; Refresh.Unspent; Configure.Seen; a signing key waits
//		for what the JWKS had promised; the number of a credential key that is
//		dropped is kept; a credential under a key that was dropped proves
//		nothing, in no branch; a secret in use moves to the active key;
//		lives, and one that begins with a recovery
//	3	the pages: sessions are ended one by one; logos; a client changes its
//		owner, and nobody accepts what an owner offers who may do nothing any
//		more; administrators add and edit users; sign-in by a provider
//		elsewhere; an administrator does not take the role, or the account,
//		from themselves; a user has at most MaxSessionsOf sessions; a deletion
//		names the revision it was decided on; a review is kept with its reason,
//		and so is what it turned down; the event of a proposal tells what was
//		proposed; the reason of a suspension outlasts reviews of edits; what one
//		client or user writes to the audit trail by refreshing and allowing is
//		bounded; nobody takes a name that is taken for another's; new texts hold
//		nothing unseen, and new addresses only hosts that a browser goes to and
//		no parameter of an answer
const Level = 3

// levelOf is the level from which on a command of a kind may be proposed. A
// kind that is appended gets the level that is appended with it; one that is
// not here may always be proposed.
var levelOf = map[Kind]uint32{
	KindReplay: 2,
	KindReseal: 2, // a program of level 1 can't be given another cluster key

	KindBeginLife: levelLives,

	KindEndSession:     levelPages,
	KindOfferClient:    levelPages,
	KindAcceptClient:   levelPages,
	KindDeclineClient:  levelPages,
	KindTransferClient: levelPages,
	KindAddUser:        levelPages,
	KindSetPerson:      levelPages,
	KindSignInUpstream: levelPages,
}

// Level is the level of the cluster from which on a command of this kind may be
// proposed.
func (k Kind) Level() uint32 { return max(levelOf[k], 1) }

// levelKeepsLast is from which on EditClient leaves an approved client its last
// scope and redirection URI.
const levelKeepsLast = 2

// Levels from which on: Configure.Seen is looked at; keys have Learnt and
// Highest; a Link's key must be one of the ring; noteUse records a secret anew.
const (
	levelSeen     = 2
	levelLearnt   = 2
	levelKeptKeys = 2
	levelRecords  = 2
)

// levelLives is from which on a state knows its lives.
const levelLives = 2

// levelPages is from which on what people do on the pages is decided by the rules
// of the pages.
const levelPages = 3

// levelTrail is from which on a retry is an event once a day for each grant, and a
// user allows so many a day: see tellsRetry and maxAllowsADay.
const levelTrail = 3
