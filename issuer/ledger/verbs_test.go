package ledger_test

import (
	"cmp"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// command returns the command for a line of a scenario.
func (w *env) command(l line) command.Command {
	v := w.view()
	switch l.verb {
	case "settings":
		return w.settings(l)
	case "user":
		c := &ledger.PutUser{ID: "u-" + l.name, Username: l.name, Password: l.or("password", "hash"), Admin: l.bool("admin"), New: l.bool("new")}
		if kind, units, ok := strings.Cut(l.args["imported"], "/"); ok {
			n, err := strconv.ParseUint(units, 10, 64)
			require.NoError(w.t, err)
			c.PasswordCost = ledger.HashCost{Kind: kind, Units: n, Lanes: 1}
		}
		return c
	case "upgrade-password":
		return &ledger.UpgradePassword{User: "u-" + l.name, VerifiedHash: sha256.Sum256([]byte(l.args["from"])), Password: l.args["to"]}
	case "user-state":
		return &ledger.SetUserState{Actor: l.actor(), User: "u-" + l.name, State: ledger.UserState(l.args["to"])}
	case "password":
		c := &ledger.SetPassword{Actor: l.actor(), User: "u-" + l.name, Password: l.args["to"]}
		if old, ok := l.args["old"]; ok {
			c.VerifiedHash = sha256.Sum256([]byte(old))
		}
		return c
	case "sign-in":
		return &ledger.SignIn{
			Session: sha256.Sum256([]byte("session " + l.or("session", l.name))), User: "u-" + l.name,
			VerifiedHash: sha256.Sum256([]byte(l.or("password", "hash"))),
			Replaces:     sha256.Sum256([]byte("session " + l.args["replaces"])), Agent: l.args["agent"],
		}
	case "reauthenticate":
		c := &ledger.Reauthenticate{Session: sessionOf(l.name), Issuer: l.args["issuer"], Subject: l.args["subject"], Authenticated: w.ago(l)}
		if c.Issuer == "" {
			c.VerifiedHash = sha256.Sum256([]byte(l.or("password", "hash")))
		}
		return c
	case "touch":
		return &ledger.TouchSession{Session: sha256.Sum256([]byte("session " + l.name))}
	case "sign-out":
		return &ledger.SignOut{Session: sha256.Sum256([]byte("session " + l.name)), Everywhere: l.bool("everywhere")}

	case "create":
		c := &ledger.CreateClient{
			Actor: l.actor(), ID: l.name, Owner: "u-" + l.or("owner", l.args["by"]),
			Type: ledger.ClientType(l.or("type", "confidential")), Profile: l.profile(nil), Logo: l.picture(),
		}
		if s, ok := l.args["secret"]; ok {
			n := secretOf(s)
			c.Secret = &n
		}
		return c
	case "import":
		return &ledger.ImportClient{
			ID: l.name, Owner: "u-" + l.args["owner"], Type: ledger.ClientType(l.or("type", "confidential")),
			State: ledger.ClientState(l.or("state", "approved")), Legacy: l.bool("legacy"), Profile: l.profile(nil),
			Secrets: secretsOf(l.list("secrets")), Revoked: secretsOf(l.list("revoked")), Declared: l.list("declared"), Actor: l.actor(),
		}
	case "apply":
		return w.apply(l)
	case "apply-user":
		return w.applyUser(l)
	case "edit":
		old := v.ClientNamed(l.name)
		c := &ledger.EditClient{Actor: l.actor(), ID: ledger.ClientKey(l.name), Profile: l.profile(old), Logo: l.picture(), Confirm: l.bool("confirm")}
		if old != nil {
			c.Revision = old.Revision
		}
		if _, ok := l.args["revision"]; ok {
			c.Revision = uint64(l.number("revision"))
		}
		return c
	case "review":
		c := &ledger.ReviewClient{Actor: l.actor(), ID: ledger.ClientKey(l.name), Verdict: ledger.Verdict(l.args["verdict"]), Reason: l.args["reason"]}
		if old := v.ClientNamed(l.name); old != nil {
			c.Revision = old.Revision
		}
		if _, ok := l.args["revision"]; ok {
			c.Revision = uint64(l.number("revision"))
		}
		return c
	case "delete":
		return &ledger.DeleteClient{Actor: l.actor(), ID: ledger.ClientKey(l.name), Revision: uint64(l.number("revision"))}
	case "add-secret":
		c := &ledger.AddSecret{Actor: l.actor(), Client: l.name, Secret: secretOf(l.args["secret"]), After: w.newestSecret(l)}
		c.Secret.Name = l.args["name"]
		if d := w.duration(l, "old-ends"); d != nil {
			c.EndOld = *d
		}
		return c
	case "set-secret":
		c := &ledger.SetSecret{Actor: l.actor(), Client: l.name, Secret: l.args["secret"], EndsIn: w.duration(l, "ends")}
		if name, ok := l.args["name"]; ok {
			c.Name = &name
		}
		return c
	case "upgrade-secret":
		to, key := l.or("to", "plain"), max(1, l.number("key"))
		return &ledger.UpgradeSecret{
			Client: l.name, VerifiedHash: sha256.Sum256([]byte(l.or("from", l.args["secret"]))),
			Secret: ledger.NewSecret{ID: l.args["secret"], Key: key, Digest: digestUnder(key, to), Tail: "tail"},
		}
	case "revoke-secret":
		return &ledger.RevokeSecret{Actor: l.actor(), Client: l.name, Secret: l.args["secret"], Due: l.bool("due")}

	case "allow":
		return &ledger.Allow{
			Actor: ledger.Actor{Session: sha256.Sum256([]byte("session " + l.name))}, User: "u-" + l.or("user", l.name),
			Request: l.request(), Grant: id16(l.args["grant"]), Revision: w.revisionOf(l.args["client"], l),
		}
	case "exchange":
		c := &ledger.Exchange{ClientAuth: l.tokenClient(), Credential: l.credentialRef(), Redirect: sha256.Sum256([]byte(l.or("uri", "https://app.example/cb")))}
		c.Challenge = challengeOf(l.args["verifier"])
		if l.bool("bad-verifier") {
			c.Challenge = ledger.BadVerifier
		}
		c.Resource = l.args["resource"]
		return c
	case "refresh":
		return &ledger.Refresh{ClientAuth: l.tokenClient(), Credential: l.credentialRef(), Scope: l.args["scope"], Unspent: l.bool("unspent"), Resource: l.args["resource"]}
	case "revoke":
		return &ledger.RevokeGrant{Actor: l.actor(), Grant: id16(l.name)}
	case "revoke-token":
		c := &ledger.RevokeToken{ClientAuth: l.tokenClient()}
		if l.bool("access") {
			c.Access = &ledger.AccessRef{Grant: id16(l.args["grant"]), Key: l.or("key", "k1")}
		} else {
			c.Refresh = l.credentialRef()
		}
		return c
	case "disconnect":
		return &ledger.Disconnect{Actor: l.actor(), User: "u-" + l.name, Client: ledger.ClientKey(l.args["client"])}

	case "add-key":
		return &ledger.AddKey{Key: ledger.Key{
			ID: l.name, Purpose: ledger.Purpose(l.args["purpose"]), Number: l.number("number"), Sealed: []byte(cmp.Or(l.args["sealed"], "sealed")),
			SealedUnder: l.args["under"],
		}}
	case "acknowledge":
		return &ledger.AcknowledgeKeys{Node: l.name, Opened: l.list("keys"), ClusterKeys: l.list("holds")}
	case "rewrap":
		c := &ledger.Rewrap{To: l.name, Voters: l.list("voters")}
		for _, id := range l.list("keys") {
			c.Keys = append(c.Keys, ledger.SealedKey{ID: id, Sealed: []byte("sealed under " + l.name)})
		}
		return c
	case "forget":
		return &ledger.ForgetNode{Node: l.name}
	case "activate":
		return &ledger.ActivateKey{ID: l.name, Voters: l.list("voters"), Emergency: l.bool("emergency")}
	case "drop":
		return &ledger.DropKey{ID: l.name, Emergency: l.bool("emergency")}
	case "begin-restore":
		return &ledger.BeginRestore{Backup: uint64(l.number("backup"))}
	case "sweep":
		c := &ledger.Sweep{}
		for g := range v.Grants() {
			c.Grants = append(c.Grants, g.ID)
		}
		for s := range v.Sessions() {
			c.Sessions = append(c.Sessions, s.ID)
		}
		for p := range v.Publishers() {
			c.Publishers = append(c.Publishers, p.Host)
		}
		for client := range v.Clients() {
			c.Documents = append(c.Documents, client.ID)
		}
		for _, name := range logoNames {
			c.Logos = append(c.Logos, [32]byte(digestOfLogo(name)))
		}
		return c
	}
	c := w.pagesCommand(l)
	require.NotNil(w.t, c, "%q?", l.verb)
	return c
}

// brandField returns the field of a brand that is the setting of a key, or nil.
func brandField(b *ledger.Brand, key string) *string {
	return map[string]*string{
		"service_name": &b.Name, "accent": &b.Accent, "privacy_url": &b.PrivacyURL, "terms_url": &b.TermsURL, "help_url": &b.HelpURL,
		"forgot_password": &b.Forgot, "forgot_password_url": &b.ForgotURL,
	}[key]
}

// duration returns the duration that a line has under a key, or nil.
func (w *env) duration(l line, key string) *time.Duration {
	text, ok := l.args[key]
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(text)
	require.NoError(w.t, err)
	return &d
}

func (w *env) settings(l line) command.Command {
	s := *w.view().Settings()
	fields := map[string]*time.Duration{}
	for _, f := range ledger.SettingFields {
		if f.Duration != nil {
			fields[f.Key] = f.Duration(&s)
		}
	}
	for key, v := range l.args {
		if key == "seen" || key == "id" || key == "by" {
			continue
		}
		if key == "agents" {
			s.Agents = ledger.Agents(suffix(v == "off", "", v))
			continue
		}
		if field := brandField(&s.Brand, key); field != nil {
			*field = v
			continue
		}
		require.Contains(w.t, fields, key, "a setting that this verb does not know")
		if v == "never" {
			v = ledger.RotateNever.String()
		}
		d, err := time.ParseDuration(v)
		require.NoError(w.t, err)
		*fields[key] = d
	}
	c := &ledger.Configure{Settings: s, Actor: l.actor()}
	if seen, ok := l.args["seen"]; ok {
		c.ExpectedLast = id16(seen)
	}
	return c
}
