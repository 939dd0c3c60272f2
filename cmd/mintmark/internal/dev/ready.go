package dev

import (
	"io"
	"os"
	"text/template"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
)

// readyText is what a person reads when the server has started. The steps of
// the demo are those of README.
var readyText = template.Must(template.New("ready").Parse(`
Mintmark is ready at {{.Base}}, and for operators (/readyz, /metrics) at {{.Ops}}.
Its data is in {{.Dir}}; stop it with Ctrl-C.
{{if .Demo}}
  Pages     {{.App}}/            sign in as demo / lantern-under-oak, or admin / admin-password
  Clients   demo-app (confidential, secret demo-secret), demo-native (public), demo-legacy (from before scopes)
  Metadata  {{.Base}}/.well-known/oauth-authorization-server

A first token without a browser: {{.Program}} demo token --issuer {{.Base}}

A first token with a browser:

  1. Open this address, sign in as demo, and choose Allow:
     {{.App}}/auth/oauth2/authorize?client_id=demo-app&redirect_uri=http://127.0.0.1:9999/callback&scope=PROFILE_READ+BOOKING_READ&state=abc123
  2. The browser ends at an address that nothing answers. Copy the code from it, within five minutes:
     CODE=mmc_...
  3. Exchange it:
     TOKEN=$(curl -s {{.Base}}/v2/auth/oauth2/token -d client_id=demo-app -d client_secret=demo-secret -d grant_type=authorization_code -d redirect_uri=http://127.0.0.1:9999/callback -d code=$CODE | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
  4. Use the access token:
     curl -H "Authorization: Bearer $TOKEN" {{.Base}}/v2/me

{{end}}`))

func printReady(w io.Writer, s *server.Server, o Options) {
	_ = readyText.Execute(w, struct {
		Program             string // the path that it was started by, since it may not be in PATH
		Base, App, Ops, Dir string
		Demo                bool
	}{os.Args[0], s.Settings.BaseURL, s.Settings.AppURL, "http://" + s.OpsAddr.String(), o.DataDir, o.demo()})
}
