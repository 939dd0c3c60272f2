package e2e

import (
	"bufio"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var copiedBlock = regexp.MustCompile(`(?s)<pre id="[^"]*" tabindex="0" role="region" aria-label="[^"]*">(.*?)</pre>`)

// snippetsOf returns the programs that the developer settings show for a client of bob's.
func snippetsOf(t *testing.T, s *server, client string) (goProgram, nodeProgram, pythonProgram string) {
	t.Helper()
	bob := newPerson(t, "bob", "battery staple")
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	in := send(t, bob.client, mustGet(t, s.AppURL+"/auth/sign-in"))
	bob.submit(at, in, "password", "username", bob.name, "password", bob.password)
	page := send(t, bob.client, mustGet(t, s.AppURL+"/developer/clients/"+client+"/connect"))
	var blocks []string
	for _, m := range copiedBlock.FindAllStringSubmatch(page.Body, -1) {
		blocks = append(blocks, html.UnescapeString(m[1]))
	}
	require.Len(t, blocks, 8)
	return blocks[3], blocks[4], blocks[5]
}

// A snippetStory is what a program did: it exchanged a code, refreshed, and refused answers.
type snippetStory struct {
	First, Second map[string]any
	Refused       map[string]refused
}

// TestSnippets: the programs for developers work unchanged, and refuse a response to
// another request (RFC 6749 §10.12) or from another issuer (RFC 9207 §2.4).
func TestSnippets(t *testing.T) {
	s := start(t, fixtures(`  - {id: phone-app, name: Phone App, owner: bob, type: public, redirect_uris: ["com.example.app:/cb"], scopes: [PROFILE_READ]}`))
	for _, c := range []struct{ client, secret, main string }{
		{"cal-app", "cal-app-secret", snippetMain}, {"native-app", "", snippetMain}, {"phone-app", "", phoneMain},
	} {
		goProgram, nodeProgram, pythonProgram := snippetsOf(t, s, c.client)
		dir := t.TempDir()
		write := func(name, text string) string {
			file := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			return file
		}
		check := func(t *testing.T, story *snippetStory) {
			t.Helper()
			require.Equal(t, "bearer", story.First["token_type"])
			require.NotEqual(t, story.First["refresh_token"], story.Second["refresh_token"])
			for _, answer := range []string{"foreign", "mixedUp", "nobodys", "again"} {
				require.Contains(t, story.Refused[answer].Message, "This answers no question of ours.", answer)
			}
			require.Contains(t, story.Refused["cancelled"].Message, "access_denied")
		}
		t.Run("Node.js "+c.client, func(t *testing.T) {
			var story snippetStory
			runNode(t, "snippet.mjs", map[string]string{"file": write("snippet.mjs", nodeProgram), "secret": c.secret}, alice(t), &story)
			check(t, &story)
		})
		t.Run("Python "+c.client, func(t *testing.T) {
			program := exec.Command(installed(t, "python3"), filepath.Join("clients", "snippet.py"), filepath.Dir(write("snippet.py", pythonProgram)))
			program.Env = append(os.Environ(), "MINTMARK_CLIENT_SECRET="+c.secret, "PYTHONDONTWRITEBYTECODE=1")
			var story snippetStory
			runClient(t, program, alice(t), &story)
			check(t, &story)
		})
		t.Run("Go "+c.client, func(t *testing.T) {
			program := exec.Command("go", "run", write("snippet.go", goProgram), write("main.go", c.main))
			program.Dir = root // whose modules it may use
			program.Env = append(os.Environ(), "MINTMARK_CLIENT_SECRET="+c.secret)
			program.Stderr = os.Stderr
			stdin, err := program.StdinPipe()
			require.NoError(t, err)
			stdout, err := program.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, program.Start())
			lines := bufio.NewScanner(stdout)
			require.True(t, lines.Scan())
			fmt.Fprintln(stdin, alice(t).decide(lines.Text(), "allow"))
			var said []string
			for lines.Scan() {
				said = append(said, lines.Text())
			}
			require.NoError(t, program.Wait())
			require.Equal(t, []string{"another browser: 403", "another issuer: 403", "no issuer: 403", "the browser: 200"}, said)
		})
	}
}

// phoneMain is an application that the system opens with the response.
const phoneMain = `package main

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
)

func main() {
	address, kept := start()
	fmt.Println(address)
	answer := bufio.NewScanner(os.Stdin)
	answer.Scan()
	_, other := start()
	back("another browser", answer.Text(), other)
	mixed, _ := url.Parse(answer.Text())
	query := mixed.Query()
	query.Set("iss", "https://another.example")
	mixed.RawQuery = query.Encode()
	back("another issuer", mixed.String(), kept)
	query.Del("iss")
	mixed.RawQuery = query.Encode()
	back("no issuer", mixed.String(), kept)
	back("the browser", answer.Text(), kept)
}

func back(who, address string, a attempt) {
	status := 200
	if token, err := callback(context.Background(), a, address); err != nil || token.RefreshToken == "" {
		status = 403
	}
	fmt.Printf("%s: %d\n", who, status)
}
`

// snippetMain acts as the browser for the program beside it.
const snippetMain = `package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
)

func main() {
	began := httptest.NewRecorder()
	start(began, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(began.Header().Get("Location"))
	answer := bufio.NewScanner(os.Stdin)
	answer.Scan()
	other := httptest.NewRecorder()
	start(other, httptest.NewRequest(http.MethodGet, "/", nil))
	back("another browser", answer.Text(), other.Result().Cookies())
	mixed, _ := url.Parse(answer.Text())
	query := mixed.Query()
	query.Set("iss", "https://another.example")
	mixed.RawQuery = query.Encode()
	back("another issuer", mixed.String(), began.Result().Cookies())
	query.Del("iss")
	mixed.RawQuery = query.Encode()
	back("no issuer", mixed.String(), began.Result().Cookies())
	back("the browser", answer.Text(), began.Result().Cookies())
}

func back(who, address string, cookies []*http.Cookie) {
	r, w := httptest.NewRequest(http.MethodGet, address, nil), httptest.NewRecorder()
	for _, c := range cookies {
		r.AddCookie(c)
	}
	callback(w, r)
	fmt.Printf("%s: %d\n", who, w.Code)
}
`
