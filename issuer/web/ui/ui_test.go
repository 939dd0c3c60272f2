package ui_test

import (
	"html/template"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// TestSizes holds the limits of what a browser loads once.
func TestSizes(t *testing.T) {
	a := ui.Served()
	assert.LessOrEqual(t, len(a.Style.Text), 30<<10, "stylesheet")
	assert.LessOrEqual(t, len(a.Script.Text), 4<<10, "script")
	assert.LessOrEqual(t, len(a.Icons.Text), 4<<10, "icons")
	for _, asset := range []ui.Asset{a.Style, a.Script} {
		assert.NotRegexp(t, `(?m)^(\s|/\*|//|$)`, strings.TrimSuffix(string(asset.Text), "\n"), "comments and indents are removed")
	}
	assert.Contains(t, string(a.Style.Text), "--accent:#0b6b50;")
	assert.Regexp(t, `^/assets/style-[0-9a-f]{16}\.css$`, a.Style.Path)
}

// TestForbidden verifies what the policy of the pages forbids.
func TestForbidden(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<script(?: |>)[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<object|<base|http-equiv|data:`)
	files, err := filepath.Glob("templates/*.html")
	require.NoError(t, err)
	parts, err := filepath.Glob("templates/parts/*.html")
	require.NoError(t, err)
	for _, file := range append(append(files, parts...), "icon.svg", "icons.svg") {
		assert.Empty(t, inline.FindAllString(read(t, file), -1), file)
	}
	assert.NotRegexp(t, `url\(|@import|!important|#[a-z]`, regexp.MustCompile(`#[0-9a-f]{6};`).ReplaceAllString(read(t, "style.css"), ";"))
	assert.NotRegexp(t, `innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function|fetch|XMLHttp|import`, string(ui.Served().Script.Text))
	assert.NotRegexp(t, `<script|<style|href|<image|<use`, read(t, "icons.svg"))
}

// TestCards verifies that the pages of ParseCards can't be shown with the script.
func TestCards(t *testing.T) {
	page := fstest.MapFS{"pages/x.html": {Data: []byte(`{{define "body"}}<h1>{{.}}</h1>{{end}}`)}}
	cards, err := ui.ParseCards(page, nil, "pages/*.html")
	require.NoError(t, err)
	text := string(cards.Execute("x", &ui.Page{Title: "X", Body: "<script>"}))
	assert.Contains(t, text, "<h1>&lt;script&gt;</h1>")
	assert.NotContains(t, text, "<script")
	assert.Panics(t, func() { cards.Execute("x", &ui.Page{Title: "X", Shell: &ui.Shell{}}) })

	all, err := ui.Parse(page, nil, "pages/*.html")
	require.NoError(t, err)
	assert.Contains(t, string(all.Execute("x", &ui.Page{Title: "X", Shell: &ui.Shell{}})), `<script src="/assets/script-`)
	assert.NotContains(t, string(all.Execute("x", &ui.Page{Title: "X"})), "<script")
	_, err = ui.Parse(fstest.MapFS{}, nil, "pages/*.html")
	require.ErrorContains(t, err, "no file matches pages/*.html")
}

// TestParts verifies that an area can have parts of its own.
func TestParts(t *testing.T) {
	pages, err := ui.Parse(fstest.MapFS{
		"x.html":       {Data: []byte(`{{define "body"}}{{template "own" (twice .)}}{{end}}`)},
		"y.html":       {Data: []byte(`{{define "body"}}Y{{end}}`)},
		"parts/o.html": {Data: []byte(`{{define "own"}}mine: {{.}}{{end}}`)},
	}, template.FuncMap{"twice": func(s string) string { return s + s }}, "*.html", "parts/*.html")
	require.NoError(t, err)
	assert.Len(t, pages, 2)
	assert.Contains(t, string(pages.Execute("x", &ui.Page{Body: "1\x00"})), "mine: 1\uFFFD1\uFFFD")
}

// TestTruncate verifies that a list that is too heavy loses rows.
func TestTruncate(t *testing.T) {
	pages, err := ui.Parse(fstest.MapFS{"x.html": {Data: []byte(`{{define "body"}}{{range .Rows}}<p>{{.}}</p>{{end}}{{end}}`)}}, nil, "*.html")
	require.NoError(t, err)
	body := &struct{ Rows []string }{Rows: slices.Repeat([]string{strings.Repeat("x", 1000)}, 100)}
	p := &ui.Page{Body: body, Rows: 100, Truncate: func(n int) { body.Rows = body.Rows[:n] }}
	text := pages.Execute("x", p)
	assert.LessOrEqual(t, len(text), ui.MaxWeight)
	assert.Greater(t, len(body.Rows), 15)
}

func TestTitles(t *testing.T) {
	brand := ui.Brand{Name: "Planner"}
	failed := &fakeForm{problems: []ui.Problem{{ID: "f-x", Text: "X."}}}
	for _, test := range []struct {
		page ui.Page
		want string
	}{
		{ui.Page{Title: "Applications"}, "Applications · Planner"},
		{ui.Page{Title: "Credentials", Name: "Zeta"}, "Credentials · Zeta · Planner"},
		{ui.Page{Title: "Zeta", Name: "Zeta"}, "Zeta · Planner"},
		{ui.Page{Title: "Edit", Name: "Zeta", Notice: "Saved."}, "Saved · Edit · Zeta · Planner"},
		{ui.Page{Title: "Edit", Name: "Zeta", Notice: "Saved.", Form: failed}, "Problem: Edit · Zeta · Planner"},
	} {
		test.page.Brand = brand
		assert.Equal(t, test.want, test.page.FullTitle())
	}
	assert.Equal(t, "Credentials", (&ui.Page{Title: "Credentials", Name: "Zeta"}).Heading())
	assert.Equal(t, "Zeta", (&ui.Page{Title: "Credentials", Name: "Zeta", Tabs: []ui.Tab{{}}}).Heading())
}

func TestCounts(t *testing.T) {
	assert.Nil(t, ui.NewCount(0, ""))
	assert.Equal(t, "99", ui.NewCount(99, "").Text)
	assert.Equal(t, "99+", ui.NewCount(100, "").Text)
	s := &ui.Shell{Groups: []ui.NavGroup{{Items: []ui.NavItem{{Count: ui.NewCount(60, "")}, {}}}, {Items: []ui.NavItem{{Count: ui.NewCount(41, "")}}}}}
	assert.Equal(t, "99+", s.Waiting())
	assert.Empty(t, (&ui.Shell{}).Waiting())
}

// TestIcons verifies that a template with an unknown icon fails.
func TestIcons(t *testing.T) {
	pages, err := ui.Parse(fstest.MapFS{"x.html": {Data: []byte(`{{define "body"}}{{icon .}}{{end}}`)}}, nil, "*.html")
	require.NoError(t, err)
	for _, name := range ui.Icons() {
		assert.Contains(t, string(pages.Execute("x", &ui.Page{Body: name})), ".svg#"+name+`"`)
	}
	assert.GreaterOrEqual(t, len(ui.Icons()), 16)
	assert.Panics(t, func() { pages.Execute("x", &ui.Page{Body: "nothing"}) })
	ids := regexp.MustCompile(` id="`).FindAllString(read(t, "icons.svg"), -1)
	assert.Len(t, ui.Icons(), len(ids))
}

// TestClasses verifies that the stylesheet has the classes of the pages and no other.
func TestClasses(t *testing.T) {
	used := map[string]bool{}
	for _, text := range specimens(t) {
		for _, m := range regexp.MustCompile(` class="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			for _, class := range strings.Fields(m[1]) {
				used[class] = true
			}
		}
	}
	defined := map[string]bool{}
	css := string(ui.Served().Style.Text)
	for _, m := range regexp.MustCompile(`[^{}]*\{`).FindAllString(css, -1) {
		for _, class := range regexp.MustCompile(`\.([a-z]+[a-z-]*)`).FindAllStringSubmatch(m, -1) {
			defined[class[1]] = true
		}
	}
	for class := range used {
		assert.True(t, defined[class] || slices.Contains(hooks, class), "class %q has no rule", class)
	}
	for class := range defined {
		assert.True(t, used[class], "class %q is on no page", class)
	}
}

// hooks are the classes that only the script uses.
var hooks = []string{"notice"}

// pairs are the colours that stand on each other, with their least contrast (WCAG 2.2
// §§1.4.3, 1.4.11).
var pairs = []struct {
	fronts, backs string
	least         float64
}{
	{"text quiet accent accent-strong bad", "ground card raised sunken", 4.5},
	{"accent-strong text", "soft", 4.5},
	{"on-accent", "accent accent-strong", 4.5},
	{"card", "bad", 4.5},
	{"text info accent accent-strong", "info-ground", 4.5},
	{"text warn", "warn-ground", 4.5},
	{"text bad quiet", "bad-ground", 4.5},
	{"text good", "good-ground", 4.5},
	{"code-text", "code", 7},
	{"edge accent warn bad", "ground card", 3},
}

func TestContrast(t *testing.T) {
	css := read(t, "style.css")
	blocks := regexp.MustCompile(`(?s):root \{\n(.*?)\n\s*\}`).FindAllStringSubmatch(css, 2)
	require.Len(t, blocks, 2)
	tested, colours := map[string]bool{}, map[string]string{}
	for i, theme := range []string{"light", "dark"} {
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(blocks[i][1], -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range pairs {
			for _, front := range strings.Fields(pair.fronts) {
				for _, back := range strings.Fields(pair.backs) {
					require.Contains(t, colours, front)
					require.Contains(t, colours, back)
					tested[front], tested[back] = true, true
					assert.GreaterOrEqual(t, contrast(t, colours[front], colours[back]), pair.least, "%s: %s on %s", theme, front, back)
				}
			}
		}
	}
	for colour := range colours {
		assert.True(t, tested[colour] || colour == "line", "colour %q is in no pair", colour)
	}
	rules := css[strings.Index(css, "/* Elements. */"):]
	assert.NotRegexp(t, `#[0-9a-fA-F]{3}|rgb\(|hsl\(`, rules, "colours stand in the tokens only")
	for _, m := range regexp.MustCompile(`var\(--([a-z0-9-]+)`).FindAllStringSubmatch(css, -1) {
		assert.Contains(t, css, "--"+m[1]+":", "undefined property")
	}
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 7, 10, 11, 1, 30, 0, time.UTC)
	c := ui.Clock{Zone: zone(t, "Europe/London"), Now: now}
	for _, test := range []struct {
		before time.Duration
		want   string
	}{
		{0, "just now"},
		{59 * time.Second, "just now"},
		{time.Minute, "1 min ago"},
		{-90 * time.Second, "in 1 min"},
		{59*time.Minute + 59*time.Second, "59 min ago"},
		{time.Hour, "1 hour ago"},
		{23 * time.Hour, "23 hours ago"},
		{-24 * time.Hour, "in 1 day"},
		{7*24*time.Hour - time.Second, "6 days ago"},
		{7 * 24 * time.Hour, "3 July 2026"},
		{-7 * 24 * time.Hour, "17 July 2026"},
	} {
		s := c.At(now.Add(-test.before).UnixMilli())
		assert.Equal(t, test.want, s.Text)
		assert.Equal(t, test.before.Abs() < 7*24*time.Hour, s.Ago)
		assert.Equal(t, test.before.Abs() < 24*time.Hour, s.Recent)
	}
	assert.Equal(t, ui.Stamp{ISO: "2026-07-10T11:01:30Z", Text: "just now", Exact: "10 July 2026, 12:01 BST", Short: "10 Jul, 12:01", Date: "10 July 2026", Clock: "12:01", Ago: true, Recent: true}, c.At(now.UnixMilli()))
	c.Hour12 = true
	assert.Equal(t, "10 July 2026, 12:01 PM BST", c.At(now.UnixMilli()).Exact)
	assert.Equal(t, "10 July 2026, 11:01 UTC", ui.Clock{Now: now}.At(now.UnixMilli()).Exact)
	assert.Equal(t, "10 Jul, 11:01 UTC", ui.Clock{Now: now}.At(now.UnixMilli()).Short, "the user may have another zone")
	assert.Equal(t, "10 Jul 2025, 12:01 PM", c.At(now.AddDate(-1, 0, 0).UnixMilli()).Short)
	c = ui.Clock{Zone: zone(t, "America/Sao_Paulo"), Now: now}
	assert.Equal(t, "10 July 2026, 08:01 UTC-03", c.At(now.UnixMilli()).Exact, "a zone whose times have no name")
	c = ui.Clock{Zone: zone(t, "Europe/London"), Now: now}
	assert.Equal(t, ui.Stamp{Zero: true}, c.At(0))
	late := time.Date(2026, 7, 10, 23, 30, 0, 0, time.UTC).UnixMilli()
	assert.Equal(t, ui.Stamp{ISO: "2026-07-11", Text: "11 July 2026", Exact: "11 July 2026", Date: "11 July 2026"}, c.Day(late), "the day in the user's zone")
	assert.Equal(t, ui.Stamp{Zero: true}, c.Day(0))
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 9999: "9,999", 10_000: "10k", 15_399: "15.3k", 99_999: "99.9k", 100_000: "100k",
		999_999: "999k", 1_000_000: "1M", 1_250_000: "1.2M", 2_000_000_000: "2G",
	} {
		assert.Equal(t, want, ui.Thousands(n))
	}
	assert.Equal(t, "1,234,567", ui.Comma(1_234_567))
	assert.Equal(t, "1 scope", ui.Plural(1, "scope"))
	assert.Equal(t, "0 scopes", ui.Plural(0, "scope"))
	assert.Equal(t, "1,204 users", ui.Plural(1204, "user"))
	assert.Equal(t, "1 person", ui.Plural(1, "person"))
	assert.Equal(t, "1,204 people", ui.Plural(1204, "person"))
	assert.Equal(t, "26–50 of 1,207", ui.Range(26, 50, 1207))
	assert.Equal(t, "None", ui.Range(0, 0, 0))
	assert.Equal(t, "90 minutes", ui.Duration(90*time.Minute))
	assert.Equal(t, "1 day", ui.Duration(24*time.Hour))
	assert.Equal(t, "10 seconds", ui.Duration(10*time.Second))
}

func TestTexts(t *testing.T) {
	assert.Equal(t, "Text.", ui.Sentence(" text"))
	assert.Equal(t, "redirect_uri is missing.", ui.Sentence("redirect_uri is missing."))
	assert.Empty(t, ui.Sentence(""))
	assert.Equal(t, "É", ui.Initial(" - élan"))
	assert.Equal(t, "?", ui.Initial("--"))
	for s, want := range map[string][]string{
		"":                        nil,
		"a@b.c":                   {"a@", "b.", "c"},
		"https://x.example/cb/de": {"https://x.", "example/cb/de"},
	} {
		assert.Equal(t, want, ui.Pieces(s))
		assert.Equal(t, s, strings.Join(ui.Pieces(s), ""))
	}
	assert.Equal(t, []ui.Pill{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}, {Text: "+2"}}, ui.Chips([]string{"a", "b", "c", "d", "e", "f"}))
	assert.Len(t, ui.Chips([]string{"a", "b", "c", "d"}), 4)
}

func TestBars(t *testing.T) {
	day := func(n int) string { return "on day " + strconv.Itoa(n+1) }
	b := ui.NewBars([]uint32{0, 1, 1000, 500}, "Last 4 days", "day", day)
	assert.Equal(t, "Last 4 days: 1,501, most on day 3 (1,000), none in 1 day.", b.Text)
	assert.Equal(t, "M60 36v-2h42v2zM120 36v-36h42v36zM180 36v-18h42v18z", b.Path(), "1 of 1,000 is still seen")
	assert.Equal(t, 222, b.Width())
	none := ui.NewBars(make([]uint32, 30), "Last 30 days", "day", day)
	assert.Equal(t, "Last 30 days: 0.", none.Text)
	assert.Equal(t, "M0 36v-1h237v1z", none.Path(), "a flat line")
	assert.Positive(t, ui.NewBars(nil, "", "", day).Width())
	most := make([]uint32, 30)
	for n := range most {
		most[n] = math.MaxUint32
	}
	assert.Less(t, len(ui.NewBars(most, "", "day", day).Path()), 800)
}
