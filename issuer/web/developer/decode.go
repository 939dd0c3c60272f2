package developer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

const (
	maxToken       = 8 << 10 // bytes of a token to decode
	maxClaim       = 200     // bytes of a value that is shown
	maxOtherClaims = 20
)

// The token is shown nowhere again, and no address has it.
var decodeForm = site.FormKind{
	Purpose: "decode token", Action: pathClient + "/decode", Page: pathClient + "/connect", Single: true,
	Fields: []site.Field{site.TextField("jwt", "Access token").Confidential()},
}

type decodeBody struct {
	Verdict *ui.Callout // nil if the form has a problem
	Claims  []claim
	Decode  *site.Form
}

// A claim is a member of a token's payload, or of its header.
type claim struct {
	Name, Title string // Title is "" for an unknown one
	Value       string
	Note        string // what the value means for the reader
	Time        *ui.Stamp
	Scopes      []scope.Scope
}

// decode shows what an access token has, and whether it works. What isn't a JWT is recognized
// by its prefix, and refused with advice.
func (w *Area) decode(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	token := strings.TrimPrefix(strings.Join(strings.Fields(f.Get("jwt")), ""), "Bearer")
	f.Values.Del("jwt")
	body := decodeBody{Decode: f}
	header, payload, isJWT := parseJWT(token)
	switch {
	case len(token) > maxToken:
		f.AddProblem("jwt", "is longer than 8 KB")
	case token == "":
		f.AddSentence("jwt", "Paste an access token.")
	case isJWT:
		body.Verdict = verdict(w.verify(c.R.Context(), token, client))
		body.Claims = w.claims(&v, client, header, payload)
	default:
		if body.Verdict = adviceOn(credential.KindOf(token), client); body.Verdict == nil {
			f.AddSentence("jwt", "This isn’t an access token: a JWT has three parts with dots between them.")
		}
	}
	p := w.pageOfClient(&v, client, "Decoded token", "connect")
	p.Form, p.Body = f, body
	return w.Show(c, v, "decode", p)
}

// parseJWT returns the header and the payload of a JWT, without verifying it.
func parseJWT(token string) (header, payload map[string]any, ok bool) {
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return nil, nil, false
	}
	for i, into := range []*map[string]any{&header, &payload} {
		text, err := base64.RawURLEncoding.DecodeString(segments[i])
		if err != nil || json.Unmarshal(text, into) != nil || *into == nil {
			return nil, nil, false
		}
	}
	return header, payload, true
}

// errOtherClient reports a token that works, and belongs to another application.
var errOtherClient = errors.New("token of another application")

func (w *Area) verify(ctx context.Context, token string, client *ledger.Client) error {
	claims, err := w.config.Verify(ctx, token)
	if err == nil && claims.ClientID() != client.ClientID() {
		return errOtherClient
	}
	return err
}

// verdict returns the result of a verification in words.
func verdict(err error) *ui.Callout {
	says := func(tone, title, text string) *ui.Callout {
		return &ui.Callout{Tone: tone, Title: title, Text: text, Role: "status"}
	}
	refused, _ := errors.AsType[*verifier.Error](err)
	switch {
	case err == nil:
		return says(ui.Good, "Live.", "This token is from this service, belongs to this application, and works now.")
	case errors.Is(err, errOtherClient):
		return says(ui.Warn, "Of another application.", "This token is from this service and works now, but its client_id is another.")
	case errors.Is(err, verifier.ErrKeysUnavailable), refused == nil:
		return says(ui.Warn, "Not verified.", "The keys to verify it aren’t available now. Try again.")
	}
	switch refused.Reason {
	case verifier.ReasonExpired:
		return says(ui.Warn, "Expired.", "This token is from this service, and its time has passed. Refresh it: access tokens are valid for 30 minutes.")
	case verifier.ReasonRevoked:
		return says(ui.Warn, "Revoked.", "This token is from this service, and was revoked: its user disconnected the application, or it was ended in another way.")
	case verifier.ReasonAudience:
		return says(ui.Info, "For another resource server.", "This token is from this service. It works only at the server that aud names.")
	case verifier.ReasonNotYetValid:
		return says(ui.Warn, "Not valid yet.", "This token is from this service, and is dated in the future.")
	case verifier.ReasonType:
		return says(ui.Bad, "Not an access token.", "Its header isn’t that of an access token: typ must be at+jwt.")
	}
	return says(ui.Bad, "Not ours.", "This service didn’t issue this token, or it was changed since.")
}

// adviceOn returns what to do with a credential that isn't a JWT, or nil for an unknown kind.
func adviceOn(kind credential.Kind, client *ledger.Client) *ui.Callout {
	says := func(title, text, link, below string) *ui.Callout {
		one := &ui.Callout{Tone: ui.Warn, Title: title, Text: text, Role: "alert"}
		if link != "" {
			one.Action = &ui.Action{Title: link, Path: parts.ClientPath(client.ID, below), Small: true}
		}
		return one
	}
	switch kind {
	case credential.KindRefresh:
		return says("This is a refresh token.", "It wasn’t looked at. Whoever has it and the application’s credentials gets access tokens: keep it on your server, and paste it nowhere. If somebody else may have seen it, revoke it at the revocation endpoint.", "How to revoke it", "connect#code")
	case credential.KindSecret:
		return says("This is a client secret.", "It wasn’t looked at. Paste it nowhere but into your server’s configuration. If somebody else may have seen it, generate another and revoke this one.", "See the secrets", "secrets")
	case credential.KindCode:
		return says("This is an authorization code.", "It wasn’t looked at. It works once, and for a few minutes: your program exchanges it for tokens.", "", "")
	case credential.KindErrorID:
		return says("This is an error_id.", "It explains why a request was refused.", "See what it means", "errors")
	case credential.KindSession, credential.KindOperatorToken:
		return says("This is a secret of this service.", "It wasn’t looked at. Paste it nowhere. If somebody else may have seen it, tell an administrator.", "", "")
	}
	return nil
}

// claimTitles are the claims of access tokens (RFC 9068 §2.2), in the order of the page.
var claimTitles = []claim{
	{Name: "sub", Title: "Account ID"},
	{Name: "client_id", Title: "Application"},
	{Name: "scope", Title: "Scopes"},
	{Name: "iat", Title: "Issued"},
	{Name: "exp", Title: "Expires"},
	{Name: "nbf", Title: "Not before"},
	{Name: "iss", Title: "Issuer"},
	{Name: "aud", Title: "Audience"},
	{Name: "grant_id", Title: "Grant ID"},
	{Name: "jti", Title: "Token ID"},
	{Name: "legacy", Title: "Legacy"},
}

// headerTitles are the members of the header (RFC 7515 §4.1).
var headerTitles = []claim{
	{Name: "typ", Title: "Type"},
	{Name: "alg", Title: "Algorithm"},
	{Name: "kid", Title: "Key ID"},
}

func (w *Area) claims(v *site.Session, client *ledger.Client, header, payload map[string]any) (list []claim) {
	for _, one := range claimTitles {
		value, has := payload[one.Name]
		if !has {
			continue
		}
		delete(payload, one.Name)
		one.Value = shortened(value)
		switch seconds, isNumber := value.(float64); {
		case isNumber && seconds > 0 && seconds < 1<<40 && slices.Contains([]string{"iat", "exp", "nbf"}, one.Name):
			at := v.Clock().At(int64(seconds) * 1000)
			one.Time = &at
		case one.Name == "scope":
			text, _ := value.(string)
			set := scope.FromClaim(text)
			for _, s := range scope.Catalogue() {
				if set.Has(s.Name) {
					one.Scopes = append(one.Scopes, s)
				}
			}
		case one.Name == "client_id" && value == client.ClientID():
			one.Note = "this application"
		case one.Name == "client_id":
			one.Note = "another application"
		case one.Name == "iss" && value == w.config.Issuer():
			one.Note = "this service"
		case one.Name == "iss":
			one.Note = "another service"
		case one.Name == "legacy" && value == true:
			one.Note = "without limits"
		}
		list = append(list, one)
	}
	for _, name := range firstOf(slices.Sorted(maps.Keys(payload)), maxOtherClaims) {
		list = append(list, claim{Name: shortened(name), Value: shortened(payload[name])})
	}
	for _, one := range headerTitles {
		if value, has := header[one.Name]; has {
			one.Value = shortened(value)
			list = append(list, one)
		}
	}
	return list
}

func firstOf(list []string, most int) []string { return list[:min(len(list), most)] }

// shortened formats a value of JSON, up to maxClaim bytes.
func shortened(value any) string {
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil {
			panic(fmt.Errorf("encode a decoded value: %w", err)) // it was made by Unmarshal
		}
		text = string(encoded)
	}
	if len(text) <= maxClaim {
		return text
	}
	end := maxClaim
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
