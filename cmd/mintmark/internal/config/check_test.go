package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigChecks(t *testing.T) {
	provider := slices.Clip([]string{"--upstream-issuer=https://id.example.com", "--upstream-client-id=m"})
	for name, row := range map[string]struct {
		arguments []string
		refused   string // "": accepted
	}{
		"defaults":                    {nil, ""},
		"no data folder":              {[]string{"--data-dir="}, "data-dir (flag --data-dir): expected a folder"},
		"name with a space":           {[]string{"--name=n 1"}, "name (flag --name): expected a name"},
		"name ends with a dot":        {[]string{"--name=n1."}, "expected a name"},
		"name of one letter":          {[]string{"--name=a"}, ""},
		"name that is long":           {[]string{"--name=" + strings.Repeat("n", 63)}, ""},
		"name no cluster takes":       {[]string{"--name=" + strings.Repeat("n", 64)}, "expected a name of 1 to 63"},
		"listen everywhere":           {[]string{"--listen=:8080"}, ""},
		"listen on IPv6":              {[]string{"--listen=[::1]:8080"}, ""},
		"listen without a port":       {[]string{"--listen=127.0.0.1"}, `listen (flag --listen): expected HOST:PORT or :PORT, with a port from 0 to 65535, got "127.0.0.1"`},
		"listen on port 65536":        {[]string{"--listen=127.0.0.1:65536"}, "expected HOST:PORT"},
		"listen on a service name":    {[]string{"--ops-listen=127.0.0.1:http"}, "ops-listen (flag --ops-listen): expected HOST:PORT"},
		"listen at a URL":             {[]string{"--cluster-listen=http://127.0.0.1:1"}, `cluster-listen (flag --cluster-listen): expected HOST:PORT or :PORT, with a port from 0 to 65535, got "http://127.0.0.1:1"`},
		"any port, three times":       {[]string{"--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0", "--cluster-listen=127.0.0.1:0"}, ""},
		"the same port":               {[]string{"--ops-listen=127.0.0.1:8080"}, "ops-listen (flag --ops-listen): expected another address than that of listen"},
		"cluster everywhere":          {[]string{"--cluster-listen=0.0.0.0:8300"}, "advertise (default): needed, because cluster-listen (flag --cluster-listen)"},
		"cluster everywhere, IPv6":    {[]string{"--cluster-listen=[::]:8300"}, "advertise (default): needed"},
		"cluster everywhere, short":   {[]string{"--cluster-listen=:8300"}, "advertise (default): needed"},
		"and advertised":              {[]string{"--cluster-listen=:8300", "--advertise=n1.example:8300"}, ""},
		"advertised everywhere":       {[]string{"--cluster-listen=:8300", "--advertise=0.0.0.0:8300"}, "advertise (flag --advertise): expected HOST:PORT that others"},
		"advertised mapped":           {[]string{"--advertise=[::ffff:0.0.0.0]:8300"}, "expected HOST:PORT that others"},
		"advertised without host":     {[]string{"--advertise=:8300"}, "expected HOST:PORT that others"},
		"advertised at port 0":        {[]string{"--advertise=n1:0"}, "expected HOST:PORT that others"},
		"peers":                       {[]string{"--peer=n2=10.0.0.2:8300", "--peer=n-3=[fd00::3]:8300"}, ""},
		"peer without a name":         {[]string{"--peer=10.0.0.2:8300"}, "peer (flag --peer): expected NAME=HOST:PORT"},
		"peer without an address":     {[]string{"--peer=n2"}, "expected NAME=HOST:PORT"},
		"peer without a port":         {[]string{"--peer=n2=10.0.0.2"}, "expected NAME=HOST:PORT"},
		"peer twice":                  {[]string{"--peer=n2=10.0.0.2:8300", "--peer=n2=10.0.0.3:8300"}, "expected each name once"},
		"join":                        {[]string{"--join=n1:8300", "--token-file=t"}, ""},
		"join without a token":        {[]string{"--join=n1:8300"}, "token-file (default): expected the file"},
		"join everywhere":             {[]string{"--join=0.0.0.0:8300", "--token-file=t"}, "join (flag --join): expected HOST:PORT"},
		"token without join":          {[]string{"--token-file=t"}, "join (default): expected the address"},
		"URLs":                        {[]string{"--public-url=https://api.example.com", "--app-url=http://[::1]:8443/"}, ""},
		"URL without a scheme":        {[]string{"--public-url=api.example.com"}, "public-url (flag --public-url): expected scheme://host"},
		"URL of another scheme":       {[]string{"--public-url=ftp://api.example.com"}, "expected scheme://host"},
		"URL with a path":             {[]string{"--app-url=https://api.example.com/app"}, "app-url (flag --app-url): expected scheme://host"},
		"URL with a query":            {[]string{"--app-url=https://api.example.com?"}, "expected scheme://host"},
		"URL with a fragment":         {[]string{"--app-url=https://api.example.com#"}, "expected scheme://host"},
		"URL with a password":         {[]string{"--public-url=https://u:hunter2@api.example.com"}, "expected scheme://host"},
		"URL without a host":          {[]string{"--public-url=https://"}, "expected scheme://host"},
		"URL with half a port":        {[]string{"--public-url=https://a:"}, "expected scheme://host"},
		"URL with port 0":             {[]string{"--public-url=https://a:0"}, "expected scheme://host"},
		"URL in capitals":             {[]string{"--public-url=HTTPS://a"}, "expected scheme://host"},
		"URL with a host in capitals": {[]string{"--public-url=https://ID.example.com"}, "in lower case and without the usual port"},
		"URL with the usual port":     {[]string{"--public-url=https://a:443"}, "in lower case and without the usual port"},
		"app URL in capitals":         {[]string{"--app-url=https://App.example.com"}, "app-url (flag --app-url): expected scheme://host"},
		"collector's usual port":      {[]string{"--otlp-endpoint=https://Collector.example.com:443"}, ""},
		"URL with two slashes":        {[]string{"--public-url=https://a//"}, "expected scheme://host"},
		"proxies":                     {[]string{"--trusted-proxy=10.0.0.0/8", "--trusted-proxy=::1"}, ""},
		"proxy by name":               {[]string{"--trusted-proxy=hunter2"}, "trusted-proxy (flag --trusted-proxy): expected addresses"},
		"provider":                    {append(provider, "--upstream-admin-claim=groups", "--upstream-admin-value=root", "--upstream-admin-email=ada@example.com", "--password-sign-in=false"), ""},
		"provider with a path":        {[]string{"--upstream-issuer=https://id.example.com/realms/a", "--upstream-client-id=m"}, ""},
		"provider on this machine":    {[]string{"--upstream-issuer=http://127.0.0.1:9000", "--upstream-client-id=m"}, ""},
		"provider by http":            {[]string{"--upstream-issuer=http://id.example.com", "--upstream-client-id=m"}, "upstream-issuer (flag --upstream-issuer): expected https://host"},
		"provider with a query":       {[]string{"--upstream-issuer=https://id.example.com?a", "--upstream-client-id=m"}, "expected https://host"},
		"provider with a password":    {[]string{"--upstream-issuer=https://u:hunter2@id.example.com", "--upstream-client-id=m"}, "expected https://host"},
		"provider without a client":   {[]string{"--upstream-issuer=https://id.example.com"}, "upstream-client-id (default): expected the id"},
		"client without a provider":   {[]string{"--upstream-client-id=m"}, "upstream-client-id (flag --upstream-client-id): expected upstream-issuer as well"},
		"e-mail without a provider":   {[]string{"--upstream-admin-email=a@b"}, "expected upstream-issuer as well"},
		"claim without a value":       {append(provider, "--upstream-admin-claim=groups"), "upstream-admin-claim and upstream-admin-value together"},
		"value without a claim":       {append(provider, "--upstream-admin-value=root"), "upstream-admin-claim and upstream-admin-value together"},
		"e-mail that is none":         {append(provider, "--upstream-admin-email=hunter2"), "upstream-admin-email (flag --upstream-admin-email): expected e-mail addresses"},
		"scopes in one":               {append(provider, "--upstream-scope=profile email"), "upstream-scope (flag --upstream-scope): expected scopes, each by itself"},
		"a name nobody can read":      {append(provider, "--upstream-name=a\x1bb"), "upstream-name (flag --upstream-name): expected a short printable name"},
		"nobody could sign in":        {[]string{"--password-sign-in=false"}, "password-sign-in (flag --password-sign-in): expected true"},
		"no drain":                    {[]string{"--drain=0s"}, ""},
		"negative drain":              {[]string{"--drain=-1s"}, "drain (flag --drain): expected a duration that is not negative"},
		"no time to stop":             {[]string{"--stop-timeout=0s"}, "stop-timeout (flag --stop-timeout): expected a duration"},
		"log in JSON":                 {[]string{"--log-format=json"}, ""},
		"log in XML":                  {[]string{"--log-format=xml"}, "log-format (flag --log-format): expected text or json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadConfig(t, row.arguments, nil, "")
			if row.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.refused)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// TestConfigTellsAllThatIsWrong: one start reports all mistakes, from flags, variables
// and the file.
func TestConfigTellsAllThatIsWrong(t *testing.T) {
	_, _, err := loadConfig(t, []string{"--listen=x", "--drain=-1s"}, []string{"MINTMARK_PUBLIC_URL=x"}, "join: x\n")
	for _, want := range []string{"listen (flag", "drain (flag", "public-url (environment MINTMARK_PUBLIC_URL)", "join (", "token-file ("} {
		require.ErrorContains(t, err, want)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"listen", "ops-listen", "join"}
	for word, want := range map[string]string{
		"listen": "listen", "lsten": "listen", "ops-listn": "ops-listen", "jion": "join", "jino": "", "oijn": "", "jon": "join", "nothing": "", "": "",
	} {
		require.Equal(t, want, Nearest(word, words), word)
	}
}

// TestPlainHTTPNeedsAWord: plain http needs --plain-http.
func TestPlainHTTPNeedsAWord(t *testing.T) {
	const plain, expected = "http://auth.example.com", "https outside the loopback"
	_, _, err := loadConfig(t, []string{"--public-url=" + plain}, nil, "")
	require.ErrorContains(t, err, "public-url (flag --public-url): expected "+expected)
	_, _, err = loadConfig(t, []string{"--app-url=" + plain}, nil, "")
	require.ErrorContains(t, err, "app-url (flag --app-url): expected "+expected)
	_, _, err = loadConfig(t, []string{"--public-url=" + plain, "--plain-http"}, nil, "")
	require.NoError(t, err)
}
