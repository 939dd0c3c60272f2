package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

const (
	replaceIt  = "take a new node in its place: mintmark cluster replace NODE --name NEW"
	tryAgain   = "try again in a moment: mintmark cluster status shows the nodes"
	newToken   = "make another one: mintmark cluster invite --name NAME"
	readBackup = "restore a backup into an empty folder: mintmark cluster backup restore FILE"
)

// hints is the one table from an error to what an operator can do about it. Errors are
// facts and name no command or flag, because the packages that return them know neither.
// Of two errors in one chain the earlier row counts.
var hints = []struct {
	err    error
	advice string
}{
	// Starting a node.
	{server.ErrPrivilegedPort, "give the program that capability, as a systemd unit does with AmbientCapabilities=CAP_NET_BIND_SERVICE, or choose a port from 1024 on and put a proxy in front"},
	{server.ErrListen, "see --" + config.KeyListen},
	{server.ErrListenOps, "see --" + config.KeyOpsListen},
	{errNoListener, "start the node, or name its address with --" + config.KeyOpsListen + "; \"dev\" prints that of its node"},
	{server.ErrListenCluster, "see --" + config.KeyClusterListen},
	{server.ErrReadToken, "see --" + config.KeyTokenFile},
	{server.ErrOtherAddress, "see --" + config.KeyPublicURL + " and --" + config.KeyAppURL},
	{server.ErrWorldWritable, "look whether all files in it are the node's own, then chmod o-w the folder"},
	{server.ErrDevData, "give serve another --" + config.KeyDataDir},
	{server.ErrNotDevData, "run it with mintmark serve, or give dev another --" + config.KeyDataDir},
	{config.ErrNoToken, "a token comes from: mintmark cluster invite --name NAME"},
	{config.ErrPlainHTTP, "--" + config.KeyPlainHTTP + " accepts that"},
	{config.ErrNoClusterKey, "put the key back, or name its file with --" + config.KeyClusterKeyFile},
	{config.ErrFixedKey, "put the key into that file (mode 0600), start the node without the variable or the credential, and try again"},
	{keys.ErrDamagedFile, "replace it with a copy, or with that of another node; a file that ends with .new or .old can be moved away instead"},
	{keys.ErrLinkedFile, "put the key itself there (mode 0600), start the node again, and try again"},
	{keys.ErrReadOnlyFile, "permit the node to replace it, with chmod u+w, and try again"},
	{keys.ErrForeignFile, "move it away, and try again"},
	{config.ErrNoKeyForRestore, "put the key there first, or start the node with its file as --" + config.KeyClusterKeyFile},
	{integrity.ErrWrongClusterKey, "put back the key that it had, or a copy of that of another node; a node can have it in another file: mintmark serve --" + config.KeyClusterKeyFile + " FILE"},
	{watchdog.ErrClockUnconfirmed, "set the clock right, or accept it: mintmark cluster accept-clock"},

	// A folder that a node can't go on with.
	{member.ErrNodeKeyLost, "put its own key back, or " + replaceIt},
	{member.ErrRebuiltFile, "move it away and start the node again"},
	{integrity.ErrMixedFolder, "if only the file that is named was changed, write into it what the log has; otherwise " + replaceIt},
	{restore.ErrForeignJournal, "move it away, and keep it for a restore"},
	{integrity.ErrRolledBack, "start the node with its newest folder, or " + replaceIt +
		"; if no leader can be elected without it, start the node that has the data, or go on from a node that is left: mintmark cluster recover"},
	{integrity.ErrNoCommitMarker, "if no other node is left, go on with what is here: mintmark cluster recover; otherwise " + replaceIt},
	{store.ErrCommittedTruncated, "before anything else, stop all nodes and copy their data; then either go on from the node that reports this: mintmark cluster recover, or give up what only it has and " + replaceIt},
	{store.ErrDataLost, replaceIt + "; if it was the only one, " + readBackup},
	{store.ErrDamaged, replaceIt + "; if it was the only one, " + readBackup},
	{store.ErrExposed, "if nobody can have read it, chmod 600 and start the node again; otherwise " + replaceIt},
	{recovery.ErrInterrupted, "run mintmark cluster recover again"},

	// Members of a cluster.
	{member.ErrRemoved, "stop it; its data can still be read: mintmark cluster backup save FILE; the machine comes back with an empty data folder and a token: mintmark cluster invite --name NAME"},
	{member.ErrDuplicateNode, "stop one of them for good, delete its folder, and start the other one again"},
	{integrity.ErrDuplicatePeer, "stop one of them for good, delete its folder, and start the other one again"},
	{member.ErrBadToken, "a token comes from: mintmark cluster invite --name NAME"},
	{member.ErrUnknownInvite, newToken},
	{member.ErrTokenUsed, newToken},
	{member.ErrOtherCluster, newToken},
	{member.ErrOtherName, "see --" + config.KeyName},
	{member.ErrBadAddress, "see --" + config.KeyAdvertise},
	{member.ErrNameTaken, "to put another node in its place: mintmark cluster replace NODE --name NEW"},
	{member.ErrInvitationUsed, "to take the node out: mintmark cluster remove NODE"},
	{member.ErrInitialNodeCount, "a cluster of one is made by: mintmark cluster init"},
	{member.ErrNoNetwork, "a node of a cluster is run by: mintmark serve"},
	{admin.ErrStandalone, "a node of a cluster is run by: mintmark serve"},
	{member.ErrLastVoter, "have another node join first: mintmark cluster invite --name NAME"},
	{member.ErrNoOtherVoter, "have another node join first: mintmark cluster invite --name NAME"},
	{member.ErrNotVoter, "look when mintmark cluster status shows it as a voter, and try again"},
	{member.ErrVoterSilent, "start it, or let the cluster choose: mintmark cluster transfer-leader"},
	{member.ErrNotTransferred, "mintmark cluster status shows which voters answer and follow"},
	{member.ErrRemovalUnderWay, tryAgain},
	{member.ErrChangeUnderWay, tryAgain},
	{member.ErrNotCaughtUp, tryAgain},
	{member.ErrNoMajorityLeft, "start the voters that do not answer, or remove first those that are lost for good: mintmark cluster remove NODE"},
	{machine.ErrOldProgram, "upgrade the program of this node"},
	{keys.ErrOtherCluster, "give the node that key, or none, and start it again"},
	{server.ErrInitialNodes, "start the other nodes that mintmark cluster generate made"},
	{server.ErrNoAddresses, "give them again: mintmark cluster init --public-url URL"},

	// Operations.
	{admin.ErrUnknownScope, "the issuer lists them as scopes_supported at /.well-known/oauth-authorization-server"},
	{admin.ErrServerUnreachable, "see --server and --server-ca-file"},
	{admin.ErrLocalOnly, "run it on a node's own machine, without --server"},
	{server.ErrClusterAuthority, "see --" + config.KeyOperatorsCAFile},
	{server.ErrListenOperators, "see --" + config.KeyOperatorsListen},
	{apply.ErrNoSecret, "make one, and name its file as secret_file or its digest as secret_sha256: mintmark secret generate FILE"},
	{apply.ErrOtherManager, "give that name as --manager, or take it over with --adopt"},
	{apply.ErrFixturesOnly, "leave it out: a secret that an entry does not name is revoked"},
	{apply.ErrSecretGone, "make another one: mintmark secret generate FILE"},
	{admin.ErrUnreachable, "start the node, or name its data folder with --" + config.KeyDataDir},
	{cluster.ErrNoMajority, "start the voters that do not answer; where a majority is lost for good, stop the node that is left and run there: mintmark cluster recover"},
	{admin.ErrIsolated, "make room on the disk, or repair it: the node comes back by itself"},
	{admin.ErrNotMember, "the machine comes back with an empty data folder and a token: mintmark cluster invite --name NAME"},
	{admin.ErrMajorityLost, "start the voters that do not answer; where they are lost for good, see mintmark cluster recover --help"},
	{admin.ErrNoLeader, "mintmark cluster status has the reason"},
	{admin.ErrTokenUnchecked, "mintmark cluster status has the reason with a client certificate, or on a node's own machine without --server"},
	{admin.ErrOutcomeUnknown, "look whether it was done, and try again if not"},
	{admin.ErrInternal, "the node's log has the reason"},
	{admin.ErrNoCluster, "make one: mintmark cluster init --public-url URL, or start the node with --" + config.KeyJoin + ", or restore a backup: mintmark cluster backup restore FILE"},
	{admin.ErrNotJoined, "mintmark cluster status reports what it waits for"},
	{admin.ErrJoining, "see --" + config.KeyJoin},
	{admin.ErrPlainHTTP, "--" + config.KeyPlainHTTP + " accepts that"},
	{admin.ErrVotersMissing, "have another node join: mintmark cluster invite --name NAME; --voters N accepts N"},
	{server.ErrGap, "--" + yesFlag + " restores all the same"},
	{restore.ErrKeyOutdated, "give this node the new key, and put the old one into cluster.key.old beside it, or name its file with --" + config.KeyClusterKeyFile},
	{restore.ErrKeyMissing, "put it into cluster.key.old beside this node's own, or name its file with --" + config.KeyClusterKeyFile},
	{rekey.ErrNodeUnreachable, "start it, or take it out: mintmark cluster remove NODE; --" + yesFlag + " goes on without it, and it asks the others for the key when it is back"},
	{rekey.ErrNotReplaced, "run the same command again: it continues where this one ended"},
	{rekey.ErrUnfinished, "mintmark keys rewrap on the node that began it goes on with it"},
	{rekey.ErrNoKey, "see mintmark keys list"},
	{ledger.ErrLockedOut, adviceLockedOut},
	{ledger.ErrResourceLockedOut, adviceResourceLockedOut},
	{ledger.ErrLeakedKeyInUse, "drop it after the restore: mintmark keys rotate --emergency ID"},
}

// causeHints is the part of the table for requests that a rule of the ledger refused.
var causeHints = []struct {
	cause  ledger.Cause
	advice string
}{
	{ledger.Conflict, "look at it again, then repeat the command"},
	{ledger.TooManySecrets, "revoke one first: mintmark client secret revoke CLIENT SECRET_ID, or mintmark resource-server secret revoke RESOURCE_SERVER SECRET_ID"},
	{ledger.TooManyOperatorTokens, "revoke one first: mintmark operator token revoke TOKEN"},
	{ledger.ReplayTooLate, "restore once more, and replay before anything else: mintmark cluster backup restore FILE"},
}

const (
	adviceLockedOut         = "add another secret: mintmark client secret add CLIENT; where it has two, revoke one first: mintmark client secret revoke CLIENT SECRET_ID"
	adviceResourceLockedOut = "add another secret: mintmark resource-server secret add RESOURCE_SERVER; where it has two, revoke one first: mintmark resource-server secret revoke RESOURCE_SERVER SECRET_ID"
)

// adviceOn returns what an operator can do about a refused request, "" if there is nothing.
func adviceOn(e admin.Explained) string {
	lockedOut, add := adviceLockedOut, "mintmark client secret add CLIENT"
	if e.ResourceServer != "" && e.Client == "" {
		lockedOut, add = adviceResourceLockedOut, "mintmark resource-server secret add RESOURCE_SERVER"
	}
	switch e.Cause {
	case ledger.SecretKeyDropped:
		return lockedOut
	case ledger.Throttled:
		return "a secret in the format that Mintmark generates is always looked at, unlike an imported one: " + add
	case ledger.AgentsAreOff:
		return "accept agents: mintmark settings set agents=listed"
	case ledger.PublisherUnlisted, ledger.PublisherIsPending, ledger.PublisherIsRejected:
		return "accept the publisher: mintmark publisher add HOST --scope SCOPES; HOST is local for programs that register themselves"
	}
	return ""
}

// adviceFor returns what an operator can do about an error, "" if hints does not know. An
// error that a node passed on as a text has the text of its sentinel.
func adviceFor(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.advice
		}
	}
	var p *admin.Problem
	if errors.As(err, &p) {
		for _, h := range causeHints {
			if p.Cause == h.cause {
				return h.advice
			}
		}
	}
	return adviceIn(err.Error())
}

// adviceIn returns what an operator can do about the fact that a text has, "" if hints does
// not know.
func adviceIn(text string) string {
	for _, h := range hints {
		if strings.Contains(text, h.err.Error()) {
			return h.advice
		}
	}
	for _, h := range causeHints {
		if strings.Contains(text, h.cause.String()) {
			return h.advice
		}
	}
	return ""
}

// withHint adds to an error what an operator can do about it, if hints knows that. Of a list
// of errors it adds that to each.
func withHint(err error) error {
	if list := listed(err); len(list) > 1 {
		for i := range list {
			list[i] = withHint(list[i])
		}
		return errors.Join(list...)
	}
	if advice := adviceFor(err); advice != "" {
		return fmt.Errorf("%w (%s)", err, advice)
	}
	return err
}

// listed returns a copy of the errors that errors.Join made err of, or nil.
func listed(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if joined, ok := inner.(interface{ Unwrap() []error }); ok && errors.Join(joined.Unwrap()...).Error() == err.Error() {
			return slices.Clone(joined.Unwrap())
		}
	}
	return nil
}

// hintHandler adds the advice of hints to log records that have an error.
type hintHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h hintHandler) Handle(ctx context.Context, r slog.Record) error {
	var advice string
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && advice == "" {
			advice = adviceFor(err)
		}
		return true
	})
	if advice != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("hint", advice))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h hintHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hintHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h hintHandler) WithGroup(name string) slog.Handler {
	return hintHandler{h.Handler.WithGroup(name)}
}
