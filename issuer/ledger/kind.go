package ledger

// Kind is the number of a command in the log.
type Kind uint16

// Kinds are appended, never renumbered and never reused.
const (
	KindConfigure       Kind = 1
	KindPutUser         Kind = 2
	KindSetUserState    Kind = 3
	KindSetPassword     Kind = 4
	KindSignIn          Kind = 5
	KindTouchSession    Kind = 6
	KindSignOut         Kind = 7
	KindCreateClient    Kind = 8
	KindEditClient      Kind = 9
	KindReviewClient    Kind = 10
	KindDeleteClient    Kind = 11
	KindImportClient    Kind = 12
	KindAddSecret       Kind = 13
	KindRevokeSecret    Kind = 14
	KindAllow           Kind = 15
	KindExchange        Kind = 16
	KindRefresh         Kind = 17
	KindRevokeGrant     Kind = 18
	KindDisconnect      Kind = 19
	KindAddKey          Kind = 20
	KindAcknowledgeKeys Kind = 21
	KindActivateKey     Kind = 22
	KindDropKey         Kind = 23
	KindSweep           Kind = 24
	KindBeginRestore    Kind = 25
	KindReplay          Kind = 26
	KindRewrap          Kind = 27
	KindForgetNode      Kind = 28
	KindBeginTimeline   Kind = 29
	KindEndSession      Kind = 30
	KindOfferClient     Kind = 31
	KindAcceptClient    Kind = 32
	KindDeclineClient   Kind = 33
	KindTransferClient  Kind = 34
	KindAddUser         Kind = 35
	KindSetPerson       Kind = 36
	KindSignInUpstream  Kind = 37
	KindReportFailures  Kind = 38
	KindSumFailures     Kind = 39
	KindMarkLogged      Kind = 40
	KindReauthenticate  Kind = 41
)

// Commands has an empty command of every kind, for decoding the log.
func Commands() map[Kind]func() Command {
	return map[Kind]func() Command{
		KindConfigure:       func() Command { return new(Configure) },
		KindPutUser:         func() Command { return new(PutUser) },
		KindSetUserState:    func() Command { return new(SetUserState) },
		KindSetPassword:     func() Command { return new(SetPassword) },
		KindSignIn:          func() Command { return new(SignIn) },
		KindTouchSession:    func() Command { return new(TouchSession) },
		KindSignOut:         func() Command { return new(SignOut) },
		KindCreateClient:    func() Command { return new(CreateClient) },
		KindEditClient:      func() Command { return new(EditClient) },
		KindReviewClient:    func() Command { return new(ReviewClient) },
		KindDeleteClient:    func() Command { return new(DeleteClient) },
		KindImportClient:    func() Command { return new(ImportClient) },
		KindAddSecret:       func() Command { return new(AddSecret) },
		KindRevokeSecret:    func() Command { return new(RevokeSecret) },
		KindAllow:           func() Command { return new(Allow) },
		KindExchange:        func() Command { return new(Exchange) },
		KindRefresh:         func() Command { return new(Refresh) },
		KindRevokeGrant:     func() Command { return new(RevokeGrant) },
		KindDisconnect:      func() Command { return new(Disconnect) },
		KindAddKey:          func() Command { return new(AddKey) },
		KindAcknowledgeKeys: func() Command { return new(AcknowledgeKeys) },
		KindActivateKey:     func() Command { return new(ActivateKey) },
		KindDropKey:         func() Command { return new(DropKey) },
		KindSweep:           func() Command { return new(Sweep) },
		KindBeginRestore:    func() Command { return new(BeginRestore) },
		KindReplay:          func() Command { return new(Replay) },
		KindRewrap:          func() Command { return new(Rewrap) },
		KindForgetNode:      func() Command { return new(ForgetNode) },
		KindBeginTimeline:   func() Command { return new(BeginTimeline) },
		KindEndSession:      func() Command { return new(EndSession) },
		KindOfferClient:     func() Command { return new(OfferClient) },
		KindAcceptClient:    func() Command { return new(AcceptClient) },
		KindDeclineClient:   func() Command { return new(DeclineClient) },
		KindTransferClient:  func() Command { return new(TransferClient) },
		KindAddUser:         func() Command { return new(AddUser) },
		KindSetPerson:       func() Command { return new(SetPerson) },
		KindSignInUpstream:  func() Command { return new(SignInUpstream) },
		KindReportFailures:  func() Command { return new(ReportFailures) },
		KindSumFailures:     func() Command { return new(SumFailures) },
		KindMarkLogged:      func() Command { return new(MarkLogged) },
		KindReauthenticate:  func() Command { return new(Reauthenticate) },
	}
}
