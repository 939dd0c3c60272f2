package verifier_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// BenchmarkVerify and BenchmarkRaw are read together, from one run: the whole
// check of a token against the one signature check that it can't do without.
//
//	go test -run '^$' -bench 'Verify|Raw' -benchmem -count 6 ./verifier
func BenchmarkVerify(b *testing.B) {
	v, tok, ctx := newVerifier(b), token(nil, nil), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(ctx, tok); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	tok := token(nil, nil)
	digest := sha256.Sum256([]byte(tok[:strings.LastIndexByte(tok, '.')]))
	signature := must(ecdsa.SignASN1(rand.Reader, ecKey(), digest[:]))
	public := &ecKey().PublicKey
	b.ReportAllocs()
	for b.Loop() {
		if !ecdsa.VerifyASN1(public, digest[:], signature) {
			b.Fatal("signature doesn't match")
		}
	}
}

// BenchmarkRefuse is what a flood of garbage costs.
func BenchmarkRefuse(b *testing.B) {
	v, tok, ctx := newVerifier(b), token(object{"kid": "unknown"}, nil), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(ctx, tok); err == nil {
			b.Fatal("accepted")
		}
	}
}

func TestVerifyAllocations(t *testing.T) {
	v, tok, ctx := newVerifier(t), token(nil, nil), context.Background()
	var err error
	allocations := testing.AllocsPerRun(100, func() { _, err = v.Verify(ctx, tok) })
	require.NoError(t, err)
	assert.LessOrEqual(t, allocations, 16.0)
}
