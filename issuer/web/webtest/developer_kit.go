package webtest

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
	NewPath  = "/developer/new"
	MinePath = "/developer/clients/mine"
)

// ProfileOf returns a profile as form values.
func ProfileOf(name, uri string, scopes ...string) url.Values {
	return url.Values{"name": {name}, "redirect_uris": {uri}, "scopes": scopes}
}

// Secret returns a secret to record whose text equals its id.
func (w *Env) Secret(id string) ledger.NewSecret {
	return ledger.NewSecret{ID: id, Key: 1, Digest: credential.Digest(Mac("secret key"), id), Tail: strings.ToUpper(id)}
}

// Drawn and photo return black pictures, as PNG and as JPEG.
func Drawn(width, height int) []byte {
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, image.NewGray(image.Rect(0, 0, width, height)))
	return b.Bytes()
}

var LogoAddress = "/logos/" + hex.EncodeToString(DigestOf(Drawn(32, 32)))

func DigestOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// WithLogo gives a client the logo of LogoAddress.
func (w *Env) WithLogo(id string) {
	w.T.Helper()
	client := w.View().Client(id)
	p := client.Profile
	p.Logo = DigestOf(Drawn(32, 32))
	w.Must(&ledger.EditClient{
		Actor: ledger.Actor{Operator: true}, ID: id, Revision: client.Revision, Profile: p, Logo: Drawn(32, 32),
	})
}

// Mine returns an env in which Ada owns a client with that id and two secrets.
func Mine(t *testing.T, change func(*ledger.ImportClient)) (*Env, *Browser) {
	t.Helper()
	w := NewEnv(t)
	w.Client("mine", func(c *ledger.ImportClient) {
		c.Secrets = []ledger.NewSecret{w.Secret("s_old-1111"), w.Secret("s_new-2222")}
		if change != nil {
			change(c)
		}
	})
	return w, w.SignedIn()
}

// Submit submits the form of a page; pairs are as in with.
func (b *Browser) Submit(page, action string, pairs ...string) Answer {
	b.Env.T.Helper()
	return b.Post(action, With(b.Get(page).Form(b.Env.T, action), pairs...))
}

// Follow returns the page that a redirect leads to.
func (b *Browser) Follow(res Answer) Answer {
	b.Env.T.Helper()
	require.Equal(b.Env.T, 303, res.StatusCode, res.Text)
	return b.Get(res.Header.Get("Location"))
}

func Photo(width, height int) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), &jpeg.Options{Quality: 90})
	return b.Bytes()
}
