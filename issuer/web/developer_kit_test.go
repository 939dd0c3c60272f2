package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/jpeg"
	"image/png"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	newPath  = "/developer/new"
	minePath = "/developer/clients/mine"
)

// profileOf returns a profile as form values.
func profileOf(name, uri string, scopes ...string) url.Values {
	return url.Values{"name": {name}, "redirect_uris": {uri}, "scopes": scopes}
}

// secret returns a secret to record whose text equals its id.
func (w *env) secret(id string) ledger.NewSecret {
	return ledger.NewSecret{ID: id, Key: 1, Digest: credential.Digest(mac("secret key"), id), Tail: strings.ToUpper(id)}
}

// drawn and photo return black pictures, as PNG and as JPEG.
func drawn(width, height int) []byte {
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, image.NewGray(image.Rect(0, 0, width, height)))
	return b.Bytes()
}

var logoAddress = "/logos/" + hex.EncodeToString(digestOf(drawn(32, 32)))

func digestOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// withLogo gives a client the logo of logoAddress.
func (w *env) withLogo(id string) {
	w.t.Helper()
	client := w.View().Client(id)
	p := client.Profile
	p.Logo = digestOf(drawn(32, 32))
	w.must(&ledger.EditClient{
		Actor: ledger.Actor{Operator: true}, ID: id, Revision: client.Revision, Profile: p, Logo: drawn(32, 32),
	})
}

// mine returns an env in which Ada owns a client with that id and two secrets.
func mine(t *testing.T, change func(*ledger.ImportClient)) (*env, *browser) {
	t.Helper()
	w := newEnv(t)
	w.client("mine", func(c *ledger.ImportClient) {
		c.Secrets = []ledger.NewSecret{w.secret("s_old-1111"), w.secret("s_new-2222")}
		if change != nil {
			change(c)
		}
	})
	return w, w.signedIn()
}

// submit submits the form of a page; pairs are as in with.
func (b *browser) submit(page, action string, pairs ...string) answer {
	b.env.t.Helper()
	return b.post(action, with(b.get(page).form(b.env.t, action), pairs...))
}

// follow returns the page that a redirect leads to.
func (b *browser) follow(res answer) answer {
	b.env.t.Helper()
	require.Equal(b.env.t, 303, res.StatusCode, res.body)
	return b.get(res.Header.Get("Location"))
}

func photo(width, height int) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), &jpeg.Options{Quality: 90})
	return b.Bytes()
}
