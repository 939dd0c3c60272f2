package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/middleware"
)

// A profileMember is a member of the body of PATCH /v2/me.
type profileMember struct {
	name  string
	field string // the same in ledger.ProfileFields
	text  func(*ledger.Person) *string
}

// profileMembers are all members but timeFormat, which is a number.
var profileMembers = []profileMember{
	{"name", "name", func(p *ledger.Person) *string { return &p.Name }},
	{"bio", "bio", func(p *ledger.Person) *string { return &p.Bio }},
	{"avatarUrl", "avatar_url", func(p *ledger.Person) *string { return &p.AvatarURL }},
	{"timeFormat", "time_format", nil},
	{"weekStart", "week_start", func(p *ledger.Person) *string { return &p.WeekStart }},
	{"timeZone", "time_zone", func(p *ledger.Person) *string { return &p.TimeZone }},
	{"locale", "locale", func(p *ledger.Person) *string { return &p.Locale }},
	{"defaultScheduleId", "default_schedule_id", func(p *ledger.Person) *string { return &p.DefaultScheduleID }},
}

// maxProfileText is above the bytes of every valid value, and keeps the command below the
// size that the log accepts.
const maxProfileText = 4096

// editMe handles PATCH /v2/me behind the guard: the token is valid, its grant is live, and it
// has PROFILE_WRITE. The ledger verifies the grant again.
func (e *Endpoints) editMe(w http.ResponseWriter, r *http.Request) {
	claims, ok := middleware.FromContext(r.Context())
	if !ok {
		e.fail(w, r, errors.New("request without claims passed the guard"))
		return
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" && media != "application/merge-patch+json" {
		w.Header().Set("Accept-Patch", "application/json, application/merge-patch+json") // RFC 5789 §3.1
		e.refuseEdit(w, http.StatusUnsupportedMediaType, claims.ClientID(), "The body must be application/json or application/merge-patch+json.")
		return
	}
	body, err := readBody(w, r, oauth.MaxBody)
	if err != nil {
		e.refuseBody(w, err)
		return
	}
	c, problem := parseProfileEdit(body)
	if problem != "" {
		e.refuseEdit(w, http.StatusBadRequest, claims.ClientID(), problem)
		return
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if c.Token, ok = credential.AccessRef(strings.TrimLeft(token, " "), claims.GrantID()); !ok {
		e.fail(w, r, errors.New("token without key or grant passed the guard"))
		return
	}
	u, refusal, err := e.Server.EditProfile(r.Context(), c)
	switch {
	case err != nil:
		e.fail(w, r, err)
	case refusal == nil:
		writeProfile(w, u)
	case refusal.Code == oauth.InvalidToken:
		e.guard.Refuse(w, invalidToken)
	default:
		e.refuseEdit(w, http.StatusBadRequest, claims.ClientID(), "The member "+memberOf(refusal.Field)+" "+refusal.Note+".")
	}
}

var invalidToken = &middleware.Refusal{
	Status: http.StatusUnauthorized, Code: string(oauth.InvalidToken), Description: "The access token is invalid",
}

func (e *Endpoints) refuseEdit(w http.ResponseWriter, status int, client, description string) {
	id := e.Server.ErrorID(client, ledger.Refusal{Code: oauth.InvalidRequest, Cause: ledger.BadField})
	writeError(w, status, &oauth.Error{Code: oauth.InvalidRequest, Description: describable(description), ID: id})
}

// memberOf returns the member for a field of the ledger.
func memberOf(field string) string {
	for _, m := range profileMembers {
		if m.field == field {
			return m.name
		}
	}
	return field
}

// describable returns s with a question mark for each character that error_description can't
// contain (RFC 6749 §5.2).
func describable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, s)
}

// parseProfileEdit parses the body of a PATCH request (RFC 7396): a member changes its field,
// null clears it, and an absent member leaves it. problem describes a body that is refused.
func parseProfileEdit(body []byte) (c *ledger.EditProfile, problem string) {
	const unreadable = "The body is not one JSON object."
	c = new(ledger.EditProfile)
	d := json.NewDecoder(bytes.NewReader(body))
	if t, _ := d.Token(); t != json.Delim('{') || !utf8.Valid(body) {
		return nil, unreadable
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, unreadable
		}
		name := t.(string) // the decoder returns member names as strings only
		shown := name[:min(len(name), 64)]
		if seen[name] {
			return nil, "The member " + shown + " came more than once."
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, unreadable
		}
		if note := setProfileMember(c, name, value); note != "" {
			return nil, "The member " + shown + " " + note + "."
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, unreadable
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, unreadable
	}
	return c, ""
}

// setProfileMember adds a member to the command. note describes what is wrong with it.
func setProfileMember(c *ledger.EditProfile, name string, value json.RawMessage) (note string) {
	for _, m := range profileMembers {
		if m.name != name {
			continue
		}
		c.Fields = append(c.Fields, m.field)
		if m.text == nil {
			_ = json.Unmarshal(value, &c.Person.TimeFormat)
			if c.Person.TimeFormat == 0 { // as for null, and for what is no integer
				return "must be 12 or 24"
			}
			return ""
		}
		text := m.text(&c.Person)
		switch {
		case json.Unmarshal(value, text) != nil: // null leaves it empty
			return "is not a string"
		case len(*text) > maxProfileText:
			return "is too long"
		}
		// As in the forms of the pages.
		*text = strings.TrimSpace(strings.ReplaceAll(*text, "\r\n", "\n"))
		return ""
	}
	return "is not one that an application can change"
}
