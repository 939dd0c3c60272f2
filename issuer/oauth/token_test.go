package oauth_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	typeForm = "application/x-www-form-urlencoded"
	typeJSON = "application/json"
)

func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

func TestParseTokenRequest(t *testing.T) {
	exchange := oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "app", Secret: "s"},
		Code: "c", RedirectURI: "https://a/cb",
	}
	byBasic, forResource := exchange, exchange
	forResource.Resource = "https://a/"
	byBasic.Client.Basic = true
	const good = "grant_type=authorization_code&client_id=app&client_secret=s&code=c&redirect_uri=https://a/cb"
	for name, test := range map[string]struct {
		contentType, authorization, body string
		want                             oauth.TokenRequest
		code                             oauth.Code
	}{
		"form":                         {typeForm, "", good, exchange, ""},
		"form with a charset":          {typeForm + "; charset=utf-8", "", good, exchange, ""},
		"json":                         {typeJSON, "", `{"grant_type":"authorization_code","client_id":"app","client_secret":"s","code":"c","redirect_uri":"https://a/cb"}`, exchange, ""},
		"json with unknown members":    {typeJSON, "", `{"grant_type":"authorization_code","x":{"y":[1]},"n":1,"client_id":"app","client_secret":"s","code":"c","redirect_uri":"https://a/cb"}`, exchange, ""},
		"json with null":               {typeJSON, "", `{"code_verifier":null,"grant_type":"authorization_code","client_id":"app","client_secret":"s","code":"c","redirect_uri":"https://a/cb"}`, exchange, ""},
		"basic":                        {typeForm, basic("app:s"), "grant_type=authorization_code&code=c&redirect_uri=https://a/cb", byBasic, ""},
		"basic and an equal client_id": {typeForm, basic("app:s"), "grant_type=authorization_code&client_id=app&code=c&redirect_uri=https://a/cb", byBasic, ""},
		"basic in lower case":          {typeForm, "basic " + basic("app:s")[6:], "grant_type=authorization_code&code=c&redirect_uri=https://a/cb", byBasic, ""},
		"basic with an empty secret beside one in the body is one secret": {typeForm, basic("app:"), "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{
			GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Basic: true}, RefreshToken: "r",
		}, ""},
		"basic is form-encoded": {typeForm, basic("a%20pp:s%2Bt"), "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{
			GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "a pp", Secret: "s+t", Basic: true}, RefreshToken: "r",
		}, ""},
		"basic with a lone percent sign": {typeForm, basic("app:s%"), "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{
			GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "s%", Basic: true}, RefreshToken: "r",
		}, ""},
		"empty pairs":                {typeForm, "", "&&" + good + "&&&", exchange, ""},
		"a bad escape in a name":     {typeForm, "", good + "&%zz=1", oauth.TokenRequest{}, oauth.InvalidRequest},
		"an unknown parameter":       {typeForm, "", good + "&foo=bar", exchange, ""},
		"a resource":                 {typeForm, "", good + "&resource=https://a/", forResource, ""},
		"a resource in json":         {typeJSON, "", `{"resource":"https://a/","grant_type":"authorization_code","client_id":"app","client_secret":"s","code":"c","redirect_uri":"https://a/cb"}`, forResource, ""},
		"an empty resource":          {typeForm, "", good + "&resource=", exchange, ""},
		"a resource of a refresh":    {typeForm, "", "grant_type=refresh_token&client_id=app&refresh_token=r&resource=x", oauth.TokenRequest{GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app"}, RefreshToken: "r", Resource: "x"}, ""},
		"two resources":              {typeForm, "", good + "&resource=x&resource=y", oauth.TokenRequest{}, oauth.InvalidTarget},
		"a resource twice":           {typeForm, "", good + "&resource=x&resource=x", oauth.TokenRequest{}, oauth.InvalidTarget},
		"two resources in json":      {typeJSON, "", `{"resource":["x"],"grant_type":"refresh_token"}`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"an empty value is absent":   {typeForm, "", good + "&code_verifier=", exchange, ""},
		"refresh with a scope":       {typeForm, "", "grant_type=refresh_token&client_id=app&refresh_token=r&scope=A+B", oauth.TokenRequest{GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app"}, RefreshToken: "r", Scope: "A B"}, ""},
		"no content type":            {"", "", good, oauth.TokenRequest{}, oauth.InvalidRequest},
		"a bad content type":         {typeForm + "; charset", "", good, oauth.TokenRequest{}, oauth.InvalidRequest},
		"another content type":       {"text/plain", "", good, oauth.TokenRequest{}, oauth.InvalidRequest},
		"an empty body":              {typeForm, "", "", oauth.TokenRequest{}, oauth.InvalidRequest},
		"no grant_type":              {typeForm, "", "client_id=app&code=c", oauth.TokenRequest{}, oauth.InvalidRequest},
		"another grant_type":         {typeForm, "", "grant_type=password&client_id=app", oauth.TokenRequest{}, oauth.UnsupportedGrantType},
		"no client_id":               {typeForm, "", "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{}, oauth.InvalidRequest},
		"no code":                    {typeForm, "", "grant_type=authorization_code&client_id=app&redirect_uri=https://a/cb", oauth.TokenRequest{}, oauth.InvalidRequest},
		"an empty code":              {typeForm, "", "grant_type=authorization_code&client_id=app&code=&redirect_uri=https://a/cb", oauth.TokenRequest{}, oauth.InvalidRequest},
		"no redirect_uri":            {typeForm, "", "grant_type=authorization_code&client_id=app&code=c", oauth.TokenRequest{}, oauth.InvalidRequest},
		"no refresh_token":           {typeForm, "", "grant_type=refresh_token&client_id=app", oauth.TokenRequest{}, oauth.InvalidRequest},
		"a parameter twice":          {typeForm, "", good + "&code=c", oauth.TokenRequest{}, oauth.InvalidRequest},
		"an unknown parameter twice": {typeForm, "", good + "&x=1&x=1", oauth.TokenRequest{}, oauth.InvalidRequest},
		"a bad escape":               {typeForm, "", good + "&x=%zz", oauth.TokenRequest{}, oauth.InvalidRequest},
		"a json member twice":        {typeJSON, "", `{"grant_type":"refresh_token","grant_type":"refresh_token"}`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"a json number":              {typeJSON, "", `{"grant_type":"refresh_token","client_id":1}`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"json null":                  {typeJSON, "", `null`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"a json array":               {typeJSON, "", `[]`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"broken json":                {typeJSON, "", `{"grant_type":`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"two json values":            {typeJSON, "", `{"grant_type":"refresh_token"} {}`, oauth.TokenRequest{}, oauth.InvalidRequest},
		"a secret in both places":    {typeForm, basic("app:s"), good, oauth.TokenRequest{}, oauth.InvalidRequest},
		"two different ids":          {typeForm, basic("app:s"), "grant_type=refresh_token&refresh_token=r&client_id=other", oauth.TokenRequest{}, oauth.InvalidRequest},
		"another scheme":             {typeForm, "Bearer " + basic("app:s")[6:], "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{}, oauth.InvalidClient},
		"no scheme":                  {typeForm, "Basic", good, oauth.TokenRequest{}, oauth.InvalidClient},
		"basic with text behind":     {typeForm, basic("app:abc") + "!", "grant_type=refresh_token&refresh_token=r", oauth.TokenRequest{}, oauth.InvalidClient},
		"basic without an id":        {typeForm, basic(":s"), good, oauth.TokenRequest{}, oauth.InvalidClient},
		"basic that is no base64":    {typeForm, "Basic !!!", good, oauth.TokenRequest{}, oauth.InvalidClient},
		"basic without a colon":      {typeForm, basic("app"), good, oauth.TokenRequest{}, oauth.InvalidClient},
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := oauth.ParseTokenRequest(test.contentType, test.authorization, []byte(test.body))
			if test.code != "" {
				require.NotNil(t, refused)
				require.Equal(t, test.code, refused.Code)
				return
			}
			require.Nil(t, refused)
			require.Equal(t, test.want, got)
		})
	}
}

// TestTokenRequestFaults verifies that the description names the fault.
func TestTokenRequestFaults(t *testing.T) {
	const (
		unreadable = "The body can not be read as its Content-Type says."
		repeated   = "A parameter came more than once."
		good       = `"grant_type":"refresh_token","refresh_token":"r","client_id":"c"`
	)
	_, refused := oauth.ParseTokenRequest(typeJSON, "", []byte("{"+good+"}"))
	require.Nil(t, refused)
	for body, want := range map[string]string{
		``:                               unreadable,
		`null`:                           unreadable,
		`[]`:                             unreadable,
		`{,}`:                            unreadable,
		`{"grant_type":`:                 unreadable,
		`{"x":`:                          unreadable,
		`{` + good:                       unreadable,
		`{` + good + `} {}`:              unreadable,
		`{` + good + `} x`:               unreadable,
		`{` + good + `,"client_id":"c"}`: repeated,
		`{` + good + `,"scope":1}`:       "A parameter of the JSON object is not a string.",
	} {
		_, refused := oauth.ParseTokenRequest(typeJSON, "", []byte(body))
		require.NotNil(t, refused, body)
		require.Equal(t, want, refused.Description, body)
	}
	for body, want := range map[string]string{"a=%zz": unreadable, "a=1&a=2": repeated} {
		r, refused := oauth.ParseTokenRequest(typeForm, "", []byte(body))
		require.Equal(t, want, refused.Description, body)
		require.False(t, r.Client.Basic)
		r, _ = oauth.ParseTokenRequest(typeForm, basic("app:s"), []byte(body))
		require.True(t, r.Client.Basic, "the response needs a challenge")
	}
}

// checkParsed verifies what every accepted request satisfies.
func checkParsed(t *testing.T, r oauth.TokenRequest, refused *oauth.Error) {
	t.Helper()
	if refused != nil {
		for _, c := range []byte(refused.Description) {
			// RFC 6749 §5.2
			require.True(t, c >= 0x20 && c <= 0x7e && c != '"' && c != '\\', refused.Description)
		}
		return
	}
	require.NotEmpty(t, r.Client.ID)
	switch r.GrantType {
	case oauth.AuthorizationCode:
		require.NotEmpty(t, r.Code)
		require.NotEmpty(t, r.RedirectURI)
		require.Empty(t, r.RefreshToken)
	case oauth.RefreshToken:
		require.NotEmpty(t, r.RefreshToken)
		require.Empty(t, r.Code)
	default:
		t.Fatalf("unexpected grant type %q", r.GrantType)
	}
}

func FuzzTokenRequestForm(f *testing.F) {
	f.Add("grant_type=authorization_code&client_id=app&client_secret=s&code=c&redirect_uri=https://a/cb", "")
	f.Add("grant_type=refresh_token&refresh_token=r&scope=A,B", basic("app:s"))
	f.Add("grant_type=refresh_token;refresh_token=r&&=&%zz", "Basic")
	f.Fuzz(func(t *testing.T, body, authorization string) {
		r, refused := oauth.ParseTokenRequest(typeForm, authorization, []byte(body))
		checkParsed(t, r, refused)
		if refused == nil {
			// The parser must be at least as strict as the standard library.
			values, err := url.ParseQuery(body)
			require.NoError(t, err)
			require.Len(t, values["grant_type"], 1)
			if r.GrantType == oauth.AuthorizationCode {
				require.Equal(t, values.Get("code"), r.Code)
			}
		}
	})
}

func FuzzTokenRequestJSON(f *testing.F) {
	f.Add(`{"grant_type":"authorization_code","client_id":"app","client_secret":"s","code":"c","redirect_uri":"https://a/cb"}`)
	f.Add(`{"grant_type":"refresh_token","refresh_token":"r","client_id":"\u0061","x":[{"y":null}]}`)
	f.Add(`{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, refused := oauth.ParseTokenRequest(typeJSON, "", []byte(body))
		checkParsed(t, r, refused)
		if refused == nil {
			var m map[string]any
			require.NoError(t, json.Unmarshal([]byte(body), &m))
			require.Equal(t, m["grant_type"], string(r.GrantType))
		}
	})
}

func TestParseBounds(t *testing.T) {
	// A form that is valid except for its number of parameters: 100 are accepted, 101 aren't.
	form := "grant_type=refresh_token&refresh_token=r&client_id=c"
	for i := range 97 {
		form += fmt.Sprintf("&p%d=1", i)
	}
	_, refused := oauth.ParseTokenRequest(typeForm, "", []byte(form))
	require.Nil(t, refused)
	_, refused = oauth.ParseTokenRequest(typeForm, "", []byte(form+"&more=1"))
	require.NotNil(t, refused)
}
