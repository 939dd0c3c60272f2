package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func settingsView(t *testing.T, baseURL string) ledger.View {
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL = baseURL, baseURL
	return viewOf(t, tableOf(ledger.TableSettings, []*ledger.Settings{&s}))
}

// TestLikeService: a name is refused however it is written, and others are not.
func TestLikeService(t *testing.T) {
	v := settingsView(t, "https://auth.example.com")
	for _, name := range []string{
		"Mintmark", "MINTMARK", "mint mark", "M i n t m a r k", "Mint-Mark", "mint_mark", "Mint.Mark", "Mint·mark", "The Mint Mark app", "MyMintmarkApp",
		"Mintm\u0430rk", "\u041cintmark", "\u043cintmark", "Min\u0442mark", "mintmar\u043a", "M\u0456ntm\u0430rk", // Cyrillic
		"\u039cintmark", "Mi\u03c0tmark \u039cINTMARK", "M\u0399NTMARK", "Mintmar\u03ba", // Greek
		"M\u0131ntmark", "M\u0130NTMARK", "Mlntmark", "M1ntmark", "M|ntmark", "Mıntmаrk", "Mintrnark", "rnintmark", "Mìntmärk", "Mi\u0300ntma\u0308rk",
		"\uff2d\uff49\uff4e\uff54\uff4d\uff41\uff52\uff4b", "Ⓜintmark", "ⓜⓘⓝⓣⓜⓐⓡⓚ", "🅼🅸🅽🆃🅼🅰🆁🅺", "🇲intmark", "ᴍɪɴᴛᴍᴀʀᴋ", "𝕸𝖎𝖓𝖙𝖒𝖆𝖗𝖐", "𝓜𝓲𝓷𝓽𝓶𝓪𝓻𝓴", "ʍintmark", "ⲘINTMARK",
		"M\u200bintmark", "Mint\u200dmark", "Mint\u00admark", "Mint\ufe0fmark", "Mint\u2060mark", "Mint\u3164mark", "Mint\u00a0mark", "Mint\u2003mark", "Mint🍃mark", "Mint®mark", "Mintmark\u202e",
		"auth.example.com", "AUTH.EXAMPLE.COM login", "\u0430uth.ex\u0430mple.com", "auth\uff0eexample\u3002com", "auth.exarnple.com", "https://auth.example.com/",
	} {
		require.True(t, v.LikeService(name), "%q", name)
	}
	for _, name := range []string{
		"", "Helper", "Claude", "Visual Studio Code", "Peppermint Markets", "Mint Marketing", "Mint", "Mark", "Mark Mint", "Mint Market", "Mint and Mark", "Marks", "example.com", "auth.example",
		"Помощник", "Κατάλογος", "助手", "مساعد", "सहायक", "Ассистент", "מסייע", "!!!", "\xff",
	} {
		require.False(t, v.LikeService(name), "%q", name)
	}
	short := settingsView(t, "https://id.io")
	require.True(t, short.LikeService("id.io helper"))
	require.False(t, short.LikeService("Idiot savant"), "a dot is part of a host")
	require.False(t, settingsView(t, "http://[::1]").LikeService("Helper: ::"))

	for service, names := range map[string][2][]string{ // alike, and not
		"Cal":          {{"Cal", "CAL helper", "The Cаl app", "C a l"}, {"Calendar", "Local", "Call"}},
		"Zeta Planner": {{"zeta-planner", "ZetaPlanner", "My Zeta Planner", "Mintmark"}, {"Zeta", "Planner", "Zeta Plan"}},
		"予定":           {{"予定"}, {"予定表", "Helper"}},
		"***":          {{"Mintmark"}, {"Helper", "..."}},
	} {
		s := *v.Settings()
		s.Brand.Name = service
		named := viewOf(t, tableOf(ledger.TableSettings, []*ledger.Settings{&s}))
		for _, name := range names[0] {
			require.True(t, named.LikeService(name), "%q and %q", service, name)
		}
		for _, name := range names[1] {
			require.False(t, named.LikeService(name), "%q and %q", service, name)
		}
	}
}

// TestSkeleton: names that look alike have the same one, and others do not.
func TestSkeleton(t *testing.T) {
	for _, same := range [][]string{
		{"Claude", "CLAUDE", "C l a u d e", "Сlaude", "Cl\u0430ude", "Ｃｌａｕｄｅ", "CIaude", "C1aude", "Claudé", "𝐂𝐥𝐚𝐮𝐝𝐞", "Clаu\u200dde", "Claude.", "ⅭⅬAUⅮE"},
		{"Cursor", "Сursоr", "Cursоr!", "ϹURSOR", "Cursοr"},
		{"Book 100", "Bоok 1OO", "BOOK l00", "book ioo"},
		{"Modern", "Modem", "МОDЕRN"},
		{"Роман", "РОМАН"},
		{"Æther", "AEther", "Ӕther"},
	} {
		for _, name := range same {
			require.Equal(t, ledger.Skeleton(same[0]), ledger.Skeleton(name), "%q", name)
		}
		require.NotEmpty(t, ledger.Skeleton(same[0]))
	}
	seen := map[string]string{}
	for _, name := range []string{"Claude", "Cloud", "Agent 2", "Agent 3", "Agent 8", "Cursor", "Cursors", "助手", "助理", "Ассистент", "Ассистентка", "مساعد", "Helper", "Assistant", "सहायक", "सहायिका"} {
		s := ledger.Skeleton(name)
		require.Empty(t, seen[s], "%q", name)
		seen[s] = name
	}
	for _, empty := range []string{"", " ", "...", "\u0300", "\ufe0f"} {
		require.Empty(t, ledger.Skeleton(empty))
	}
}

// TestSkeletonIsStable: the table is part of what the log means. If this fails, nodes of two
// versions may decide differently: the change needs a level.
func TestSkeletonIsStable(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && r < 0x3400 || r >= 0x1d400 && r <= 0x1f9ff || r >= 0xf900 && r <= 0xffff {
			fmt.Fprintf(&all, "%x %s\n", r, ledger.Reading(string(r)))
		}
	}
	require.Equal(t, "76746313695c11befbd56a665b3a94e5bc55274d07de7fab7f8070165ec15146", ledger.DigestOf(all.String()))
}

// TestUnclearUserNames: a name that can be read as another user's, or that mixes scripts which look
// alike, is refused at creation and at a change, for administrators and operators.
func TestUnclearUserNames(t *testing.T) {
	const mixed, like = "mixes letters of several scripts that look alike", "looks like the name of another user"
	own := newEnv(t)
	for _, line := range []string{"user cap", "user root admin", "sign-in root", "person cap by=root username=\u0441\u0430\u0440"} {
		require.Equal(t, "ok", own.run(line), "nobody is taken for oneself")
	}
	for name, note := range map[string]string{
		"r\u043e\u043et": mixed, "ro\u03c3t": mixed, "\uff52oot": mixed, "\u0430dmin": mixed, "p\u0430yp\u0430l-1": mixed, "\u13a1oot": mixed, "ro\u00a2t": mixed,
		"\uff52\uff4f\uff4f\uff54": like, "\u0441\u0430\u0440": like, "\U0001d42b\U0001d428\U0001d428\U0001d42d": like, "\u0421\u0410\u0420": like,
		"\u043e\u0440\u0435r\u0430t\u043er": "is what the audit trail calls the operator of this service",

		"Jos\u00e9": "", "jos\u0065\u0301": "", "nguy\u1ec5n": "", "\u0440\u043e\u043c\u0430\u043d": "", "\u0438\u0432\u0430\u043d": "", "\u0438\u0432\u0430\u043d_ivan": "", "\u03bb-user": "", "I\u015f\u0131k": "",
		"\u52a9\u624b": "", "ren\u00e9e": "", "stra\u00dfe": "", "\u0410\u0421": "", "root2": "", "cap2": "",
	} {
		w := newEnv(t)
		for _, line := range []string{"user root", "user cap", "user jose", "user admin2 admin", "sign-in admin2"} {
			require.Equal(t, "ok", w.run(line))
		}
		want := "ok"
		if note != "" {
			want = "invalid_request: a field is not valid (username " + note + ")"
		}
		require.Equal(t, want, w.run("person jose by=admin2 username="+name), "%q", name)
		require.Contains(t, w.run("person jose by=admin2 username=jose"), "ok")
		o, _ := w.do(&ledger.PutUser{ID: "u-put", Username: name, Password: "hash"}, "", false)
		require.Equal(t, note != "", o.Refusal != nil, "%q", name)
		if o.Refusal == nil {
			name += "2"
		}
		require.Equal(t, want, w.run("add-user new by=admin2 username="+name), "%q", name)
	}
}

// TestNamesakes: an agent's name is compared with few rows, however many there are.
func TestNamesakes(t *testing.T) {
	var clients []*ledger.Client
	for n := range 1000 {
		clients = append(clients, &ledger.Client{ID: fmt.Sprint("c", n), State: ledger.Approved, Profile: ledger.Profile{Name: fmt.Sprint("Application ", n)}})
	}
	s := ledger.DefaultSettings()
	s.Agents = ledger.AgentsListed
	v := viewOf(t, tableOf(ledger.TableClients, clients), tableOf(ledger.TableSettings, []*ledger.Settings{&s}),
		tableOf(ledger.TablePublishers, []*ledger.Publisher{{Host: "local", State: ledger.PublisherApproved}}))
	require.Less(t, testing.AllocsPerRun(100, func() { _ = v.LikeAnother("Application 7", "local") }), 60.0)
	require.NotEmpty(t, v.LikeAnother("application-7", "local"))
	require.Empty(t, v.LikeAnother("Application 1001", "local"))
	require.Empty(t, v.LikeAnother("...", "agent.example"), "a publisher without a name is like nothing")
}

// TestNames verifies which names a client has, and that a proposed one counts.
func TestNames(t *testing.T) {
	named := func(id, name string, change func(*ledger.Client)) *ledger.Client {
		c := &ledger.Client{ID: id, State: ledger.Approved, Profile: ledger.Profile{Name: name}}
		if change != nil {
			change(c)
		}
		return c
	}
	proposes := func(name string) func(*ledger.Client) {
		return func(c *ledger.Client) { c.Proposed = &ledger.Profile{Name: name} }
	}
	clients := []*ledger.Client{
		named("a", "Calendar", nil), named("b", "Planner", proposes("CALENDAR")), named("c", "Calendar", func(c *ledger.Client) { c.State = ledger.Deleted }),
		named("d", "Planner", proposes("Planner")),
	}
	v := viewOf(t, tableOf(ledger.TableClients, clients))
	require.Equal(t, []string{"a", "b"}, ids(slices.Collect(v.Namesakes("calendar")), idOfClient))
	require.Equal(t, []string{"b", "d"}, ids(slices.Collect(v.Namesakes("planner")), idOfClient))
	for i, want := range [][]string{{"Calendar"}, {"Planner", "CALENDAR"}, nil, {"Planner"}} {
		require.Equal(t, want, clients[i].Names())
	}
}
