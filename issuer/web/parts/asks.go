package parts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// An Asker is the application that asks for access, as the consent page shows it: the
// template "asker".
type Asker struct {
	Client       string      // the name of the client
	Publisher    string      // of a client with a metadata document; "" for others
	Approved     string      // the name of this service, if it has approved the publisher; or ""
	Registered   bool        // such a client registered itself
	Picture, Own *ui.Picture // of the application and of this service

	Purpose                       string
	Owner                         string // the name of who made it; "" if they have no account any more
	Website, PrivacyURL, TermsURL string
	Reviewer                      string // the name of this service, if it has reviewed the application; or ""

	More    bool // it asks for more than what was allowed before
	Preview bool // the page is about something else
}

// maxPurpose is the maximum of a purpose in characters that is shown whole.
const maxPurpose = 160

// Brief returns the purpose, or its beginning if it is long.
func (a Asker) Brief() string {
	letters := []rune(a.Purpose)
	if len(letters) <= maxPurpose {
		return a.Purpose
	}
	text := string(letters[:maxPurpose])
	if space := strings.LastIndexByte(text, ' '); space > len(text)/2 {
		text = text[:space]
	}
	return text + " …"
}

// An AskerFact is a word or two before a name, or before a link.
type AskerFact struct{ Before, Text, Path string }

// About returns in two lines who made the application and where it is described, and the links
// to its policies.
func (a Asker) About() (lines [][]AskerFact) {
	by := a.links(AskerFact{Text: HostOf(a.Website), Path: a.Website})
	if a.Owner != "" {
		by = append([]AskerFact{{Before: "By ", Text: a.Owner}}, by...)
	}
	for _, line := range [][]AskerFact{by, a.links(AskerFact{Text: "Privacy\u00a0policy", Path: a.PrivacyURL}, AskerFact{Text: "Terms", Path: a.TermsURL})} {
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

func (a Asker) links(all ...AskerFact) (list []AskerFact) {
	for _, link := range all {
		if link.Path == "" {
			continue
		}
		if a.Preview {
			link.Path = ""
		}
		list = append(list, link)
	}
	return list
}

// OwnPicture returns the picture of this service.
func OwnPicture(brand ui.Brand) *ui.Picture {
	p := &ui.Picture{Logo: brand.Logo, Initial: brand.Initial, Kind: "own"}
	if p.Logo == "" && p.Initial == "" {
		p.Logo = ui.Served().Icon.Path
	}
	return p
}

// AskerOf describes a client. Only its approved profile is shown: see ledger.Client.
func AskerOf(view ledger.View, client *ledger.Client, brand ui.Brand) Asker {
	a := Asker{
		Client: client.Name, Picture: PublicPicture(client),
		Own: OwnPicture(brand),
	}
	if d := client.Document; d != nil { // anybody can write anything there
		a.Publisher, a.Registered = PublisherName(d), d.Registered != ""
		if p := view.PublisherOf(client); p != nil && p.State == ledger.PublisherApproved && !a.Registered {
			a.Approved = brand.Name
		}
		return a
	}
	a.Purpose, a.Website, a.PrivacyURL, a.TermsURL = client.Purpose, client.Website, client.PrivacyURL, client.TermsURL
	a.Owner = MadeBy(view, client)
	if client.Reviewed() {
		a.Reviewer = brand.Name
	}
	return a
}

// Asks is what an application asks for, or may do, in words: the template "asks". What
// controls other people stands apart, and the rest has a row for each kind of data.
type Asks struct {
	Legacy bool     // it asks for everything
	First  ui.Stamp // day on which the user first allowed it
	News   string   // what is new, in a sentence; "" for nothing
	Tier   ui.Tier  // what controls other people; no texts for nothing
	Title  string   // the sum of the rows, such as "Views 5 kinds of data, changes 3"
	Rows   []ui.PermissionRow
	Only   *Only         // nil unless it is for one resource server
	Count  int           // of scopes
	All    []Permissions // each scope
}

// Only is the one resource server at which an application could use the account.
type Only struct{ Name, Address string }

// AsksOf describes scopes. What is not in before is marked as new, unless before is empty. Rows with
// something new come first.
func AsksOf(granted string, before scope.Set) Asks {
	a := Asks{All: PermissionsOf(granted, before), Tier: ui.Tier{ID: "controls", Title: "Controls other people"}, First: ui.Stamp{Zero: true}}
	set := scope.FromClaim(granted)
	rows := map[string]*askedKind{}
	var order []*askedKind
	for _, s := range scope.Catalogue() {
		if !set.Has(s.Name) {
			continue
		}
		a.Count++
		row := rows[s.Area]
		if row == nil {
			row = &askedKind{kind: kinds[s.Area], area: s.Area}
			rows[s.Area] = row
			order = append(order, row)
		}
		news := isNew(s.Name, before)
		switch {
		case s.Controls:
			row.controlled = true
			a.Tier.Texts = append(a.Tier.Texts, ui.TierText{Text: curly(s.Plain), New: news})
			continue
		case s.Writes:
			row.changes = append(row.changes, s.Level)
			row.newChanges = row.newChanges || news
		default:
			row.views = append(row.views, s.Level)
			row.newViews = row.newViews || news
		}
	}
	slices.SortStableFunc(order, func(a, b *askedKind) int { return cmp.Compare(b.news(), a.news()) })
	var newly []string
	if slices.ContainsFunc(a.Tier.Texts, func(t ui.TierText) bool { return t.New }) {
		newly = append(newly, "controlling other people")
	}
	var viewed, changed, controlled int
	for _, row := range order {
		views, changes := len(row.views) > 0, len(row.changes) > 0
		if views || changes {
			a.Rows = append(a.Rows, ui.PermissionRow{Area: row.area, Views: row.viewsText(), Changes: row.changesText(), NewViews: row.newViews, NewChanges: row.newChanges})
		}
		if news := row.newsText(); news != "" {
			newly = append(newly, news)
		}
		if views {
			viewed++
		}
		if changes {
			changed++
		}
		if row.controlled {
			controlled++
		}
	}
	switch n := len(newly); {
	case n > 3:
		a.News = strconv.Itoa(n) + " things are new."
	case n > 0:
		a.News = "New: " + Joined(newly) + "."
	}
	switch {
	case len(a.Rows) == 0 && controlled > 0:
		a.Title = sum(0, controlled)
	case changed == 0 && controlled > 0:
		a.Title = sum(viewed, 0) + " else"
	default:
		a.Title = sum(viewed, changed)
	}
	return a
}

// isNew reports whether a scope is not among those that were allowed before, if any were.
func isNew(name string, before scope.Set) bool { return !before.Empty() && !before.Covers(name) }

// sum says how many kinds of data are viewed and changed.
func sum(viewed, changed int) string {
	kinds := func(n int) string { return ui.Plural(n, "kind") + " of data" }
	switch {
	case changed == 0:
		return "Views " + kinds(viewed) + ", changes nothing"
	case viewed == 0:
		return "Changes " + kinds(changed)
	}
	return "Views " + kinds(viewed) + ", changes " + ui.Comma(changed)
}

// A kind has the phrases for the scopes of an area by their level: what is viewed, what is changed,
// and how. noun names the things where phrases say only whose they are; it is "" if different things
// are viewed and changed.
type kind struct {
	noun                   string
	viewed, changed, verbs [3]string
}

const verbsAll = "create, edit and delete"

var (
	whose   = [3]string{"yours", "your teams’", "your organization’s"}
	anyVerb = [3]string{verbsAll, verbsAll, verbsAll}
)

var teams = [3]string{"", "your teams", "your organization’s teams"}

// ofAll is the phrases of viewed for things that exist at each level.
func ofAll(yours string) [3]string { return [3]string{yours, whose[1], whose[2]} }

// kinds has an entry for each area of the catalogue.
var kinds = map[string]kind{
	"Event types": {"event types", ofAll("your event types"), whose, anyVerb},
	"Bookings": {
		"bookings", ofAll("your bookings (with guests and recordings)"), whose,
		[3]string{"confirm, decline and reassign", verbsAll, verbsAll},
	},
	"Schedules": {"schedules", ofAll("your schedules"), whose, anyVerb},
	"Apps and calendars": {
		"",
		[3]string{"your calendars, conferencing apps and busy times"},
		[3]string{"your calendars and conferencing apps"},
		[3]string{"connect and disconnect"},
	},
	"Profile":     {"", [3]string{"your name and email address"}, [3]string{"your profile"}, [3]string{"edit"}},
	"Teams":       {"teams", teams, teams, anyVerb},
	"Memberships": {"", [3]string{"", "your teams’ members", "your organization’s members and users"}, whose, [3]string{"", "add, edit and remove", "add, edit and remove"}},
}

// An askedKind is the part of a request that concerns one area.
type askedKind struct {
	kind
	area                 string
	views, changes       []scope.Level
	controlled           bool // a scope of the area controls other people
	newViews, newChanges bool // not allowed before
}

// news returns 1 if something of the kind was not allowed before, and 0 otherwise.
func (k *askedKind) news() int {
	if k.newViews || k.newChanges {
		return 1
	}
	return 0
}

// newsText says what was not allowed before; "" for nothing.
func (k *askedKind) newsText() string {
	area := strings.ToLower(k.area)
	switch {
	case k.newViews && k.newChanges:
		return "viewing and changing " + area
	case k.newViews:
		return "viewing " + area
	case k.newChanges:
		return "changing " + area
	}
	return ""
}

// viewsText names what is viewed.
func (k *askedKind) viewsText() string {
	if len(k.views) == 0 {
		return ""
	}
	var phrases []string
	for _, level := range k.views {
		phrases = append(phrases, k.viewed[level])
	}
	text := Joined(phrases)
	if k.viewed[k.views[0]] == whose[k.views[0]] {
		text += " " + k.noun
	}
	return text
}

// changesText says what is changed and how, in short if that is what is viewed too.
func (k *askedKind) changesText() string {
	if k.noun != "" && slices.Equal(k.views, k.changes) && k.verbs[k.changes[0]] == k.verbs[k.changes[len(k.changes)-1]] {
		return k.verbs[k.changes[0]] + " them"
	}
	var phrases []string
	for begin := 0; begin < len(k.changes); { // levels with the same verbs stand next to each other
		verbs, end := k.verbs[k.changes[begin]], begin
		var objects []string
		for ; end < len(k.changes) && k.verbs[k.changes[end]] == verbs; end++ {
			objects = append(objects, k.changed[k.changes[end]])
		}
		phrases = append(phrases, verbs+" "+Joined(objects))
		begin = end
	}
	return strings.Join(phrases, "; ")
}

// curly replaces straight apostrophes, as in the other texts of the pages.
func curly(text string) string { return strings.ReplaceAll(text, "'", "’") }

// Joined returns "a", "a and b" or "a, b and c".
func Joined(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
