package oauth_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestParsePresentedToken(t *testing.T) {
	byBody := oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app", Secret: "s"}, Token: "t"}
	byBasic := byBody
	byBasic.Client.Basic = true
	for name, test := range map[string]struct {
		contentType, authorization, body string
		want                             oauth.PresentedToken
		code                             oauth.Code
	}{
		"form":                    {typeForm, "", "client_id=app&client_secret=s&token=t", byBody, ""},
		"json":                    {typeJSON, "", `{"client_id":"app","client_secret":"s","token":"t","x":[1]}`, byBody, ""},
		"basic":                   {typeForm, basic("app:s"), "token=t", byBasic, ""},
		"basic and equal id":      {typeForm, basic("app:s"), "token=t&client_id=app", byBasic, ""},
		"an identifier URI":       {typeForm, basic("https%3A%2F%2Fapi.example%2Fv2:s"), "token=t", oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "https://api.example/v2", Secret: "s", Basic: true}, Token: "t"}, ""},
		"a hint":                  {typeForm, "", "client_id=app&client_secret=s&token=t&token_type_hint=pineapple", byBody, ""},
		"a public client":         {typeForm, "", "client_id=app&token=t", oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app"}, Token: "t"}, ""},
		"parameters of others":    {typeForm, "", "grant_type=x&scope=y&client_id=app&client_secret=s&token=t", byBody, ""},
		"no token":                {typeForm, "", "client_id=app&client_secret=s", oauth.PresentedToken{}, oauth.InvalidRequest},
		"an empty token":          {typeForm, basic("app:s"), "token=", oauth.PresentedToken{}, oauth.InvalidRequest},
		"no client":               {typeForm, "", "token=t", oauth.PresentedToken{}, oauth.InvalidClient},
		"a secret without a name": {typeForm, "", "token=t&client_secret=s", oauth.PresentedToken{}, oauth.InvalidClient},
		"a bearer token":          {typeForm, "Bearer t", "token=t", oauth.PresentedToken{}, oauth.InvalidClient},
		"two secrets":             {typeForm, basic("app:s"), "token=t&client_secret=s", oauth.PresentedToken{}, oauth.InvalidRequest},
		"two ids":                 {typeForm, basic("app:s"), "token=t&client_id=other", oauth.PresentedToken{}, oauth.InvalidRequest},
		"two tokens":              {typeForm, "", "client_id=app&client_secret=s&token=t&token=t", oauth.PresentedToken{}, oauth.InvalidRequest},
		"a token of numbers":      {typeJSON, "", `{"client_id":"app","client_secret":"s","token":1}`, oauth.PresentedToken{}, oauth.InvalidRequest},
		"another content type":    {"text/plain", "", "client_id=app&client_secret=s&token=t", oauth.PresentedToken{}, oauth.InvalidRequest},
		"a header and no body":    {"text/plain", basic("app:s"), "", oauth.PresentedToken{}, oauth.InvalidRequest},
		"two resources":           {typeForm, "", "client_id=app&client_secret=s&token=t&resource=a&resource=b", oauth.PresentedToken{}, oauth.InvalidRequest}, // not its parameter
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := oauth.ParsePresentedToken(test.contentType, test.authorization, []byte(test.body))
			if test.code != "" {
				require.NotNil(t, refused)
				require.Equal(t, test.code, refused.Code)
				require.Equal(t, test.authorization != "", got.Client.Basic, "whether the response needs a challenge")
				return
			}
			require.Nil(t, refused)
			require.Equal(t, test.want, got)
		})
	}
}

func FuzzPresentedToken(f *testing.F) {
	f.Add("client_id=app&client_secret=s&token=t&token_type_hint=access_token", "", false)
	f.Add("token=t", basic("https%3A%2F%2Fapi.example:s"), false)
	f.Add(`{"client_id":"app","client_secret":"s","token":"t"}`, "", true)
	f.Add("token=%zz&&=", "Basic", false)
	f.Fuzz(func(t *testing.T, body, authorization string, inJSON bool) {
		contentType := typeForm
		if inJSON {
			contentType = typeJSON
		}
		r, refused := oauth.ParsePresentedToken(contentType, authorization, []byte(body))
		if refused != nil {
			for _, c := range []byte(refused.Description) {
				// RFC 6749 §5.2
				require.True(t, c >= 0x20 && c <= 0x7e && c != '"' && c != '\\', refused.Description)
			}
			return
		}
		require.NotEmpty(t, r.Client.ID)
		require.Equal(t, authorization != "", r.Client.Basic)
		// The parser must be at least as strict as the standard library.
		if inJSON {
			var m map[string]any
			require.NoError(t, json.Unmarshal([]byte(body), &m))
			require.Equal(t, m["token"], r.Token)
			return
		}
		values, err := url.ParseQuery(body)
		require.NoError(t, err)
		require.Equal(t, []string{r.Token}, values["token"])
	})
}
