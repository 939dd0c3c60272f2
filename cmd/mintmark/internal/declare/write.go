package declare

import (
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Write writes a declaration without secrets and passwords, below a comment. Reading it
// gives the same entries.
func (d *Declaration) Write(w io.Writer, comment string) error {
	root := &yaml.Node{Kind: yaml.MappingNode, HeadComment: comment}
	if m := d.Settings.node(); len(m.Content) > 0 {
		add(root, "settings", m)
	}
	users, clients := &yaml.Node{Kind: yaml.SequenceNode}, &yaml.Node{Kind: yaml.SequenceNode}
	for i := range d.Users {
		users.Content = append(users.Content, d.Users[i].node())
	}
	for i := range d.Clients {
		clients.Content = append(clients.Content, d.Clients[i].node())
	}
	if len(users.Content) > 0 {
		add(root, "users", users)
	}
	add(root, "clients", clients) // never an empty mapping, which would hide the comment
	resources := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range d.ResourceServers {
		resources.Content = append(resources.Content, d.ResourceServers[i].node())
	}
	if len(resources.Content) > 0 {
		add(root, "resource_servers", resources)
	}
	publishers := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range d.Publishers {
		publishers.Content = append(publishers.Content, d.Publishers[i].node())
	}
	if len(publishers.Content) > 0 {
		add(root, "publishers", publishers)
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return err
	}
	return e.Close()
}

func (s *Settings) node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range admin.DefaultSettings().Settings { // in the order of display
		if value, ok := s.Values[one.Key]; ok {
			add(m, one.Key, textNode(value))
		}
	}
	return m
}

func (u *User) node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	addText(m, "id", u.ID)
	addText(m, "username", u.Username)
	p := &u.Person
	addText(m, "name", p.Name)
	addText(m, "email", p.Email)
	if u.Admin {
		addText(m, "admin", strconv.FormatBool(u.Admin))
	}
	addText(m, "avatar_url", p.AvatarURL)
	addText(m, "bio", p.Bio)
	if p.TimeFormat != 0 {
		addText(m, "time_format", strconv.Itoa(p.TimeFormat))
	}
	addText(m, "default_schedule_id", p.DefaultScheduleID)
	addText(m, "week_start", p.WeekStart)
	addText(m, "time_zone", p.TimeZone)
	addText(m, "locale", p.Locale)
	addText(m, "organization_id", p.OrganizationID)
	return m
}

func (c *Client) node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, HeadComment: c.Comment}
	addText(m, "id", c.ID)
	addText(m, "name", c.Name)
	addText(m, "owner", c.Owner)
	if c.Type != string(ledger.Confidential) {
		addText(m, "type", c.Type)
	}
	addText(m, "state", c.State)
	if c.Legacy {
		addText(m, "legacy", strconv.FormatBool(c.Legacy))
	}
	addText(m, "purpose", c.Purpose)
	addText(m, "website", c.Website)
	addText(m, "privacy_url", c.PrivacyURL)
	addText(m, "terms_url", c.TermsURL)
	addTexts(m, "redirect_uris", c.RedirectURIs)
	addTexts(m, "scopes", c.Scopes)
	return m
}

func (s *ResourceServer) node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, HeadComment: s.Comment}
	addText(m, "id", s.ID)
	addText(m, "name", s.Name)
	addTexts(m, "scopes", s.Scopes)
	return m
}

func (p *Publisher) node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	addText(m, "host", p.Host)
	addText(m, "name", p.Name)
	addTexts(m, "scopes", p.Scopes)
	addTexts(m, "default_scopes", p.Defaults)
	if p.MaxClients != ledger.DefaultMaxClients {
		addText(m, "max_clients", strconv.Itoa(p.MaxClients))
	}
	if p.LongRetry {
		addText(m, "long_retry", strconv.FormatBool(p.LongRetry))
	}
	addTexts(m, "redirect_uris", p.RedirectURIs)
	return m
}

func add(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

func addText(m *yaml.Node, key, value string) {
	if value != "" {
		add(m, key, textNode(value))
	}
}

func addTexts(m *yaml.Node, key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		list.Content = append(list.Content, textNode(v))
	}
	add(m, key, list)
}

// plainText is what needs no quotes in YAML. Readers of other programs may take such a text
// for a number or a truth value, which this language never does.
var plainText = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*( [A-Za-z0-9_.,/@+()-]+)*$`)

func textNode(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if !plainText.MatchString(value) {
		n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
	}
	return n
}
