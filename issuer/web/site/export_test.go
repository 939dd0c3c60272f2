package site

import (
	"net/url"
	"os"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// SpecimenPurpose is the purpose of the specimen's form.
const SpecimenPurpose Purpose = "specimen"

var specimenForm = FormKind{
	Purpose: SpecimenPurpose, Action: "/specimens/:id/edit", Page: "/specimens/:id",
	Fields: []Field{
		BoundField("revision"),
		TextField("name", "Name"),
		TextField("website", "Website"),
		TextField("purpose", "Purpose"),
		SecretField("secret", "Secret"),
		ListField("redirect_uris", "Redirect URI"),
		ListField("scopes", "The selection of scopes").Chosen(),
		TextField("type", "Type").Chosen(),
		FileField("logo", "Logo", 1<<10),
	},
}

// AddSpecimens adds routes with features that few pages use: an address with a parameter,
// of an object with an owner; a form with every kind of field; and a page for administrators.
func (w *Site) AddSpecimens(took func(name string, uris, scopes []string, logo []byte)) {
	specimens, err := ui.Parse(os.DirFS("testdata"), nil, "specimen.html")
	if err != nil {
		panic(err)
	}
	area := &Area{Site: w, Pages: specimens}
	show := func(c *Request, v Session, f *Form) error {
		own, err := w.ConfirmFresh(c, &v, func() bool {
			client := v.View.Client(c.Param("id"))
			return client != nil && client.Owner == v.User.ID
		})
		switch {
		case err != nil:
			return err
		case !own:
			return ErrNotFound
		}
		if f == nil {
			f = v.Form(&specimenForm, url.Values{
				"id": {c.Param("id")}, "revision": {"3"}, "name": {"Calendar"}, "scopes": {"BOOKING_READ"},
				"redirect_uris": {"https://app.example.com/cb"},
			})
		}
		return area.Show(c, v, "specimen", ui.Page{Title: "Specimen", Up: Up("Specimens", "/specimens"), Form: f, Notice: Notices{"saved": "It was saved."}.Text(c), Body: f})
	}
	take := func(c *Request, v Session, f *Form) error {
		uris := f.Filled("redirect_uris")
		refusals := map[string]*ledger.Refusal{
			"":      {Cause: ledger.BadField, Field: "name", Note: "is empty"},
			"line":  {Cause: ledger.BadField, Field: "redirect_uris[1]", Note: "must be absolute"},
			"other": {Cause: ledger.BadField, Field: "owner", Note: "is not a user"},
			"third": {Cause: ledger.TooManySecrets},
			"moved": {Cause: ledger.Conflict},
		}
		if r := refusals[f.Trimmed("name")]; r != nil {
			f.Refused(r)
		}
		if f.Get("website") == "bad" {
			f.AddProblem("website", "must begin with https:// or http://")
		}
		if !f.Has("type", "confidential") && !f.Has("type", "public") {
			f.AddProblem("type", "is not chosen")
		}
		if len(f.Filled("scopes")) == 0 {
			f.AddProblem("scopes", "needs at least one")
		}
		if f.Failed() {
			return show(c, v, f)
		}
		took(f.Get("name"), uris, f.Filled("scopes"), f.File("logo"))
		return c.RedirectNotice("/specimens/"+f.Get("id"), Notices{"saved": "x"}, "saved")
	}
	w.Install(append(w.table,
		w.PageFor(Users, "/specimens", func(c *Request, v Session) error { return ErrNotFound }),
		w.PageFor(Users, "/specimens/:id", func(c *Request, v Session) error { return show(c, v, nil) }),
		w.FormFor(Users, &specimenForm, take),
		w.PageFor(Administrators, "/administration", func(c *Request, v Session) error {
			return area.Show(c, v, "specimen", ui.Page{Title: "Administration", Body: v.Form(&specimenForm, url.Values{"id": {"calendar"}})})
		}),
	))
}
