package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	danasID       = "u-dana"
	danasApp      = "calendar"
	danasCallback = "http://127.0.0.1:9999/callback"
	danasReader   = "bookings" // the resource server's name at the feed
)

// demoNodeFixtures are completed with secrets of this run.
const demoNodeFixtures = `
users:
  - {id: u-dana, username: dana, password: %q}
clients:
  - {id: calendar, name: Calendar, owner: dana, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [BOOKING_READ], secrets: [%q]}
settings: {jwks_max_age: %s}
`

// A demoNode is a node as "mintmark dev" starts one, that can be stopped and
// started again on the same data and the same port.
type demoNode struct {
	dir     string // of everything
	options devOptions
	log     io.Writer
	server  *server // nil while it is stopped

	appSecret, readerSecret string
	session                 [sha256.Size]byte // in which Dana is signed in
}

// newDemoNode starts a node in a folder of its own.
func newDemoNode(ctx context.Context, maxAge time.Duration, log io.Writer) (_ *demoNode, err error) {
	n := &demoNode{
		log:       log,
		appSecret: credential.NewSecret(rand.Reader).Reveal(), readerSecret: credential.NewSecret(rand.Reader).Reveal(),
	}
	if n.dir, err = os.MkdirTemp("", "mintmark-demo-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	n.options = devOptions{
		listen: "127.0.0.1:0", opsListen: "127.0.0.1:0", dataDir: filepath.Join(n.dir, "data"),
		fixtures: filepath.Join(n.dir, "fixtures.yaml"), feedSecrets: filepath.Join(n.dir, "feed.secrets"),
	}
	fixtures := fmt.Sprintf(demoNodeFixtures, rand.Text(), n.appSecret, maxAge)
	if err := os.WriteFile(n.options.fixtures, []byte(fixtures), 0o600); err != nil {
		return nil, err
	}
	if err := appendLine(n.options.feedSecrets, endpoint.ReaderLine(danasReader, n.readerSecret)); err != nil {
		return nil, err
	}
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	n.options.listen = n.server.publicAddr.String() // where it is found again
	return n, nil
}

func (n *demoNode) start(ctx context.Context) error {
	c, err := n.options.server(n.log)
	if err != nil {
		return err
	}
	n.server, err = start(ctx, c)
	return err
}

func (n *demoNode) stop() error {
	if n.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s := n.server
	n.server = nil
	return s.Close(ctx)
}

func (n *demoNode) close() error {
	return errors.Join(n.stop(), os.RemoveAll(n.dir))
}

func (n *demoNode) base() string { return "http://" + n.options.listen }

// connect is what Dana does in her browser, and then her application: she signs
// in and allows it, and it exchanges the code.
func (n *demoNode) connect(ctx context.Context) (oauth.TokenResponse, error) {
	var grant ledger.GrantID
	_, _ = rand.Read(n.session[:])
	_, _ = rand.Read(grant[:])
	i := n.server.issuer
	password := sha256.Sum256([]byte(i.View().User(danasID).Password))
	if _, _, err := n.propose(ctx, &ledger.SignIn{Session: n.session, User: danasID, VerifiedHash: password}); err != nil {
		return oauth.TokenResponse{}, fmt.Errorf("sign in: %w", err)
	}
	allowed, index, err := n.propose(ctx, &ledger.Allow{
		Actor: ledger.Actor{Session: n.session}, User: danasID, Grant: grant, Revision: i.View().Client(danasApp).Revision,
		Request: oauth.AuthorizationRequest{ClientID: danasApp, RedirectURI: danasCallback, Scope: "BOOKING_READ"},
	})
	if err != nil {
		return oauth.TokenResponse{}, fmt.Errorf("allow: %w", err)
	}
	code, err := i.Code(ctx, allowed.Issued, index)
	if err != nil {
		return oauth.TokenResponse{}, fmt.Errorf("make the code: %w", err)
	}
	return n.tokens(ctx, url.Values{
		"grant_type": {string(oauth.AuthorizationCode)}, "code": {code.Reveal()}, "redirect_uri": {danasCallback},
	})
}

// disconnect is the button on Dana's page of connected applications.
func (n *demoNode) disconnect(ctx context.Context) error {
	_, _, err := n.propose(ctx, &ledger.Disconnect{Actor: ledger.Actor{Session: n.session}, User: danasID, Client: danasApp})
	return err
}

func (n *demoNode) propose(ctx context.Context, c ledger.Command) (ledger.Outcome, uint64, error) {
	outcome, index, err := n.server.issuer.Propose(ctx, c)
	if err == nil && outcome.Refusal != nil {
		err = errors.New(outcome.Refusal.Cause.String())
	}
	return outcome, index, err
}

// tokens asks at the token endpoint, as the application.
func (n *demoNode) tokens(ctx context.Context, form url.Values) (t oauth.TokenResponse, err error) {
	form.Set("client_id", danasApp)
	form.Set("client_secret", n.appSecret)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.base()+oauth.PathToken, strings.NewReader(form.Encode()))
	if err != nil {
		return t, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return t, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return t, fmt.Errorf("token endpoint: status %d", answer.StatusCode)
	}
	err = json.NewDecoder(answer.Body).Decode(&t)
	return t, err
}

func (n *demoNode) refresh(ctx context.Context, refreshToken string) (oauth.TokenResponse, error) {
	return n.tokens(ctx, url.Values{"grant_type": {string(oauth.RefreshToken)}, "refresh_token": {refreshToken}})
}

// signingKey is the id of the key that tokens are signed with now.
func (n *demoNode) signingKey() string {
	if k := n.server.issuer.View().ActiveKey(ledger.ForSigning); k != nil {
		return k.ID
	}
	return ""
}
