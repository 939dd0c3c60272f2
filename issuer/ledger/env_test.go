package ledger_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// An env is a ledger on the real state machine, without a raft log. Names in a scenario
// become ids by hashing, so that its text needs no random values.
type env struct {
	t      testing.TB
	memory *machine.Memory
	now    time.Time
	halted time.Duration
	serial int
	past   map[ledger.GrantID]ledger.Grant // earlier rows, to verify what never changes back
	issued map[ledger.GrantID][]int64      // iat of each issued access token

	backups    map[string]backup
	seq        uint64          // of the last command
	journal    []ledger.Record // of this cluster, since it began or was restored
	oldJournal []ledger.Record // of the cluster before the restore
	backupSeq  uint64          // Seq of the backup that it was restored from

	recoveries byte
}

type backup struct {
	state *bytes.Buffer
	seq   uint64
}

func newEnv(t testing.TB) *env {
	w := &env{t: t, now: time.UnixMilli(1_800_000_000_000), past: map[ledger.GrantID]ledger.Grant{}, issued: map[ledger.GrantID][]int64{}, backups: map[string]backup{}}
	rules := replica.Machine()
	for kind, empty := range rules.Commands {
		rules.Commands[kind] = func() command.Command { return &journalingCommand{empty(), w} }
	}
	w.memory = machine.NewMemory(rules, func() time.Time { return w.now })
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	w.must(&ledger.Configure{Settings: s})
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}})
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Sealed: []byte("sealed")}})
	return w
}

func (w *env) view() ledger.View { return ledger.At(w.memory.View()) }

func (w *env) at() ledger.Time { return ledger.Time(w.now.UnixMilli()) }

func (w *env) must(c command.Command) {
	w.t.Helper()
	o, _ := w.do(c, "", false)
	require.Nil(w.t, o.Refusal, "%T", c)
}

// do proposes a command. Commands of a scenario with the same name have the same id.
func (w *env) do(c command.Command, name string, again bool) (ledger.Outcome, bool) {
	w.t.Helper()
	w.serial++
	if name == "" {
		name = fmt.Sprintf("command %d", w.serial)
	}
	value, wrote := w.memory.Do(c, command.ID(id16(name)), again)
	outcome := value.(ledger.Outcome)
	if o := outcome.Issued; o != nil && o.SigningKey != "" {
		w.issued[o.Grant] = append(w.issued[o.Grant], o.At.Unix())
		require.LessOrEqual(w.t, o.At, w.at().Add(ledger.MaxAhead))
	}
	w.check()
	if outcome.Refusal == nil {
		repeated := w.view().Decide(c, command.Meta{ID: command.ID(id16(name)), Seq: w.seq + 1, At: w.now.UnixMilli(), Again: true, Halted: w.halted.Milliseconds()})
		require.Nil(w.t, repeated.Refusal, "%T is refused when it is proposed again", c)
	}
	return outcome, wrote
}

// backup stores the state under a name. restore goes back to it, including its state time,
// while the clock keeps running.
func (w *env) backup(name string) {
	b := backup{new(bytes.Buffer), w.seq}
	require.NoError(w.t, w.memory.Save(b.state))
	w.backups[name] = b
}

func (w *env) restore(name string) {
	b := w.backups[name]
	require.NoError(w.t, w.memory.Load(bytes.NewReader(b.state.Bytes())))
	clear(w.past)
	w.oldJournal, w.journal, w.backupSeq = w.journal, nil, b.seq
}

// A journalingCommand appends to the journal when it is applied.
type journalingCommand struct {
	command.Command
	w *env
}

// UnmarshalCBOR decodes the command itself.
func (j *journalingCommand) UnmarshalCBOR(b []byte) error { return machine.Unmarshal(b, j.Command) }

func (j *journalingCommand) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	j.w.seq = m.Seq
	d := j.Command.Decide(txn, m)
	if r := ledger.JournalRecord(ledger.At(txn), j.Command, d, m); r != nil {
		encoded, err := cbor.Marshal(r)
		require.NoError(j.w.t, err)
		var read ledger.Record
		require.NoError(j.w.t, cbor.Unmarshal(encoded, &read))
		require.Equal(j.w.t, *r, read, "a record changed in encoding and decoding")
		j.w.journal = append(j.w.journal, read)
	}
	return d
}

// replay applies the lost journal in the commands that ledger.Replays makes of it.
func (w *env) replay() string {
	var b strings.Builder
	for _, c := range ledger.Replays(w.backupSeq, w.oldJournal) {
		fmt.Fprintln(&b, result(w.do(c, "", false)))
	}
	return suffix(b.Len() == 0, "nothing to replay", b.String())
}

func (w *env) preview() string {
	p, refused := w.view().PreviewReplay(w.backupSeq, w.oldJournal)
	require.Nil(w.t, refused)
	lines := p.Lines
	for _, n := range p.Counts {
		lines = append(lines, fmt.Sprintf("%s: %d, skipped %d", n.Kind, n.Changes, n.Skipped))
	}
	for _, line := range p.Unapplied {
		lines = append(lines, "not done: "+line)
	}
	return strings.Join(lines, "\n")
}

func id16(name string) (id [16]byte) {
	sum := sha256.Sum256([]byte(name))
	copy(id[:], sum[:])
	return id
}

// check verifies after every command what must be true at every index of the log
// (invariants S4 and S7).
func (w *env) check() {
	w.t.Helper()
	v := w.view()
	for c := range v.Clients() {
		if c.State == ledger.Deleted {
			require.Empty(w.t, c.Secrets, c.ID)
			continue
		}
		require.LessOrEqual(w.t, c.ActiveSecrets(), ledger.MaxActiveSecrets, c.ID)
		for _, s := range c.Secrets {
			require.False(w.t, s.Ends != 0 && (!s.Active() || c.ActiveSecrets() == 1), "%s: end of %s", c.ID, s.ID)
		}
		require.NotEmpty(w.t, c.RedirectURIs, c.ID)
		require.LessOrEqual(w.t, len(c.RedirectURIs), ledger.MaxRedirectURIs, c.ID)
		if !c.Legacy && c.Document == nil {
			require.NotEmpty(w.t, c.Scopes, c.ID)
		}
		require.False(w.t, c.Public() && len(c.Secrets) > 0, c.ID)
		w.checkLogo(c.Profile)
		if c.Proposed != nil {
			require.NotContains(w.t, []ledger.ClientState{ledger.Pending, ledger.Rejected}, c.State, "%s: two reviews at once", c.ID)
			w.checkLogo(*c.Proposed)
			require.Nil(w.t, c.Refused)
		}
		if c.Refused != nil && c.State != ledger.Deleted {
			w.checkLogo(c.Refused.Profile)
		}
	}
	require.True(w.t, ledger.CurrentIsTrue(v))
	w.checkAgents(v)
	w.checkUsage(v)
	w.checkRevocations(v)
	w.checkTrail(v)
	for g := range v.Grants() {
		if was, ok := w.past[g.ID]; ok {
			require.Equal(w.t, was.Scope, g.Scope, "the scope of a grant changed")
			require.Equal(w.t, was.Legacy, g.Legacy)
			require.Equal(w.t, was.Resource, g.Resource, "the resource server of a grant changed")
			require.GreaterOrEqual(w.t, g.Due, was.Due, "the generation of a grant decreased")
			require.False(w.t, was.Ended != 0 && g.Ended == 0, "an ended grant is live again")
		}
		w.past[g.ID] = *g
	}
}

// line is one parsed command of a scenario.
type line struct {
	verb string
	name string
	args map[string]string
}

func parseLine(text string) line {
	l := line{args: map[string]string{}}
	for i, word := range words(text) {
		key, value, pair := strings.Cut(word, "=")
		switch {
		case i == 0:
			l.verb = word
		case pair:
			l.args[key] = value
		case l.name == "" && i == 1:
			l.name = word
		default:
			l.args[word] = "true"
		}
	}
	return l
}

func (l line) list(key string) []string {
	if l.args[key] == "" {
		return nil
	}
	return strings.Split(l.args[key], ",")
}

func (l line) bool(key string) bool { return l.args[key] == "true" }

func (l line) or(key, value string) string {
	if v, ok := l.args[key]; ok {
		return v
	}
	return value
}

func (l line) number(key string) uint32 {
	n, err := strconv.ParseUint(l.or(key, "0"), 10, 32)
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

// actor returns the session that the line names, or the operator.
func (l line) actor() ledger.Actor {
	if by, ok := l.args["by"]; ok {
		return ledger.Actor{Session: sha256.Sum256([]byte("session " + by))}
	}
	return ledger.Actor{Operator: true}
}

// secretOf returns a secret: its digest, under the first key unless the name ends in "@" and
// another key's number, or for hash:… a hash that another system made.
func secretOf(name string) ledger.NewSecret {
	if strings.HasPrefix(name, "hash:") {
		return ledger.NewSecret{ID: name, Hash: name}
	}
	name, number, _ := strings.Cut(name, "@")
	key := uint32(1)
	if n, err := strconv.ParseUint(number, 10, 32); err == nil {
		key = uint32(n)
	}
	return ledger.NewSecret{ID: name, Key: key, Digest: digestUnder(key, name), Tail: "tail"}
}

// digestUnder returns the digest of a secret under a credential key.
func digestUnder(key uint32, secret string) [32]byte {
	return sha256.Sum256([]byte(suffix(key == 1, "", fmt.Sprintf("key %d ", key)) + secret))
}

func secretsOf(names []string) (list []ledger.NewSecret) {
	for _, n := range names {
		list = append(list, secretOf(n))
	}
	return list
}

func (l line) clientAuth() ledger.ClientAuth {
	p := ledger.ClientAuth{Client: l.args["client"]}
	if s, ok := l.args["secret"]; ok {
		p.Secret = true
		for _, text := range strings.Split(l.or("digests", "1"), ",") {
			key, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				panic(err)
			}
			p.Digests = append(p.Digests, ledger.Digest{Key: uint32(key), MAC: digestUnder(uint32(key), s)})
		}
	}
	return p
}

// credentialRef returns the credential that the line presents, nil for "forged".
func (l line) credentialRef() *ledger.CredentialRef {
	if l.bool("forged") {
		return nil
	}
	return &ledger.CredentialRef{Grant: id16(l.args["grant"]), Generation: l.number("gen"), Key: uint32(max(1, int(l.number("key"))))}
}

func challengeOf(verifier string) string {
	if verifier == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func linksText(p *ledger.Profile) string {
	return suffix(p.PrivacyURL != "", ", privacy "+p.PrivacyURL, "") + suffix(p.TermsURL != "", ", terms "+p.TermsURL, "")
}

func (l line) profile(old *ledger.Client) ledger.Profile {
	p := ledger.Profile{Name: "An Application", RedirectURIs: []string{"https://app.example/cb"}}
	if old != nil {
		p = old.Profile
	}
	if v, ok := l.args["name"]; ok {
		p.Name = v
	}
	if v, ok := l.args["website"]; ok {
		p.Website = v
	}
	if v, ok := l.args["privacy"]; ok {
		p.PrivacyURL = v
	}
	if v, ok := l.args["terms"]; ok {
		p.TermsURL = v
	}
	if _, ok := l.args["uris"]; ok {
		p.RedirectURIs = l.list("uris")
	}
	if _, ok := l.args["scopes"]; ok {
		p.Scopes = l.list("scopes")
	}
	if name, ok := l.args["logo"]; ok {
		p.Logo = digestOfLogo(name)
	}
	return p
}

// run runs one line and returns the result as text.
func (w *env) run(text string) string {
	l := parseLine(text)
	switch l.verb {
	case "now":
		d, err := time.ParseDuration(strings.TrimPrefix(l.name, "+"))
		require.NoError(w.t, err)
		w.now = w.now.Add(d)
		return "ok"
	case "halt": // the cluster decides nothing for a while
		d, err := time.ParseDuration(l.name)
		require.NoError(w.t, err)
		w.now, w.halted = w.now.Add(d), w.halted+min(d, 24*time.Hour)
		w.memory.Halt(d)
		return "ok"
	case "show":
		return w.show(l)
	case "authorize":
		return w.authorize(l)
	case "backup":
		w.backup(l.name)
		return "ok"
	case "restore":
		w.restore(l.name)
		l.verb, l.args["backup"] = "begin-restore", fmt.Sprint(w.backupSeq)
	case "recover": // on a node that has no more than the named backup
		w.restore(l.name)
		w.recoveries++
		next := &ledger.Timeline{ID: command.ID{0xee, w.recoveries}, From: w.backupSeq + 1}
		outcome, changed := w.do(&ledger.BeginTimeline{Next: next}, "", false)
		return result(outcome, changed)
	case "hole":
		w.oldJournal = slices.DeleteFunc(w.oldJournal, func(r ledger.Record) bool {
			return slices.ContainsFunc(r.Effects, func(e ledger.Effect) bool { return e.String() == l.name })
		})
		return "ok"
	case "replay":
		return w.replay()
	case "preview":
		return w.preview()
	}
	c := w.command(l)
	outcome, changed := w.do(c, l.args["id"], l.bool("again"))
	answer := result(outcome, changed)
	if o := outcome.Issued; o != nil && o.SigningKey != "" && o.At != w.at() {
		answer += fmt.Sprintf(", iat %s ahead", o.At.Std().Sub(w.now))
	}
	return answer
}

// result describes an outcome. It mentions a refusal that changed something, and an
// acceptance that changed nothing.
func result(o ledger.Outcome, changed bool) string {
	switch r := o.Refusal; {
	case o.Unknown:
		return "unknown" + suffix(changed, "; STATE CHANGED", "")
	case r != nil:
		text := fmt.Sprintf("%s: %s", r.Code, r.Cause)
		if r.Field != "" {
			text += fmt.Sprintf(" (%s %s)", r.Field, r.Note)
		}
		if r.Named {
			text += fmt.Sprintf(" [generation %d, due %d]", r.Presented, r.Due)
		}
		return text + suffix(changed, "; the grant ended", "")
	case o.Issued != nil:
		i := o.Issued
		text := fmt.Sprintf("issued generation %d for %s", i.Generation, i.User)
		if i.Legacy {
			text += ", legacy"
		} else {
			text += ", scope " + i.Scope
		}
		if i.Audience != "" {
			text += ", for " + i.Audience
		}
		if i.Retry {
			text += ", retry"
		}
		return text + suffix(changed, "", "; nothing changed")
	}
	return "ok" + suffix(changed, "", "; nothing changed")
}

func suffix(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func (w *env) authorize(l line) string {
	a, problem := w.view().Authorize(l.request())
	switch {
	case problem == nil:
		return "consent to " + suffix(a.Legacy, "everything", a.Scope) + suffix(a.Resource == nil, "", ", for "+a.ResourceID())
	case problem.Page:
		return fmt.Sprintf("page: %s", problem.Cause)
	}
	return fmt.Sprintf("redirect: %s: %s", problem.Error.Code, problem.Cause)
}

func (l line) request() oauth.AuthorizationRequest {
	r := oauth.AuthorizationRequest{
		ClientID: l.args["client"], RedirectURI: l.or("uri", "https://app.example/cb"), State: l.args["state"],
		Scope: l.args["scope"], ResponseType: l.args["response_type"],
		CodeChallenge: challengeOf(l.args["verifier"]), CodeChallengeMethod: l.args["method"], Resource: l.args["resource"],
	}
	if v, ok := l.args["challenge"]; ok {
		r.CodeChallenge = v
	}
	if _, ok := l.args["registered"]; ok {
		r.Registration = &oauth.Registration{Name: l.or("name", "Agent"), RedirectURIs: l.list("registered")}
	}
	return r
}

func (w *env) show(l line) string {
	v := w.view()
	switch l.name {
	case "client":
		c := v.ClientNamed(l.args["id"])
		if c == nil {
			return "none"
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s, revision %d", c.Type, c.State, c.Revision)
		if c.Legacy {
			b.WriteString(", legacy")
		}
		if c.Reason != "" {
			fmt.Fprintf(&b, ", reason %q", c.Reason)
		}
		fmt.Fprintf(&b, "\nname %q\nuris %s\nscopes %s%s\n", c.Name, strings.Join(c.RedirectURIs, " "), strings.Join(c.Scopes, " "), linksText(&c.Profile)+logoText(&c.Profile))
		if c.ManagedBy != "" {
			fmt.Fprintf(&b, "managed by %s\n", c.ManagedBy)
		}
		for _, s := range c.Secrets {
			under := suffix(s.Key == 1, "", fmt.Sprintf(", under key %d", s.Key))
			if s.Key == 0 {
				under = suffix(s.Hash == "", ", without hash", ", hashed")
			}
			about := suffix(s.Name == "", "", fmt.Sprintf(" %q", s.Name)) + suffix(s.Ends == 0, "", ", ends "+s.Ends.Std().Format(time.DateTime))
			fmt.Fprintf(&b, "secret %s %s%s%s\n", s.ID, suffix(s.Active(), "active", "revoked"), under, about)
		}
		if p := c.Proposed; p != nil {
			fmt.Fprintf(&b, "proposed name %q, uris %s, scopes %s%s\n", p.Name, strings.Join(p.RedirectURIs, " "), strings.Join(p.Scopes, " "), linksText(p)+logoText(p))
		}
		if r := c.Refused; r != nil {
			p := &r.Profile
			fmt.Fprintf(&b, "refused at %s, %q: name %q, uris %s, scopes %s%s\n", r.At.Std().Format(time.TimeOnly), r.Reason,
				p.Name, strings.Join(p.RedirectURIs, " "), strings.Join(p.Scopes, " "), linksText(p)+logoText(p))
		}
		if len(c.Traffic) > 0 {
			without, with := c.RecentTraffic(w.at())
			fmt.Fprintf(&b, "last 30 days: %d without scope, %d with; asked %s\n", without, with, strings.Join(c.RequestedScopes, " "))
		}
		return b.String()
	case "grants":
		var b strings.Builder
		for _, g := range v.GrantsOf("u-"+l.args["user"], w.at()) {
			fmt.Fprintf(&b, "%s for %s, due %d, scope %q", suffix(g.Legacy, "legacy", "scoped"), v.Client(g.Client).ClientID(), g.Due, g.Scope)
			if s, _ := v.ResourceServerOf(g); s != nil {
				fmt.Fprintf(&b, ", for %s", s.ID)
			}
			b.WriteByte('\n')
		}
		return suffix(b.Len() == 0, "none", b.String())
	case "session":
		u, _ := v.SignedIn(sha256.Sum256([]byte("session "+l.args["id"])), w.at())
		if u == nil {
			return "signed out"
		}
		return "signed in as " + u.Username
	case "keys":
		var b strings.Builder
		for k := range v.Keys() {
			fmt.Fprintf(&b, "%s %s %s\n", k.ID, k.Purpose, k.State)
		}
		return b.String()
	case "unspent":
		g := v.Grant(id16(l.args["grant"]))
		var unspent []string
		for gen := uint32(1); gen <= g.Due+1; gen++ {
			if v.Unspent(ledger.CredentialRef{Grant: g.ID, Generation: gen}, command.Meta{At: int64(w.at()), Halted: w.halted.Milliseconds()}) {
				unspent = append(unspent, fmt.Sprint(gen))
			}
		}
		return strings.Join(unspent, " ")
	case "hashes":
		var b strings.Builder
		for _, c := range v.DearestHashes() {
			fmt.Fprintf(&b, "%s, %d units\n", c.Kind, c.Units)
		}
		return suffix(b.Len() == 0, "none", b.String())
	case "password":
		u := v.User("u-" + l.args["user"])
		return suffix(u.PasswordCost.Kind == "", u.Password, u.Password+", imported")
	case "shared":
		return fmt.Sprint(v.Grant(id16(l.args["grant"])).Shared())
	case "due-secrets":
		var all []string
		for _, s := range v.DueSecrets(w.at(), int(l.number("most"))) {
			all = append(all, s.Client+" "+s.Secret)
		}
		return suffix(len(all) == 0, "none", strings.Join(all, "\n"))
	case "locked-out":
		var all []string
		for _, h := range v.LockedOut() {
			all = append(all, cmp.Or(h.Client, h.Resource))
		}
		return suffix(len(all) == 0, "none", strings.Join(all, " "))
	case "settings":
		s := v.Settings()
		return fmt.Sprintf("jwks_max_age %s, retry_window %s", s.JWKSMaxAge, s.RetryWindow)
	case "journal":
		var lines []string
		for _, r := range w.journal {
			for _, e := range r.Effects {
				lines = append(lines, fmt.Sprintf("%s, by %s", &e, r.Actor))
			}
		}
		if last, ok := l.args["last"]; ok {
			n, err := strconv.Atoi(last)
			require.NoError(w.t, err)
			lines = lines[max(0, len(lines)-n):]
		}
		return suffix(len(lines) == 0, "empty", strings.Join(lines, "\n"))
	case "user":
		u := v.User("u-" + l.args["id"])
		if u == nil {
			return "none"
		}
		return fmt.Sprintf("%q password %q, admin %t, disabled %t, deleted %t", u.Username, u.Password, u.Admin, u.Disabled, u.Deleted)
	case "keyring":
		var b strings.Builder
		fmt.Fprintf(&b, "sealed under %q\n", v.SealedUnder())
		for k := range v.Keys() {
			fmt.Fprintf(&b, "%s %q %q\n", k.ID, k.SealedUnder, k.Sealed)
		}
		return b.String()
	case "nodes":
		var b strings.Builder
		for n := range v.Nodes() {
			fmt.Fprintf(&b, "%s opened %v, holds %v\n", n.ID, n.Opened, n.ClusterKeys)
		}
		return suffix(b.Len() == 0, "none", b.String())
	case "rotation":
		return fmt.Sprintf("signing %t, credential %t", v.RotationDue(ledger.ForSigning, w.at()), v.RotationDue(ledger.ForCredentials, w.at()))
	case "audit":
		var kinds []string
		for e := range v.Events() {
			kinds = append(kinds, string(e.Kind))
		}
		return strings.Join(kinds[max(0, len(kinds)-int(l.number("last"))):], "\n")
	case "scopes":
		return strings.Join(slices.Sorted(slices.Values(scope.All().Names())), "\n")
	}
	return w.showPages(l)
}
