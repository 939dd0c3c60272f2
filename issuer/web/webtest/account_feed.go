package webtest

import (
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// FeedPath is where the form for an address of the user's feed is sent.
const FeedPath = "/account/feed"

// StageFeed is the last part of the address of a feed.
const StageFeed = "mmf_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

// HasFeed gives the user's feed an address.
func (b *Browser) HasFeed(feed string) {
	b.Env.T.Helper()
	b.Env.Must(&ledger.SetFeed{Actor: ledger.Actor{Session: credential.SessionDigest(b.Session())}, Digest: credential.FeedDigest(feed)})
}

// FeedForm returns the form on the account page that makes an address of the feed.
func (b *Browser) FeedForm() url.Values {
	b.Env.T.Helper()
	return b.Get("/account").Form(b.Env.T, FeedPath)
}
