package declare

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A Reader reads files.
type Reader struct {
	// Open returns the text of a declaration, and a function that reports why the file may
	// hold no secret in clear, or nil.
	Open func(path string) (text []byte, mayHold func() error, err error)
	// Secret returns the secret or the password in a file.
	Secret func(path string) (admin.Plain, error)
}

// Files reads and merges files, and refuses entries that are there twice.
func (r Reader) Files(paths ...string) (*Declaration, error) {
	all := &Declaration{}
	for _, path := range paths {
		text, mayHold, err := r.Open(path)
		if err != nil {
			return nil, err
		}
		one, err := r.read(path, text, mayHold)
		if err != nil {
			return nil, err
		}
		if err := all.merge(one); err != nil {
			return nil, err
		}
	}
	return all, all.distinct()
}

// Text reads one declaration, which may hold secrets in clear; name is for errors.
func (r Reader) Text(name string, text []byte) (*Declaration, error) {
	d, err := r.read(name, text, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return d, d.distinct()
}

// A document is one file that is read.
type document struct {
	Reader
	name    string
	mayHold func() error
	out     Declaration
}

// read reads the form of a file: which keys there are and what kind of value each has. Its
// errors name a line and never repeat a value.
func (r Reader) read(name string, text []byte, mayHold func() error) (*Declaration, error) {
	f := &document{Reader: r, name: name, mayHold: mayHold}
	root, err := readYAML(text)
	if root == nil && err == nil {
		return &f.out, nil
	}
	if err == nil {
		err = eachKey(root, "the file", nil, map[string]yamlReader{
			"users": func(_ string, n *yaml.Node) error {
				return eachItem("users", n, func(_ string, item *yaml.Node) error {
					u, err := f.readUser(item)
					f.out.Users = append(f.out.Users, u)
					return err
				})
			},
			"clients": func(_ string, n *yaml.Node) error {
				return eachItem("clients", n, func(_ string, item *yaml.Node) error {
					c, err := f.readClient(item)
					f.out.Clients = append(f.out.Clients, c)
					return err
				})
			},
			"resource_servers": func(_ string, n *yaml.Node) error {
				return eachItem("resource_servers", n, func(_ string, item *yaml.Node) error {
					s, err := f.readResourceServer(item)
					f.out.ResourceServers = append(f.out.ResourceServers, s)
					return err
				})
			},
			"publishers": func(_ string, n *yaml.Node) error {
				return eachItem("publishers", n, func(_ string, item *yaml.Node) error {
					p, err := f.readPublisher(item)
					f.out.Publishers = append(f.out.Publishers, p)
					return err
				})
			},
			"settings": func(_ string, n *yaml.Node) error { return f.readSettings(n) },
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &f.out, nil
}

func (f *document) place(n *yaml.Node, entry string) Place {
	return Place{File: f.name, Entry: entry, Lines: map[string]int{"": n.Line}}
}

func (f *document) readUser(n *yaml.Node) (User, error) {
	u := User{Place: f.place(n, entryName(n, "user", "username", "id"))}
	var passwordFile string
	label := u.Place.Entry
	err := eachKey(n, label, u.Place.Lines, map[string]yamlReader{
		"id":                  yamlText(&u.ID),
		"username":            yamlText(&u.Username),
		"email":               yamlText(&u.Person.Email),
		"name":                yamlText(&u.Person.Name),
		"password":            yamlText(&u.Password),
		"password_file":       yamlText(&passwordFile),
		"password_hash":       yamlText(&u.PasswordHash),
		"reset_password":      yamlBool(&u.ResetPassword),
		"time_zone":           yamlText(&u.Person.TimeZone),
		"admin":               yamlBool(&u.Admin),
		"bio":                 yamlText(&u.Person.Bio),
		"avatar_url":          yamlText(&u.Person.AvatarURL),
		"time_format":         yamlNumber(&u.Person.TimeFormat),
		"default_schedule_id": yamlText(&u.Person.DefaultScheduleID),
		"week_start":          yamlText(&u.Person.WeekStart),
		"locale":              yamlText(&u.Person.Locale),
		"organization_id":     yamlText(&u.Person.OrganizationID),
	})
	fail := func(field, note string) (User, error) {
		return u, fmt.Errorf("line %d: %s: %s %s", u.Place.Lines[field], label, field, note)
	}
	switch {
	case err != nil:
		return u, err
	case u.Username == "":
		return u, fmt.Errorf("line %d: %s: username is missing", n.Line, label)
	}
	u.Place.Entry = "user " + u.Username
	switch {
	case u.Password != "" && passwordFile != "":
		return fail("password_file", "is there beside password")
	case u.PasswordHash != "" && u.Password+admin.Plain(passwordFile) != "":
		return fail("password_hash", "is there beside a password")
	case u.PasswordHash != "":
		if _, fault := credential.ForeignHash(u.PasswordHash.Reveal()); fault != "" {
			return fail("password_hash", fault)
		}
		if err := f.mayHold(); err != nil {
			return fail("password_hash", "can be guessed at: "+err.Error())
		}
	case u.ResetPassword && u.Password == "" && passwordFile == "":
		return fail("reset_password", "needs a password_file")
	case u.Password != "":
		if err := f.mayHold(); err != nil {
			return fail("password", "is in clear: "+err.Error())
		}
	case passwordFile != "":
		if u.Password, err = f.secretIn(passwordFile); err != nil {
			return fail("password_file", "can't be used: "+err.Error())
		}
	}
	return u, nil
}

// secretIn reads a file that is named relative to the file that names it.
func (f *document) secretIn(path string) (admin.Plain, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(f.name), path)
	}
	if f.Secret == nil {
		return "", errors.New("files of secrets are not read here")
	}
	text, err := f.Secret(path)
	if err == nil && text == "" {
		err = errors.New(path + " is empty")
	}
	return text, err
}

func (f *document) readClient(n *yaml.Node) (Client, error) {
	c := Client{Type: string(ledger.Confidential), Place: f.place(n, entryName(n, "client", "id", "name"))}
	label := c.Place.Entry
	var secrets secretTexts
	var revoked []string
	known := map[string]yamlReader{
		"id":              yamlText(&c.ID),
		"name":            yamlText(&c.Name),
		"purpose":         yamlText(&c.Purpose),
		"website":         yamlText(&c.Website),
		"privacy_url":     yamlText(&c.PrivacyURL),
		"terms_url":       yamlText(&c.TermsURL),
		"owner":           yamlText(&c.Owner),
		"type":            yamlText(&c.Type),
		"redirect_uris":   yamlTexts(&c.RedirectURIs),
		"scopes":          yamlTexts(&c.Scopes),
		"revoked_secrets": yamlTexts(&revoked),
		"state":           yamlText(&c.State),
		"legacy":          yamlBool(&c.Legacy),
	}
	secrets.readers(known)
	known["secret_hash"], known["secret_hashes"] = yamlOne(&secrets.hashes), yamlTexts(&secrets.hashes)
	if err := eachKey(n, label, c.Place.Lines, known); err != nil {
		return c, err
	}
	if err := checkEntry(n, label, "scopes", c.Scopes, [2]string{"name", c.Name}, [2]string{"owner", c.Owner}); err != nil {
		return c, err
	}
	if c.ID == "" {
		c.ID = slug(c.Name)
	}
	c.Place.Entry = "client " + c.ID
	var err error
	if c.Secrets, err = f.secrets(&c.Place, label, secrets); err != nil {
		return c, err
	}
	c.Revoked, err = readSecrets(&c.Place, label, [2]string{"", "revoked_secrets"}, revoked, f.clearSecret)
	return c, err
}

func (f *document) readResourceServer(n *yaml.Node) (ResourceServer, error) {
	s := ResourceServer{Place: f.place(n, entryName(n, "resource server", "id", "name"))}
	label := s.Place.Entry
	var secrets secretTexts
	known := map[string]yamlReader{"id": yamlText(&s.ID), "name": yamlText(&s.Name), "scopes": yamlTexts(&s.Scopes)}
	secrets.readers(known)
	if err := eachKey(n, label, s.Place.Lines, known); err != nil {
		return s, err
	}
	if err := checkEntry(n, label, "scopes", s.Scopes, [2]string{"id", s.ID}, [2]string{"name", s.Name}); err != nil {
		return s, err
	}
	var err error
	s.Secrets, err = f.secrets(&s.Place, label, secrets)
	return s, err
}

func (f *document) readPublisher(n *yaml.Node) (Publisher, error) {
	p := Publisher{Place: f.place(n, entryName(n, "publisher", "host"))}
	label := p.Place.Entry
	err := eachKey(n, label, p.Place.Lines, map[string]yamlReader{
		"host":           yamlText(&p.Host),
		"name":           yamlText(&p.Name),
		"scopes":         yamlTexts(&p.Scopes),
		"default_scopes": yamlTexts(&p.Defaults),
		"max_clients":    yamlNumber(&p.MaxClients),
		"long_retry":     yamlBool(&p.LongRetry),
		"redirect_uris":  yamlTexts(&p.RedirectURIs),
	})
	if err == nil {
		err = checkEntry(n, label, "scopes", p.Scopes, [2]string{"host", p.Host})
	}
	if err == nil {
		err = checkEntry(n, label, "default_scopes", p.Defaults)
	}
	return p, err
}

// checkEntry returns an error for a text that is missing, each with its key, or for a scope
// that does not exist, of a field.
func checkEntry(n *yaml.Node, label, field string, scopes []string, texts ...[2]string) error {
	for _, text := range texts {
		if text[1] == "" {
			return fmt.Errorf("line %d: %s: %s is missing", n.Line, label, text[0])
		}
	}
	for i, s := range scopes {
		if !scope.Known(s) {
			return fmt.Errorf("line %d: %s: %s[%d] is no scope: %q", n.Line, label, field, i, s)
		}
	}
	return nil
}

// secretTexts are the values of secretKeys in one entry.
type secretTexts struct{ clear, files, digests, hashes []string }

// readers adds the readers of secretKeys, except those of hashes, which only clients have.
func (t *secretTexts) readers(to map[string]yamlReader) {
	to["secret"], to["secrets"] = yamlOne(&t.clear), yamlTexts(&t.clear)
	to["secret_file"], to["secret_files"] = yamlOne(&t.files), yamlTexts(&t.files)
	to["secret_sha256"], to["secrets_sha256"] = yamlOne(&t.digests), yamlTexts(&t.digests)
}

// secrets returns the secrets that an entry names.
func (f *document) secrets(p *Place, label string, t secretTexts) (all []Secret, err error) {
	for _, kind := range []struct {
		keys   [2]string // of one, and of a list
		values []string
		read   func(text string) (Secret, string)
	}{
		{[2]string{"secret", "secrets"}, t.clear, f.clearSecret},
		{[2]string{"secret_file", "secret_files"}, t.files, f.fileSecret},
		{[2]string{"secret_sha256", "secrets_sha256"}, t.digests, digestSecret},
		{[2]string{"secret_hash", "secret_hashes"}, t.hashes, f.hashedSecret},
	} {
		some, err := readSecrets(p, label, kind.keys, kind.values, kind.read)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// readSecrets reads the secrets of one kind: keys are those of one secret and of a list.
func readSecrets(p *Place, label string, keys [2]string, values []string, read func(text string) (Secret, string)) (all []Secret, err error) {
	fail := func(field, note string) error {
		base, _, _ := strings.Cut(field, "[")
		line, ok := p.Lines[field]
		if !ok {
			line = p.Lines[base]
		}
		return fmt.Errorf("line %d: %s: %s %s", line, label, field, note)
	}
	if p.Named(keys[0]) && p.Named(keys[1]) {
		return nil, fail(keys[0], "is there beside "+keys[1])
	}
	for i, text := range values {
		field := keys[0]
		if !p.Named(field) {
			field = fmt.Sprintf("%s[%d]", keys[1], i)
		}
		s, note := read(text)
		if note != "" {
			return nil, fail(field, note)
		}
		s.Field = field
		all = append(all, s)
	}
	return all, nil
}

func (f *document) clearSecret(text string) (Secret, string) {
	if text == "" {
		return Secret{}, "is empty"
	}
	if err := f.mayHold(); err != nil {
		return Secret{}, "is in clear: " + err.Error()
	}
	return Secret{Text: admin.Plain(text)}, ""
}

func (f *document) fileSecret(path string) (Secret, string) {
	text, err := f.secretIn(path)
	if err != nil {
		return Secret{}, "can't be used: " + err.Error()
	}
	return Secret{Text: text}, ""
}

func digestSecret(text string) (Secret, string) {
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != sha256.Size {
		return Secret{}, "is not a SHA-256 in hexadecimal"
	}
	return Secret{SHA256: admin.Plain(text)}, ""
}

func (f *document) hashedSecret(text string) (Secret, string) {
	if _, fault := credential.ForeignHash(text); fault != "" {
		return Secret{}, fault
	}
	if err := f.mayHold(); err != nil {
		return Secret{}, "can be guessed at: " + err.Error()
	}
	return Secret{Hash: admin.Plain(text)}, ""
}

// slug makes an id of a name: the same one each time, so that a file finds its client
// again.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if len(words) == 0 { // a name in letters that no id can have
		sum := sha256.Sum256([]byte(name))
		return "client-" + hex.EncodeToString(sum[:6])
	}
	return strings.Join(words, "-")
}

// Audience is the one setting that fixtures may declare and that can't be changed in a
// cluster.
const Audience = "audience"

func (f *document) readSettings(n *yaml.Node) error {
	p := f.place(n, "settings")
	known := map[string]yamlReader{}
	for _, s := range admin.DefaultSettings().Settings {
		if s.Fixed && s.Key != Audience {
			continue
		}
		known[s.Key] = func(_ string, n *yaml.Node) error {
			value, err := scalar("settings: "+s.Key, n)
			if err != nil {
				return err
			}
			if s.Key != Audience {
				canonical, note := admin.CanonicalSetting(s.Key, value)
				if note != "" {
					return fmt.Errorf("line %d: settings: %s %s", n.Line, s.Key, note)
				}
				value = canonical
			}
			f.out.Settings.set(s.Key, value, p)
			return nil
		}
	}
	return eachKey(n, "settings", p.Lines, known)
}

// distinct returns an error for two entries with one id or name: the second would overwrite
// the first.
func (d *Declaration) distinct() error {
	seen := map[string]*Place{}
	twice := func(p *Place, field, value string) error {
		key := field + " " + strings.ToLower(value)
		if first, there := seen[key]; there {
			return p.Errorf(field, "is that of %s in %s, line %d", first.Entry, first.File, first.Lines[""])
		}
		seen[key] = p
		return nil
	}
	for i := range d.Users {
		u := &d.Users[i]
		if err := twice(&u.Place, "username", u.Username); err != nil {
			return err
		}
		if err := twice(&u.Place, "id", "user "+u.DefaultID()); err != nil {
			return err
		}
	}
	for i := range d.Clients {
		c := &d.Clients[i]
		if err := twice(&c.Place, "id", "client "+c.ID); err != nil {
			return err
		}
	}
	for i := range d.ResourceServers {
		s := &d.ResourceServers[i]
		if err := twice(&s.Place, "name", "resource server "+s.Name); err != nil {
			return err
		}
		// URIs that differ in the case of their paths only are hardly meant.
		if err := twice(&s.Place, "id", "resource server "+s.ID); err != nil {
			return err
		}
	}
	for i := range d.Publishers {
		p := &d.Publishers[i]
		if err := twice(&p.Place, "host", p.Host); err != nil {
			return err
		}
	}
	return nil
}
