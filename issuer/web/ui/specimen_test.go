package ui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var update = flag.Bool("update", false, "write testdata/golden anew")

// specimens are the pages of testdata: one with every component, and some as they will be.
func specimens(t *testing.T) map[string]string {
	t.Helper()
	pages, err := ui.Parse(os.DirFS("testdata"), nil, "*.html")
	require.NoError(t, err)
	out := map[string]string{}
	for name, page := range map[string]*ui.Page{
		"specimen": specimenPage(), "overview": overviewPage(), "consent": consentPage(), "signin": signinPage(),
	} {
		page.Brand = ui.Brand{Name: "Mintmark", Privacy: "https://example.com/privacy", Terms: "https://example.com/terms", Help: "https://example.com/help"}
		text := string(pages.Execute(name, page))
		out[name] = regexp.MustCompile(`/assets/([a-z]+)-[0-9a-f]{16}`).ReplaceAllString(text, "/$1")
	}
	require.Len(t, out, len(pages), "every page of testdata is rendered")
	return out
}

// TestSpecimen keeps the pages with every component and its markup, for authors of pages
// to copy from. cmd/mintmark/e2e tests them in a browser.
func TestSpecimen(t *testing.T) {
	for name, text := range specimens(t) {
		file := filepath.Join("testdata", "golden", name+".html")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		golden, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(golden), text, "update with: go test ./issuer/web/ui -run TestSpecimen -update")
	}
}

// TestSpecimenIsWhole verifies that the specimen has every part.
func TestSpecimenIsWhole(t *testing.T) {
	uses := regexp.MustCompile(`\{\{template "([a-z0-9]+)"`)
	define := regexp.MustCompile(`\{\{define "([a-z0-9]+)"\}\}`)
	parts := map[string]string{} // their texts
	files, err := filepath.Glob("templates/parts/*.html")
	require.NoError(t, err)
	for _, file := range files {
		text := read(t, file)
		found := define.FindAllStringSubmatchIndex(text, -1)
		for n, m := range found {
			end := len(text)
			if n+1 < len(found) {
				end = found[n+1][0]
			}
			parts[text[m[2]:m[3]]] = text[m[0]:end]
		}
	}
	require.NotEmpty(t, parts)
	reached := map[string]bool{}
	var reach func(text string)
	reach = func(text string) {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if !reached[m[1]] {
				reached[m[1]] = true
				reach(parts[m[1]])
			}
		}
	}
	reach(read(t, "testdata/specimen.html"))
	reach(read(t, "templates/shell.html"))
	for name := range parts {
		assert.True(t, reached[name], "part %q is not in testdata/specimen.html", name)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// A fakeForm is what the site's forms offer to templates.
type fakeForm struct {
	Action, Token, ShownTo string
	Multipart, Draft       bool
	Hidden                 []ui.Input
	problems               []ui.Problem
}

func (f *fakeForm) Failed() bool           { return len(f.problems) > 0 }
func (f *fakeForm) Alert() string          { return "" }
func (f *fakeForm) Problems() []ui.Problem { return f.problems }
func (f *fakeForm) Undone() string         { return "Nothing was changed." }
func (f *fakeForm) Page() string           { return "/connected-apps" }

var (
	clock = ui.Clock{Now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Zone: time.FixedZone("Europe/London", 0)}
	long  = "A_name_without_any_space_in_it_that_is_as_long_as_a_name_may_be_which_is_80_chars"
)

func before(d time.Duration) ui.Stamp { return clock.At(clock.Now.Add(-d).UnixMilli()) }

func shell(here string) *ui.Shell {
	groups := []ui.NavGroup{
		{ID: "account", Title: "Account", Items: []ui.NavItem{
			{Title: "Connected apps", Path: "/connected-apps", Icon: "link"}, {Title: "Profile & security", Path: "/account", Icon: "user"},
		}},
		{ID: "build", Title: "Build", Items: []ui.NavItem{{Title: "Applications", Path: "/developer", Icon: "app"}}},
		{ID: "administer", Title: "Administer", Items: []ui.NavItem{
			{Title: "Reviews", Path: "/admin", Icon: "shield", Count: ui.NewCount(41, "waiting")},
			{Title: "Applications", Path: "/admin/clients", Icon: "app"},
			{Title: "Users", Path: "/admin/users", Icon: "users"},
			{Title: "Branding", Path: "/admin/branding", Icon: "palette"},
			{Title: "Audit log", Path: "/admin/audit", Icon: "log"},
		}},
	}
	for g := range groups {
		for i := range groups[g].Items {
			item := &groups[g].Items[i]
			item.Below = item.Path == here
		}
	}
	return &ui.Shell{
		Groups: groups, Person: "Alice Example", Account: "/account", SignOut: "/auth/sign-out", SignOutToken: "token",
		Zone: "Europe/London", DraftKey: "key",
	}
}

func application() *ui.Page {
	return &ui.Page{
		Name: "Zeta Planner", Up: &ui.Link{Title: "Applications", Path: "/developer"},
		Picture: &ui.Picture{Initial: "Z"}, Pills: []ui.Pill{{Text: "Waiting for review", Tone: ui.Warn}},
		Copy:    &ui.Copy{ID: "c-id", Label: "client ID", Value: "c_08684c46f4c228f8"},
		Actions: []ui.Action{{Title: "Edit", Path: "/developer/clients/zeta/edit"}},
		Tabs: []ui.Tab{
			{Title: "Overview", Path: "/developer/clients/zeta", Here: true},
			{Title: "Credentials", Path: "/developer/clients/zeta/secrets"},
			{Title: "Scopes & URIs", Path: "/developer/clients/zeta/scopes"},
			{Title: "Connect", Path: "/developer/clients/zeta/connect"},
			{Title: "Users", Path: "/developer/clients/zeta/users"},
			{Title: "Errors", Path: "/developer/clients/zeta/errors", Count: &ui.Count{Text: "2", About: "in 24 hours", Tone: ui.Warn}},
			{Title: "Settings", Path: "/developer/clients/zeta/settings"},
		},
		Shell: shell("/developer"),
	}
}

func bars(n int, value func(int) uint32) *ui.Bars {
	values := make([]uint32, n)
	for i := range values {
		values[i] = value(i)
	}
	return ui.NewBars(values, "Last "+ui.Plural(n, "day"), "day", func(n int) string { return fmt.Sprintf("on day %d", n+1) })
}

func figures() []ui.Stat {
	return []ui.Stat{
		{Label: "People connected", Value: "318", Bars: bars(30, func(n int) uint32 { return uint32(4 + (n*7)%13 + n/3) })},
		{Label: "Authorizations, 30 days", Value: ui.Comma(1204), Bars: bars(30, func(n int) uint32 { return uint32((n*n*31 + n*17) % 83) })},
		{Label: "Refreshes, 24 hours", Value: ui.Thousands(15_300), Bars: bars(24, func(n int) uint32 { return uint32(300 + (n*n*53)%700) })},
		{Label: "Refused, 24 hours", Value: "2", Bars: bars(24, func(n int) uint32 { return uint32(n / 11 * (n % 2)) })},
	}
}

func steps() []ui.Step {
	return []ui.Step{
		{Title: "Generate a secret", Text: "••••KKT8, 3 minutes ago", State: ui.StepDone},
		{Title: "Review", Text: "Waiting for 2 hours, 3rd of 41.", State: ui.StepNow},
		{Title: "Try the flow", Text: "Authorize your own account and see the token.", State: ui.StepLater, Action: &ui.Action{Title: "How to connect", Path: "/connect", Small: true}},
	}
}

func matrix() ui.Matrix {
	row := func(area, hint string, cells string) ui.MatrixRow {
		r := ui.MatrixRow{Area: area, Hint: hint}
		for n := range r.Cells {
			if cells[n] != '-' {
				label := area + ", " + strings.ToLower(ui.Matrix{}.Groups()[n/2]) + ": " + []string{"view", "change"}[n%2]
				r.Cells[n] = ui.Cell{Scope: strings.ToUpper(strings.ReplaceAll(label, " ", "_")), Label: label, On: cells[n] == 'x', Powerful: area == "Members" && n%2 == 1}
			}
		}
		return r
	}
	return ui.Matrix{ID: "scopes", Caption: "Scopes", Name: "scopes", Rows: []ui.MatrixRow{
		row("Event types", "", "oooooo"), row("Bookings", "", "xxoooo"), row("Schedules", "Availability and out of office", "oooooo"),
		row("Connected apps", "", "oo----"), row("Profile", "", "xooooo"), row("Members", "", "--oooo"),
	}}
}

func revoke(tail string) ui.Confirm {
	return ui.Confirm{
		Button: "Revoke", About: "the secret that ends in " + tail, Title: "Revoke ••••" + tail + "?", Text: "Whatever still uses it is refused at once.",
		Do: "Revoke secret", Tone: ui.Bad, Small: true, Form: &fakeForm{Action: "/developer/clients/zeta/secrets/" + tail + "/revoke", Token: "token"},
	}
}

func env() ui.Code {
	return ui.NewCode("env", "Environment", ui.Block{Text: "MINTMARK_CLIENT_ID=c_08684c46f4c228f8\nMINTMARK_CLIENT_SECRET=mms_lhbp3AAGfaar…"})
}

func overviewPage() *ui.Page {
	p := application()
	p.Title = "Overview"
	p.Body = map[string]any{
		"StepsCard": ui.Card{Title: "Get to your first token", Side: "1 of 3"}, "Steps": steps(), "Stats": figures(),
		"SecretsCard": ui.Card{Title: "Secrets", Action: &ui.Action{Title: "Generate secret", Path: "/new", Small: true, Primary: true}},
		"Secrets":     ui.Table{Caption: "Active secrets", Columns: []ui.Column{{Title: "Secret"}, {Title: "Created"}, {Title: "Last used"}, {Title: "Revoke", Unseen: true, Class: "do"}}},
		"SecretRows": []map[string]any{
			{"Tail": "KKT8", "State": ui.Pill{Text: "In use", Tone: ui.Good}, "Created": before(3 * time.Minute), "Used": before(time.Minute), "Revoke": revoke("KKT8")},
			{"Tail": "-two", "State": ui.Pill{Text: "Idle"}, "Created": before(265 * 24 * time.Hour), "Used": before(31 * 24 * time.Hour), "Revoke": revoke("-two")},
		},
		"EnvCard": ui.Card{Title: "Copy into your server"}, "Env": env(),
		"MatrixCard": ui.Card{Title: "Scopes", Side: "3 selected"}, "Matrix": matrix(),
	}
	return p
}

func perms() []ui.PermissionRow {
	return []ui.PermissionRow{
		{Area: "Bookings", Views: "your bookings (with guests and recordings)", Changes: "confirm, decline and reassign yours"},
		{Area: "Schedules", Views: "your schedules, with out of office", NewViews: true},
		{Area: "Profile", Views: "your name and email address"},
	}
}

var tier = ui.Tier{ID: "controls", Title: "Controls other people", Texts: []ui.TierText{{Text: "Add, edit and remove members of your organization"}}}

func consentPage() *ui.Page {
	return &ui.Page{Title: "Allow Zeta Planner", Body: map[string]any{
		"Picture": ui.Picture{Initial: "Z"}, "Own": ui.Picture{Initial: "M", Kind: "own"}, "Person": ui.Picture{Initial: "A", Kind: "person", Small: true},
		"Tier": tier, "Perms": perms(),
	}}
}

func signinPage() *ui.Page {
	f := &fakeForm{Action: "/auth/sign-in", Token: "token"}
	return &ui.Page{Title: "Sign in", Body: map[string]any{"Form": f, "Inputs": []ui.Input{
		{ID: "f-username", Name: "username", Label: "Username", Type: "text", Autocomplete: "username"},
		{ID: "f-password", Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password"},
	}}}
}

func specimenPage() *ui.Page {
	form := &fakeForm{
		Action: "/specimens", Token: "token", ShownTo: "u", Draft: true, Multipart: true, Hidden: []ui.Input{{Name: "revision", Value: "3"}},
		problems: []ui.Problem{{ID: "f-website", Text: "The website isn’t a URL."}},
	}
	p := application()
	p.Title, p.Notice, p.Form, p.Lead = "Components", "", form, "Every component in each of its states"
	p.Actions = append(p.Actions, ui.Action{Title: "Register an application", Path: "/new", Icon: "plus", Primary: true})
	uri := func(n int, value string) ui.Input {
		return ui.Input{ID: fmt.Sprintf("f-uris.%d", n), Name: "uris", Label: fmt.Sprintf("Redirect URI %d", n+1), Type: "text", Value: value, IsOptional: n > 0}
	}
	row := func(initial, name, link string, state ui.Pill, scopes []string, people string, created ui.Stamp) map[string]any {
		return map[string]any{
			"Picture": ui.Picture{Initial: initial, Small: true}, "Name": map[string]string{"Path": link, "Text": name}, "State": state,
			"Scopes": ui.Chips(scopes), "People": people, "Created": created, "Action": ui.Action{Title: "Review", About: name, Path: link, Small: true},
		}
	}
	pager := ui.Pager{Count: ui.Range(26, 50, 207), First: "?", Back: "?before=a", Next: "?after=b"}
	p.Body = map[string]any{
		"Recent": before(3 * time.Minute), "Old": before(30 * 24 * time.Hour), "Day": clock.Day(clock.Now.UnixMilli()), "Never": clock.At(0),
		"Pills": []ui.Pill{{Text: "Fact"}, {Text: "New", Tone: ui.Info}, {Text: "Waiting for review", Tone: ui.Warn}, {Text: "Powerful", Tone: ui.Bad}, {Text: "In use", Tone: ui.Good}},
		"Chips": ui.Chips([]string{"Bookings: change", "Schedules: view", "Profile: view", "Event types: view", "Members: view", "Teams: view"}),
		"Link":  map[string]string{"Path": "/x", "Text": "שלום עולם"}, "NoLink": map[string]string{"Path": "", "Text": "會議排程工具"},
		"Callouts": []ui.Callout{
			{Text: "A neutral message about this page."},
			{Tone: ui.Info, Title: "Changes wait for review.", Text: "The application goes on as it was.", Action: &ui.Action{Title: "See the changes", Path: "/x", Small: true}},
			{Tone: ui.Warn, Title: "Generate a secret.", Text: "Without one the application can’t ask for access."},
			{Tone: ui.Bad, Title: "Suspended.", Text: "An administrator suspended this application. Nobody can use it.", Role: "alert"},
			{Tone: ui.Good, Text: "Approved. The application can be used now.", Role: "status"},
		},
		"StepsCard": ui.Card{Title: "Get to your first token", Side: "1 of 3"}, "Steps": steps(),
		"Stats":      append(figures(), ui.Stat{Label: "Without history", Value: "0", Note: "Counted every five minutes"}),
		"TableCard":  ui.Card{ID: "apps", Title: "Applications", Side: "207"},
		"Search":     ui.Search{Action: "/admin/clients", Label: "Name or client ID", Query: "plan", Selects: []ui.Select{{Name: "state", Label: "State", Options: []ui.Option{{Text: "All"}, {Value: "pending", Text: "Waiting for review", Chosen: true}}}}},
		"PageFilter": ui.PageFilter{Of: "list", Label: "Filter this page"},
		"Letters":    []ui.Link{{Title: "A", Path: "/l?jump=a"}, {Title: "Z", Path: "/l?jump=z"}},
		"Table": ui.Table{
			Brief: true,
			ID:    "list", Caption: "Applications by name", Pager: &pager,
			Columns: []ui.Column{{Title: "Name", Sort: "?sort=name", Order: "ascending"}, {Title: "State"}, {Title: "Scopes"}, {Title: "People", Class: "num"}, {Title: "Created", Sort: "?sort=created"}, {Title: "Review", Unseen: true, Class: "do"}},
		},
		"Rows": []map[string]any{
			row("Z", "Zeta Planner", "/z", ui.Pill{Text: "Waiting for review", Tone: ui.Warn}, []string{"Bookings: change", "Schedules: view"}, "318", before(3*time.Minute)),
			row("C", "Calendar", "/c", ui.Pill{Text: "Approved", Tone: ui.Good}, []string{"Profile: view"}, "1,204", before(26*time.Hour)),
			row("A", long, "/a", ui.Pill{Text: "Rejected", Tone: ui.Bad}, []string{"Bookings: view", "Schedules: view", "Profile: view", "Members: change", "Teams: view"}, "0", before(400*24*time.Hour)),
			row("會", "會議排程工具", "/u", ui.Pill{Text: "Suspended", Tone: ui.Bad}, nil, "12", before(40*24*time.Hour)),
		},
		"Events": ui.Table{Caption: "Events by day", Brief: true, Columns: []ui.Column{{Title: "Event"}, {Title: "When"}}}, "Lately": before(3 * time.Minute),
		"EmptyCard":  ui.Card{ID: "none", Title: "Connected apps"},
		"Empty":      ui.Empty{Title: "Nothing is connected", Text: "Apps that you allow to use your account are listed here.", Actions: []ui.Action{{Title: "Register an application", Path: "/new", Icon: "plus", Primary: true}, {Title: "Connected apps", Path: "/connected-apps"}}},
		"FactsCard":  ui.Card{Title: "About", Action: &ui.Action{Title: "Edit", Path: "/edit", Small: true}},
		"Copy":       ui.Copy{ID: "c-fact", Label: "client ID", Value: "c_08684c46f4c228f8"},
		"SecretCard": ui.Card{Title: "New secret"},
		"Once":       ui.Callout{Tone: ui.Warn, Title: "Shown once.", Text: "Copy it now: it can’t be shown again."},
		"Secret":     ui.Copy{ID: "c-secret", Label: "secret", Value: "mms_lhbp3AAGfaarOJgwGhjJq3m1Vt0kUO0H2i9XkKT8", Wide: true},
		"CodeCard":   ui.Card{Title: "Connect"}, "Env": env(),
		"Snippets": ui.NewCode("snippet", "Exchange a code",
			ui.Block{Name: "curl", Text: "curl https://auth.example.com/v2/auth/oauth2/token \\\n  -d grant_type=authorization_code -d client_id=c_08684c46f4c228f8 -d code=\"$CODE\" -d redirect_uri=https://zeta.example.com/cb"},
			ui.Block{Name: "Go", Text: "conf := &oauth2.Config{ClientID: \"c_08684c46f4c228f8\"}"}, ui.Block{Name: "Node", Text: "const config = await client.discovery(server, id, secret)"}, ui.Block{Name: "Python", Text: "import urllib.request"}),
		"FormCard": ui.Card{ID: "profile", Title: "What it is"}, "Form": form,
		"Inputs": []ui.Input{
			ui.Input{ID: "f-name", Name: "name", Label: "Name", Hint: "People see it when they’re asked to allow it.", Type: "text", Value: "Zeta Planner"}.AtMost(80).Mirrored("profile-title"),
			ui.Input{ID: "f-website", Name: "website", Label: "Website", Type: "text", Value: "zeta", Error: "The website isn’t a URL.", Focus: true}.Optional().As("url"),
			ui.Input{ID: "f-purpose", Name: "purpose", Label: "Purpose", Hint: "What it does for people, in a sentence or two.", Type: "text"}.Optional().Text(3),
			ui.Input{ID: "f-password", Name: "password", Label: "New password", Type: "password", Confidential: true}.NeededTo("change the password").As("new-password").Revealed(),
			ui.Input{ID: "f-accent", Name: "accent", Label: "Accent color", Value: "#0b6b50", Type: "text"}.WithSwatch(),
			ui.Input{ID: "f-logo", Name: "logo", Label: "Logo", Hint: "A PNG or JPEG of at most 16 KB.", Type: "file"}.Optional().Accepting("image/png,image/jpeg"),
		},
		"URIs": ui.RowList{
			Group: ui.Input{ID: "f-uris", Name: "uris", Label: "Redirect URIs", Hint: "Exact addresses that people return to."}, Things: "redirect URIs",
			Shown: []ui.Input{uri(0, "https://zeta.example.com/cb")}, More: []ui.Input{uri(1, ""), uri(2, "")},
		},
		"Type": ui.Input{ID: "f-type", Name: "type", Label: "Type", IsOptional: true},
		"Choices": []ui.Choice{
			{Type: "radio", Name: "type", Value: "confidential", Label: "Confidential", Hint: "It runs on a server and can keep a secret.", On: true},
			{Type: "radio", Name: "type", Value: "public", Label: "Public", Hint: "A mobile, desktop or browser application.", Pill: &ui.Pill{Text: "PKCE"}},
		},
		"Menu":       ui.Menu{Label: "More", Items: []ui.MenuItem{{Title: "Transfer", Path: "/t"}, {Title: "Delete", Path: "/d", Tone: ui.Bad}}},
		"Confirm":    ui.Confirm{Button: "Disconnect", About: "Zeta Planner", Title: "Disconnect Zeta Planner?", Text: "It can get no new access from now on. What it has ends within 30 minutes.", Do: "Disconnect Zeta Planner", Tone: ui.Bad, Form: &fakeForm{Action: "/disconnect", Token: "token"}},
		"Actions":    []ui.Action{{Title: "Try it", Path: "https://auth.example.com/", NewTab: true}, {Title: "Menu", Path: "/m", Icon: "menu"}, {Title: "Copy", Path: "/c", Icon: "copy", Small: true}, {Title: "Key", Path: "/k", Icon: "key", Small: true}, {Title: "Later", Path: "/l", Icon: "clock", Small: true}},
		"MatrixCard": ui.Card{Title: "What it may ask for", Side: "3 selected"}, "Matrix": matrix(),
		"PermsCard": ui.Card{Title: "What it can do"}, "Tier": tier, "Perms": perms(),
		"DiffCard": ui.Card{Title: "Proposed changes", Side: "3 hours ago"},
		"Differences": []ui.Difference{
			{Title: "Name", Before: "Zeta Planner", After: "Zeta Planner Pro"},
			{Title: "Purpose", After: "Plans meetings for sales teams."},
			{Title: "Logo", Logo: true, After: "/icon.svg"},
			{Title: "Redirect URIs", Removed: []string{"https://zeta.example.com/old"}, Added: []string{"https://zeta.example.com/new"}, Kept: []string{"https://zeta.example.com/cb"}},
		},
		"Danger": ui.Danger{Lines: []ui.DangerLine{
			{Title: "Transfer this application", Text: "Offer it to another user, who has to accept it.", Action: &ui.Action{Title: "Transfer", Path: "/transfer"}},
			{Title: "Delete this application", Text: "318 people lose access immediately. This can’t be undone.", Confirm: &ui.Confirm{Button: "Delete", About: "Zeta Planner", Title: "Delete Zeta Planner?", Text: "It can’t be restored.", Do: "Delete Zeta Planner", Tone: ui.Bad, Form: &fakeForm{Action: "/delete", Token: "token"}}},
		}},
	}
	return p
}
