package parts

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A Reader is whom the sentences of events are for.
type Reader struct {
	User  string // id of the reader, who is "You"; "" names everybody
	Admin bool   // the reader may know who acted; otherwise an administrator is "An administrator"
	Links bool   // names lead to the pages of administrators
	On    string // id of the client whose page it is, which is not named again; "" for none
}

// A Piece is a part of a sentence: words, or a name with a link to its page.
type Piece struct {
	Text, Path string
	Name       bool // somebody chose the text
}

// A Told is an event in words.
type Told struct {
	What []Piece // a sentence without subject and full stop: "Approved ", "Zeta Planner"
	By   Piece   // who did it
	Note string  // what else is known, such as the reason of a reviewer; or ""
	At   ui.Stamp
}

// Text returns the sentence without links.
func (t Told) Text() string {
	var b strings.Builder
	for _, p := range t.What {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Sentence returns an event in words. It also handles kinds of later versions.
func Sentence(v ledger.View, e *ledger.Event, clock ui.Clock, to Reader) Told {
	t := teller{view: v, event: e, to: to}
	says, note := string(e.Kind), e.Detail
	for i := range eventWords {
		if w := &eventWords[i]; w.kind == e.Kind {
			if says = w.says; w.tell != nil {
				says, note = w.tell(e)
			} else if namesFirst(says) {
				_, note, _ = strings.Cut(e.Detail, " ")
			}
			break
		}
	}
	return Told{What: t.pieces(says), By: t.actor(), Note: note, At: clock.At(int64(e.At))}
}

// namesFirst reports whether words have a name for the first word of the detail.
func namesFirst(says string) bool {
	for _, name := range []string{"{first}", "{secret}", "{server}", "{publisher}"} {
		if strings.Contains(says, name) {
			return true
		}
	}
	return false
}

// Sentences returns events in words.
func Sentences(v ledger.View, events []*ledger.Event, clock ui.Clock, to Reader) []Told {
	told := make([]Told, 0, len(events))
	for _, e := range events {
		told = append(told, Sentence(v, e, clock, to))
	}
	return told
}

// A teller replaces the names in the words of an event.
type teller struct {
	view  ledger.View
	event *ledger.Event
	to    Reader
}

// pieces returns words with their {names} replaced. Words in brackets are omitted on the page
// of the client that the event is about.
func (t *teller) pieces(says string) (list []Piece) {
	for says != "" {
		at := strings.IndexAny(says, "{[")
		if at < 0 {
			return append(list, Piece{Text: says})
		}
		if at > 0 {
			list = append(list, Piece{Text: says[:at]})
		}
		end, within := "}", says[at] == '['
		if within {
			end = "]"
		}
		inner, rest, _ := strings.Cut(says[at+1:], end)
		switch {
		case !within:
			list = append(list, t.name(inner))
		case t.to.On == "" || t.to.On != t.event.Client:
			list = append(list, t.pieces(inner)...)
		}
		says = rest
	}
	return list
}

// name returns what a name in the words of an event stands for.
func (t *teller) name(name string) Piece {
	first, _, _ := strings.Cut(t.event.Detail, " ")
	switch name {
	case "client":
		return t.client(t.event.Client)
	case "user":
		return t.user(t.event.User)
	case "former":
		return t.user(strings.TrimSuffix(first, ","))
	case "secret":
		return t.secret(first)
	case "server":
		p := Piece{Text: first, Name: true}
		if s := t.view.ResourceServer(first); s != nil && t.to.Links {
			p.Path = ResourcePath(s.Name)
		}
		return p
	case "publisher":
		host := first
		if t.event.Kind == ledger.EventPublisherRequested { // whose detail is the client_id
			host = (&ledger.Document{ClientID: first}).Host()
		}
		p := Piece{Text: host, Name: true}
		if host == ledger.LocalPublisher {
			p = Piece{Text: "programs on users’ computers"}
		}
		if t.to.Links && t.view.Settings().AcceptsAgents() && t.view.Publisher(host) != nil {
			p.Path = PublisherPath(host)
		}
		return p
	case "second":
		_, rest, _ := strings.Cut(t.event.Detail, " ")
		second, _, _ := strings.Cut(rest, ":")
		return Piece{Text: second, Name: true}
	}
	return Piece{Text: first, Name: true}
}

func (t *teller) client(id string) Piece {
	p := ClientPiece(t.view, id)
	switch {
	case id != "" && id == t.to.On:
		return Piece{Text: "the application"}
	case !t.to.Links:
		p.Path = ""
	}
	return p
}

// user names a person.
func (t *teller) user(id string) Piece {
	p := UserPiece(t.view, id)
	switch {
	case id != "" && id == t.to.User:
		return Piece{Text: "you"}
	case !t.to.Admin:
		return Piece{Text: UsernameOf(t.view.User(id)), Name: true}
	case !t.to.Links:
		p.Path = ""
	}
	return p
}

// UserPiece names a user to administrators.
func UserPiece(v ledger.View, id string) Piece {
	u := v.User(id)
	switch {
	case u == nil:
		return Piece{Text: id, Name: true}
	case u.Deleted:
		return Piece{Text: id, Name: true, Path: AdminUserPath(id)}
	}
	return Piece{Text: u.Username, Name: true, Path: AdminUserPath(id)}
}

// ClientPiece names a client to administrators.
func ClientPiece(v ledger.View, id string) Piece {
	c := v.Client(id)
	if c == nil {
		return Piece{Text: id, Name: true}
	}
	return Piece{Text: c.Name, Name: true, Path: AdminClientPath(id)}
}

// secret names a secret by its end and its name, as pages list it.
func (t *teller) secret(id string) Piece {
	s := (*ledger.Secret)(nil)
	if c := t.view.Client(t.event.Client); c != nil {
		s = c.SecretOf(id)
	}
	switch {
	case s == nil || s.Tail == "" && s.Name == "":
		return Piece{Text: id, Name: true}
	case s.Tail == "":
		return Piece{Text: s.Name, Name: true}
	case s.Name == "":
		return Piece{Text: "••••" + s.Tail, Name: true}
	}
	return Piece{Text: "••••" + s.Tail + " (" + s.Name + ")", Name: true}
}

// actor names who acted.
func (t *teller) actor() Piece {
	e := t.event
	u, c := t.view.User(e.Actor), t.view.Client(e.Actor)
	switch {
	case e.Kind == ledger.EventFailures || e.Kind == ledger.EventSecretRevoked && atItsEnd(e):
		return Piece{Text: "Automatically"}
	case e.Actor == "":
		return Piece{}
	case u == nil && c != nil && c.ID == t.to.On:
		return Piece{Text: "The application"}
	case u == nil && c != nil:
		return t.client(e.Actor)
	case e.Actor == t.to.User:
		return Piece{Text: "You"}
	case !t.to.Admin && e.Actor != e.User && e.Kind != ledger.EventClientOffered && e.Kind != ledger.EventOfferEnded:
		return Piece{Text: "An administrator"}
	case e.Actor == ledger.Operator:
		return Piece{Text: "Operator"}
	case ledger.RemoteOperator(e.Actor):
		return Piece{Text: "Operator (" + e.Actor + ")"}
	}
	return t.user(e.Actor)
}

func atItsEnd(e *ledger.Event) bool { return strings.HasSuffix(e.Detail, " at its end") }
