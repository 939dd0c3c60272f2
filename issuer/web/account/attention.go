package account

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/attention"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type attentionBody struct {
	Needs, Informs []attentionLine
	More           bool
	Empty          ui.Empty // instead of Needs
}

// An attentionLine is an item of the list in words.
type attentionLine struct {
	words

	Picture *ui.Picture
	When    ui.Stamp
}

// attention shows what needs the user, and what the user waits for.
func (w *Area) attention(c *site.Request, v site.Session) error {
	list, more := attention.List(v.View, v.User, w.Ledger.Now())
	body := &attentionBody{More: more}
	date := func(t ledger.Time) string { return v.At(t).Text }
	for i := range list {
		one := &list[i]
		line := attentionLine{words: wordsOf(v.View, date, one), Picture: pictureOf(one), When: v.At(one.Since)}
		line.Action.Small = true
		if one.Kind.Informs() {
			body.Informs = append(body.Informs, line)
		} else {
			body.Needs = append(body.Needs, line)
		}
	}
	p := ui.Page{Title: "Needs your attention", Notice: site.HomeNotices.Text(c), Body: body}
	if n := len(body.Needs); n > 0 {
		body.Needs[0].Action.Primary = true
	} else {
		body.Empty = w.nothingToDo(&v)
	}
	needs, informs := body.Needs, body.Informs
	p.Rows = len(list)
	p.Truncate = func(n int) {
		body.More = true
		body.Needs, body.Informs = needs[:min(n, len(needs))], informs[:min(max(0, n-len(needs)), len(informs))]
	}
	return w.Show(c, v, "attention", p)
}

// nothingToDo offers what the user is likely to want.
func (w *Area) nothingToDo(v *site.Session) ui.Empty {
	e := ui.Empty{
		Title: "You’re all caught up",
		Text:  "What needs a decision from you appears here, such as news about your applications and those that are offered to you.",
	}
	apps := ui.Action{Title: "Connected apps", Path: parts.PathApps, Icon: "link"}
	own := ui.Action{Title: "Register an application", Path: parts.PathDeveloper + "/new", Icon: "plus"}
	if found, _ := v.View.ListClients(ledger.ClientQuery{Owner: v.User.ID, Limit: 1}); len(found) > 0 {
		own = ui.Action{Title: "Your applications", Path: parts.PathDeveloper, Icon: "app"}
	}
	e.Actions = []ui.Action{apps, own}
	return e
}

func pictureOf(one *attention.Item) *ui.Picture {
	var p *ui.Picture
	switch one.Kind {
	case attention.Reviews, attention.Publishers, attention.BrandDraft:
		return nil
	case attention.Offered, attention.AppShared, attention.AppSuspended:
		p = parts.PublicPicture(one.Client)
	default:
		p = parts.PictureOf(&one.Client.Profile)
	}
	p.Small = true
	return p
}
