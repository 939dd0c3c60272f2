package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestReviewOfNames verifies that reviewers are warned of invisible properties of a name.
func TestReviewOfNames(t *testing.T) {
	w, root := Administration(t)
	w.Client("cal", func(c *ledger.ImportClient) { c.Profile.Name, c.Owner = "Straße 1", "u-bob" })
	const scripts, own, another = "It mixes letters of several scripts", "It is like the name or the address of this service", `It looks the same as <a href="/admin/clients/cal"><bdi>Straße 1</bdi></a> (approved`
	for i, test := range []struct {
		name string
		says []string
	}{
		{"Calendar 2", nil},
		{"Straße 2", nil},
		{"Календарь 2", nil},
		{"C\u0430lendar", []string{scripts + " (Cyrillic, Latin)"}},
		{"Αlpha", []string{scripts + " (Greek, Latin)"}},
		{"日程Календарь", []string{scripts + " (Cyrillic, Han)"}},
		{"ひらがなのカタカナ 日程 Cal", nil},
		{"ㄅㄆㄇ 日程 Cal", nil},
		{"한글 日程 Cal", nil},
		{"한글 ひらがな", []string{scripts + " (Hangul, Hiragana)"}},
		{"Cal\u0301 ☕ 1", nil},
		{"MINTMARK", []string{own}},
		{"Ｍｉｎｔｍａｒｋ", []string{own}},
		{"Mint\ufe0fmark", []string{own}},
		{"STRASSE 1", []string{another}},
		{"𝐒traße  ①", []string{another}},
		{"M\u0456ntmark", []string{scripts, own}},
		{"My Mint-Mark", []string{own}},
		{"Peppermint Markets", nil},
		{"stra\u00dfe l", []string{another}},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := fmt.Sprintf("c%d", i)
			w.Client(id, func(c *ledger.ImportClient) { c.Profile.Name, c.State = test.name, ledger.Pending })
			page := root.Get("/admin/clients/" + id).Text
			for _, text := range []string{scripts, own, another} {
				said := strings.Contains(strings.Join(test.says, ""), text)
				assert.Equal(t, said, strings.Contains(page, text), text)
			}
			for _, text := range test.says {
				assert.Contains(t, page, text)
			}
			row := `<a href="/admin/clients/` + id + `"><bdi>` + test.name + `</bdi></a>`
			queue := root.Get("/admin?q=" + id).Text
			require.Contains(t, queue, row)
			assert.Equal(t, test.says != nil, strings.Contains(queue, row+` <span class="pill warn">Check the name</span>`))
			w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: id})
			assert.NotContains(t, root.Get("/admin/clients/"+id).Text, "Check the name")
		})
	}
	assert.NotContains(t, root.Get("/admin/clients/cal").Text, "Check the name", "names of deleted clients are ignored")

	w.ProposeRevision("calendar", func(p *ledger.Profile) { p.Name = "straße 1" })
	for id, text := range map[string]string{"calendar": "Check the name “<bdi>straße 1</bdi>”", "cal": `<a href="/admin/clients/calendar">`} {
		assert.Contains(t, root.Get("/admin/clients/"+id).Text, text, "proposed names must be compared")
	}
	for i := range 7 {
		w.Client(fmt.Sprintf("many%d", i), func(c *ledger.ImportClient) { c.Profile.Name = "Straße 1" })
	}
	page := root.Get("/admin/clients/cal").Text
	assert.Equal(t, 5, strings.Count(page, ", owned by "))
	assert.Contains(t, page, "further applications")
}
