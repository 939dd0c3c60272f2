package verifiertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// A Clock ages tokens and keys without waiting.
func ExampleClock() {
	clock := verifiertest.NewClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Now = clock.Now
	v, err := verifier.New(issuer.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()

	token := issuer.Token()
	_, err = v.Verify(context.Background(), token)
	fmt.Println(err)
	clock.Advance(31 * time.Minute)
	_, err = v.Verify(context.Background(), token)
	fmt.Println(err)
	// Output:
	// <nil>
	// verify token: expired: exp has passed
}

// A new key is fetched with the first token that it signed.
func ExampleIssuer_Rotate() {
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	v, err := verifier.New(issuer.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()

	before := issuer.Token()
	_, err = v.Verify(context.Background(), before)
	fmt.Println(err)
	issuer.Rotate()
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(err)
	_, err = v.Verify(context.Background(), before)
	fmt.Println(err)
	fmt.Println(issuer.Fetches(), "fetches")
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// 2 fetches
}

// During an outage, known keys are used until they are a day old.
func ExampleIssuer_Down() {
	clock := verifiertest.NewClock(time.Now())
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Now = clock.Now
	v, err := verifier.New(issuer.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(err)

	issuer.Down()
	clock.Advance(23 * time.Hour)
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(err)
	clock.Advance(time.Hour)
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(errors.Is(err, verifier.ErrKeysUnavailable))
	// Output:
	// <nil>
	// <nil>
	// true
}

// While an issuer hangs, tokens of known keys don't wait. A token of a new key waits a
// second at most, and its error is not ErrInvalid.
func ExampleIssuer_Hang() {
	clock := verifiertest.NewClock(time.Now())
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Now = clock.Now
	v, err := verifier.New(issuer.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(err)

	issuer.Hang()
	clock.Advance(time.Hour) // the next refresh is overdue
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(err)
	issuer.Rotate()
	_, err = v.Verify(context.Background(), issuer.Token())
	fmt.Println(errors.Is(err, verifier.ErrKeysUnavailable))
	// Output:
	// <nil>
	// <nil>
	// true
}

// The corpus is for any verifier. This one checks only the shape of a token, and accepts
// nearly all of it.
func ExampleCorpus() {
	careless := func(token string) bool { return strings.Count(token, ".") == 2 }

	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	if !careless(issuer.Token()) {
		panic("refuses a good token")
	}
	for _, odd := range verifiertest.Corpus(issuer)[:30] {
		if careless(odd.Token) && strings.HasPrefix(odd.Name, "padding") {
			fmt.Printf("accepts %s (%s)\n", odd.Name, odd.Why)
		}
	}
	// Output:
	// accepts padding-behind (RFC 7515 §2: no padding)
	// accepts padding-in-header (RFC 7515 §2: no padding)
	// accepts padding-in-payload (RFC 7515 §2: no padding)
	// accepts padding-in-header-signed (RFC 7515 §2: no padding)
	// accepts padding-in-payload-signed (RFC 7515 §2: no padding)
}
