package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Kinds of commands. They are appended, never renumbered and never reused.
const (
	KindConfigure            command.Kind = 1
	KindPutUser              command.Kind = 2
	KindSetUserState         command.Kind = 3
	KindSetPassword          command.Kind = 4
	KindSignIn               command.Kind = 5
	KindTouchSession         command.Kind = 6
	KindSignOut              command.Kind = 7
	KindCreateClient         command.Kind = 8
	KindEditClient           command.Kind = 9
	KindReviewClient         command.Kind = 10
	KindDeleteClient         command.Kind = 11
	KindImportClient         command.Kind = 12
	KindAddSecret            command.Kind = 13
	KindRevokeSecret         command.Kind = 14
	KindAllow                command.Kind = 15
	KindExchange             command.Kind = 16
	KindRefresh              command.Kind = 17
	KindRevokeGrant          command.Kind = 18
	KindDisconnect           command.Kind = 19
	KindAddKey               command.Kind = 20
	KindAcknowledgeKeys      command.Kind = 21
	KindActivateKey          command.Kind = 22
	KindDropKey              command.Kind = 23
	KindSweep                command.Kind = 24
	KindBeginRestore         command.Kind = 25
	KindReplay               command.Kind = 26
	KindRewrap               command.Kind = 27
	KindForgetNode           command.Kind = 28
	KindBeginTimeline        command.Kind = 29
	KindEndSession           command.Kind = 30
	KindOfferClient          command.Kind = 31
	KindAcceptClient         command.Kind = 32
	KindDeclineClient        command.Kind = 33
	KindTransferClient       command.Kind = 34
	KindAddUser              command.Kind = 35
	KindSetPerson            command.Kind = 36
	KindSignInUpstream       command.Kind = 37
	KindReportFailures       command.Kind = 38
	KindSumFailures          command.Kind = 39
	KindMarkLogged           command.Kind = 40
	KindReauthenticate       command.Kind = 41
	KindPutResourceServer    command.Kind = 42
	KindAddResourceSecret    command.Kind = 43
	KindRevokeResourceSecret command.Kind = 44
	KindRemoveResourceServer command.Kind = 45
	KindRevokeToken          command.Kind = 46
	KindRecordSecretUse      command.Kind = 47
	KindEditProfile          command.Kind = 48
	KindAddOperatorToken     command.Kind = 49
	KindRevokeOperatorToken  command.Kind = 50
	KindRecordBackup         command.Kind = 51
	KindChooseBackupNode     command.Kind = 52
	KindApplyClient          command.Kind = 53
	KindApplyResourceServer  command.Kind = 54
	KindUpgradeSecret        command.Kind = 56
	KindUpgradePassword      command.Kind = 57
	KindRecordOperation      command.Kind = 58
	KindPutPublisher         command.Kind = 59
	KindEndPublisher         command.Kind = 60
	KindNoteDocument         command.Kind = 61
	KindApplyPublisher       command.Kind = 62
	KindReportUsage          command.Kind = 70
	KindSetFeed              command.Kind = 71
	KindKeepDraft            command.Kind = 72
	KindSetBrand             command.Kind = 73
	KindSetSecret            command.Kind = 74
)

// Commands returns a constructor for every kind of command, for decoding the log.
func Commands() map[command.Kind]func() command.Command {
	return map[command.Kind]func() command.Command{
		KindConfigure:            func() command.Command { return new(Configure) },
		KindPutUser:              func() command.Command { return new(PutUser) },
		KindSetUserState:         func() command.Command { return new(SetUserState) },
		KindSetPassword:          func() command.Command { return new(SetPassword) },
		KindSignIn:               func() command.Command { return new(SignIn) },
		KindTouchSession:         func() command.Command { return new(TouchSession) },
		KindSignOut:              func() command.Command { return new(SignOut) },
		KindCreateClient:         func() command.Command { return new(CreateClient) },
		KindEditClient:           func() command.Command { return new(EditClient) },
		KindReviewClient:         func() command.Command { return new(ReviewClient) },
		KindDeleteClient:         func() command.Command { return new(DeleteClient) },
		KindImportClient:         func() command.Command { return new(ImportClient) },
		KindAddSecret:            func() command.Command { return new(AddSecret) },
		KindRevokeSecret:         func() command.Command { return new(RevokeSecret) },
		KindAllow:                func() command.Command { return new(Allow) },
		KindExchange:             func() command.Command { return new(Exchange) },
		KindRefresh:              func() command.Command { return new(Refresh) },
		KindRevokeGrant:          func() command.Command { return new(RevokeGrant) },
		KindDisconnect:           func() command.Command { return new(Disconnect) },
		KindAddKey:               func() command.Command { return new(AddKey) },
		KindAcknowledgeKeys:      func() command.Command { return new(AcknowledgeKeys) },
		KindActivateKey:          func() command.Command { return new(ActivateKey) },
		KindDropKey:              func() command.Command { return new(DropKey) },
		KindSweep:                func() command.Command { return new(Sweep) },
		KindBeginRestore:         func() command.Command { return new(BeginRestore) },
		KindReplay:               func() command.Command { return new(Replay) },
		KindRewrap:               func() command.Command { return new(Rewrap) },
		KindForgetNode:           func() command.Command { return new(ForgetNode) },
		KindBeginTimeline:        func() command.Command { return new(BeginTimeline) },
		KindEndSession:           func() command.Command { return new(EndSession) },
		KindOfferClient:          func() command.Command { return new(OfferClient) },
		KindAcceptClient:         func() command.Command { return new(AcceptClient) },
		KindDeclineClient:        func() command.Command { return new(DeclineClient) },
		KindTransferClient:       func() command.Command { return new(TransferClient) },
		KindAddUser:              func() command.Command { return new(AddUser) },
		KindSetPerson:            func() command.Command { return new(SetPerson) },
		KindSignInUpstream:       func() command.Command { return new(SignInUpstream) },
		KindReportFailures:       func() command.Command { return new(ReportFailures) },
		KindSumFailures:          func() command.Command { return new(SumFailures) },
		KindMarkLogged:           func() command.Command { return new(MarkLogged) },
		KindReauthenticate:       func() command.Command { return new(Reauthenticate) },
		KindPutResourceServer:    func() command.Command { return new(PutResourceServer) },
		KindAddResourceSecret:    func() command.Command { return new(AddResourceSecret) },
		KindRevokeResourceSecret: func() command.Command { return new(RevokeResourceSecret) },
		KindRemoveResourceServer: func() command.Command { return new(RemoveResourceServer) },
		KindRevokeToken:          func() command.Command { return new(RevokeToken) },
		KindRecordSecretUse:      func() command.Command { return new(RecordSecretUse) },
		KindEditProfile:          func() command.Command { return new(EditProfile) },
		KindAddOperatorToken:     func() command.Command { return new(AddOperatorToken) },
		KindRevokeOperatorToken:  func() command.Command { return new(RevokeOperatorToken) },
		KindRecordBackup:         func() command.Command { return new(RecordBackup) },
		KindChooseBackupNode:     func() command.Command { return new(ChooseBackupNode) },
		KindApplyClient:          func() command.Command { return new(ApplyClient) },
		KindApplyResourceServer:  func() command.Command { return new(ApplyResourceServer) },
		KindUpgradeSecret:        func() command.Command { return new(UpgradeSecret) },
		KindUpgradePassword:      func() command.Command { return new(UpgradePassword) },
		KindRecordOperation:      func() command.Command { return new(RecordOperation) },
		KindPutPublisher:         func() command.Command { return new(PutPublisher) },
		KindEndPublisher:         func() command.Command { return new(EndPublisher) },
		KindNoteDocument:         func() command.Command { return new(NoteDocument) },
		KindApplyPublisher:       func() command.Command { return new(ApplyPublisher) },
		KindReportUsage:          func() command.Command { return new(ReportUsage) },
		KindSetFeed:              func() command.Command { return new(SetFeed) },
		KindKeepDraft:            func() command.Command { return new(KeepDraft) },
		KindSetBrand:             func() command.Command { return new(SetBrand) },
		KindSetSecret:            func() command.Command { return new(SetSecret) },
	}
}
